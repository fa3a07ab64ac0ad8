"""What may fail in each op, and how ops with bodies hand the state of checks through them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from celadon.program import Program, fixed, literal
from celadon.tracing import outside
from celadon.transforms.checks import Checked, CheckedRule, Checks, checked, rules, types_of, unchecked
from celadon.transforms.replay import replay
from celadon.transforms.scan_rules import arranged
from celadon.types import ArrayType, int32, is_inexact
from celadon.vocabulary.arithmetic import remainder
from celadon.vocabulary.bitwise import or_
from celadon.vocabulary.bodies import traced
from celadon.vocabulary.check import DivisionByZeroError, Faults, NaNError, OOBError
from celadon.vocabulary.comparison import compare, select
from celadon.vocabulary.control import parts
from celadon.vocabulary.conversion import convert
from celadon.vocabulary.index import dynamic_slice
from celadon.vocabulary.reduce import reduce_min, reduce_or
from celadon.vocabulary.scatter import windows
from celadon.vocabulary.shape import broadcast_in_dim, concatenate, iota, reshape

if TYPE_CHECKING:
    from celadon.op import Op

Values = Sequence[Any]
Params = dict[str, Any]
Where = tuple[str, Sequence[int]]  # an op, and the shape of the array that it indexes


def _any(x: Any) -> Any:
    return reduce_or(x, axes=tuple(range(x.type.ndim))) if x.type.ndim else x


def _check(checks: Checks, op: Op, operands: Values, params: Params) -> list[Any]:
    """Checks of a kind that was not asked for are dropped."""
    faults: Faults = params["faults"]
    wanted = [number for number, one in faults.sites if one.category in checks.enabled]
    if not wanted:
        return []
    code, *values = operands
    if len(wanted) < len(faults.sites):
        among = functools.reduce(or_, [compare(code, literal(number, int32), direction="EQ") for number in wanted])
        code = select(among, code, fixed(0, int32))
    checks.state.sites |= {number: one for number, one in faults.sites if number in wanted}
    checks.state.take(code, dict(zip(faults.kinds, faults.split(values), strict=True)))
    return []


# NaN, zero divisors


_MAKES_NAN = """
    acos acosh add asin asinh atan atan2 atanh bessel_i0e bessel_i1e cbrt convolution cosh cosine cumlogsumexp cummax cummin
    cumprod cumsum digamma dot_general erf erf_inv erfc exp2 exponential exponential_minus_one integer_pow lgamma linear_solve
    log log_plus_one logistic multiply pad polygamma power psum reduce reduce_prod reduce_sum reduce_window remainder rsqrt
    sine sinh sqrt square subtract tan tanh zeta
"""


def _nan(checks: Checks, op: Op, operands: Values, params: Params) -> Any:
    out = op(*operands, **params)
    _note_nan(checks, op, out if op.multiple else [out])
    return out


def _note_nan(checks: Checks, op: Op, results: Values) -> None:
    inexact = [x for x in results if is_inexact(x.type.dtype)]
    if NaNError in checks.enabled and inexact:
        bad = functools.reduce(or_, [_any(compare(x, x, direction="NE")) for x in inexact])
        checks.failed(bad, NaNError, f"NaN came out of the op {op.name}")


def _divide(checks: Checks, op: Op, operands: Values, params: Params) -> Any:
    if DivisionByZeroError in checks.enabled:
        y = operands[1]
        zero = compare(y, fixed(0, y.type.dtype), direction="EQ")
        checks.failed(_any(zero), DivisionByZeroError, "division by zero")
    return _nan(checks, op, operands, params)


# Indices


def _note_index(checks: Checks, where: Where, indices: Any, axes: Sequence[int], limits: Sequence[int]) -> None:
    """Note an index below 0 or above its limit; `indices` has along its last axis one for each of `axes`."""
    (op, shape), size = where, indices.type.size
    if OOBError not in checks.enabled or not size:
        return
    dtype = indices.type.dtype
    most = np.minimum(limits, np.iinfo(dtype).max).astype(dtype)
    last = broadcast_in_dim(_array(most), shape=indices.type.shape, broadcast_dimensions=(indices.type.ndim - 1,))
    outside_of = or_(compare(indices, fixed(0, dtype), direction="LT"), compare(indices, last, direction="GT"))
    flat = reshape(outside_of, shape=(size,))
    numbers = iota(shape=(size,), dtype=int32, dimension=0)
    first = reduce_min(select(flat, numbers, literal(size - 1, int32)), axes=(0,))
    index = convert(_element(reshape(indices, shape=(size,)), first), new_dtype=int32)
    column = remainder(first, literal(len(axes), int32))
    axis, extent = (_element(_array(np.array(x, np.int32)), column) for x in (axes, [shape[i] for i in axes]))
    text = f"index {{0}} is out of bounds for axis {{1}} with size {{2}} of an array of shape {tuple(shape)}, in the op {op}"
    checks.failed(_any(outside_of), OOBError, text, [index, axis, extent])


def _array(x: Any) -> Any:
    return outside.as_array(x)


def _element(x: Any, index: Any) -> Any:
    return reshape(dynamic_slice(x, index, slice_sizes=(1,)), shape=())


def _column(starts: Values) -> Any:
    rows = [reshape(x, shape=(1,)) for x in starts]
    return concatenate(*rows, dimension=0) if len(rows) > 1 else rows[0]


def _dynamic_slice(checks: Checks, op: Op, operands: Values, params: Params) -> Any:
    _note_starts(checks, op.name, operands[0].type.shape, operands[1:], params["slice_sizes"])
    return op(*operands, **params)


def _dynamic_update_slice(checks: Checks, op: Op, operands: Values, params: Params) -> Any:
    _note_starts(checks, op.name, operands[0].type.shape, operands[2:], operands[1].type.shape)
    return op(*operands, **params)


def _note_starts(checks: Checks, op: str, shape: Sequence[int], starts: Values, sizes: Sequence[int]) -> None:
    if starts and OOBError in checks.enabled:
        limits = [n - size for n, size in zip(shape, sizes, strict=True)]
        _note_index(checks, (op, shape), _column(starts), range(len(shape)), limits)


def _gather(checks: Checks, op: Op, operands: Values, params: Params) -> Any:
    shape, axes = operands[0].type.shape, params["start_index_map"]
    limits = [shape[i] - params["slice_sizes"][i] for i in axes]
    _note_index(checks, (op.name, shape), operands[1], axes, limits)
    return op(*operands, **params)


def _scatter(checks: Checks, op: Op, operands: Values, params: Params) -> Any:
    x, indices, updates = operands
    shape, axes = x.type.shape, params["scatter_dims_to_operand_dims"]
    sizes = windows(shape, updates.type.shape, params)
    _note_index(checks, (op.name, shape), indices, axes, [shape[i] - sizes[i] for i in axes])
    return _nan(checks, op, operands, params)


# Ops with bodies


def _settled(checks: Checks, *programs: Program) -> list[Checked]:
    """Checked programs whose states all have room for the same kinds, those of the present state included."""
    while True:
        kinds = checks.state.faults.kinds
        found = [checked(program, checks.enabled, kinds) for program in programs]
        for one in found:
            checks.state.widen(one.faults)
        if checks.state.faults.kinds == kinds:
            return found


def _has_sites(found: Sequence[Checked]) -> bool:
    return any(one.faults.sites for one in found)


def _follow(checks: Checks, found: Sequence[Checked], results: Values) -> list[Any]:
    sites = {number: one for each in found for number, one in each.faults.sites}
    return checks.state.follow(Faults(found[0].faults.kinds, tuple(sites.items())), results)


def _call(checks: Checks, op: Op, operands: Values, params: Params) -> list[Any]:
    found = checked(params["program"], checks.enabled, checks.state.faults.kinds)
    if not found.faults.sites:
        return op(*operands, **params)
    return _follow(checks, [found], op(*checks.state.flat(), *operands, program=found.program))


def _checkpoint(checks: Checks, op: Op, operands: Values, params: Params) -> list[Any]:
    """The state stands with what the function closes over."""
    found = checked(params["program"], checks.enabled, checks.state.faults.kinds)
    if not found.faults.sites:
        return op(*operands, **params)
    state = checks.state.flat()
    given, held = params["options"]
    options = given, held + len(state)
    return _follow(checks, [found], op(*state, *operands, program=found.program, options=options))


def _custom(checks: Checks, op: Op, operands: Values, params: Params) -> list[Any]:
    """The rule leaves the state as it is."""
    [found] = _settled(checks, params["program"])
    if not found.faults.sites:
        return op(*operands, **params)
    state, held = checks.state.flat(), params["held"]
    count = len(state)
    order = [*range(count, count + held), *range(count), *range(count + held, len(found.program.inputs))]
    program = arranged(found.program, order, range(len(found.program.outputs)))
    rule = CheckedRule(params["rule"], checks.enabled, checks.state.faults)
    results = op(*operands[:held], *state, *operands[held:], program=program, rule=rule, held=held)
    return _follow(checks, [found], results)


def _cond(checks: Checks, op: Op, operands: Values, params: Params) -> list[Any]:
    found = _settled(checks, *params["branches"])
    if not _has_sites(found):
        return op(*operands, **params)
    branches = tuple([one.program for one in found])
    return _follow(checks, found, op(operands[0], *checks.state.flat(), *operands[1:], branches=branches))


def _scan(checks: Checks, op: Op, operands: Values, params: Params) -> list[Any]:
    found = _settled(checks, params["body"])
    if not _has_sites(found):
        return op(*operands, **params)
    state, consts = checks.state.flat(), params["consts"]
    count, program = len(state), found[0].program
    order = [*range(count, count + consts), *range(count), *range(count + consts, len(program.inputs))]
    body = arranged(program, order, range(len(program.outputs)))
    held, carry, rows = parts(operands, consts, params["carry"])
    changed = {"body": body, "carry": count + len(carry)}
    return _follow(checks, found, op(*held, *state, *carry, *rows, **(params | changed)))


def _while_loop(checks: Checks, op: Op, operands: Values, params: Params) -> list[Any]:
    """What fails in the condition is noted at the start, and after each step."""
    condition, body = params["condition"], params["body"]
    found = _settled(checks, body, condition)
    if not _has_sites(found):
        return op(*operands, **params)
    tested, held, carry = parts(operands, params["condition_consts"], params["body_consts"])
    _follow(checks, found[1:], replay(found[1].program, [*checks.state.flat(), *tested, *carry]))
    state = checks.state.flat()
    count, sizes = len(state), (len(tested), len(held))

    def step(*values: Any) -> list[Any]:
        first, second, rest = parts(values, *sizes)
        made = replay(found[0].program, [*rest[:count], *second, *rest[count:]])
        after = replay(found[1].program, [*made[:count], *first, *made[count:]])
        return [*after[:count], *made[count:]]

    types = [x.type for x in (*tested, *held)] + types_of(checks.state.faults) + [var.type for var in body.inputs[len(held) :]]
    program, more = traced(body.name, step, types)
    test = _beside(unchecked(condition), len(tested), types_of(checks.state.faults))
    counts = {"condition_consts": len(tested), "body_consts": len(more) + len(tested) + len(held)}
    results = op(*tested, *more, *tested, *held, *state, *carry, condition=test, body=program, **counts)
    return _follow(checks, found, results)


def _beside(condition: Program, tested: int, types: Sequence[ArrayType]) -> Program:
    """A condition that is given a state ahead of what is carried, which it does not read."""
    given = [var.type for var in condition.inputs]

    def test(*values: Any) -> list[Any]:
        return replay(condition, [*values[:tested], *values[tested + len(types) :]])

    return traced(condition.name, test, [*given[:tested], *types, *given[tested:]])[0]


rules.update(dict.fromkeys(_MAKES_NAN.split(), _nan))
rules.update(
    check=_check, divide=_divide, dynamic_slice=_dynamic_slice, dynamic_update_slice=_dynamic_update_slice, gather=_gather,
    scatter=_scatter, call=_call, checkpoint=_checkpoint, cond=_cond, custom_jvp=_custom, custom_vjp=_custom,
    custom_vmap=_custom, scan=_scan, while_loop=_while_loop,
)  # fmt: skip


