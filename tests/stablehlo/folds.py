"""Rules of ops whose regions combine elements: reductions, windows, and the scatter of what windows select."""

from __future__ import annotations

from typing import Any

from celadon.op import registry as op
from tests.stablehlo.elements import Unreadable
from tests.stablehlo.reader import Site, rule, scalar, type_of


@rule("stablehlo.reduce")
def reduce(site: Site, *operands: Any) -> Any:
    count = len(operands) // 2
    body = site.body([scalar(x) for x in operands])
    found = op["reduce"](*operands, axes=site.ints("dimensions"), body=body)
    return found[0] if count == 1 else found


@rule("stablehlo.reduce_window")
def reduce_window(site: Site, *operands: Any) -> Any:
    rank = type_of(operands[0]).ndim
    ones = (1,) * rank
    found = op["reduce_window"](
        *operands, body=site.body([scalar(x) for x in operands]), window_dimensions=site.ints("window_dimensions"),
        window_strides=site.ints("window_strides", ones), base_dilations=site.ints("base_dilations", ones),
        window_dilations=site.ints("window_dilations", ones), padding=site.pairs("padding", rank),
    )  # fmt: skip
    return found[0] if len(operands) == 2 else found


@rule("stablehlo.select_and_scatter")
def select_and_scatter(site: Site, x: Any, source: Any, start: Any) -> Any:
    rank, pair = type_of(x).ndim, [scalar(x)] * 2
    ones = (1,) * rank
    return op["select_and_scatter"](
        x, source, start, select=site.body(pair), scatter=site.body(pair, 1),
        window_dimensions=site.ints("window_dimensions", ones), window_strides=site.ints("window_strides", ones),
        padding=site.pairs("padding", rank),
    )[0]  # fmt: skip


@rule("chlo.scan")
def scan(site: Site, *operands: Any) -> Any:
    """From the first element of an axis to the last, or back; the region takes one of each array and what is carried."""
    from celadon import lax

    carried = len(operands) - site.number("scan_inputs", len(operands) // 2) if site.has("scan_inputs") else _inits(site)
    inputs, inits = operands[: len(operands) - carried], operands[len(operands) - carried :]
    axis, region = site.number("dimension"), site.region()
    moved = tuple(_moved(x, axis, 0) for x in inputs)

    def step(carry: Any, elements: Any) -> Any:
        made = region(*elements, *carry)
        return tuple(made[len(made) - carried :]), tuple(made[: len(made) - carried])

    carry, stacked = lax.scan(step, tuple(inits), moved, reverse=bool(site.number("is_reverse", False)))
    return [*(_moved(x, 0, axis) for x in stacked), *carry]


def _inits(site: Site) -> int:
    sizes = site.ints("operandSegmentSizes")
    if len(sizes) != 2:
        raise Unreadable("a scan without the number of its initial values")
    return sizes[1]


def _moved(x: Any, source: int, target: int) -> Any:
    order = [i for i in range(type_of(x).ndim) if i != source]
    order.insert(target, source)
    return op["transpose"](x, permutation=tuple(order))
