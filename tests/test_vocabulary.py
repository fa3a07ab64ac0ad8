"""Every rule of every op of the registry: derivatives against differences and each other, batches against loops, all of it
against real JAX."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest

from celadon import enable_x64
from celadon.op import registry
from celadon.transforms.batching import spread
from celadon.transforms.gradients import jvp
from celadon.transforms.mapping import vmap
from celadon.types import ArrayType
from tests.vocabulary.calculus import (
    NAMES,
    QUICK,
    Array,
    Arrays,
    Case,
    backward,
    cases,
    cotangents,
    differences,
    directions,
    forward,
    is_inexact,
    ordinary,
    ours,
    reversible,
    run,
    runner,
    samples,
    shaped,
    their_backward,
    their_forward,
    theirs,
    traced,
)
from tests.vocabulary.samples import Sample

every_op = pytest.mark.parametrize("name", NAMES)
# Zero by what it is for, whatever differences say; only JAX can judge it.
STOPS = frozenset({"stop_gradient"})
# JAX has no derivatives of some operands, dtypes or parameters of these; those that it has are compared.
RARER_IN_JAX = frozenset({
    "real", "imag", "next_after", "zeta", "pmax", "pmin", "reduce", "reduce_window", "select_and_scatter", "custom_vmap",
    "laswp", "ormqr",
})  # fmt: skip


def turned(sample: Sample) -> bool:
    return sample.dtype.kind == "c"


# Where JAX's derivatives are wrong, by differences: docs/differences.md says how.
WRONG_IN_JAX: dict[str, Callable[[Sample], Any]] = {
    "sign": turned,
    "acosh": turned,
    "bitcast_convert": lambda sample: True,
    "clamp": lambda sample: sample.arrays[0] > sample.arrays[2],
    "lgamma": lambda sample: sample.arrays[0] < -4,
    "digamma": lambda sample: sample.arrays[0] < -4,
    "polygamma": lambda sample: sample.arrays[1] < -4,
}


@pytest.fixture(autouse=True)
def _double() -> Iterator[None]:
    with enable_x64(True), jax.enable_x64(True), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        yield


@every_op
def test_op_has_samples(name: str) -> None:
    """All have some but one, which stands in linear programs only and means nothing."""
    assert samples(name) or (registry[name].numpy is None and registry[name].kind == "custom_tangent")


# Derivatives


def seen_by_differences(case: Case) -> bool:
    """A rounding to few digits is derived as the identity that it is nearly; differences see steps."""
    return case.sample.op.name not in STOPS and case.sample.params.get("mantissa_bits", 52) == 52


def assert_derivative(what: str, function: Any, found: Arrays, points: Arrays, along: Arrays) -> tuple[int, int]:
    """Differences of two steps agree with the derivative wherever they agree with each other; how often, out of how many."""
    wide, narrow = (differences(function, points, along, step) for step in (1e-3, 4e-4))
    agreed = whole = 0
    for a, b, x in zip(wide, narrow, found, strict=True):
        size = 1 + np.abs(b)
        smooth = np.isfinite(a) & np.isfinite(b) & (np.abs(a - b) < 1e-6 * size)
        assert x.shape == b.shape and x.dtype == b.dtype, what
        wrong = smooth & ~(np.abs(x - b) < 1e-5 * size)
        places = [p[wrong][:4] if p.shape == wrong.shape else p for p in points]
        assert not wrong.any(), f"{what}: {x[wrong][:4]} is not {b[wrong][:4]} at {places}"
        agreed, whole = agreed + int(smooth.sum()), whole + smooth.size
    return agreed, whole


def assert_mostly_seen(counts: list[tuple[int, int]]) -> None:
    """Enough of the points were smooth for the test to mean something."""
    agreed, whole = (sum(numbers) for numbers in zip(*counts, strict=True))
    assert agreed >= 0.1 * whole


@every_op
def test_tangents_are_differences(name: str) -> None:
    counts: list[tuple[int, int]] = []
    for case in cases(name):
        if seen_by_differences(case):
            counts += assert_tangents(case)
    if counts:
        assert_mostly_seen(counts)


def assert_tangents(case: Case) -> list[tuple[int, int]]:
    n, points = case.count, ordinary(case.points)
    along = directions(points, 7)
    if not case.has_forward:
        return assert_gradient(case, points, along)
    first, second = forward(case.ours, n), directions([*points, *points], 8)
    whole = [*points, *along]
    counts = assert_derivative(f"{case}", runner(case.ours, points), run(first, whole), points, along)
    twice = run(forward(first, 2 * n), [*whole, *second])
    return [counts, assert_derivative(f"{case}, second order", runner(first, whole), twice, whole, second)]


def assert_gradient(case: Case, points: Arrays, along: Arrays) -> list[tuple[int, int]]:
    """Of an op that has reverse mode only: cotangents times a direction are cotangents times its difference."""
    back, moved = cotangents(case), differences(runner(case.ours, points), points, along, 1e-3)
    pulled = run(backward(case.ours, case.count), [*points, *back])
    left, right = ([(a * b).sum().real for a, b in zip(*pair, strict=True)] for pair in ((back, moved), (pulled, along)))
    assert abs(sum(left) - sum(right)) < 1e-6, f"{case}"
    return [(1, 1)]


@every_op
def test_cotangents_are_transposed_tangents(name: str) -> None:
    """Re(sum(ct * Jt)) is Re(sum(J'ct * t)), of the op and of its derivatives."""
    for case in cases(name):
        if seen_by_differences(case) and case.has_forward and reversible(case):
            points = ordinary(case.points)
            n, along, back = case.count, directions(points, 7), cotangents(case)
            assert_transposed(f"{case}", case.ours, points, along, back)
            twice = directions([*points, *points], 4)
            assert_transposed(f"{case}, forward", forward(case.ours, n), [*points, *along], twice, back)
            whole = [*points, *back]
            assert_transposed(f"{case}, backward", backward(case.ours, n), whole, directions(whole, 5), directions(points, 6))


def assert_transposed(what: str, function: Any, points: Arrays, along: Arrays, back: Arrays) -> None:
    n = len(points)
    tangents, pulled = run(forward(function, n), [*points, *along]), run(backward(function, n), [*points, *back])
    assert [x.dtype for x in pulled] == [x.dtype for x in points], what
    left, right = ([a * b for a, b in zip(*pair, strict=True)] for pair in ((back, tangents), (pulled, along)))
    if all(np.isfinite(x).all() for x in (*left, *right)):
        size = sum(np.abs(x).sum() for x in left)
        assert abs(sum(x.sum().real for x in left) - sum(x.sum().real for x in right)) <= 1e-9 * (1 + size), what


# Batches


def members(x: Array) -> list[Array]:
    """Three arrays of one type; the same indices are in all."""
    if x.ndim:
        return [x, np.flip(x, 0), np.roll(x, 1, 0)]
    if x.dtype == bool:
        return [x, ~x, x]
    return [x, (x + np.asarray(1, x.dtype)).astype(x.dtype), (x * np.asarray(2, x.dtype)).astype(x.dtype)]


def combinations(sample: Sample) -> Iterator[tuple[int | None, ...]]:
    """The batch axis of each operand: all ways to batch some of them, each at three places."""
    for marks in itertools.product((False, True), repeat=len(sample.arrays)):
        for k in range(3 if any(marks) else 0):
            pairs = zip(marks, sample.arrays, strict=True)
            yield tuple((k + i) % (x.ndim + 1) if mark else None for i, (mark, x) in enumerate(pairs))


BATCHED_DTYPES = ("float32", "int32", "bool", "uint32", "complex64")


def batchable(name: str) -> list[Sample]:
    """Small samples, one of each shapes and parameters: no rule looks at dtypes."""
    found: dict[object, Sample] = {}
    for dtype, sample in itertools.product(BATCHED_DTYPES, samples(name)):
        if sample.arrays and sample.dtype.name == dtype and sum(x.size for x in sample.arrays) < 500:
            found.setdefault((*(x.shape for x in sample.arrays), str(sample.params)), sample)
    return list(found.values())


@every_op
def test_batch_is_a_loop(name: str) -> None:
    for sample in batchable(name):
        one, stacks = runner(ours(sample), sample.arrays), [members(x) for x in sample.arrays]
        for axes in combinations(sample):
            whole = [x if i is None else np.stack(s, i) for x, s, i in zip(sample.arrays, stacks, axes, strict=True)]
            each = [[x if i is None else s[k] for x, s, i in zip(sample.arrays, stacks, axes, strict=True)] for k in range(3)]
            found = run(vmap(ours(sample), in_axes=axes), whole)
            for x, *ys in zip(found, *(one(*xs) for xs in each), strict=True):
                assert_alike(f"{sample} over {axes}", x, np.stack(ys), sample)


def assert_alike(what: str, found: Array, wanted: Array, sample: Sample) -> None:
    assert found.dtype == wanted.dtype and found.shape == wanted.shape, what
    if not is_inexact(found):
        assert np.array_equal(found, wanted), what
        return
    found, wanted = found.astype(np.complex128), wanted.astype(np.complex128)
    terms = [np.abs(x.astype(np.complex128))[np.isfinite(x)].max(initial=0) * x.size for x in sample.arrays if is_inexact(x)]
    rough = 0 if sample.op.exact is True else 1e-6 * max(terms, default=0)
    same = (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    assert (same | (np.abs(found - wanted) <= 1e-6 * np.abs(wanted) * (rough > 0) + rough)).all(), what


# JAX


Job = tuple[str, Any, Any, Arrays]


def jobs(case: Case, back: bool, second: bool) -> list[Job]:
    """What is computed on both sides, each with JAX's function: first derivatives, and second ones where they are asked for."""
    n, points, cts = case.count, plain(case), cotangents(case)
    found: list[Job] = []
    if case.has_forward:
        one = [*points, *directions(points, 7)]
        push, their_push = forward(case.ours, n), their_forward(case.theirs, n)
        found.append(("jvp", push, their_push, one))
        twice = forward(push, 2 * n), their_forward(their_push, 2 * n)
        found += [("jvp of jvp", *twice, [*one, *directions(one, 8)])] if second else []
    if back:
        m, whole = n + len(cts), [*points, *cts]
        pull, their_pull = backward(case.ours, n), their_backward(case.theirs, n)
        found.append(("vjp", pull, their_pull, whole))
        twice = forward(pull, m), their_forward(their_pull, m)
        found += [("jvp of vjp", *twice, [*whole, *directions(whole, 9)])] if second else []
    return found


def plain(case: Case) -> Arrays:
    """Elementwise ops meet all edge values, others only numbers."""
    if case.sample.op.kind == "elementwise":
        return case.points
    return [np.where(np.isfinite(x) & (np.abs(x) < 30), x, 1.5).astype(x.dtype) for x in case.points]


def sound(case: Case) -> Any:
    """Where an elementwise function is defined, and its operands small enough for squares and inside the cuts of C."""
    right = ~np.asarray(WRONG_IN_JAX.get(case.sample.op.name, lambda sample: False)(case.sample))
    if case.sample.op.kind != "elementwise":
        return right
    [y], xs = run(case.ours, case.points), np.broadcast_arrays(*case.sample.arrays)
    return np.logical_and.reduce(np.broadcast_arrays(np.isfinite(y), right, *map(_near, xs)))


def _near(x: Array) -> Array:
    if x.dtype.kind == "c":
        return np.isfinite(x) & (x.real != 0) & (x.imag != 0)
    return (np.abs(x) < 1e100) | np.isinf(x)


def chosen_for_jax(name: str) -> list[Case]:
    """Compiling is what takes time: one case of each dtype and parameters, with few elements unless these are edges."""
    found: dict[object, Case] = {}
    sign = -1 if registry[name].kind == "elementwise" else 1
    for case in sorted(cases(name), key=lambda case: sign * sum(x.size for x in case.points)):
        sizes = [x.size for x in case.sample.arrays]
        if min(sizes) > 0 and max(sizes) < 5000:
            found.setdefault((case.points[0].dtype, str(case.sample.params)), case)
    return list(found.values())


def known_to_jax(case: Case) -> tuple[Case, bool] | None:
    """The case by those operands by which JAX has derivatives, and whether it has reverse mode."""
    if not case.has_forward:
        return case, True
    kept: list[int] = []
    for i in case.moving:
        alone = Case(case.sample, (i,), case.made)
        if shaped(their_forward(alone.theirs, 1), [*alone.points, *alone.points]):
            kept.append(i)
    found = Case(case.sample, tuple(kept), case.made)
    return (found, shaped(their_backward(found.theirs, len(kept)), [*found.points, *cotangents(case)])) if kept else None


@every_op
def test_derivatives_are_those_of_jax(name: str) -> None:
    """Second ones for a case of each dtype: those of all cases are compared with differences."""
    chosen = chosen_for_jax(name)
    known = [known_to_jax(case) for case in chosen]
    back = [reversible(case) for case in chosen]
    lacking = [a is None or a[0].moving != b.moving or a[1] < c for a, b, c in zip(known, chosen, back, strict=True)]
    assert any(lacking) == (name in RARER_IN_JAX)
    pairs = [(one[0], one[1] and c) for one, c in zip(known, back, strict=True) if one is not None]
    first = {case.points[0].dtype: case for case, _ in reversed(pairs)}
    work = [(case, jobs(case, both, case is first[case.points[0].dtype])) for case, both in pairs]

    def all_of_them(inputs: list[list[Arrays]]) -> list[list[list[Any]]]:
        return [[f(*xs) for (_, _, f, _), xs in zip(todo, one, strict=True)] for (_, todo), one in zip(work, inputs, strict=True)]

    wanted = jax.jit(all_of_them, compiler_options=QUICK)([[xs for *_, xs in todo] for _, todo in work]) if work else []
    for (case, todo), expected in zip(work, wanted, strict=True):
        where = sound(case)
        for (what, function, _, xs), ys in zip(todo, expected, strict=True):
            for x, y in zip(run(function, xs), map(np.asarray, ys), strict=True):
                assert_like_jax(f"{case}, {what}", x, y, where)


def assert_like_jax(what: str, found: Array, wanted: Array, where: Any) -> None:
    """Where JAX's is no NaN: a finite number in its place is judged by differences."""
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), what
    where = where if np.shape(where) in ((), found.shape) else True
    close = (found == wanted) | np.isnan(wanted) | (np.abs(found - wanted) <= 1e-8 * (1 + np.abs(wanted)))
    wrong = where & ~close
    assert not wrong.any(), f"{what}: {found[wrong][:4]} is not {wanted[wrong][:4]} ({np.flatnonzero(wrong)[:4]})"


# Types


def words(xs: Any) -> list[str]:
    return [f"{x.dtype}{tuple(x.shape)}{' weak' if getattr(x, 'weak_type', False) else ''}" for x in xs]


def moving(sample: Sample, function: Any, of: Any) -> Any:
    """The tangents of the inexact results along the inexact operands."""
    inexact = [is_inexact(x) for x in sample.arrays]

    def tangents(*xs: Any) -> list[Any]:
        def chosen(*points: Any) -> list[Any]:
            rest = iter(points)
            found = function(*[next(rest) if one else x for x, one in zip(xs, inexact, strict=True)])
            return [y for y in found if is_inexact(y)]

        points = [x for x, one in zip(xs, inexact, strict=True) if one]
        return of(chosen, points, points)[1]

    return tangents


def views(sample: Sample) -> Iterator[tuple[str, Any, Any]]:
    """What has types on both sides: results, tangents, results of a batch of all operands."""
    mine, other = ours(sample), theirs(sample)
    yield "results", mine, other
    if sample.arrays and sample.dtype.name not in (*BATCHED_DTYPES, "bfloat16"):
        return
    if any(case.has_forward for case in cases(sample.op.name)) and sample.op.name not in RARER_IN_JAX:
        yield "tangents", moving(sample, mine, jvp), moving(sample, other, jax.jvp)
    if sample.arrays and sample.op.kind != "callback":
        yield "batches", over_many(mine, vmap, spread), over_many(other, jax.vmap, repeated)


def repeated(x: Any, axis: int, size: int) -> Any:
    return jax.lax.broadcast(x, (size,))


def over_many(function: Any, batched: Any, many: Any) -> Any:
    return lambda *xs: batched(function)(*[many(x, 0, 3) for x in xs])


def weaknesses(sample: Sample) -> list[tuple[bool, ...]]:
    """All ways to make operands of an elementwise op weak."""
    if sample.op.kind != "elementwise" or sample.dtype.name not in ("int32", "float32", "complex64"):
        return [(False,) * len(sample.arrays)]
    return list(itertools.product((False, True), repeat=len(sample.arrays)))


def different_types(name: str) -> list[Sample]:
    found: dict[object, Sample] = {}
    for sample in samples(name):
        found.setdefault((*((x.dtype, x.ndim) for x in sample.arrays), str(sample.params)), sample)
    return list(found.values())


@every_op
def test_types_are_those_of_jax(name: str) -> None:
    """Of results, of their tangents and of batches, weakness included, for operands of every dtype."""
    for sample in different_types(name):
        for weak, (what, mine, other) in itertools.product(weaknesses(sample), views(sample)):
            types = [ArrayType(x.shape, x.dtype, w) for x, w in zip(sample.arrays, weak, strict=True)]
            given = [jax.ShapeDtypeStruct(t.shape, t.dtype, weak_type=t.weak_type) for t in types]
            mixed = len(set(weak)) > 1  # the tangents of operands of which some are weak are added in JAX: the first one decides
            if shaped(other, given) and not (mixed and what == "tangents"):
                found = [x.type for x in traced(mine, types).outputs]
                assert words(found) == words(jax.eval_shape(other, *given)), f"{sample}, {what}, weak {weak}"


# Lower precision


EPSILON = {"bfloat16": 2.0**-8, "float16": 2.0**-11, "float32": 2.0**-24, "complex64": 2.0**-24}


def widened(x: Array) -> Array:
    return x if not is_inexact(x) else x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def lower(name: str) -> Iterator[tuple[Case, Case]]:
    """Cases of one operand in lower dtypes, each beside the same in double precision."""
    for case, sample in itertools.product(cases(name), samples(name)):
        wide = tuple(map(widened, sample.arrays))
        types = [[(x.shape, x.dtype) for x in arrays] for arrays in (wide, case.sample.arrays)]
        same = types[0] == types[1] and str(sample.params) == str(case.sample.params)
        if same and case.has_forward and sample.dtype.name in EPSILON:
            for i in case.moving:
                yield Case(sample, (i,), case.made), Case(replace(case.sample, arrays=wide), (i,), case.made)


@every_op
def test_tangents_in_lower_dtypes_are_those_in_double(name: str) -> None:
    """But for some roundings, and for what one rounding of the operands does."""
    for low, high in lower(name):
        points = ordinary(low.points)
        whole, unit = [*points, *directions(points, 7)], EPSILON[low.sample.dtype.name]
        wide, push = [*map(widened, whole)], forward(high.ours, 1)
        found, wanted = run(forward(low.ours, 1), whole), run(push, wide)
        moved = tuple([x * (1 + unit) if is_inexact(x) else x for x in high.sample.arrays])
        other = Case(replace(high.sample, arrays=moved), high.moving, high.made)
        near = [x * (1 + unit) for x in wide]
        defined = run(high.ours, wide[:1])
        for x, y, z, w, v in zip(found, wanted, run(push, near), run(forward(other.ours, 1), near), defined, strict=True):
            size = 1 + np.abs(y) + (0 if low.sample.op.kind == "elementwise" else np.abs(y).max(initial=0))
            error = np.abs(widened(x) - y) - 4 * np.fmax(np.abs(z - y), np.abs(w - y))
            close = ~np.isfinite(v) | ~np.isfinite(y) | ~np.isfinite(x) | (error <= 12 * unit * size)
            assert close.all(), f"{low}: {(error / size / unit)[~close].max()} units"
