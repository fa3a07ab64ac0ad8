"""Text to object code: what compiles, what is refused, what is reproducible, what the host identity says."""

import ctypes
import subprocess
import sys
import threading

import numpy as np
import pytest

from celadon import errors
from celadon.cpu import link, llvm

RETURN = "define void @k() {\n ret void\n}"
MULTIPLY_ADD = """
define double @k(double %a, double %b, double %c) {
  %p = fmul double %a, %b
  %s = fadd double %p, %c
  ret double %s
}
"""


def test_code_runs():
    library = link.load(llvm.compile_text("define i64 @k(i64 %a) {\n %b = mul i64 %a, 3\n ret i64 %b\n}"), ("k",))
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(library.symbols["k"])(14) == 42


def test_nothing_is_contracted():
    library = link.load(llvm.compile_text(MULTIPLY_ADD), ("k",))
    function = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_double] * 3)(library.symbols["k"])
    a, c = 1 + 2.0**-30, -1 - 2.0**-29
    assert function(a, a, c) == np.float64(a) * np.float64(a) + np.float64(c) == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "no code",
        "define void @k() {\n %a = add i32 1, %b\n ret void\n}",
        "define i32 @k() {\n ret void\n}",
        "define i32 @k() {\n br label %x\nx:\n %b = add i32 %c, 1\n %c = add i32 1, 1\n ret i32 %b\n}",
        "define void @k() {\n",
    ],
    ids=["words", "undefined value", "wrong return", "use before definition", "cut off"],
)
def test_bad_text_is_a_catalogued_error(text):
    with pytest.raises(errors.CodeGenerationFailed):
        llvm.compile_text(text)
    assert llvm.compile_text(RETURN)


def test_modules_compiled_at_once_are_as_those_compiled_alone_and_one_bad_text_is_told():
    texts = [f"define i64 @k() {{\n ret i64 {i}\n}}" for i in range(5)]
    assert llvm.compile_texts(texts) == [llvm.compile_text(text) for text in texts]
    with pytest.raises(errors.CodeGenerationFailed, match="nonsense"):
        llvm.compile_texts([*texts, "nonsense"])
    assert llvm.compile_texts(texts[:1]) == [llvm.compile_text(texts[0])]


def test_same_text_gives_the_same_bytes():
    assert llvm.compile_text(MULTIPLY_ADD) == llvm.compile_text(MULTIPLY_ADD)


def test_many_threads_compile_at_once():
    texts = [f"define i64 @k() {{\n ret i64 {i}\n}}" for i in range(16)]
    objects = [b""] * 16

    def work(i):
        objects[i] = llvm.compile_text(texts[i])

    workers = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert objects == [llvm.compile_text(text) for text in texts]


def test_llvm_links_too():
    keeper, symbols = llvm.link(llvm.compile_text("define i64 @k() {\n ret i64 5\n}"), ("k",))
    assert ctypes.CFUNCTYPE(ctypes.c_int64)(symbols["k"])() == 5
    assert keeper is not None


@pytest.mark.parametrize(
    "code", [b"", b"no object", llvm.compile_text(RETURN)[:100]], ids=["empty", "words", "cut off"]
)
def test_llvm_refuses_to_link_what_is_no_object(code):
    with pytest.raises(errors.MachineCodeRejected):
        llvm.link(code, ("k",))


def test_llvm_refuses_a_missing_name(capfd):
    with pytest.raises(errors.MachineCodeRejected):
        llvm.link(llvm.compile_text(RETURN), ("absent",))
    assert capfd.readouterr().err == ""


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere LLVM is asked")
def test_host_is_stable_and_does_not_load_llvm():
    script = "import sys; from celadon.cpu import llvm; print(llvm.host(), 'llvmlite' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [llvm.host(), "False"]


def test_host_depends_on_the_processor(monkeypatch):
    here = llvm.host()
    llvm.host.cache_clear()
    monkeypatch.setattr(llvm, "_cpu_facts", lambda: "flags : none")
    other = llvm.host()
    monkeypatch.undo()
    llvm.host.cache_clear()
    assert other != here == llvm.host()


def test_without_cpuinfo_llvm_names_the_processor(monkeypatch):
    monkeypatch.setattr(llvm, "_cpu_facts", lambda: "")
    llvm.host.cache_clear()
    by_llvm = llvm.host()
    monkeypatch.undo()
    llvm.host.cache_clear()
    assert len(by_llvm) == 64
    assert by_llvm != llvm.host()
