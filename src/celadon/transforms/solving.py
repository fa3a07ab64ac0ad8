"""custom_linear_solve and custom_root: solvers whose derivatives are solutions of linear systems, not those of their steps."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from celadon import errors, tree
from celadon.op import Op
from celadon.program import Program, Var
from celadon.transforms import derived
from celadon.transforms.batching import Batch, leading
from celadon.transforms.bodies import Body, Form, name_of, require_callable, result, traced, value
from celadon.transforms.calls import spread
from celadon.transforms.conversion import closure_convert
from celadon.transforms.custom_tangents import custom_jvp
from celadon.transforms.forward import zeros
from celadon.transforms.gradients import jvp, linear_transpose, linearize
from celadon.transforms.replay import replay
from celadon.transforms.values import as_value, zero_tangent
from celadon.types import ArrayType
from celadon.vocabulary.arithmetic import negate, subtract
from celadon.vocabulary.call import execute

Function = Callable[..., Any]
Values = Sequence[Any]


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """A linear system: programs for the matrix, its transpose, and solvers of both, each taking its own constants first.

    `counts` says how many constants matrix, transpose, solver and solver of the transpose have, in this order; `size` is the
    number of unknowns' leaves. A missing program is None.
    """

    matvec: Program
    vecmat: Program | None
    solve: Program
    transpose_solve: Program | None
    counts: tuple[int, int, int, int]
    size: int

    @property
    def programs(self) -> tuple[Program | None, ...]:
        return self.matvec, self.vecmat, self.solve, self.transpose_solve

    def with_programs(self, programs: Sequence[Any]) -> System:
        """The same system of other programs."""
        matvec, vecmat, solve, transpose_solve = programs
        return System(matvec, vecmat, solve, transpose_solve, self.counts, self.size)

    def parts(self, operands: Values) -> list[list[Any]]:
        """The constants of the four programs, then the right side."""
        found: list[list[Any]] = []
        start = 0
        for count in (*self.counts, self.size):
            found.append(list(operands[start : start + count]))
            start += count
        return found


def custom_linear_solve(
    matvec: Function, b: Any, solve: Function, transpose_solve: Function | None = None, symmetric: bool = False,
    has_aux: bool = False,
) -> Any:  # fmt: skip
    """The solution x of matvec(x) == b, differentiated implicitly.

    Args:
        matvec: a linear function from trees like b to trees like b; it may close over differentiated values.
        b: the right side.
        solve: solve(matvec, b) -> x; transpose_solve: solve(vecmat, b) for the transpose, needed for reverse mode.
        symmetric: the transpose is matvec itself, and solve solves it.
        has_aux: the solvers return (x, aux).

    Raises:
        CustomRuleResult, NotTransposable.

    >>> import celadon
    >>> f = lambda a, b: custom_linear_solve(lambda x: a * x, b, lambda mv, b: b / a, symmetric=True)
    >>> celadon.grad(f)(2.0, 8.0)
    Array(-2., dtype=float32, weak_type=True)
    """
    if transpose_solve is None and symmetric:
        transpose_solve = solve
    require_callable("lax.custom_linear_solve", matvec=matvec, solve=solve)
    leaves, form = tree.flatten(b)
    values = [value(x) for x in leaves]
    sides = Form(form, tuple([x.type for x in values]))
    whole = Form(tree.structure((b,)), sides.types)
    matrix = _checked(traced(matvec, whole), sides, "matvec", matvec)
    solver = _traced_solver(solve, matvec, whole, (sides, has_aux))
    back = turned = None
    if transpose_solve is not None:
        vecmat = matvec if symmetric else _transpose_of(matvec, b)
        turned = matrix if symmetric else traced(vecmat, whole)
        back = _traced_solver(transpose_solve, vecmat, whole, (sides, has_aux))
    bodies = [matrix, turned, solver, back]
    held = [list(x.held) if x is not None else [] for x in bodies]
    counts: Any = tuple(map(len, held))
    system = System(matrix.program, turned and turned.program, solver.program, back and back.program, counts, len(values))
    found = linear_solve(*itertools.chain(*held), *values, system=system)
    return solver.tree.unflatten([result(x) for x in found])


def _checked(body: Body, sides: Form, rule: str, function: Function) -> Body:
    if body.tree != sides.tree or any(a.shape != b.shape for a, b in zip(body.types, sides.types, strict=True)):
        raise errors.CustomRuleResult(
            rule=rule, function=name_of(function), wanted=f"a tree {sides.tree} of the right side's shapes",
            found=f"{body.tree} of {', '.join(map(str, body.types))}",
        )  # fmt: skip
    return body


def _traced_solver(solve: Function, matvec: Function, whole: Form, expected: tuple[Form, bool]) -> Body:
    sides, has_aux = expected

    def run(b: Any) -> Any:
        return solve(matvec, b)

    functools.update_wrapper(run, solve, updated=())
    body = traced(run, whole)
    if not has_aux:
        return _checked(body, sides, "solver", solve)
    return body


def _transpose_of(matvec: Function, b: Any) -> Function:
    def vecmat(x: Any) -> Any:
        return linear_transpose(matvec, b)(x)[0]

    return vecmat


# The op


def _type(*types: ArrayType, system: System) -> list[ArrayType]:
    return [x.type for x in system.solve.outputs]


def _expand(*operands: Any, system: System) -> list[Any]:
    _, _, constants, _, b = system.parts(operands)
    return replay(system.solve, [*constants, *b])


def _numpy(*arrays: Any, system: System) -> list[Any]:
    _, _, constants, _, b = system.parts(arrays)
    return execute(system.solve, [*constants, *b])


def _tangent(primals: Values, tangents: Values, *, system: System) -> tuple[list[Any], list[Any]]:
    """dx solves A dx = db - dA x."""
    found = linear_solve(*primals, system=system)
    matrix, *_, b = system.parts(primals)
    turning, *_, moving = system.parts(tangents)
    right = _right_side(system, (matrix, turning), found[: system.size], (b, moving))
    if all(t is None for t in right):
        return found, [None] * len(found)
    given = [zeros(x.type) if t is None else t for x, t in zip(b, right, strict=True)]
    moved = linear_solve(*primals[: len(primals) - system.size], *given, system=system)
    return found, [*moved[: system.size], *[None] * (len(found) - system.size)]


def _right_side(system: System, matrix: Any, x: Values, sides: Any) -> list[Any]:
    (constants, turning), (_, moving) = matrix, sides
    if all(t is None for t in turning):
        return list(moving)
    marks = tuple([t is not None for t in turning]) + (False,) * len(x)
    forward = derived.jvp_of(system.matvec, marks)
    made = replay(forward.program, [*constants, *x, *[t for t in turning if t is not None]])
    turned = spread(made[len(system.matvec.outputs) :], forward.moved)
    return [_minus(db, dax) for db, dax in zip(moving, turned, strict=True)]


def _minus(x: Any, y: Any) -> Any:
    if y is None:
        return x
    return negate(y) if x is None else subtract(x, y)


def _transpose(cts: Values, operands: Values, *, system: System) -> list[Any]:
    if system.transpose_solve is None or any(type(x) is Var for x in operands[: len(operands) - system.size]):
        raise errors.NotTransposable(op="custom_linear_solve", place="", what="a function without transpose_solve")
    matrix, turned, solver, back, b = system.parts(operands)
    m, t, s, r = system.counts
    other = System(cast(Any, system.vecmat), system.matvec, system.transpose_solve, system.solve, (t, m, r, s), system.size)
    given = [zeros(x.type) if ct is None else ct for x, ct in zip(b, cts, strict=False)]
    found = linear_solve(*turned, *matrix, *back, *solver, *given, system=other)
    return [None] * (len(operands) - system.size) + list(found[: system.size])


def _batch(batch: Batch, axes: Sequence[int | None], values: Values, *, system: System) -> tuple[list[Any], list[int]]:
    """Everything is batched: constants where they are, unknowns in front."""
    whole = (batch.size, batch.axis_name)
    places = system.parts(axes)

    def over(program: Program | None, own: list[Any]) -> Program | None:
        if program is None:
            return None
        inputs = (*own, *[0] * system.size)
        return derived.batched(program, inputs, whole, (0,) * len(program.outputs)).program

    programs: list[Any] = [over(p, own) for p, own in zip(system.programs, places[:4], strict=True)]
    wide = system.with_programs(programs)
    start = len(values) - system.size
    sides = [leading(x, i, batch.size) for x, i in zip(values[start:], axes[start:], strict=True)]
    found = linear_solve(*values[:start], *sides, system=wide)
    return found, [0] * len(found)


linear_solve = Op(
    "linear_solve", _type, _numpy, tangent=_tangent, transpose=_transpose, batch=_batch, expand=_expand, multiple=True,
    kind="solve",
)  # fmt: skip


# Roots


def custom_root(
    f: Function, initial_guess: Any, solve: Function, tangent_solve: Function, has_aux: bool = False
) -> Any:
    """A root of f, differentiated by the implicit function theorem.

    Args:
        f: a function from trees like the guess to trees like the guess; it may close over differentiated values.
        initial_guess: where to start.
        solve: solve(f, initial_guess) -> root, or (root, aux) if has_aux.
        tangent_solve: tangent_solve(g, y) -> x with g(x) == y for a linear function g.

    >>> import celadon
    >>> root = lambda a: custom_root(lambda x: x - a, 0.0, lambda f, x: x - f(x), lambda g, y: y / g(1.0))
    >>> celadon.grad(root)(3.0)
    Array(1., dtype=float32, weak_type=True)
    """
    require_callable("lax.custom_root", f=f, solve=solve, tangent_solve=tangent_solve)
    guess = tree.map(as_value, initial_guess)
    converted, values = closure_convert(f, guess)

    def found(start: Any, values: Any) -> Any:
        return solve(lambda x: converted(x, *values), start)

    root = custom_jvp(functools.update_wrapper(found, solve, updated=()))

    @root.defjvp
    def derivative(primals: Any, tangents: Any) -> Any:
        (start, constants), (_, moving) = primals, tangents
        out = root(start, constants)
        x = out[0] if has_aux else out
        _, slope = linearize(lambda x: converted(x, *constants), x)
        _, moved = jvp(lambda constants: converted(x, *constants), (constants,), (moving,))
        step = custom_linear_solve(slope, tree.map(negate, moved), tangent_solve, tangent_solve)
        return (out, (step, tree.map(lambda y: zero_tangent(y.type), out[1]))) if has_aux else (out, step)

    return root(guess, values)
