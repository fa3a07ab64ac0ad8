"""Rules of calls, branches, loops, and of what orders effects, which has no value."""

from __future__ import annotations

from typing import Any

from celadon import lax
from celadon.op import registry as op
from celadon.program import fixed
from celadon.types import int32
from tests.stablehlo.reader import Site, rule


@rule("func.call")
def call(site: Site, *operands: Any) -> Any:
    return _results(site, site.reader.call(site.number("callee"), operands))


@rule("stablehlo.composite")
def composite(site: Site, *operands: Any) -> Any:
    return _results(site, site.reader.call(site.number("decomposition"), operands))


def _results(site: Site, found: Any) -> Any:
    return found[0] if len(site.op.results) == 1 else list(found)


@rule("stablehlo.if")
def if_(site: Site, holds: Any) -> Any:
    yes, no = (_branch(site, i) for i in range(2))
    return _results(site, lax.cond(holds, yes, no))


@rule("stablehlo.case")
def case(site: Site, index: Any) -> Any:
    """An index outside takes the last branch."""
    count = len(site.op.regions)
    low, high = (op["compare"](index, fixed(n, int32), direction=word) for n, word in ((0, "LT"), (count, "GE")))
    place = op["select"](op["or"](low, high), fixed(count - 1, int32), index)
    return _results(site, lax.switch(place, [_branch(site, i) for i in range(count)]))


def _branch(site: Site, index: int) -> Any:
    region = site.region(index)
    return lambda: tuple(region())


@rule("stablehlo.while")
def while_(site: Site, *operands: Any) -> Any:
    condition, body = site.region(0), site.region(1)
    found = lax.while_loop(lambda carry: condition(*carry)[0], lambda carry: tuple(body(*carry)), tuple(operands))
    return _results(site, found)


@rule("stablehlo.after_all", "stablehlo.create_token")
def token(site: Site, *operands: Any) -> Any:
    return None
