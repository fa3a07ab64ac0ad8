"""The IR emitter: names, shared values, constants, calls put in place or out of line, and modules that LLVM accepts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from celadon.cpu import elementwise, ir, llvm, math_exponential
from celadon.cpu.elements import Element
from celadon.cpu.ir import INLINED_AT_MOST, Function, Value
from celadon.cpu.kinds import FULL, Target, literal
from tests.cpu import flat


def unary(kind: str = "f32", lanes: int = 8) -> tuple[Function, Value]:
    f = Function("f", [(kind, lanes)], (kind, lanes), external=True)
    return f, f.parameters[0]


def test_equal_text_in_one_block_is_one_value() -> None:
    f, x = unary()
    assert (x + 1.0) is (x + 1.0)
    first = x * 2.0
    f.label("next")
    assert (x * 2.0) is not first


def test_loads_are_never_shared() -> None:
    f, p = unary("ptr", 1)
    assert f.load(p, "f32") is not f.load(p, "f32")


@pytest.mark.parametrize(
    ("kind", "number", "text"),
    [
        ("f32", 0.1, "0x3FB99999A0000000"),
        ("f64", 0.1, "0x3FB999999999999A"),
        ("f64", float("-inf"), "0xFFF0000000000000"),
        ("i8", 255, "-1"),
        ("i64", -(2**63), "-9223372036854775808"),
        ("i1", True, "true"),
    ],
)
def test_literals(kind: str, number: Any, text: str) -> None:
    assert literal(kind, number) == text


def compiled(f: Function) -> str:
    text = ir.module([f])
    assert llvm.compile_text(text)
    return text


def test_every_operation_is_valid() -> None:
    f = Function("f", [("ptr", 1), ("i64", 1)], external=True)
    p, i = f.parameters
    x = f.load(f.gep(p, i, "f32"), "f32", 8)
    mask = (x > 0.0) & ~x.is_nan() & (f.splat(i.convert("trunc", "i32"), 8) + f.lane_numbers("i32", 8) < 5)
    y = mask.select(-x, x.fma(2.0, x).sqrt()).copysign(x) / x.abs() - x.polynomial([1.0, 2.0, 3.0])
    y = y + f.masked_load(p, mask, "f32") + (x.bits() << 3 ^ x.bits() >> 2 | 1).floats()
    y = f.rarely(mask, y, lambda: y * 3.0)
    f.masked_store(y, p, mask)
    f.store(f.shuffle(y, x, [0, 8, 1, 9]), p)
    f.store(f.insert(y, f.extract(x, 3), 2), p, align=32)
    table = f.table("f64", [1.0, 2.0])
    f.store(f.load(table, "f64"), p)
    f.returns()
    text = compiled(f)
    assert text.count("internal constant [2 x double]") == 1


def test_few_calls_are_put_in_place_and_many_are_one_function() -> None:
    def chain(count: int) -> str:
        f, x = unary()
        for _ in range(count):
            x = math_exponential.exponential(x)
        f.returns(x)
        return compiled(f)

    assert "@exponential.v8f32" not in chain(INLINED_AT_MOST)
    assert chain(INLINED_AT_MOST + 1).count("define internal fastcc") == 1


@pytest.mark.parametrize("name", ["exponential", "tanh", "log", "erf_inv"])
def test_bits_are_the_same_in_place_and_out_of_line(name: str) -> None:
    x = np.random.default_rng(0).normal(0, 1, 4096).astype(np.float32)

    def repeated(count: int) -> flat.Flat:
        def rule(e: Element) -> Element:
            results = [elementwise.emit(name, [_with(e, k)], ["f32"], "f32", {}) for k in range(count)]
            return results[0]

        return flat.Flat(rule, ["f32"], "f32")

    few, many = repeated(1), repeated(INLINED_AT_MOST + 1)
    assert few.function.callees() == [] and len(many.function.callees()) == 1
    np.testing.assert_array_equal(few(x).view(np.int32), many(x).view(np.int32))


def _with(x: Element, k: int) -> Value:
    assert isinstance(x, Value)
    return x if k == 0 else x + float(k)


def test_the_last_result_is_what_a_call_gives() -> None:
    f, x = unary()
    f.returns(math_exponential.exponential(x) + math_exponential.exponential(-x))
    assert compiled(f).count("ret <8 x float>") == 1


@pytest.mark.parametrize(
    ("triple", "features", "expected"),
    [
        ("x86_64-unknown-linux-gnu", "+sse4.1,+avx", Target(fma=False, half=False, rounding=True)),
        ("x86_64-apple-darwin", "+sse2", Target(fma=False, half=False, rounding=False)),
        ("aarch64-unknown-linux-gnu", "+neon", FULL),
    ],
)
def test_target(triple: str, features: str, expected: Target) -> None:
    assert Target.of(triple, features) == expected


@pytest.mark.parametrize("kind", ["f32", "f64"])
def test_multiply_add_without_the_instruction(kind: str) -> None:
    """In float64 exact products and sums: right to the last bit on ordinary numbers, as integers of Python say."""
    dtype = np.float32 if kind == "f32" else np.float64
    x, y = np.random.default_rng(1).uniform(1, 2, (2, 2000)).astype(dtype)
    z = -(x * y)

    def rule(a: Value, b: Value, c: Value) -> Value:
        return a.fma(b, c)

    plain, fused = (flat.Flat(rule, [kind] * 3, kind, target=t) for t in (Target(False, False, False), FULL))
    np.testing.assert_array_equal(plain(x, y, z), fused(x, y, z))
    assert np.count_nonzero(plain(x, y, z)) > 1000
