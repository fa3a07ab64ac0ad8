"""Rules of what devices do together, of which there is one: it has everything already."""

from __future__ import annotations

from typing import Any

from celadon.op import registry as op
from celadon.program import fixed
from tests.stablehlo.elements import Unreadable, constant_of
from tests.stablehlo.reader import Site, rule, type_of


@rule("stablehlo.partition_id", "stablehlo.replica_id")
def own_number(site: Site) -> Any:
    return op["broadcast_in_dim"](fixed(0, site.dtype()), shape=(), broadcast_dimensions=())


@rule(
    "stablehlo.all_reduce", "stablehlo.all_gather", "stablehlo.all_to_all", "stablehlo.reduce_scatter",
    "stablehlo.cross-replica-sum",
)  # fmt: skip
def together(site: Site, *operands: Any) -> Any:
    _alone(site, "replica_groups")
    return operands[0] if len(operands) == 1 else list(operands)


@rule("stablehlo.collective_permute")
def collective_permute(site: Site, x: Any) -> Any:
    """What nobody sends is zero."""
    return x if _alone(site, "source_target_pairs") else _zeros(x)


@rule("stablehlo.collective_broadcast")
def collective_broadcast(site: Site, x: Any) -> Any:
    return x if _alone(site, "replica_groups") else _zeros(x)


def _alone(site: Site, name: str) -> bool:
    """Whether the device is named; no other may be."""
    found = constant_of(site.op, name) if site.has(name) else None
    if found is not None and (found > 0).any():
        raise Unreadable(f"{site.name} of several devices")
    return found is None or bool((found == 0).any())


def _zeros(x: Any) -> Any:
    type = type_of(x)
    return op["broadcast_in_dim"](fixed(0, type.dtype), shape=type.shape, broadcast_dimensions=())
