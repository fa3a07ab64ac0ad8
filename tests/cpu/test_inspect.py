"""What is told of kernels and steps is what runs: the same plan, every op, every place; and the code compiles."""

import json
import re

import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import errors, inside, lax
from celadon.cpu import link, llvm
from celadon.cpu.inspect_plan import watched
from celadon.cpu.plan import planned

X = np.random.default_rng(0).normal(size=(60, 60)).astype(np.float32)


def rnn(w, xs):
    return lax.scan(lambda h, x: (cnp.tanh(h @ w + x), h.sum()), xs[0], xs)


def counted(x):
    return lax.while_loop(lambda s: s[0] < 10, lambda s: (s[0] + 1, s[1] - 0.1 * cnp.sin(s[1])), (0, x))


def switched(i, x):
    return lax.switch(i, [lambda x: x + 1, lambda x: x @ x, lambda x: cnp.sort(x)], x)


def called(x):
    return celadon.pure_callback(lambda a: np.asarray(a) * 2, celadon.ShapeDtypeStruct(x.shape, x.dtype), x) + 1


def convolved(x):
    return lax.conv_general_dilated(x[None, :, :, None], x[:9, :8].reshape(3, 3, 1, 8), (1, 1), "SAME",
                                    dimension_numbers=("NHWC", "HWIO", "NHWC"))  # fmt: skip


def nested(x):
    return lax.scan(lambda c, _: (lax.fori_loop(0, 5, lambda k, v: v * 0.9 + c, c), c.sum()), x, None, length=7)


PROGRAMS = {
    "elementwise": (lambda x: (x * 2.0 + 1.0, x.T), (X,)),
    "split": (lambda x: x.sum(), (np.ones((300, 400), np.float32),)),
    "scan": (rnn, (X, np.ones((10, 8, 60), np.float32))),
    "gradient": (celadon.grad(lambda w, xs: rnn(w, xs)[1].sum()), (X, np.ones((10, 8, 60), np.float32))),
    "while": (counted, (X,)),
    "switch": (switched, (1, X)),
    "nested": (nested, (X,)),
    "sort": (lambda x: (cnp.sort(x, axis=0), cnp.argsort(x)), (X,)),
    "blas": (lambda x: cnp.maximum(x @ x, 0.0), (np.ones((600, 600), np.float32),)),
    "convolution": (convolved, (X,)),
    "windows": (lambda x: lax.reduce_window(x, -np.inf, lax.max, (2, 2), (2, 2), "VALID"), (X,)),
    "fft": (lambda x: cnp.fft.fft2(x).real * 2.0, (X,)),
    "lapack": (lambda x: (cnp.linalg.cholesky(x @ x.T + 99.0 * cnp.eye(60)), cnp.linalg.solve(x, x[:, 0])), (X,)),
    "callback": (called, (X,)),
    "moves": (lambda x, i: (x[i], x.at[i].add(1.0), cnp.pad(x, ((1, 2), (0, 0))), cnp.cumsum(x, axis=0)), (X, np.arange(3))),
    "nothing": (lambda x: x, (X,)),
    "empty": (lambda x: x + 1.0, (X[:0],)),
}
EACH = pytest.mark.parametrize("name", PROGRAMS)


def compiled(name):
    function, arguments = PROGRAMS[name]
    return celadon.jit(function).lower(*arguments).compile()


def made(name):
    return inside.made(compiled(name).lowered.traced.needed)


def every_step(steps):
    return [x for step in steps for x in (step, *(y for inner in step.lists for y in every_step(inner.steps)))]


@EACH
def test_the_plan_that_is_told_of_is_the_one_that_runs(name):
    found = made(name)
    outline, program = found.executable.outline, found.structure.program
    told, runs = watched(outline, program), planned(outline, program)
    assert told.plan == runs
    for mark in told.steps:
        assert runs.words[mark.word + 2 : mark.word + 4] == [mark.extent, mark.unit]
    assert len(told.steps) == runs.steps


@EACH
def test_every_op_is_in_a_step(name):
    found = made(name)
    told = {op for step in every_step(inside.schedule(found).steps) for op in step.ops}
    words = inside.text(compiled(name).lowered.traced.needed, "simplified")
    asked = set(re.findall(r" = (\w+)\(", words))
    silent = {"slice", "transpose", "broadcast_in_dim", "reshape", "iota", "while_loop", "convert"}
    combining = {"windows": {"maximum"}}.get(name, set())  # what an op combines with is no op of its own
    assert asked - told - combining <= silent
    assert told <= asked | {"convert", "iota"}


@EACH
def test_values_lie_within_their_buffers_and_have_the_names_of_the_program(name):
    found = made(name)
    schedule = inside.schedule(found)
    names = set(re.findall(r"\b([a-z]+): \w+\[", inside.text(compiled(name).lowered.traced.needed, "simplified")))
    for step in every_step(schedule.steps):
        for value in (*step.reads, *step.writes):
            own = re.sub(r"^parts of ", "", value.name)
            assert own in names or re.fullmatch(r"t\d+|\{.*\}|[\d.a-z+-]+", own)
            if value.buffer == "arena":
                assert 0 <= value.offset < max(schedule.arena_bytes, 1)
        assert step.pieces == 1 or step.unit * (step.pieces - 1) < step.extent <= step.unit * step.pieces


@EACH
def test_the_code_is_what_llvm_compiles(name):
    text, assembly = compiled(name).as_text("llvm"), compiled(name).as_text("asm")
    symbols = [kernel.symbol for kernel in inside.schedule(made(name)).kernels]
    assert set(link.load(llvm.compile_text(text), symbols).symbols) == set(symbols)
    for k, symbol in enumerate(symbols):
        assert re.search(rf"^; kernel {k}: .*\ndefine void @{symbol}\(", text, re.MULTILINE)
        assert re.search(rf"^# kernel {k}: .*\n_?{symbol}:", assembly, re.MULTILINE)


@EACH
@pytest.mark.parametrize("stage", inside.STAGES[1:])
def test_data_is_plain(name, stage):
    data = inside.data(compiled(name).lowered.traced.needed, stage)
    assert json.loads(json.dumps(data))["stage"] == stage


def test_loops_show_their_lists():
    (scan,) = [step for step in inside.schedule(made("scan")).steps if step.lists]
    assert scan.what == "repeat" and scan.lists[0].trips == 10
    assert [step.what for step in scan.lists[0].steps][:3] == ["matmul", "map", "reduce"]
    (loop,) = [step for step in inside.schedule(made("while")).steps if step.lists]
    assert [inner.name for inner in loop.lists] == ["condition", "body"]
    (branch,) = [step for step in inside.schedule(made("switch")).steps if step.lists]
    assert [inner.name for inner in branch.lists] == ["branch 0", "branch 1", "branch 2"]
    (outer,) = [step for step in inside.schedule(made("nested")).steps if step.lists]
    assert [step.lists[0].trips for step in outer.lists[0].steps if step.lists] == [5]


def test_a_sum_in_parts_is_two_steps():
    first, second = inside.schedule(made("split")).steps
    assert first.writes[0].name.startswith("parts of") and first.extent > 1 and first.writes == second.reads
    assert second.note == "combines the parts" and second.writes[0].buffer == "result 0"


def test_libraries_and_python_functions_are_named():
    calls = {name: [s.calls for s in every_step(inside.schedule(made(name)).steps) if s.calls] for name in PROGRAMS}
    assert calls["blas"] == ["cblas_sgemm"] and calls["fft"] == ["numpy.fft.fftn"] and len(calls["callback"]) == 1
    assert {"spotrf_", "sgetrf_", "strsm_"} <= set(calls["lapack"])


def test_lines_are_the_users():
    text = compiled("scan").as_text("simplified")
    line = rnn.__code__.co_firstlineno + 1
    assert re.search(rf"tanh\(\w+\) +# .*test_inspect.py:{line} \(<lambda>\)", text)
    assert f"test_inspect.py:{line} (<lambda>)" in compiled("scan").as_text("kernels")


def test_numbers_stand_in_braces_and_do_not_change_the_code():
    texts = [celadon.jit(lambda x, s=s: x * s).lower(X).compile() for s in (2.0, 3.0)]
    assert "{2.0}" in texts[0].as_text() and "{3.0}" in texts[1].as_text("kernels")
    assert texts[0].as_text("llvm") == texts[1].as_text("llvm")


def test_stages_that_are_not_there():
    lowered = celadon.jit(lambda x: x + 1.0).lower(1.0)
    with pytest.raises(errors.StageUnknown):
        lowered.compile().as_text("hlo")
    assert lowered.compile().as_text("stablehlo") == lowered.as_text()
    with celadon.cache.executor_name("reference"):
        there = celadon.jit(lambda x: x + 1.0).lower(1.0).compile()
        assert "add(a, {1.0})" in there.as_text()
        with pytest.raises(errors.StageAbsent, match="reference"):
            there.as_text("asm")
