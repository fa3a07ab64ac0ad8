"""Every op of the registry is printed, read by the real MLIR parser, and computed by XLA as its NumPy rule says."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import celadon
from celadon import cache, errors, tracing, xla
from celadon.compiler import lift, lower, simplify
from celadon.compiler.stablehlo import MACROS, print_module
from celadon.program import Module, Program, literal
from celadon.types import ArrayType, DType, bfloat16, kind
from celadon.vocabulary.arithmetic import add, multiply
from tests.vocabulary.oracle import expected
from tests.vocabulary.samples import Sample, sampled, samples

Array = np.ndarray[Any, Any]
F32 = np.dtype(np.float32)


def program_of(wanted: Sequence[Sample]) -> Program:
    """One program of all samples, each with inputs of its own."""
    with tracing.recorded("jit_f") as record:
        results: list[Any] = []
        for sample in wanted:
            made = sample.op(*[record.input(t) for t in sample.types], **sample.params)
            results += made if sample.op.multiple else [made]
        return lower(record.program(results), MACROS)


def by_numpy(sample: Sample) -> list[Array]:
    assert sample.op.numpy is not None
    with np.errstate(all="ignore"):
        made = sample.op.numpy(*sample.arrays, **sample.params)
    return [np.asarray(x) for x in (made if sample.op.multiple else [made])]


def by_jax(name: str, wanted: Sequence[Sample]) -> list[list[Array]]:
    if not wanted:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return expected(name, [(sample.arrays, sample.params) for sample in wanted])


def parts(x: Array) -> list[Array]:
    """Real arrays, floats in double precision; subnormal numbers, which XLA may flush, are zero."""
    if kind(x.dtype) == "c":
        return [part for half in (x.real, x.imag) for part in parts(half)]
    if kind(x.dtype) != "f":
        return [x]
    wide = x.astype(np.float64)
    return [np.where(np.abs(wide) < float(ml_dtypes.finfo(x.dtype).tiny), np.copysign(0.0, wide), wide)]


def same(x: Array, y: Array) -> bool:
    """Equal, zeros by sign; any NaN equals any other."""
    if (x.dtype, x.shape) != (y.dtype, y.shape):
        return False
    pairs = zip(parts(x), parts(y), strict=True)
    return all(np.array_equal(a, b, kind(a.dtype) == "f") and _same_signs(a, b) for a, b in pairs)


def _same_signs(a: Array, b: Array) -> bool:
    return kind(a.dtype) != "f" or bool(np.all((np.signbit(a) == np.signbit(b)) | np.isnan(a)))


def near(x: Array, y: Array) -> bool:
    limit = _tolerance(x.dtype)
    pairs = zip(parts(x), parts(y), strict=True)
    return x.dtype == y.dtype and all(np.allclose(a, b, limit, limit, equal_nan=True) for a, b in pairs)


def _tolerance(dtype: DType) -> float:
    if kind(dtype) not in "fc":
        return 0.0
    return {bfloat16: 1e-2, np.dtype(np.float16): 1e-3}.get(dtype, 1e-12 if dtype.char in "dD" else 1e-5)


RUN = frozenset(map(np.dtype, ("?", "i4", "f4", "c8"))) | {bfloat16}
RECIPROCAL = {"divide", "integer_pow"}  # XLA multiplies by the reciprocal of a broadcast divisor


def printable(name: str) -> list[Sample]:
    return [sample for sample in samples(name) if not xla.XLA().lacks(program_of([sample]))]


def runs(sample: Sample) -> bool:
    """Whether XLA is right about a sample: its integer power ignores all but six bits of the exponent."""
    dtypes = {x.dtype for x in sample.arrays}
    return dtypes <= RUN and not (sample.op.name == "power" and kind(sample.dtype) in "iu")


def has_rule(sample: Sample) -> bool:
    return sample.op.exactly(sample.types) or kind(sample.types[0].dtype) in "biu"


@pytest.mark.parametrize("name", sorted(sampled()))
def test_mlir_reads_every_op(name: str) -> None:
    with celadon.enable_x64(True):
        text = print_module(Module(program_of(printable(name))), full=True)
    assert text.count("\n") > 4
    read = xla.parse(text).replace(", , sizes", ", sizes")  # MLIR can't read what it prints for a slice of a scalar
    assert read == text


@pytest.mark.parametrize("name", sorted(sampled()))
def test_xla_computes_what_numpy_does(name: str) -> None:
    """Exact ops by their NumPy rule; the others as JAX has them, whose XLA runs our text with the same result."""
    with celadon.enable_x64(True):
        wanted = [sample for sample in printable(name) if runs(sample)]
        by_rule = [sample for sample in wanted if has_rule(sample)]
        others = [sample for sample in wanted if not has_rule(sample)]
        given = [x for sample in by_rule + others for x in sample.arrays]
        results = iter(xla.compile_program(program_of(by_rule + others))(given))
        for sample, made in zip(by_rule + others, [*map(by_numpy, by_rule), *by_jax(name, others)], strict=True):
            test = same if has_rule(sample) and name not in RECIPROCAL else near
            for found in made:
                result = next(results)
                assert test(result, found), f"{sample}: {result} is not {found}"


COUNTED = np.arange(3, dtype=np.float32)


def recorded_sum(captured: Any) -> Program:
    with tracing.recorded("jit_f") as record:
        x = record.input(ArrayType((3,), F32))
        return record.program([add(multiply(x, literal(2.0, F32)), captured)])


def test_captured_arrays_and_scalars_are_handed_over_not_printed() -> None:
    executor = xla.XLA()
    executables = []
    for factor in (1, 10):
        structure, numbers = lift(simplify(lower(recorded_sum(COUNTED * factor), MACROS)), executor.takes)
        executables.append(executor.compile(structure))
        (result,) = executables[-1].bind(structure, numbers)([np.ones(3, np.float32)])
        assert np.array_equal(result.host, 2 + COUNTED * factor)
    assert len(executor.texts) == 1
    assert "constant" not in print_module(Module(structure.program))


def test_large_captured_arrays_are_elided_but_splats_are_printed() -> None:
    for captured in (np.arange(3e6, dtype=np.float32).reshape(-1, 3), np.full((10**6, 3), 3, np.float32)):
        with tracing.recorded("jit_f") as record:
            text = print_module(Module(record.program([add(record.input(ArrayType(captured.shape, F32)), captured)])))
        assert len(text) < 1000
        assert ("dense<3.000000e+00>" in text) != ("dense_resource<__elided__>" in text)
        assert xla.parse(text) == text


def test_the_executor_is_chosen_by_its_name() -> None:
    with cache.executor_name("xla"):
        doubled = celadon.jit(lambda x: x * 2.0)
        assert doubled(np.arange(3, dtype=np.float32)).tolist() == [0.0, 2.0, 4.0]


def test_errors() -> None:
    with pytest.raises(errors.TextRejected, match="nonsense"):
        xla.parse("module { nonsense }")
    with pytest.raises(errors.DeviceUnknown, match="device 99"):
        xla.compile_program(recorded_sum(np.zeros(3)), xla.XLA(device=99))
    with pytest.raises(errors.JaxMissing, match=r"pip install 'celadon\[xla\]'"):
        xla.require("jax.no_such_part")


SEVERAL = """
import jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
import test_xla
from celadon import tracing, xla
from celadon.types import ArrayType
from celadon.op import registry
with tracing.recorded("jit_f") as record:
    x = record.input(ArrayType((8, 4), test_xla.F32))
    program = record.program([registry["reduce_sum"](registry["multiply"](x, x), axes=(0,)), registry["negate"](x)])
x = np.arange(32, dtype=np.float32).reshape(8, 4)
spread = NamedSharding(Mesh(np.array(jax.devices()), "a"), P("a"))
both = xla.XLA(in_shardings=(spread,), out_shardings=(NamedSharding(spread.mesh, P()), spread))
for executor in (xla.XLA(device=2), xla.XLA(in_shardings=spread), both):
    run, _ = executor.compiled(program, 1)
    total, negative = run([x])
    assert np.array_equal(total, (x * x).sum(0)) and np.array_equal(negative, -x)
    print(sorted(device.id for device in negative.sharding.device_set))
"""


def test_several_devices() -> None:
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": "--xla_force_host_platform_device_count=4"}
    environment["PYTHONPATH"] = os.path.dirname(__file__)
    done = subprocess.run([sys.executable, "-c", SEVERAL], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split("\n")[:3] == ["[2]", "[0, 1, 2, 3]", "[0, 1, 2, 3]"]


def test_calls_of_python_functions_are_custom_calls_that_parse() -> None:
    def pair(y):
        return np.asarray(y) * 2, np.float32(1)

    def calls(x):
        celadon.debug.callback(print, x)
        types = celadon.ShapeDtypeStruct((3,), "float32"), celadon.ShapeDtypeStruct((), "float32")
        return celadon.pure_callback(pair, types, x)

    text = celadon.jit(calls).lower(np.ones(3, np.float32)).as_text()
    assert text.count("stablehlo.custom_call @xla_ffi_python_cpu_callback(%arg0)") == 2
    assert text.count("has_side_effect = true") == 1
    assert xla.parse(text) == text
