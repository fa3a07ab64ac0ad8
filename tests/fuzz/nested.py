"""Random calls of ops that hold programs or functions, or speak of named axes; each is written as text, which is what runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import celadon
import celadon.experimental
import celadon.numpy as cnp
from celadon import ad_checkpoint, lax, transforms
from celadon.experimental import checkify
from celadon.op import registry
from celadon.types import DType, from_short, kind, short_name
from tests.fuzz.draw import Draw, Shape
from tests.fuzz.trees import Leaf, Node, Part

NAMES: dict[str, Any] = {
    "op": registry, "np": np, "cnp": cnp, "lax": lax, "celadon": celadon, "transforms": transforms, "checkify": checkify,
    "ad_checkpoint": ad_checkpoint, "from_short": from_short, "batched": celadon.custom_batching,
    "experimental": celadon.experimental,
}  # fmt: skip
DTYPES = ("f32", "f32", "f64", "i32", "u8", "i64", "bool", "bf16", "f16")


def written(name: str, text: str, inputs: Sequence[Part], params: dict[str, Any] | None = None) -> Node:
    """The node of a function's text."""
    return Node(name, eval(text, dict(NAMES)), list(inputs), params or {}, f"({text})")


def expression(draw: Draw, names: Sequence[str], dtype: DType, depth: int = 2) -> str:
    """Of values of one shape and dtype, exact ops only."""
    if not depth or draw.chance(0.2):
        return draw.pick(names)
    x, y = (expression(draw, names, dtype, depth - 1) for _ in range(2))
    if kind(dtype) == "b":
        return draw.pick((f'op["and"]({x}, {y})', f'op["xor"]({x}, {y})', f'op["or"](op["not"]({x}), {y})'))
    if draw.chance(0.2):
        return f'op["select"](op["compare"]({x}, {y}, direction="LE"), {x}, {y})'
    return f'op["{draw.pick(("add", "subtract", "multiply", "maximum", "minimum"))}"]({x}, {y})'


def _operands(draw: Draw, count: int, most: int = 4, front: Shape = ()) -> tuple[list[Part], DType]:
    shape, dtype = draw.shape(most=most), from_short[draw.pick(DTYPES)]
    return [draw.operand((*front, *shape), dtype) for _ in range(count)], dtype


def cond(draw: Draw, name: str) -> Node:
    inputs, dtype = _operands(draw, 2)
    pairs = [[expression(draw, "xy", dtype) for _ in range(2)] for _ in range(draw.whole(1, 3))]
    branches = [f"lambda x, y: ({first}, {second})" for first, second in pairs]
    index = Leaf(np.array(value := draw.whole(-2, 4), np.int32), f"np.array({value}, np.int32)")
    return written(name, f"lambda i, x, y: lax.switch(i, [{', '.join(branches)}], x, y)", [index, *inputs])


def while_loop(draw: Draw, name: str) -> Node:
    inputs, dtype = _operands(draw, 3)
    first, second = (expression(draw, ("x", "y", "z"), dtype) for _ in range(2))
    body = f'lambda s: (s[0] + 1, *(lambda x, y: ({first}, {second}))(s[1], s[2]))'
    count = draw.whole(0, 5)
    return written(name, f"lambda x, y, z: lax.while_loop(lambda s: s[0] < {count}, {body}, (np.int32(0), x, y))", inputs)


def scan(draw: Draw, name: str) -> Node:
    length = draw.pick((0, 1, 2, 3, 7, 17))
    shape, dtype = draw.shape(most=3), from_short[draw.pick(DTYPES)]
    inputs = [draw.operand(shape, dtype), draw.operand(shape, dtype), draw.operand((length, *shape), dtype)]
    first, second = (expression(draw, ("c", "x", "z"), dtype) for _ in range(2))
    text = f"lambda z, c, xs: lax.scan(lambda c, x: ({first}, {second}), c, xs, reverse={draw.chance(0.5)})"
    return written(name, text, inputs)


def _wrapped(wrapper: str) -> Any:
    """A function in a wrapper."""

    def make(draw: Draw, name: str) -> Node:
        inputs, dtype = _operands(draw, 2)
        function = f"lambda x, y: {expression(draw, 'xy', dtype)}"
        return written(name, f"lambda x, y: {wrapper.format(function)}(x, y)", inputs)

    return make


def _by_rule(wrapper: str, rule: str) -> Any:
    """A function with a rule of the user's, which is only asked for under a transform."""

    def make(draw: Draw, name: str) -> Node:
        inputs, dtype = _operands(draw, 2)
        function = f"(f := {wrapper}(lambda x, y: {expression(draw, 'xy', dtype)}))"
        return written(name, f"lambda x, y: ({function}, f.{rule}, f(x, y))[-1]", inputs)

    return make


def callback(draw: Draw, name: str) -> Node:
    inputs, _ = _operands(draw, 2)
    like = "celadon.ShapeDtypeStruct(x.shape, x.dtype)"
    package = "experimental.io_callback" if name == "io_callback" else "celadon.pure_callback"
    return written(name, f"lambda x, y: {package}(lambda x, y: np.where(x == y, x, y), {like}, x, y)", inputs)


def debug_callback(draw: Draw, name: str) -> Node:
    inputs, _ = _operands(draw, 1)
    return written(name, "lambda x: (celadon.debug.callback(lambda x: None, x), x)[1]", inputs)


def check(draw: Draw, name: str) -> Node:
    inputs, _ = _operands(draw, 1)
    inner = "lambda x: (checkify.check(cnp.all(x == x), 'a NaN'), x)[1]"
    return written(name, f"lambda x: checkify.checkify({inner})(x)[1]", inputs)


def named(draw: Draw, name: str) -> Node:
    inputs, _ = _operands(draw, 1)
    return written(name, "lambda x: ad_checkpoint.checkpoint_name(x, 'kept')", inputs)


def linear_solve(draw: Draw, name: str) -> Node:
    shape, dtype = draw.shape(most=3), draw.pick((from_short["f32"], from_short["f64"]))
    inputs = [draw.operand(shape, dtype), draw.operand(shape, dtype)]
    solve = "lambda _, y: y / d"
    return written(name, f"lambda d, b: lax.custom_linear_solve(lambda x: d * x, b, {solve}, {solve})", inputs)


def barrier(draw: Draw, name: str) -> Node:
    inputs = [draw.operand(draw.shape(), draw.dtype()) for _ in range(draw.whole(1, 3))]
    return draw.node(name, inputs, draw.whole(0, len(inputs) - 1))


COLLECTIVES = {
    "psum": "lax.psum(x, 'members')", "pmax": "lax.pmax(x, 'members')", "pmin": "lax.pmin(x, 'members')",
    "axis_index": "x + cnp.asarray(lax.axis_index('members'), x.dtype)",
    "all_gather": "lax.all_gather(x, 'members', axis={axis})",
    "psum_scatter": "lax.psum_scatter(x, 'members', scatter_dimension=0)",
    "ppermute": "lax.ppermute(x, 'members', {turn})", "all_to_all": "lax.all_to_all(x, 'members', 0, {axis})",
}  # fmt: skip


def collective(draw: Draw, name: str) -> Node:
    members = draw.pick((1, 2, 3, 5))
    cut = name in ("psum_scatter", "all_to_all")
    shape = (members, *([members] if cut else []), *draw.shape(most=3))
    dtype = from_short[draw.pick(("f32", "i32", "f64", "u8"))]
    turn = [(i, (i + 1) % members) for i in range(members)]
    inner = COLLECTIVES[name].format(axis=draw.whole(0, len(shape) - (2 if cut else 1)), turn=turn)
    return written(name, f"celadon.vmap(lambda x: {inner}, axis_name='members')", [draw.operand(shape, dtype)])


MAKERS: dict[str, Any] = {
    "cond": cond, "while_loop": while_loop, "scan": scan, "call": _wrapped("celadon.jit({})"),
    "checkpoint": _wrapped("celadon.checkpoint({})"), "optimization_barrier": barrier, "name": named, "check": check,
    "custom_jvp": _by_rule("transforms.custom_jvp", "defjvp(lambda p, t: (p[0] * p[1], t[0]))"),
    "custom_vjp": _by_rule("transforms.custom_vjp", "defvjp(lambda x, y: (x * y, x), lambda kept, ct: (ct, ct))"),
    "custom_vmap": _by_rule("batched.custom_vmap", "def_vmap(lambda size, batched, x, y: (x * y, True))"),
    "pure_callback": callback, "io_callback": callback, "debug_callback": debug_callback, "linear_solve": linear_solve,
}  # fmt: skip
KINDS: dict[str, Any] = {"collective": collective}
__all__ = ["KINDS", "MAKERS", "short_name"]
