"""Rules of CHLO's ops whose operands are broadcast to each other's shapes."""

from __future__ import annotations

from typing import Any

from celadon.op import registry as op
from tests.stablehlo.reader import Site, rule, rules, type_of

NAMES = (
    "add", "and", "atan2", "complex", "divide", "maximum", "minimum", "multiply", "next_after", "or", "polygamma", "power",
    "remainder", "shift_left", "shift_right_arithmetic", "shift_right_logical", "subtract", "xor", "zeta",
)  # fmt: skip


def _broadcast(site: Site, *operands: Any) -> Any:
    return op[site.name.removeprefix("broadcast_")](*_spread(site, *operands))


rules.update({f"chlo.broadcast_{name}": _broadcast for name in NAMES})


@rule("chlo.broadcast_compare")
def broadcast_compare(site: Site, x: Any, y: Any) -> Any:
    total = {"total_order": True} if site.word("compare_type") == "TOTALORDER" else {}
    return op["compare"](*_spread(site, x, y), direction=site.word("comparison_direction"), **total)


@rule("chlo.broadcast_select")
def broadcast_select(site: Site, *operands: Any) -> Any:
    return op["select"](*_spread(site, *operands))


def _spread(site: Site, *operands: Any) -> list[Any]:
    """The operands in the shape of the result: axes of extent 1 are repeated, and so are axes in front that one of lower rank
    lacks, unless the op says where its own are."""
    rank = max(type_of(x).ndim for x in operands)
    named = site.ints("broadcast_dimensions") if site.has("broadcast_dimensions") else None
    places = [_places(type_of(x).ndim, rank, named) for x in operands]
    extents = [1] * rank
    for x, own in zip(operands, places, strict=True):
        for n, axis in zip(type_of(x).shape, own, strict=True):
            extents[axis] = n if n != 1 else extents[axis]
    return [
        op["broadcast_in_dim"](x, shape=tuple(extents), broadcast_dimensions=own) for x, own in zip(operands, places, strict=True)
    ]


def _places(ndim: int, rank: int, named: tuple[int, ...] | None) -> tuple[int, ...]:
    return named if named is not None and ndim < rank else tuple(range(rank - ndim, rank))
