"""Ops as functions of their inexact operands, ours and JAX's, and the derivatives of both: what test_vocabulary.py compares."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from celadon import errors, transforms, vocabulary
from celadon.op import Op, registry
from celadon.program import Program
from celadon.tracing import outside, recorded
from celadon.transforms.gradients import jvp, vjp
from celadon.transforms.mapping import vmap
from celadon.types import ArrayType, kind
from celadon.vocabulary.call import execute
from tests.vocabulary import composites, matrices
from tests.vocabulary.oracle import FUNCTIONS
from tests.vocabulary.samples import DOUBLE, Sample, samples as plain_samples

for package in (vocabulary, transforms):
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")

Array = np.ndarray[Any, Any]
Arrays = Sequence[Array]
Function = Callable[..., list[Any]]
NAMES = tuple(registry)
REFUSALS = (
    errors.NotDifferentiable, errors.NotTransposable, errors.ForwardModeOfCustomVjp, errors.CallbackNotDifferentiable,
    errors.WhileBackwards,
)  # fmt: skip
JAX_REFUSALS = (NotImplementedError, ValueError, TypeError)
# JAX's derivatives in one program each: little time is spent on making it fast
QUICK = {"xla_cpu_use_fusion_emitters": False, "xla_backend_optimization_level": 0}


@functools.cache
def samples(name: str) -> list[Sample]:
    """All samples for an op of the registry."""
    if registry[name].kind == "custom_tangent":
        return []
    make = composites.MAKERS.get(name) or matrices.MAKERS.get(name)
    return plain_samples(name) if make is None else list(make(registry[name]))


def listed(found: Any) -> list[Any]:
    return list(found) if isinstance(found, list | tuple) else [found]


def is_inexact(type: Any) -> bool:
    return kind(type.dtype) in "fc"


def ours(sample: Sample) -> Function:
    """The op with the sample's parameters; a collective over a batch along axis 0."""
    op: Op = sample.op
    if sample.mine is not None:
        mine = sample.mine
        return lambda *operands: listed(mine(*operands))

    def function(*operands: Any) -> list[Any]:
        values = [outside.as_array(x) for x in operands]
        if op.kind == "collective":
            each = vmap(lambda *xs: op(*xs, **sample.params), axis_name=composites.AXIS, axis_size=4)
            return listed(each(*values))
        return listed(op(*values, **sample.params))

    return function


def theirs(sample: Sample) -> Function:
    """What real JAX has for it; scalars among elementwise operands are repeated, as jax.lax does for some functions only."""
    known = FUNCTIONS[sample.op.name] if sample.theirs is None else sample.theirs

    def function(*operands: Any) -> list[Any]:
        if sample.mine is not None:
            return listed(known(*operands))
        if sample.op.kind == "collective":
            each = jax.vmap(lambda *xs: known(*xs, **sample.params), axis_name=composites.AXIS, axis_size=4)
            return listed(each(*operands))
        if sample.op.kind == "elementwise" and len({jnp.shape(x) for x in operands}) > 1:
            operands = tuple(jnp.broadcast_arrays(*operands))
        return listed(known(*operands, **sample.params))

    return function


def traced(function: Function, types: Sequence[ArrayType]) -> Program:
    with recorded() as record:
        return record.program(function(*[record.input(t) for t in types]))


def run(function: Function, arrays: Arrays) -> list[Array]:
    """The function traced, and its program computed by NumPy."""
    return runner(function, arrays)(*arrays)


def runner(function: Function, arrays: Arrays) -> Callable[..., list[Array]]:
    program = traced(function, [ArrayType(x.shape, x.dtype) for x in arrays])
    return lambda *xs: [np.asarray(x) for x in execute(program, [np.asarray(x) for x in xs])]


def results(sample: Sample) -> list[ArrayType]:
    return [x.type for x in traced(ours(sample), sample.types).outputs]


def _finite(x: Array) -> Array:
    return np.where(np.isfinite(x), x, 2).astype(x.dtype) if is_inexact(x) else x


@dataclass(frozen=True, eq=False)
class Case:
    """A sample whose inexact operands and results are all of double precision, as functions of some of its operands."""

    sample: Sample
    moving: tuple[int, ...]
    made: tuple[int, ...]
    has_forward: bool = True

    def __str__(self) -> str:
        return str(self.sample)

    def _of(self, function: Function) -> Function:
        def chosen(*xs: Any) -> list[Any]:
            operands: list[Any] = [_finite(x) for x in self.sample.arrays]
            for i, x in zip(self.moving, xs, strict=True):
                operands[i] = x
            found = function(*operands)
            return [found[k] for k in self.made]

        return chosen

    @property
    def ours(self) -> Function:
        return self._of(ours(self.sample))

    @property
    def theirs(self) -> Function:
        return self._of(theirs(self.sample))

    @property
    def points(self) -> list[Array]:
        return [self.sample.arrays[i] for i in self.moving]

    @property
    def count(self) -> int:
        return len(self.moving)


@functools.cache
def cases(name: str) -> tuple[Case, ...]:
    """The samples of an op in double precision, of the operands by which it has derivatives."""
    found = [case for sample in samples(name) if (case := _case(sample)) is not None]
    if not found:
        assert not any(is_inexact(x) and any(map(is_inexact, results(s))) for s in samples(name) for x in s.arrays)
    return tuple(kept for case in found if (kept := _derivable(case)) is not None)


def _case(sample: Sample) -> Case | None:
    made = results(sample)
    moving = [i for i, x in enumerate(sample.arrays) if is_inexact(x)]
    inexact = [k for k, t in enumerate(made) if is_inexact(t)]
    dtypes = {sample.arrays[i].dtype for i in moving} | {made[k].dtype for k in inexact}
    return Case(sample, tuple(moving), tuple(inexact)) if moving and inexact and dtypes <= set(DOUBLE) else None


def _derivable(case: Case) -> Case | None:
    """The case by the operands that have derivatives, in reverse mode if there is only that."""
    kept = tuple(i for i in case.moving if not _refused(case, i))
    if kept:
        return Case(case.sample, kept, case.made)
    return Case(case.sample, case.moving, case.made, False) if reversible(case) else None


def _refused(case: Case, operand: int) -> bool:
    """Whether there is no derivative by an operand: an error says so, and JAX has none either."""
    alone = Case(case.sample, (operand,), case.made)
    points = [*alone.points, *alone.points]
    try:
        traced(forward(alone.ours, 1), [ArrayType(x.shape, x.dtype) for x in points])
    except REFUSALS:
        assert jax_refuses(their_forward(alone.theirs, 1), points), f"{case}: JAX has one by operand {operand}"
        return True
    return False


def reversible(case: Case) -> bool:
    """Whether cotangents can be pulled through; where not, JAX can't either."""
    points = ordinary(case.points)
    whole = [*points, *cotangents(case)]
    try:
        traced(backward(case.ours, case.count), [ArrayType(x.shape, x.dtype) for x in whole])
    except REFUSALS:
        assert jax_refuses(their_backward(case.theirs, case.count), whole), str(case)
        return False
    return True


def cotangents(case: Case) -> Arrays:
    """Random ones for the inexact results."""
    made = results(case.sample)
    return directions([np.zeros(made[k].shape, made[k].dtype) for k in case.made], 9)


def jax_refuses(function: Function, arrays: Arrays) -> bool:
    """Whether JAX has no such derivative; forward mode of a custom_vjp is refused at last."""
    try:
        jax.jit(function).lower(*arrays)
    except JAX_REFUSALS:
        return True
    return False


def shaped(function: Function, arrays: Sequence[Any]) -> bool:
    """Whether JAX can say the shapes of a function's results."""
    try:
        jax.eval_shape(function, *arrays)
    except JAX_REFUSALS:
        return False
    return True


# Functions of points and tangents (or cotangents), flat


def forward(function: Function, count: int) -> Function:
    """The tangents of a function's results, of `count` points and their tangents."""
    return lambda *xs: jvp(function, xs[:count], xs[count:])[1]


def backward(function: Function, count: int) -> Function:
    """The cotangents of `count` points, of them and the cotangents of a function's results."""
    return lambda *xs: list(vjp(function, *xs[:count])[1](list(xs[count:])))


def their_forward(function: Function, count: int) -> Function:
    return lambda *xs: jax.jvp(function, xs[:count], xs[count:])[1]


def their_backward(function: Function, count: int) -> Function:
    return lambda *xs: list(jax.vjp(function, *xs[:count])[1](list(xs[count:])))


# Numbers


def directions(arrays: Arrays, seed: int) -> list[Array]:
    """Random values like some arrays."""
    random = np.random.default_rng(seed)

    def one(x: Array) -> Array:
        found = random.normal(size=x.shape)
        return np.asarray(found + 1j * random.normal(size=x.shape) if x.dtype.kind == "c" else found).astype(x.dtype)

    return [one(x) for x in arrays]


def ordinary(arrays: Arrays, seed: int = 0) -> list[Array]:
    """The arrays with moderate numbers instead of infinite, huge and missing ones, and all a little off."""
    off, scale, other = (directions(arrays, seed + k) for k in range(3))
    found: list[Array] = []
    for x, a, b, c in zip(arrays, off, scale, other, strict=True):
        with np.errstate(all="ignore"):
            moderate = np.where(np.isfinite(x) & (np.abs(x) < 30), x, c)
        found.append(np.asarray(moderate * (1 + 0.01 * b) + 0.03 * a + 0.1 * np.sign(a)).astype(x.dtype))
    return found


def differences(function: Callable[..., list[Array]], points: Arrays, along: Arrays, step: float) -> list[Array]:
    """The derivative along a direction by differences of the fourth order."""

    def at(k: int) -> list[Array]:
        return function(*[np.asarray(x + k * step * v) for x, v in zip(points, along, strict=True)])

    parts = zip(at(2), at(1), at(-1), at(-2), strict=True)
    return [(8 * (b - c) - (a - d)) / (12 * step) for a, b, c, d in parts]
