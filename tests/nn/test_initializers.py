"""Initializers against JAX's, on equal keys."""

from __future__ import annotations

from typing import Any

import jax
import jax.nn.initializers as theirs
import numpy as np
import pytest

import celadon
import celadon.nn.initializers as ours
from celadon import errors, random

SCALED = ("glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "kaiming_normal", "kaiming_uniform", "lecun_normal",
          "lecun_uniform", "xavier_normal", "xavier_uniform")  # fmt: skip
Make = Any
CASES: dict[str, tuple[Make, tuple[Any, ...]]] = {
    **{name: (lambda m, name=name: getattr(m, name)(), ((3, 4, 5),)) for name in SCALED},
    **{f"{name} of halves": (lambda m, name=name: getattr(m, name)(), ((3, 4), "bfloat16")) for name in SCALED[:2]},
    **{f"{name} complex": (lambda m, name=name: getattr(m, name)(), ((3, 4), "complex64")) for name in SCALED[:2]},
    "axes": (lambda m: m.he_normal(in_axis=(0, 1), out_axis=2, batch_axis=3, dtype=np.float16), ((2, 3, 4, 5),)),
    "vector": (lambda m: m.lecun_uniform(in_axis=0, out_axis=()), ((7,),)),
    **{mode: (lambda m, mode=mode: m.variance_scaling(2.5, mode, "normal"), ((3, 4),))
       for mode in ("fan_in", "fan_out", "fan_avg", "fan_geo_avg")},
    "complex normal": (lambda m: m.variance_scaling(2.5, "fan_in", "normal"), ((3, 4), "complex64")),
    "uniform": (lambda m: m.uniform(0.3), ((3, 4),)),
    "normal": (lambda m: m.normal(0.3, "float16"), ((3, 4),)),
    "normal complex": (lambda m: m.normal(), ((3, 4), "complex64")),
    "truncated_normal": (lambda m: m.truncated_normal(0.3, lower=-1.0, upper=0.5), ((3, 4),)),
    "constant": (lambda m: m.constant(7), ((3, 4),)),
    "constant of a row": (lambda m: m.constant(np.arange(4)), ((3, 4), "int32")),
    "orthogonal": (lambda m: m.orthogonal(2.0), ((4, 3),)),
    "orthogonal of columns": (lambda m: m.orthogonal(column_axis=0), ((2, 3, 4),)),
    "orthogonal of nothing": (lambda m: m.orthogonal(), ((2, 0),)),
    "delta_orthogonal": (lambda m: m.delta_orthogonal(), ((3, 5, 2, 4),)),
    "zeros": (lambda m: m.zeros, ((3, 4),)),
    "ones": (lambda m: m.ones, ((3,), "int32")),
}  # fmt: skip


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    """All cases in one program of JAX's."""
    return jax.jit(lambda key: {name: make(theirs)(key, *args) for name, (make, args) in CASES.items()})(jax.random.key(7))


@pytest.mark.parametrize("name", CASES)
def test_weights_are_those_of_jax(name: str, expected: dict[str, Any]) -> None:
    make, args = CASES[name]
    found, wanted = make(ours)(random.key(7), *args), expected[name]
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    found, wanted = np.asarray(found).astype(complex), np.asarray(wanted).astype(complex)
    tolerance = {2: 1e-2, 4: 4e-6, 8: 4e-6}[expected[name].dtype.itemsize]
    np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance / 8)


def test_they_are_initializers() -> None:
    assert isinstance(ours.he_normal(), ours.Initializer) and isinstance(ours.zeros, ours.Initializer)


def test_weights_under_jit_compile_once() -> None:
    init = celadon.jit(lambda key, n: ours.glorot_normal()(key, (n, n + 1)), static_argnums=1)
    init(random.key(0), 4)
    with celadon.events.watching() as seen:
        init(random.key(1), 9)
    assert not [event for event in seen if event.kind == "compile"]


def test_what_is_refused() -> None:
    key = random.key(0)
    with pytest.raises(errors.FansUnknown):
        ours.he_normal()(key, (3,))
    for make, shape in ((ours.orthogonal, (3,)), (ours.delta_orthogonal, (3, 4)), (ours.delta_orthogonal, (3, 4, 2))):
        with pytest.raises(errors.FansUnknown):
            make()(key, shape)
    with pytest.raises(errors.OptionUnknown, match="fan_in"):
        ours.variance_scaling(1.0, "fan", "normal")(key, (3, 4))
    with pytest.raises(errors.OptionUnknown, match="uniform"):
        ours.variance_scaling(1.0, "fan_in", "poisson")(key, (3, 4))
