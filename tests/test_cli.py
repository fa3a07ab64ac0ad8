"""The command line: what it prints, that JSON is data only, and that every wrong input is one line and exit code 2."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import celadon
from celadon import __main__ as command, __version__, errors

ROOT = Path(__file__).parent.parent
SCALE = f"{ROOT}/examples/scale.py"
LOWER = ("lower", f"{SCALE}:normalised", "--arg", "x=f32[64]", "--static", "epsilon=1e-6", "--stage")
PRICE = ("price", f"{SCALE}:scale_add", "--arg", "x=f32[16,16]", "--static", "s=2.0,3.0", "--calls", "5")


def run(capsys, *words):
    """The exit code, stdout and stderr of a command in this process."""
    before = sys.argv
    sys.argv = ["celadon", *words]
    try:
        command.main()
        code = 0
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.argv = before
    out, err = capsys.readouterr()
    return code, out, err


def test_price_prints_programs_figures_and_a_verdict(capsys):
    code, out, err = run(capsys, *PRICE)
    assert code == 0 and err == ""
    for words in ("stablehlo.multiply", "s traced (> differs)", "s static", "  > ", "95 % interval", "trace", "compile",
                  "steady calls", "break-even", "static 2 entries, sharing 1 executable", "scale_add", "x: f32[16,16]"):
        assert words in out


TALKS = """
import jax

print("imported")

def talks(x, n):
    print("traced")
    return x * n
"""


@pytest.mark.parametrize("words", [("price", "--json", "--calls", "5"), ("lower",)])
def test_what_a_target_prints_goes_to_stderr(capsys, tmp_path, words):
    (tmp_path / "talks.py").write_text(TALKS)
    code, out, err = run(capsys, words[0], f"{tmp_path}/talks.py:talks", "--arg", "x=f32[3]", "--static", "n=2", *words[1:])
    assert code == 0 and "imported\n" in err and "traced\n" in err
    assert json.loads(out) if words[0] == "price" else out.startswith("module @jit_talks")


@pytest.mark.parametrize("executor", ["reference", "xla"])
def test_price_on_another_executor(capsys, executor):
    celadon.config.update("celadon_executor", executor)
    try:
        code, out, err = run(capsys, *PRICE, "--json", "--against", "jax")
    finally:
        celadon.config.update("celadon_executor", "cpu")
    assert code == 0 and err == ""
    found = json.loads(out)["statics"][0]["static"]
    assert found["entries"] == 2 and found["executables"] == 1
    assert [each["stages"]["compile"] > 0 for each in found["first"]] == [True, False]


def test_an_interrupt_ends_it_quietly():
    # a child of a job in the background would ignore interrupts
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from celadon.__main__ import main; main()"
    words = [sys.executable, "-c", heard, *PRICE[:-2], "--calls", "1000000"]
    started = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        time.sleep(8)
        started.send_signal(signal.SIGINT)
        out, err = started.communicate(timeout=60)
    finally:
        started.kill()
    assert started.returncode == 130 and out == "" and "Traceback" not in err


def test_an_interrupt_in_a_finalizer_is_not_lost():
    class Dying:
        def __del__(self):
            command.interrupted(signal.SIGINT, sys._getframe())

    before = signal.signal(signal.SIGINT, command.interrupted)
    try:
        with pytest.raises(KeyboardInterrupt):
            Dying()
            time.sleep(5)
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_reader_that_leaves_ends_it_quietly():
    words = f"{sys.executable} -m celadon errors --json | head -1"
    done = subprocess.run(["bash", "-c", words], capture_output=True, text=True, check=True)
    assert done.stdout == "[\n" and done.stderr == ""


def test_price_as_json_is_data_only(capsys):
    code, out, err = run(capsys, *PRICE, "--json", "--against", "jax")
    assert code == 0 and err == ""
    found = json.loads(out)["statics"][0]
    assert found["values"] == ["2.0", "3.0"]
    assert found["static"]["entries"] == 2 and found["against"]["library"] == "jax"


def test_price_against_jax_prints_ratios(capsys):
    code, out, _ = run(capsys, *PRICE, "--against", "jax")
    assert code == 0 and "against jax" in out and "static: new value" in out


STAGES = ("price", f"{SCALE}:scale_add", "--arg", "x=f32[64,64]", "--static", "s=2.0", "--stages", "--calls", "5")


def test_price_by_stages(capsys):
    code, out, err = run(capsys, *STAGES)
    assert code == 0 and err == "" and out.isascii()
    for words in ("the first call:", "LLVM", "first run", "a steady call:", "0 map", "multiply add", "scale.py:", "% #", "GB/s"):
        assert words in out
    code, out, _ = run(capsys, *STAGES, "--json")
    found = json.loads(out)
    assert code == 0 and found["function"] == "scale_add" and found["steady"]["steps"][0]["flops"] == 2 * 64 * 64
    assert {part["name"] for part in found["first"]["parts"]} >= {"trace", "fuse", "first run"}


def test_the_readme_shows_what_the_command_prints(capsys):
    command = ("price", f"{SCALE}:scale_add", "--arg", "x=f32[2048,2048]", "--static", "s=2.0,3.0,4.0", "--calls", "5")
    shown = re.search(r"```console\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    _, out, _ = run(capsys, *command)

    def plain(text):
        lines = [re.sub(r"\d[\d.,]*( us| ms| s)?", "#", line) for line in text.partition("  debt")[0].splitlines()]
        return [" ".join(line.replace("-", " ").split()) for line in lines if "a steady call" not in line]

    assert plain(shown) == plain(out) and len(plain(shown)) > 30


@pytest.mark.parametrize(("words", "expected"), [
    (("price", "nothing.py:f", "--static", "s=1"), "CEL602"),
    (("price", "no colon", "--static", "s=1"), "CEL601"),
    (("price", f"{SCALE}:nothing", "--static", "s=1"), "CEL604"),
    (("price", f"{SCALE}:scale_add", "--arg", "x=f33[2]", "--static", "s=1"), "CEL611"),
    (("price", f"{SCALE}:scale_add", "--arg", "x=f32[2", "--static", "s=1"), "CEL610"),
    (("price", f"{SCALE}:scale_add", "--arg", "x=gone.npy", "--static", "s=1"), "CEL612"),
    (("price", f"{SCALE}:scale_add", "--arg", "x=f32[2]", "--static", "z=1"), "CEL613"),
    (("price", f"{SCALE}:scale_add", "--static", "s=1"), "CEL614"),
    (("price", f"{SCALE}:scale_add", "--arg", "x=f32[2]", "--arg", "s=1.0", "--static", "s=1"), "CEL615"),
    (("price", f"{SCALE}:scale_add", "--arg", "x=f32[2]", "--static", "s=1", "--against", "numba"), "CEL620"),
    (("price", f"{SCALE}:scale_add", "--arg", "x=f32[2]", "--static", "s='a','b'"), "CEL606"),
    ((*PRICE, "--stages", "--against", "jax"), "CEL621"),
    (("explain", "CEL999"), "CEL630"),
    (("lower", f"{SCALE}:scale_add", "--arg", "x=f32[2]"), "CEL614"),
    ((*LOWER, "hlo"), "CEL506"),
])  # fmt: skip
def test_a_wrong_input_is_one_line_and_exit_code_2(capsys, words, expected):
    code, out, err = run(capsys, *words)
    assert code == 2 and out == ""
    assert len(err.splitlines()) == 1 and err.startswith("celadon: ") and f"[{expected}]" in err


def test_nothing_is_cut_on_a_narrow_screen_nor_needs_more_than_ascii():
    words = [sys.executable, "-m", "celadon"]
    narrow = {**os.environ, "COLUMNS": "30", "PYTHONIOENCODING": "ascii"}
    for asked, shown in ((PRICE, "steady calls"), (("errors",), "StaticArgumentUnhashable"), (("explain", "CEL101"), "cure")):
        done = subprocess.run([*words, *asked], capture_output=True, text=True, check=True, env=narrow)
        assert shown in done.stdout.replace("\n", " ")


def test_a_wrong_option_is_exit_code_2(capsys):
    for words in (("price",), ("price", SCALE, "--colour"), ("prize",)):
        assert run(capsys, *words)[0] == 2


def test_lower_prints_stablehlo(capsys):
    code, out, _ = run(capsys, "lower", f"{SCALE}:scale_add", "--arg", "x=f32[4]", "--static", "s=2.0")
    assert code == 0 and out.startswith("module @jit_scale_add") and "dense<2.000000e+00>" in out
    assert out.endswith("}\n") and "%arg1" not in out


SHOWN = {
    "stablehlo": "module @jit_normalised", "simplified": "divide(a, c)", "kernels": "step 0: kernel 0 map (abs add divide)",
    "llvm": "define void @k", "asm": "# kernel 0: map f32",
}  # fmt: skip


@pytest.mark.parametrize("stage", SHOWN)
def test_lower_prints_every_stage(capsys, stage):
    code, out, err = run(capsys, *LOWER, stage)
    assert code == 0 and err == "" and SHOWN[stage] in out and "\x1b" not in out and out.endswith("\n")
    code, out, _ = run(capsys, *LOWER, stage, "--json")
    found = json.loads(out)
    assert code == 0 and found["stage"] == stage and "normalised" in found["name"]


def test_stages_are_in_colours_on_a_terminal(capsys):
    for stage in ("kernels", "asm"):
        _, plain, _ = run(capsys, *LOWER, stage)
        ours, theirs = pty.openpty()
        words = [sys.executable, "-m", "celadon", *LOWER, stage]
        started = subprocess.Popen(words, stdout=theirs, env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "40"})
        os.close(theirs)
        shown = b""
        while True:
            try:
                shown += os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
        os.close(ours)
        assert started.wait() == 0 and b"\x1b[" in shown
        assert re.sub(r"\x1b\[[\d;]*m", "", shown.decode()).replace("\r\n", "\n") == plain.expandtabs()


def test_explain_prints_a_page(capsys):
    code, out, _ = run(capsys, "explain", "CEL101")
    assert code == 0
    for words in ("StaticArgumentUnhashable", "cause", "cure", "trigger", "celadon.jit(lambda x, n: x * len(n)"):
        assert words in out
    code, out, _ = run(capsys, "explain", "StaticArgumentUnhashable", "--json")
    page = json.loads(out)
    assert page["code"] == "CEL101" and page["kind"] == "ValueError"


def test_errors_lists_all(capsys):
    code, out, _ = run(capsys, "errors", "--json")
    assert code == 0 and {page["code"] for page in json.loads(out)} == errors.entries.keys()
    _, out, _ = run(capsys, "errors")
    assert all(code in out for code in errors.entries)


def test_help_and_version_are_quick():
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "celadon", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == __version__
    assert time.perf_counter() - start < 10
    probe = "import sys, celadon.__main__; print([m for m in ('llvmlite', 'jax', 'rich.progress') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_progress_shows_on_a_terminal_only():
    words = [sys.executable, "-m", "celadon", *PRICE, "--json"]
    ours, theirs = pty.openpty()
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=theirs, text=True, check=True)
    os.close(theirs)
    assert b"pricing" in os.read(ours, 100_000)
    os.close(ours)
    json.loads(done.stdout)
