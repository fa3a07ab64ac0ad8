"""Why a call missed the cache and what it cost: events, warnings, log messages, and `jitted.explain()` as data."""

from __future__ import annotations

import itertools
import types
import weakref
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from celadon import errors, events, signature as signatures
from celadon.facade import Lazy
from celadon.settings import Setting
from celadon.signature import Difference, Signature

if TYPE_CHECKING:
    import logging

    from celadon.calling import Jit
    from celadon.stages import Entry
    from celadon.tables import Table
else:
    logging = Lazy("logging")

log_compiles = Setting("jax_log_compiles", False)
explain_cache_misses = Setting("jax_explain_cache_misses", False)
churn_limit = Setting("celadon_churn_limit", 50)

_RECENT = 16  # earlier calls that a miss is compared with
_definitions: weakref.WeakKeyDictionary[types.CodeType, weakref.ref[Any]] = weakref.WeakKeyDictionary()


def say(message: str) -> None:
    """Log a message under our name, and under JAX's when somebody listens there."""
    logging.getLogger("celadon").warning(message)
    other = logging.getLogger("jax")
    if other.handlers:
        other.warning(message)


warn = errors.warn


def missed(jitted: Jit, signature: Signature, table: Table) -> None:
    """A call is about to be traced: record the reason, and warn of what costs in silence."""
    difference = _reason(jitted, signature, table)
    table.misses.append(difference)
    events.record("miss", name=jitted.name, reason=difference, line=errors.user_line())
    if explain_cache_misses.value:
        say(f"TRACING CACHE MISS at {errors.user_line()} for {jitted.name}: {difference or 'never called before'}")
    _warn_identity(jitted, signature, table)
    _warn_churn(jitted, signature, table)


def _reason(jitted: Jit, signature: Signature, table: Table) -> Difference | None:
    earlier = [entry.signature for entry in _latest(table)]
    if not earlier:
        return _redefined(jitted)
    return signature.difference(_closest(signature, earlier))


def _closest(signature: Signature, earlier: Sequence[Signature]) -> Signature:
    """The latest of the earlier ones in which the fewest parts differ."""
    least, found = signature.distance(earlier[0]), earlier[0]
    for one in earlier[1:]:
        if least <= 1:
            break
        distance = signature.distance(one)
        if distance < least:
            least, found = distance, one
    return found


def _latest(table: Table) -> list[Entry]:
    return list(itertools.islice(reversed(table.entries.values()), _RECENT))


def _redefined(jitted: Jit) -> Difference | None:
    function = jitted.__wrapped__
    function = getattr(function, "__func__", function)
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    before = _definitions.get(code)
    _definitions[code] = weakref.ref(function)
    if before is None or before() is function:
        return None
    line = errors.describe(code.co_filename, code.co_firstlineno, code.co_name)
    hint = "a function defined anew for each call is a new key; define it once, outside the loop"
    return Difference("function", "", "another function", f"re-defined at {line}", hint)


def _warn_identity(jitted: Jit, signature: Signature, table: Table) -> None:
    for i, (name, value) in enumerate(signature.statics):
        if ("identity", name) in table.warned or not signatures.by_identity(value):
            continue
        if any(_twin(entry.signature, i, value) for entry in _latest(table)):
            table.warned.add(("identity", name))
            events.record("identity", name=jitted.name, argument=name, type=type(value).__name__)
            warn(
                errors.StaticByIdentityWarning(
                    argument=name, function=jitted.name, type=type(value).__name__, fields=signatures.fields_of(value)
                )
            )


def _twin(earlier: Signature, index: int, value: object) -> bool:
    return index < len(earlier.statics) and signatures.looks_equal(value, earlier.statics[index][1])


def _warn_churn(jitted: Jit, signature: Signature, table: Table) -> None:
    count = len(table.entries) + 1
    if count <= churn_limit.value or "churn" in table.warned:
        return
    table.warned.add("churn")
    axis = churning([entry.signature for entry in table.entries.values()] + [signature])
    warn(errors.ChurnWarning(function=jitted.name, count=count, axis=axis))


def warn_mutated(function: str, argument: str, value: object, before: dict[str, Any]) -> None:
    """Warn that a static object changed after its trace."""
    now = signatures.fields_of(value)
    warn(
        errors.StaticMutatedWarning(
            argument=argument, function=function, type=type(value).__name__, before=before, after=now
        )
    )


def distinct(all_signatures: Sequence[Signature]) -> dict[str, int]:
    """How many values each static argument, and how many types each traced leaf took."""
    seen: dict[str, set[object]] = {}
    for one in all_signatures:
        for (name, _), key in zip(one.statics, one.keys, strict=True):
            seen.setdefault(name, set()).add(key)
        for name, leaf in zip(one.names, one.types, strict=True):
            seen.setdefault(name, set()).add(leaf)
    return {name: len(values) for name, values in seen.items()}


def churning(all_signatures: Sequence[Signature]) -> str:
    """The argument that took the most values, in words."""
    counts = distinct(all_signatures)
    if not counts:
        return "the tree of the arguments"
    name = max(counts, key=lambda key: counts[key])
    static = any(name == one for one, _ in all_signatures[-1].statics)
    return f"{'static argument ' if static else ''}{name} took {counts[name]} {'values' if static else 'types'}"


def compiled(jitted: Jit, entry: Entry, table: Table) -> None:
    """An entry was made: log its stages if asked to."""
    entry.costs.trace = entry.traced.seconds
    if not log_compiles.value:
        return
    signature_list = [one.signature for one in table.entries.values()] + [entry.signature]
    counts = distinct(signature_list)
    statics = ", ".join(f"{name}: {counts[name]} values" for name, _ in entry.signature.statics)
    costs, name = entry.costs, jitted.name
    say(f"Finished tracing {name} for jit in {costs.trace:.6f} sec")
    say(f"Finished lowering of {name} (MLIR text is printed on demand) and binding in {costs.lower:.6f} sec")
    how = "compiled now" if costs.compiled else "reused machine code of the same structure"
    say(f"Finished compilation of {name} in {costs.compile:.6f} sec ({how}){'; ' + statics if statics else ''}")


class Explanation(NamedTuple):
    """One function's entries, distinct values by argument, the reason of each miss, and seconds by stage."""

    function: str
    entries: int
    distinct: dict[str, int]
    misses: tuple[Difference | None, ...]
    trace_seconds: float
    lower_seconds: float
    compile_seconds: float
    compiles: int

    @staticmethod
    def of(name: str, table: Table) -> Explanation:
        entries = list(table.entries.values())
        costs = [entry.costs for entry in entries]
        return Explanation(
            name, len(entries), distinct([entry.signature for entry in entries]), tuple(table.misses),
            sum(c.trace for c in costs), sum(c.lower for c in costs), sum(c.compile for c in costs),
            sum(c.compiled for c in costs),
        )  # fmt: skip

    def __str__(self) -> str:
        kinds = Counter(difference.kind if difference else "first call" for difference in self.misses)
        reasons = ", ".join(f"{count} x {kind}" for kind, count in kinds.items())
        values = ", ".join(f"{name}: {count}" for name, count in self.distinct.items())
        seconds = f"trace {1e3 * self.trace_seconds:.2f} ms, lower {1e3 * self.lower_seconds:.2f} ms"
        return (
            f"{self.function}: {self.entries} entries, {self.compiles} compiled\n"
            f"  distinct values: {values}\n  misses: {reasons}\n"
            f"  {seconds}, compile {1e3 * self.compile_seconds:.2f} ms"
        )
