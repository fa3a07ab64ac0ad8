"""Our text of an op, character for character what real JAX prints for the same function of jax.lax."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import ml_dtypes
import numpy as np
import pytest
from jax import lax

import celadon
import celadon.vocabulary.window
from celadon import array, tracing
from celadon.compiler.lower import lower
from celadon.compiler.stablehlo import MACROS, print_module
from celadon.op import registry
from celadon.program import Module, literal
from celadon.types import ArrayType, from_short
from celadon.xla import parse

Function = Callable[..., Any]


class Ops:
    """The ops of the registry as attributes."""

    def __getattr__(self, name: str) -> Any:
        return registry[name]


op = Ops()


def number(value: Any, short: str = "f32") -> Any:
    return literal(value, from_short[short])


def type_of(text: str) -> ArrayType:
    short, _, shape = text.rstrip("]").partition("[")
    return ArrayType(tuple(map(int, filter(None, shape.split(",")))), from_short[short])


def our_text(function: Function, types: list[ArrayType]) -> str:
    with tracing.recorded("jit_f") as record:
        results = function(*[record.input(t) for t in types])
        program = lower(record.program(results if isinstance(results, list | tuple) else [results]), MACROS)
    many = isinstance(results, list | tuple)
    return print_module(Module(program, tuple(f"[{i}]" if many else "" for i in range(len(program.outputs)))))


def their_text(function: Function, types: list[ArrayType]) -> str:
    def f(*xs: Any) -> Any:
        return function(*xs)

    with jax.enable_x64(True):
        lowered = jax.jit(f, keep_unused=True).lower(*[jax.ShapeDtypeStruct(t.shape, t.dtype) for t in types])
        return lowered.as_text().replace('jax.result_info = "result', 'jax.result_info = "')


CASES: dict[str, tuple[str, Function, Function]] = {}


def case(name: str, types: str, ours: Function, theirs: Function) -> None:
    assert name not in CASES
    CASES[name] = (types, ours, theirs)


F32 = np.dtype(np.float32)
BF16 = np.dtype(ml_dtypes.bfloat16)
I32 = np.dtype(np.int32)
f32 = np.float32

for ours, theirs in {
    "abs": lax.abs, "cbrt": lax.cbrt, "ceil": lax.ceil, "cosine": lax.cos, "exponential": lax.exp,
    "exponential_minus_one": lax.expm1, "floor": lax.floor, "is_finite": lax.is_finite, "log": lax.log,
    "log_plus_one": lax.log1p, "logistic": lax.logistic, "negate": lax.neg, "round_nearest_afz": lax.round,
    "rsqrt": lax.rsqrt, "sign": lax.sign, "sine": lax.sin, "sqrt": lax.sqrt, "tan": lax.tan, "tanh": lax.tanh,
    "acos": lax.acos, "acosh": lax.acosh, "asin": lax.asin, "asinh": lax.asinh, "atan": lax.atan, "atanh": lax.atanh,
    "cosh": lax.cosh, "sinh": lax.sinh, "digamma": lax.digamma, "erf": lax.erf, "erfc": lax.erfc,
    "erf_inv": lax.erf_inv, "lgamma": lax.lgamma, "bessel_i1e": lax.bessel_i1e, "square": lax.square,
}.items():  # fmt: skip
    case(ours, "f32[3,4]", registry[ours], theirs)
for ours, theirs in {
    "add": lax.add, "atan2": lax.atan2, "divide": lax.div, "maximum": lax.max, "minimum": lax.min,
    "multiply": lax.mul, "power": lax.pow, "remainder": lax.rem, "subtract": lax.sub, "next_after": lax.nextafter,
    "polygamma": lax.polygamma, "zeta": lax.zeta,
}.items():  # fmt: skip
    case(ours, "f64[5] f64[5]", registry[ours], theirs)
for ours, theirs in {
    "and": lax.bitwise_and, "or": lax.bitwise_or, "xor": lax.bitwise_xor, "shift_left": lax.shift_left,
    "shift_right_arithmetic": lax.shift_right_arithmetic, "shift_right_logical": lax.shift_right_logical,
}.items():  # fmt: skip
    case(ours, "u16[5] u16[5]", registry[ours], theirs)
for ours, theirs in {"popcnt": lax.population_count, "count_leading_zeros": lax.clz, "not": lax.bitwise_not}.items():
    case(ours, "i8[5]", registry[ours], theirs)

case("maximum of complex", "c64[3] c64[3]", op.maximum, lax.max)
case("minimum of complex", "c64[] c64[]", op.minimum, lax.min)
case("logistic of complex", "c64[3]", op.logistic, lax.logistic)
case("abs of complex", "c64[3]", op.abs, lax.abs)
case("conj", "c64[3]", op.conj, lax.conj)
case("real and imag", "c128[3]", lambda x: [op.real(x), op.imag(x)], lambda x: (lax.real(x), lax.imag(x)))
case("complex", "f32[3] f32[3]", op.complex, lax.complex)
case("literal right", "f32[4]", lambda x: op.multiply(x, number(2.0)), lambda x: x * f32(2))
case("literal left", "f32[4]", lambda x: op.subtract(number(2.0), x), lambda x: f32(2) - x)
case("literal of a scalar", "f32[]", lambda x: op.multiply(x, number(2.0)), lambda x: x * f32(2))
case("scalar variable", "f32[4] f32[]", lambda x, y: op.multiply(x, y), lambda x, y: lax.mul(x, y))
case(
    "literals many", "f32[4]",
    lambda x: op.add(op.add(op.multiply(x, number(2.0)), op.multiply(number(2.0), x)), number(1.0)),
    lambda x: x * f32(2) + f32(2) * x + f32(1),
)  # fmt: skip
case("clamp", "f32[4]", lambda x: op.clamp(number(0.0), x, number(1.0)), lambda x: lax.clamp(f32(0), x, f32(1)))
case("convert narrower", "f64[4]", lambda x: op.convert(x, new_dtype=BF16), lambda x: lax.convert_element_type(x, BF16))
case("convert to bool", "f32[4]", lambda x: op.convert(x, new_dtype=np.dtype(bool)),
     lambda x: lax.convert_element_type(x, bool))  # fmt: skip
case("convert a scalar to bool", "i32[]", lambda x: op.convert(x, new_dtype=np.dtype(bool)),
     lambda x: lax.convert_element_type(x, bool))  # fmt: skip
case("convert a bool", "bool[4]", lambda x: op.convert(x, new_dtype=I32), lambda x: lax.convert_element_type(x, I32))
case("convert to complex", "f32[4]", lambda x: op.convert(x, new_dtype=np.dtype("c8")),
     lambda x: lax.convert_element_type(x, np.complex64))  # fmt: skip
case("bitcast", "f32[4]", lambda x: op.bitcast_convert(x, new_dtype=I32), lambda x: lax.bitcast_convert_type(x, I32))
case("bitcast to smaller", "f32[4]", lambda x: op.bitcast_convert(x, new_dtype=np.dtype("i1")),
     lambda x: lax.bitcast_convert_type(x, np.int8))  # fmt: skip
case("reduce_precision", "f32[4]", lambda x: op.reduce_precision(x, exponent_bits=5, mantissa_bits=7),
     lambda x: lax.reduce_precision(x, 5, 7))  # fmt: skip
for direction, theirs in {"EQ": lax.eq, "NE": lax.ne, "LT": lax.lt, "LE": lax.le, "GT": lax.gt, "GE": lax.ge}.items():
    for short in ("f32", "i32", "u8"):
        case(f"compare {direction} {short}", f"{short}[4] {short}[4]",
             lambda x, y, d=direction: op.compare(x, y, direction=d), theirs)  # fmt: skip
case("compare bool", "bool[4] bool[4]", lambda x, y: op.compare(x, y, direction="EQ"), lax.eq)
case("compare complex", "c64[4] c64[4]", lambda x, y: op.compare(x, y, direction="NE"), lax.ne)
case("compare with a literal", "f32[4]", lambda x: op.compare(x, number(0.5), direction="GT"), lambda x: x > f32(0.5))
case("select", "bool[4] f32[4] f32[4]", op.select, lax.select)
case("select by a scalar", "bool[] f32[4] f32[4]", op.select, lax.select)
case("broadcast", "f32[3]", lambda x: op.broadcast_in_dim(x, shape=(2, 3), broadcast_dimensions=(1,)),
     lambda x: lax.broadcast_in_dim(x, (2, 3), (1,)))  # fmt: skip
case("full", "", lambda: op.broadcast_in_dim(number(7, "i32"), shape=(2, 3), broadcast_dimensions=()),
     lambda: lax.full((2, 3), 7, I32))  # fmt: skip
case("reshape", "f32[3,4]", lambda x: op.reshape(x, shape=(12,)), lambda x: lax.reshape(x, (12,)))
case("transpose", "f32[3,4,5]", lambda x: op.transpose(x, permutation=(2, 0, 1)), lambda x: lax.transpose(x, (2, 0, 1)))
case("reverse", "f32[3,4]", lambda x: op.reverse(x, dimensions=(0, 1)), lambda x: lax.rev(x, (0, 1)))
case("concatenate", "f32[3,4] f32[3,1] f32[3,2]", lambda *xs: op.concatenate(*xs, dimension=1),
     lambda *xs: lax.concatenate(xs, 1))  # fmt: skip
case("pad", "f32[3,4]", lambda x: op.pad(x, number(0.0), low=(1, -1), high=(0, 2), interior=(0, 3)),
     lambda x: lax.pad(x, f32(0), [(1, 0, 0), (-1, 2, 3)]))  # fmt: skip
case("slice", "f32[3,9]", lambda x: op.slice(x, start_indices=(1, 2), limit_indices=(3, 8), strides=(1, 2)),
     lambda x: lax.slice(x, (1, 2), (3, 8), (1, 2)))  # fmt: skip
case("iota", "", lambda: op.iota(shape=(3, 4), dtype=F32, dimension=1), lambda: lax.broadcasted_iota(F32, (3, 4), 1))
for name, theirs in {"reduce_sum": lax.reduce_sum, "reduce_prod": lax.reduce_prod, "reduce_max": lax.reduce_max,
                     "reduce_min": lax.reduce_min}.items():  # fmt: skip
    for short in ("f32", "bf16", "i16", "u8", "f64"):
        case(f"{name} {short}", f"{short}[3,4,5]", lambda x, name=name: registry[name](x, axes=(0, 2)),
             lambda x, theirs=theirs: theirs(x, (0, 2)))  # fmt: skip
case("reduce_max bool", "bool[3]", lambda x: op.reduce_max(x, axes=(0,)), lambda x: lax.reduce_max(x, (0,)))
REDUCTIONS = {"reduce_and": lax.reduce_and_p, "reduce_or": lax.reduce_or_p, "reduce_xor": lax.reduce_xor_p}
for name, theirs in REDUCTIONS.items():
    for short in ("bool", "u8", "i32"):
        case(f"{name} {short}", f"{short}[3,4]", lambda x, name=name: registry[name](x, axes=(1,)),
             lambda x, theirs=theirs: theirs.bind(x, axes=(1,)))  # fmt: skip
for name, theirs in {"argmax": lax.argmax, "argmin": lax.argmin}.items():
    for short in ("f32", "i32", "bool"):
        case(f"{name} {short}", f"{short}[3,4]", lambda x, name=name: registry[name](x, axes=(1,), index_dtype=I32),
             lambda x, theirs=theirs: theirs(x, 1, I32))  # fmt: skip
case(
    "private functions twice", "f32[3] f32[4]",
    lambda x, y: [registry[name](v, axes=(0,), index_dtype=I32) for v in (x, y, x) for name in ("argmax", "argmin")],
    lambda x, y: tuple(f(v, 0, I32) for v in (x, y, x) for f in (lax.argmax, lax.argmin)),
)  # fmt: skip
DOT = {
    "matrices": ("f32[3,4] f32[4,5]", (((1,), (0,)), ((), ()))),
    "batches": ("f32[2,3,4] f32[2,4,5]", (((2,), (1,)), ((0,), (0,)))),
    "outer": ("i32[3] i32[4]", (((), ()), ((), ()))),
    "two axes": ("c64[3,4] c64[3,4]", (((0, 1), (0, 1)), ((), ()))),
    "halves": ("bf16[3] bf16[3]", (((0,), (0,)), ((), ()))),
}
for name, (types, numbers) in DOT.items():
    case(f"dot_general {name}", types, lambda x, y, n=numbers: op.dot_general(x, y, dimension_numbers=n),
         lambda x, y, n=numbers: lax.dot_general(x, y, n))  # fmt: skip
case(
    "dot_general into another type", "i8[3] i8[3]",
    lambda x, y: op.dot_general(x, y, dimension_numbers=DOT["halves"][1], preferred_element_type=I32),
    lambda x, y: lax.dot_general(x, y, DOT["halves"][1], preferred_element_type=I32),
)  # fmt: skip
case(
    "dot_general with a precision", "f32[3] f32[3]",
    lambda x, y: op.dot_general(x, y, dimension_numbers=DOT["halves"][1], precision="highest"),
    lambda x, y: lax.dot_general(x, y, DOT["halves"][1], precision="highest"),
)  # fmt: skip
case("dynamic_slice", "f32[5,6] i32[] i32[]", lambda x, i, j: op.dynamic_slice(x, i, j, slice_sizes=(2, 3)),
     lambda x, i, j: lax.dynamic_slice_p.bind(x, i, j, slice_sizes=(2, 3)))  # fmt: skip
case("dynamic_update_slice", "f32[5,6] f32[2,2] i32[] i32[]", op.dynamic_update_slice,
     lambda *xs: lax.dynamic_update_slice_p.bind(*xs))  # fmt: skip


def dims(offset: tuple[int, ...], collapsed: tuple[int, ...], starts: tuple[int, ...], **more: Any) -> dict[str, Any]:
    return {"offset_dims": offset, "collapsed_slice_dims": collapsed, "start_index_map": starts, **more}


BATCHING = {"operand_batching_dims": (0,), "start_indices_batching_dims": (0,)}
GATHER = {
    "rows": ("f32[3,4] i32[5,1]", dims((1,), (0,), (0,)), (1, 4)),
    "one row": ("f32[3,4] i32[1,1]", dims((1,), (0,), (0,)), (1, 4)),
    "elements": ("i8[3,4] i32[5,6,2]", dims((), (0, 1), (0, 1)), (1, 1)),
    "one": ("u8[3,4] i32[2]", dims((0,), (1,), (0, 1)), (2, 1)),
    "batches": ("f32[3,4] i32[3,1]", dims((), (1,), (1,), **BATCHING), (1, 1)),
}
for name, (types, numbers, sizes) in GATHER.items():
    for mode in ("clip", "fill", "promise_in_bounds"):
        case(
            f"gather {name} {mode}", types,
            lambda x, i, d=numbers, s=sizes, m=mode: op.gather(x, i, **d, slice_sizes=s, mode=m),
            lambda x, i, d=numbers, s=sizes, m=mode: lax.gather(x, i, lax.GatherDimensionNumbers(**d), s, mode=m),
        )  # fmt: skip


def sort(*xs: Any, keys: int = 1) -> Any:
    return op.sort(*xs, dimension=0, is_stable=True, num_keys=keys)


for short in ("f32", "i32", "bool", "bf16"):
    case(f"sort {short}", f"{short}[3,4]", lambda x: sort(x)[0], lambda x: lax.sort(x, 0))
case("sort by two keys", "f32[3] i32[3] u8[3]", lambda *xs: sort(*xs, keys=2), lambda *xs: lax.sort(xs, 0, num_keys=2))
case(
    "sort then more",
    "f32[3]",
    lambda x: op.add(sort(x)[0], sort(op.negate(x))[0]),
    lambda x: lax.sort(x) + lax.sort(-x),
)
for name in ("cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"):
    for reverse in (False, True):
        for types, axis in (("f32[3,4]", 1), ("f32[5]", 0)):
            case(f"{name} {types} {reverse}", types,
                 lambda x, n=name, a=axis, r=reverse: registry[n](x, axis=a, reverse=r),
                 lambda x, n=name, a=axis, r=reverse: getattr(lax, n)(x, a, r))  # fmt: skip

case("integer_pow", "f32[3]", lambda x: op.integer_pow(x, y=5), lambda x: lax.integer_pow(x, 5))
case("integer_pow negative", "f32[3]", lambda x: op.integer_pow(x, y=-2), lambda x: lax.integer_pow(x, -2))
case("exp2", "f32[3]", op.exp2, lax.exp2)


def summed_squares(x: Any, axes: tuple[int, ...]) -> Any:
    body = celadon.vocabulary.window.combiner(lambda a, b: op.add(a, op.multiply(b, b)), F32)
    return op.reduce(x, number(2.0), axes=axes, body=body)[0]


case("reduce by a body", "f32[3,4]", lambda x: summed_squares(x, (0,)),
     lambda x: lax.reduce(x, f32(2), lambda a, b: a + b * b, (0,)))  # fmt: skip
case("reduce by a sum", "f32[3,4]",
     lambda x: op.reduce(x, number(2.0), axes=(0,), body=celadon.vocabulary.window.combiner(op.add, F32))[0],
     lambda x: lax.reduce(x, f32(2), lax.add, (0,)))  # fmt: skip
SMALL = np.arange(6, dtype=np.float32).reshape(2, 3) / 3
SPLAT = np.full((2, 3), -np.inf, np.float32)
case("captured array", "f32[2,3]", lambda x: op.add(x, SMALL), lambda x: x + SMALL)
case("captured splat", "f32[2,3]", lambda x: op.add(x, SPLAT), lambda x: x + SPLAT)
case("captured twice", "f32[2,3]", lambda x: op.add(op.multiply(x, SMALL), SMALL), lambda x: x * SMALL + SMALL)
for name, value in {
    "floats": np.array([1e-20, 1e30, np.pi, 0.1, np.inf, -np.inf, np.nan, -0.0, 1 / 3, 2**24, 123456789, 1.5, 1e-45,
                        0.00012345678, 0.0012345678, 3.4e38, 999999.9, 65504.0, -1e-3], np.float32),
    "doubles": np.array([1e-20, 1e300, np.pi, 0.1, np.inf, np.nan, 1 / 3, 16777217.0, 123456789.125, 5e-324, -0.0]),
    "halves": (np.arange(50) * np.pi).astype(np.float16),
    "bfloats": (np.arange(-50, 50) ** 3 / 7).astype(BF16),
    "truths": np.arange(6).reshape(3, 2) % 4 == 0,
    "complexes": (np.arange(6) * (1 + 1j / 3)).astype(np.complex64),
    "bytes": np.arange(256, dtype=np.uint8),
    "many floats": np.arange(101, dtype=np.float32),
    "many truths": np.arange(101) % 3 == 0,
    "many complexes": (np.arange(101) * (1 - 1j)).astype(np.complex64),
    "longs": np.array([2**62, -(2**63), 0]),
    "empty": np.zeros((0, 3), np.float32),
}.items():  # fmt: skip
    case(f"constant {name}", "", lambda v=value: array.as_array(v), lambda v=value: jax.numpy.asarray(v))


@pytest.mark.parametrize("name", CASES)
def test_text_is_what_jax_prints(name: str) -> None:
    types, ours, theirs = CASES[name]
    found = [type_of(text) for text in types.split()]
    with celadon.enable_x64(True):
        assert our_text(ours, found) == their_text(theirs, found)


@pytest.mark.parametrize("name", CASES)
def test_mlir_reads_the_text_and_prints_it_again(name: str) -> None:
    types, ours, _ = CASES[name]
    with celadon.enable_x64(True):
        text = our_text(ours, [type_of(text) for text in types.split()])
    assert parse(text) == text
