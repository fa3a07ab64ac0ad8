"""Real JAX as the oracle: one function called by name in both libraries, results (or the fact of an error) compared."""

from __future__ import annotations

import warnings
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

import celadon.calling  # noqa: F401
import celadon.lax as clax
import celadon.numpy as cnp
from celadon.array import Array

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bfloat16", "float16", "float32",
    "float64", "complex64", "complex128",
)  # fmt: skip
FEW = ("bool", "int32", "uint8", "bfloat16", "float32", "complex64")
_TOLERANCE = {"bfloat16": 2e-2, "float16": 3e-3, "float32": 3e-6, "complex64": 1e-5}
LIBRARIES = {"numpy": (jnp, cnp), "lax": (jax.lax, clax)}


def sample(dtype: str, shape: tuple[int, ...] = (2, 3), seed: int = 0, low: float = -4, high: float = 5) -> Any:
    """Random numbers of a dtype, both signs where it has them."""
    rng = np.random.default_rng([seed, *shape])
    found = rng.uniform(low, high, shape)
    if dtype == "bool":
        return found > 0
    if dtype.startswith("uint"):
        return np.abs(found).astype(dtype)
    if dtype.startswith("complex"):
        return (found + 1j * rng.uniform(low, high, shape)).astype(dtype)
    if dtype.startswith(("float", "bfloat")):
        found = np.round(found * 8) / 8
    return found.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)


def _convert(x: Any, make: Any) -> Any:
    if isinstance(x, np.ndarray | np.generic):
        return make(x)
    if isinstance(x, list):
        return [_convert(v, make) for v in x]
    if isinstance(x, tuple):
        return tuple(_convert(v, make) for v in x)
    return x


def theirs(function: Any, args: Any, kwargs: Any) -> Any:
    return function(*_convert(list(args), jnp.asarray), **{k: _convert(v, jnp.asarray) for k, v in kwargs.items()})


def ours(function: Any, args: Any, kwargs: Any) -> Any:
    return function(*_convert(list(args), cnp.asarray), **{k: _convert(v, cnp.asarray) for k, v in kwargs.items()})


def outcome(run: Any, function: Any, args: Any, kwargs: Any) -> tuple[Any, BaseException | None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return run(function, args, kwargs), None
        except Exception as error:
            return None, error


def agree(name: str, *args: Any, library: str = "numpy", **kwargs: Any) -> None:
    """Both libraries give equal results (values, dtype, weakness, shape), or both raise."""
    jax_module, own_module = LIBRARIES[library]
    agree_on(getattr(jax_module, name), getattr(own_module, name), args, kwargs, name)


def agree_on(jax_function: Any, own_function: Any, args: Any, kwargs: Any, name: str) -> None:
    expected, error = outcome(theirs, jax_function, args, kwargs)
    found, own_error = outcome(ours, own_function, args, kwargs)
    described = f"{name}({', '.join(map(_short, args))}, {kwargs})"
    if error is not None:
        assert own_error is not None, f"{described}: JAX raised {type(error).__name__}: {error}; ours gave {found!r}"
        assert isinstance(own_error, (TypeError, ValueError, IndexError, OverflowError, NotImplementedError)), own_error
        return
    if own_error is not None:
        raise AssertionError(f"{described}: {type(own_error).__name__}: {own_error}") from own_error
    compare(found, expected, described)


def _short(x: Any) -> str:
    return f"{x.dtype}{list(x.shape)}" if isinstance(x, np.ndarray | np.generic) else repr(x)


def compare(found: Any, expected: Any, described: str) -> None:
    if isinstance(expected, list | tuple):
        assert type(found).__name__.lower().lstrip("_") in type(expected).__name__.lower() or isinstance(
            found, type(expected)
        ), f"{described}: {type(found)}"
        assert len(found) == len(expected), described
        for one, other in zip(found, expected, strict=True):
            compare(one, other, described)
        return
    if not isinstance(expected, jax.Array):
        assert found == expected or (found != found and expected != expected), f"{described}: {found!r}, not {expected!r}"
        return
    assert isinstance(found, Array), f"{described}: {type(found)}"
    kind = f"{found.dtype}{list(found.shape)}{'*' if found.weak_type else ''}"
    wanted = f"{expected.dtype}{list(expected.shape)}{'*' if expected.weak_type else ''}"
    assert kind == wanted, f"{described}: {kind}, not {wanted}"
    close(np.asarray(found), np.asarray(expected), described)


def close(found: Any, expected: Any, described: str) -> None:
    tolerance = _TOLERANCE.get(str(expected.dtype))
    if tolerance is None and expected.dtype.kind in "biu":
        assert np.array_equal(found, expected), f"{described}: {found!r}, not {expected!r}"
        return
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(
            found.astype(wide), expected.astype(wide), rtol=tolerance or 1e-12, atol=tolerance or 1e-12, err_msg=described
        )
