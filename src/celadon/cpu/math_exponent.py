"""Powers by one exponent for all elements come in: what is known of it is found ahead of the loop, which then branches by it."""

from __future__ import annotations

from collections.abc import Callable

from celadon.cpu import elements, elementwise
from celadon.cpu.elements import Element
from celadon.cpu.ir import Function, Value
from celadon.cpu.math_power import PLAIN_EXPONENTS, plain_product, plain_root, power

Chosen = tuple[Value, Value]  # which of the plain exponents it is, counted from 1, or 0; and the exponent in every lane


def chosen(y: Value, lanes: int) -> Chosen:
    """What `power_by` takes for an exponent."""
    f, choice = y.function, y.function.constant("i32", 0)
    for k, exponent in enumerate(PLAIN_EXPONENTS, 1):
        choice = y.equals(exponent).select(k, choice)
    return choice, f.splat(y, lanes)


def power_by(x: Value, by: Chosen) -> Value:
    """The bits of `power`, by less work for exponents that need less."""
    f, (choice, y) = x.function, by
    products = len(PLAIN_EXPONENTS) - 2
    return _either(
        f, choice.equals(0), lambda: power(x, y),
        lambda: _either(
            f, choice.compare("sle", products),
            lambda: plain_product(x, choice.equals(1), choice.equals(2)),
            lambda: _either(f, choice.equals(products + 1), lambda: 1.0 / x, lambda: plain_root(x)),
        ),
    )  # fmt: skip


def _either(f: Function, condition: Value, yes: Callable[[], Value], no: Callable[[], Value]) -> Value:
    """One of two values, of which the other is not computed."""
    first, second, done = (f.fresh(word) for word in ("first", "second", "done"))
    f.branch(condition, first, second)
    arms: list[tuple[Value, str]] = []
    for label, make in ((first, yes), (second, no)):
        f.label(label)
        arms.append((make(), f.block))
        f.jump(done)
    f.label(done)
    value = arms[0][0]
    return f.phi(value.kind, value.lanes, arms)


def whole_power(x: Element, n: Value, dtype: str) -> Element:
    """x multiplied by itself, n times in all, by squaring; n is one number for all lanes, or one for each; 0 if below."""
    f, n = n.function, (n > 0).select(n, 0)
    [base], before, head, done = elements.parts([x]), f.block, f.fresh("square"), f.fresh("done")
    one = f.constant(base.kind, 1, base.lanes)
    f.jump(head)
    f.label(head)
    at = len(f.lines)
    left, square, product = f.new("", n.kind, n.lanes), f.new("", base.kind, base.lanes), f.new("", base.kind, base.lanes)
    found = _product(product, (left & 1).equals(1).select(square, one), dtype)
    rest, squared = left >> 1, _product(square, square, dtype)
    pairs = [(left, n, rest), (square, base, squared), (product, one, found)]
    for k, (value, first, then) in enumerate(pairs):
        f.lines[at + k] = f"  {value.text} = phi {value.type} [ {first.text}, %{before} ], [ {then.text}, %{f.block} ]"
    f.branch(f.any(rest.compare("sgt", 0)), head, done)
    f.label(done)
    return found


def _product(x: Value, y: Value, dtype: str) -> Value:
    found = elementwise.emit("multiply", [x, y], [dtype] * 2, dtype, {})
    assert isinstance(found, Value)
    return found
