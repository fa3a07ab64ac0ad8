"""Random programs on one vector, and random compositions of transforms around them, for Celadon and for JAX alike."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy
import jax.scipy.special
import numpy as np

import celadon
import celadon.lax
import celadon.numpy
import celadon.scipy.special

Function = Callable[[Any], Any]
Package = SimpleNamespace
Rule = Callable[..., Any]
CELADON = SimpleNamespace(own=celadon, np=celadon.numpy, lax=celadon.lax, special=celadon.scipy.special)
JAX = SimpleNamespace(own=jax, np=jax.numpy, lax=jax.lax, special=jax.scipy.special)


@dataclass(frozen=True)
class Step:
    """A value computed from earlier ones."""

    name: str
    rule: Rule
    operands: tuple[int, ...]
    number: float

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.operands))}; {self.number:.2f})"


@dataclass
class Composition:
    """A random program of a vector of `extent` elements, and the transforms around it, the innermost first."""

    seed: int
    extent: int
    steps: list[Step] = field(default_factory=list)
    transforms: list[tuple[str, float]] = field(default_factory=list)

    def __str__(self) -> str:
        around = " of ".join(name for name, _ in reversed(self.transforms))
        steps = "; ".join(f"{i}={step}" for i, step in enumerate(self.steps, 1))
        return f"seed {self.seed}: {around or 'nothing'} of [{steps}]"

    def function(self, package: Package) -> Function:
        found = self.program(package)
        for name, number in self.transforms:
            found = TRANSFORMS[name](package, found, number)
        return found

    def program(self, package: Package) -> Function:
        def run(x: Any) -> Any:
            values = [x]
            for step in self.steps:
                values.append(step.rule(package, step.number, *[values[i] for i in step.operands]))
            return package.np.tanh(values[-1])

        return run

    @property
    def point(self) -> np.ndarray[Any, Any]:
        return np.random.default_rng(self.seed).normal(size=self.extent)


# Steps: rule(package, number, *operands)

_UNARY: dict[str, Rule] = {
    "sin": lambda p, c, x: p.np.sin(x),
    "cos": lambda p, c, x: p.np.cos(c * x),
    "tanh": lambda p, c, x: p.np.tanh(x),
    "bell": lambda p, c, x: p.np.exp(-x * x),
    "root": lambda p, c, x: p.np.sqrt(x * x + 1.5),
    "log": lambda p, c, x: p.np.log(x * x + 0.5),
    "abs": lambda p, c, x: p.np.abs(x),
    "ratio": lambda p, c, x: x / (1 + x**2),
    "logistic": lambda p, c, x: p.lax.logistic(x),
    "arctan": lambda p, c, x: p.np.arctan(x),
    "erf": lambda p, c, x: p.special.erf(x),
    "power": lambda p, c, x: (x * x + 0.1) ** c,
    "cube": lambda p, c, x: (x / 2) ** 3,
    "scaled": lambda p, c, x: c * x - 1,
    "clip": lambda p, c, x: p.np.clip(x, -1.0, c),
    "floor": lambda p, c, x: x + p.np.floor(3 * x),
    "stopped": lambda p, c, x: x * p.lax.stop_gradient(x),
    "where": lambda p, c, x: p.np.where(x > 0.1, x, c * p.np.sin(x)),
    "jit": lambda p, c, x: p.own.jit(lambda y: p.np.sin(y) * c)(x),
    "checkpoint": lambda p, c, x: p.own.checkpoint(lambda y: p.np.cos(p.np.sin(y) * c))(x),
    "relu": lambda p, c, x: p.own.nn.relu(x - 0.2),
}
_BINARY: dict[str, Rule] = {
    "add": lambda p, c, x, y: x + y,
    "subtract": lambda p, c, x, y: x - c * y,
    "multiply": lambda p, c, x, y: x * y,
    "divide": lambda p, c, x, y: x / (1.5 + y * y),
    "maximum": lambda p, c, x, y: p.np.maximum(x, y),
    "minimum": lambda p, c, x, y: p.np.minimum(x, c),
    "chosen": lambda p, c, x, y: p.np.where(x < y, x * 0.5, y),
    "angle": lambda p, c, x, y: p.np.arctan2(x, y * y + 0.5),
    "hypot": lambda p, c, x, y: p.np.hypot(x, y + 2),
    "logaddexp": lambda p, c, x, y: p.np.logaddexp(x, y),
}


def _vmapped(p: Package, c: float, x: Any, y: Any) -> Any:
    return p.own.vmap(lambda row, one: p.np.dot(row, y) * one + p.np.sum(row), in_axes=(1, 0))(x, y)


def _scanned(p: Package, c: float, x: Any, y: Any) -> Any:
    def step(state: Any, row: Any) -> Any:
        state = p.np.tanh(state * c + row)
        return state, p.np.sum(state)

    last, sums = p.lax.scan(step, y, x)
    return last * 0.5 + sums


def _branched(p: Package, c: float, x: Any, y: Any) -> Any:
    return p.lax.cond(p.np.sum(x) > c - 1, lambda a, b: p.np.sin(a) * b, lambda a, b: a - b * b, x, y)


def _looped(p: Package, c: float, x: Any) -> Any:
    return p.lax.fori_loop(0, 3, lambda i, y: p.np.sin(y) * c + i * 0.1, x)


def _switched(p: Package, c: float, x: Any) -> Any:
    branches = [lambda y: y * c, lambda y: p.np.cos(y), lambda y: y[::-1] - 1]
    return p.lax.switch(p.np.argmax(x), branches, x)


def _inner_gradient(p: Package, c: float, x: Any) -> Any:
    return p.own.grad(lambda y: p.np.sum(p.np.sin(y * c) * y))(x)


def _slid(p: Package, c: float, x: Any) -> Any:
    return p.lax.dynamic_update_slice(x, p.lax.dynamic_slice(x, (p.np.argmin(x),), (1,)), (1,))


def _added(p: Package, c: float, x: Any, y: Any) -> Any:
    return p.np.asarray(x).at[p.np.array([0, 0])].add(y[:2])


# s, v and m are a scalar, a vector, a square matrix: (kinds of operands, kind of the result, rule)
_SHAPED: dict[str, tuple[str, str, Rule]] = {
    "sum": ("v", "s", lambda p, c, x: p.np.sum(x)),
    "mean": ("v", "s", lambda p, c, x: p.np.mean(x)),
    "max": ("v", "s", lambda p, c, x: p.np.max(x)),
    "prod": ("v", "s", lambda p, c, x: p.np.prod(x)),
    "logsumexp": ("v", "s", lambda p, c, x: p.special.logsumexp(x)),
    "first": ("v", "s", lambda p, c, x: x[0]),
    "largest": ("v", "s", lambda p, c, x: x[p.np.argmax(x * c)]),
    "dot": ("vv", "s", lambda p, c, x, y: x @ y),
    "norm": ("v", "s", lambda p, c, x: p.np.sqrt(p.np.sum(x * x) + 1)),
    "scale": ("sv", "v", lambda p, c, s, x: s * x),
    "shift": ("vs", "v", lambda p, c, x, s: x - s),
    "reversed": ("v", "v", lambda p, c, x: x[::-1]),
    "rolled": ("v", "v", lambda p, c, x: p.np.roll(x, 1)),
    "joined": ("vv", "v", lambda p, c, x, y: p.np.concatenate([x[1:], y[:1]])),
    "taken": ("v", "v", lambda p, c, x: p.np.take(x, p.np.arange(x.shape[0]) * 2 % x.shape[0])),
    "sorted": ("v", "v", lambda p, c, x: p.np.sort(x)),
    "cumsum": ("v", "v", lambda p, c, x: p.np.cumsum(x)),
    "cumprod": ("v", "v", lambda p, c, x: p.np.cumprod(x)),
    "put": ("vs", "v", lambda p, c, x, s: p.np.asarray(x).at[1].set(s)),
    "added": ("vv", "v", _added),
    "slid": ("v", "v", _slid),
    "padded": ("v", "v", lambda p, c, x: p.lax.pad(x, c, [(1, -1, 0)])),
    "softmax": ("v", "v", lambda p, c, x: p.own.nn.softmax(x)),
    "looped": ("v", "v", _looped),
    "switched": ("v", "v", _switched),
    "branched": ("vv", "v", _branched),
    "inner gradient": ("v", "v", _inner_gradient),
    "outer": ("vv", "m", lambda p, c, x, y: x[:, None] * y[None, :]),
    "stacked": ("vv", "m", lambda p, c, x, y: p.np.stack([x, y, *[x * c] * (x.shape[0] - 2)])),
    "diagonal": ("v", "m", lambda p, c, x: p.np.diag(x)),
    "rows": ("mv", "m", lambda p, c, x, y: x + y),
    "columns": ("mv", "m", lambda p, c, x, y: x * y[:, None]),
    "transposed": ("m", "m", lambda p, c, x: x.T),
    "product": ("mm", "m", lambda p, c, x, y: x @ y),
    "shaped": ("m", "m", lambda p, c, x: p.np.reshape(p.np.ravel(x)[::-1], x.shape)),
    "flipped": ("m", "m", lambda p, c, x: p.np.flip(x, 1)),
    "cumulated": ("m", "m", lambda p, c, x: p.np.cumsum(x, axis=1)),
    "applied": ("mv", "v", lambda p, c, x, y: x @ y),
    "einsum": ("mmv", "v", lambda p, c, x, y, z: p.np.einsum("ij,kj,k->i", x, y, z)),
    "row sums": ("m", "v", lambda p, c, x: p.np.sum(x, axis=1)),
    "column maxima": ("m", "v", lambda p, c, x: p.np.max(x, axis=0)),
    "row": ("m", "v", lambda p, c, x: x[1]),
    "main": ("m", "v", lambda p, c, x: p.np.diagonal(x)),
    "vmapped": ("mv", "v", _vmapped),
    "scanned": ("mv", "v", _scanned),
}  # fmt: skip


# Transforms: functions of a vector to a vector of the same extent


def _gradient(p: Package, f: Function, c: float) -> Function:
    return p.own.grad(lambda x: p.np.sum(f(x) * p.np.cos(x * c)))


def _value_and_gradient(p: Package, f: Function, c: float) -> Function:
    def both(x: Any) -> Any:
        value, gradient = p.own.value_and_grad(lambda x: p.np.sum(f(x)))(x)
        return gradient - c * value

    return both


def _pushed(p: Package, f: Function, c: float) -> Function:
    def pushed(x: Any) -> Any:
        y, t = p.own.jvp(f, (x,), (p.np.sin(x) + c,))
        return y * 0.3 + t

    return pushed


def _pulled(p: Package, f: Function, c: float) -> Function:
    def pulled(x: Any) -> Any:
        y, back = p.own.vjp(f, x)
        return back(y * c + x)[0]

    return pulled


def _linearized(p: Package, f: Function, c: float) -> Function:
    def linearized(x: Any) -> Any:
        y, push = p.own.linearize(f, x)
        return y + push(x * c) - push(p.np.ones_like(x))

    return linearized


def _batched(axes: tuple[int, int]) -> Rule:
    def batched(p: Package, f: Function, c: float) -> Function:
        def over(x: Any) -> Any:
            many = p.np.stack([x, x * c, p.np.sin(x)], axis=axes[0])
            found = p.own.vmap(f, in_axes=axes[0], out_axes=axes[1])(many)
            weights = p.np.arange(1.0, 4.0).reshape((3, 1) if axes[1] == 0 else (1, 3))
            return p.np.sum(found * weights, axis=axes[1])

        return over

    return batched


def _jacobian(name: str) -> Rule:
    return lambda p, f, c: lambda x: getattr(p.own, name)(f)(x) @ (x + c)


def _custom_jvp(p: Package, f: Function, c: float) -> Function:
    known = p.own.custom_jvp(f)

    @known.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        y, t = p.own.jvp(f, primals, tangents)
        return y, t * c

    return known


def _custom_vjp(p: Package, f: Function, c: float) -> Function:
    known = p.own.custom_vjp(f)
    known.defvjp(lambda x: (f(x), x), lambda x, ct: (p.own.vjp(f, x)[1](ct * c)[0],))
    return known


def _scan(p: Package, f: Function, c: float) -> Function:
    def scan(x: Any) -> Any:
        last, means = p.lax.scan(lambda state, _: (f(state) * c, p.np.mean(state)), x, None, length=2)
        return last + p.np.sum(means)

    return scan


def _cond(p: Package, f: Function, c: float) -> Function:
    return lambda x: p.lax.cond(x[0] > c - 1, f, lambda x: x * 0.5, x)


def _map(p: Package, f: Function, c: float) -> Function:
    return lambda x: p.np.sum(p.lax.map(f, p.np.stack([x, x * c])), axis=0)


def _while(p: Package, f: Function, c: float) -> Function:
    def loop(x: Any) -> Any:
        return p.lax.while_loop(lambda state: state[0] < 2, lambda state: (state[0] + 1, f(state[1]) + c), (0, x))[1]

    return loop


TRANSFORMS: dict[str, Rule] = {
    "jit": lambda p, f, c: p.own.jit(f),
    "grad": _gradient,
    "value_and_grad": _value_and_gradient,
    "jvp": _pushed,
    "vjp": _pulled,
    "linearize": _linearized,
    "vmap": _batched((0, 0)),
    "vmap along 1": _batched((1, 1)),
    "vmap to 1": _batched((0, 1)),
    "jacfwd": _jacobian("jacfwd"),
    "jacrev": _jacobian("jacrev"),
    "checkpoint": lambda p, f, c: p.own.checkpoint(f),
    "custom_jvp": _custom_jvp,
    "custom_vjp": _custom_vjp,
    "scan": _scan,
    "cond": _cond,
    "map": _map,
    "while": _while,
}
FORWARD = {"jvp", "linearize", "jacfwd"}  # linearize is forward mode over a recorder
REVERSE = {"grad", "value_and_grad", "vjp", "jacrev"}


def composition(seed: int, depth: int = 4, length: int = 8) -> Composition:
    """The random program and transforms of a seed."""
    chance = random.Random(seed)
    found = Composition(seed, chance.choice((3, 4)))
    kinds = ["v"]
    for _ in range(chance.randint(1, length)):
        _add(chance, found.steps, kinds)
    _end_in_vector(chance, found.steps, kinds)
    found.transforms = list(_transforms(chance, depth))
    return found


def _add(chance: random.Random, steps: list[Step], kinds: list[str]) -> None:
    table = chance.choice(("unary", "binary", "shaped", "shaped"))
    if table == "unary":
        i = chance.randrange(len(kinds))
        name = chance.choice(list(_UNARY))
        _append(chance, steps, kinds, (name, _UNARY[name], (i,), kinds[i]))
    elif table == "binary":
        i = chance.randrange(len(kinds))
        j = chance.choice([k for k, kind in enumerate(kinds) if kind == kinds[i]])
        name = chance.choice(list(_BINARY))
        _append(chance, steps, kinds, (name, _BINARY[name], (i, j), kinds[i]))
    else:
        usable = [name for name, (wanted, *_) in _SHAPED.items() if set(wanted) <= set(kinds)]
        name = chance.choice(usable)
        wanted, made, rule = _SHAPED[name]
        operands = tuple(chance.choice([k for k, kind in enumerate(kinds) if kind == one]) for one in wanted)
        _append(chance, steps, kinds, (name, rule, operands, made))


def _append(chance: random.Random, steps: list[Step], kinds: list[str], made: tuple[str, Rule, tuple[int, ...], str]) -> None:
    name, rule, operands, kind = made
    steps.append(Step(name, rule, operands, chance.uniform(0.5, 1.5)))
    kinds.append(kind)


def _end_in_vector(chance: random.Random, steps: list[Step], kinds: list[str]) -> None:
    ends = {"s": ("scale", (len(kinds) - 1, 0)), "m": ("applied", (len(kinds) - 1, 0))}
    if kinds[-1] in ends:
        name, operands = ends[kinds[-1]]
        _append(chance, steps, kinds, (name, _SHAPED[name][2], operands, "v"))


def _transforms(chance: random.Random, depth: int) -> Iterator[tuple[str, float]]:
    """No forward mode of a custom_vjp, no reverse mode of a loop without a known number of steps: JAX has neither."""
    inside: set[str] = set()
    for _ in range(chance.randint(0, depth)):
        known = set(TRANSFORMS)
        if "custom_vjp" in inside:
            known -= FORWARD
        if "while" in inside:
            known -= REVERSE | {"custom_vjp", "linearize"}
        name = chance.choice(sorted(known))
        inside.add(name)
        yield name, chance.uniform(0.5, 1.5)
