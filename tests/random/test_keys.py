"""Random keys: made, split and folded with JAX's bits; typed ones behave as JAX's key arrays in every place."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import celadon
import celadon.dtypes
import celadon.numpy as cnp
from celadon import errors, random
from tests.bits import bits

SEEDS = (0, 1, 42, 2**31 - 1, 2**31, 2**32 + 5, 2**63 - 1, -1, -(2**31), True, np.uint32(2**32 - 1), np.int8(-3), np.int64(7))


def same(found: Any, expected: Any) -> None:
    """Keys, typed or not, with equal words, or other arrays with equal elements."""
    if jnp.issubdtype(expected.dtype, jax.dtypes.prng_key):
        assert str(found.dtype) == str(expected.dtype) and found.shape == expected.shape
        found, expected = random.key_data(found), jax.random.key_data(expected)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(expected), strict=True)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("seed", SEEDS, ids=repr)
def test_a_seed_gives_the_key_of_jax(seed: Any, wide: bool) -> None:
    with jax.enable_x64(wide), celadon.enable_x64(wide):
        same(random.PRNGKey(seed), jax.random.PRNGKey(seed))
        same(random.key(seed), jax.random.key(seed))


@pytest.mark.parametrize("wide", [False, True])
def test_a_traced_seed_gives_the_same_key(wide: bool) -> None:
    with celadon.enable_x64(wide):
        for seed in (5, -1, 2**31 - 1):
            same_bits = bits(random.key_data(celadon.jit(random.key)(seed)))
            assert same_bits == bits(random.PRNGKey(seed)) == bits(celadon.jit(lambda s=seed: random.PRNGKey(s))())


@pytest.mark.parametrize("make", ["key", "PRNGKey"])
def test_splitting_and_folding(make: str) -> None:
    ours, theirs = getattr(random, make)(42), getattr(jax.random, make)(42)
    for num in (1, 2, 7, (3,), (2, 3), (0,), ()):
        same(random.split(ours, num), jax.random.split(theirs, num))
        same(celadon.jit(lambda k, num=num: random.split(k, num))(ours), jax.random.split(theirs, num))
    for data in (0, 1, 2**32 - 1, np.int32(7), np.float32(2.7)):
        same(random.fold_in(ours, data), jax.random.fold_in(theirs, data))
    same(celadon.jit(random.fold_in)(ours, 3), jax.random.fold_in(theirs, 3))


def test_the_words_of_a_key() -> None:
    ours, theirs = random.split(random.key(3), (2, 2)), jax.random.split(jax.random.key(3), (2, 2))
    same(random.key_data(ours), jax.random.key_data(theirs))
    same(random.wrap_key_data(random.key_data(ours)), theirs)
    same(random.key_data(random.PRNGKey(3)), jax.random.PRNGKey(3))
    assert random.key_impl(ours) == jax.random.key_impl(theirs)
    assert repr(random.key_dtype()) == repr(jax.random.key_dtype())
    assert ours.dtype == random.key_dtype() and hash(ours.dtype) == hash(random.key_dtype())


DESCRIBED = ("repr(keys)", "str(keys)", "keys.shape", "keys.ndim", "keys.size", "keys.nbytes", "keys.itemsize", "len(keys)",
             "keys.dtype.name", "keys.dtype.itemsize", "repr(keys[0])", "repr(keys.dtype)")  # fmt: skip


@pytest.mark.parametrize("question", DESCRIBED)
def test_a_key_array_is_described_as_in_jax(question: str) -> None:
    ours, theirs = random.split(random.key(3), (2, 3)), jax.random.split(jax.random.key(3), (2, 3))
    assert eval(question, {"keys": ours}) == eval(question, {"keys": theirs})


MOVED = (
    "keys[0]", "keys[1, 2]", "keys[:, ::2]", "keys[..., None]", "keys[::-1]", "keys.T", "keys.reshape(3, 2)", "keys.flatten()",
    "keys.ravel()", "keys.squeeze()", "keys.swapaxes(0, 1)", "keys[jnp.array([1, 0])]", "jnp.stack([keys[0], keys[1]])",
    "jnp.concatenate([keys, keys])", "jnp.where(jnp.array([True, False, True]), keys[0], keys[1])", "jnp.zeros_like(keys)",
    "jnp.broadcast_to(keys, (2, 2, 3))", "jnp.take(keys, jnp.array([0, 2]), axis=1)", "jnp.expand_dims(keys, 0)",
    "jnp.array([keys[0, 0], keys[0, 1]])", "jnp.zeros((2,), keys.dtype)", "keys == keys[0]", "keys != keys[1, 1]",
    "jnp.roll(keys, 1)", "jnp.asarray(keys)",
)  # fmt: skip


@pytest.mark.parametrize("expression", MOVED)
def test_keys_move_like_elements(expression: str) -> None:
    ours, theirs = random.split(random.key(3), (2, 3)), jax.random.split(jax.random.key(3), (2, 3))
    expected = eval(expression, {"keys": theirs, "jnp": jnp})
    same(eval(expression, {"keys": ours, "jnp": cnp}), expected)
    same(celadon.jit(lambda keys: eval(expression, {"keys": keys, "jnp": cnp}))(ours), expected)


REFUSED = ("np.asarray(key)", "bool(key)", "int(key)", "float(key)", "key + 1", "key + key", "key < key", "key.astype(int)",
           "key.item()", "key.tolist()", "jnp.sin(key)", "jnp.sort(keys)", "keys.sum()", "hash(key)")  # fmt: skip


@pytest.mark.parametrize("expression", REFUSED)
def test_keys_are_no_numbers(expression: str) -> None:
    key = random.key(0)
    with pytest.raises(TypeError):
        eval(expression, {"key": key, "keys": random.split(key), "np": np, "jnp": cnp})


def test_kinds_of_dtypes() -> None:
    key, dtypes = random.key(0), celadon.dtypes
    assert cnp.issubdtype(key.dtype, dtypes.prng_key) and cnp.issubdtype(key.dtype, dtypes.extended)
    assert not cnp.issubdtype(key.dtype, np.integer) and not cnp.issubdtype(np.dtype("uint32"), dtypes.prng_key)
    assert cnp.issubdtype(dtypes.prng_key, dtypes.extended) and not cnp.issubdtype(dtypes.extended, dtypes.prng_key)


def test_keys_are_arrays_and_leaves() -> None:
    key = random.key(0)
    assert isinstance(key, celadon.Array)
    assert celadon.tree.leaves({"key": key, "x": 1.0})[0] is key
    assert repr(celadon.eval_shape(lambda: key)) == repr(jax.eval_shape(lambda: jax.random.key(0)))
    shape = celadon.ShapeDtypeStruct((4,), key.dtype)
    assert celadon.eval_shape(lambda keys: keys[1:], shape).dtype == key.dtype
    assert celadon.jit(random.split).lower(shape.dtype and celadon.ShapeDtypeStruct((), key.dtype)).compile()(key).shape == (2,)
    same(pickle.loads(pickle.dumps(key)), jax.random.key(0))
    same(copy.deepcopy(key), jax.random.key(0))
    same(random.clone(key), jax.random.key(0))


def test_keys_pass_through_programs() -> None:
    keys, theirs = random.split(random.key(3), 4), jax.random.split(jax.random.key(3), 4)
    out = celadon.jit(lambda keys, i: {"one": keys[i], "all": keys, "made": random.key(7)})(keys, 2)
    same(out["one"], theirs[2])
    same(out["all"], theirs)
    same(out["made"], jax.random.key(7))
    same(celadon.jit(lambda: keys)(), theirs)  # captured
    inner = celadon.jit(lambda key: random.split(key))
    same(celadon.jit(lambda keys: inner(keys[0]))(keys), jax.random.split(theirs[0]))
    donated = random.split(random.key(3), 4)
    same(celadon.jit(lambda keys: keys[::-1], donate_argnums=0)(donated), theirs[::-1])
    assert donated.is_deleted()


@pytest.mark.parametrize("executor", ["cpu", "reference", "xla"])
def test_every_executor_takes_keys(executor: str) -> None:
    with celadon.cache.executor_name(executor):
        key = random.key(3)
        split = celadon.jit(lambda key: (random.split(key), random.bits(key, (3,))))
        keys, drawn = split(key)
        same(keys, jax.random.split(jax.random.key(3)))
        same(drawn, jax.random.bits(jax.random.key(3), (3,)))


def test_text_of_a_program_with_keys_is_accepted_by_mlir() -> None:
    lowered = celadon.jit(lambda key: (random.split(key), random.normal(key, (3,)))).lower(random.key(0))
    text = lowered.as_text()
    assert "@threefry2x32" in text and "tensor<ui64>" in text
    assert celadon.xla.parse(text)


WRONG_KEYS = (3, 0.5, np.arange(3, dtype="uint32"), np.arange(2), np.zeros((2, 3), "uint32"), "key", None)


@pytest.mark.parametrize("key", WRONG_KEYS, ids=repr)
def test_what_is_no_key(key: Any) -> None:
    for function in (random.split, random.normal, random.bits, lambda k: random.fold_in(k, 1), random.key_data):
        with pytest.raises(errors.KeyInvalid):
            function(key)


def test_several_keys_where_one_is_wanted() -> None:
    for keys in (random.split(random.key(0)), random.split(random.PRNGKey(0))):
        for function in (random.split, random.normal, lambda k: random.permutation(k, 3)):
            with pytest.raises(errors.KeyNotSingle, match="vmap"):
                function(keys)


@pytest.mark.parametrize("seed", [0.5, "a", [1], np.arange(2), None], ids=repr)
def test_what_is_no_seed(seed: Any) -> None:
    for make in (random.key, random.PRNGKey):
        with pytest.raises(errors.SeedInvalid):
            make(seed)


def test_seeds_and_numbers_out_of_range() -> None:
    for seed in (2**63, -(2**63) - 1):
        with pytest.raises(OverflowError):
            random.key(seed)
    for data in (-1, 2**32):
        with pytest.raises(OverflowError):
            random.fold_in(random.key(0), data)


def test_other_generators_are_refused() -> None:
    for impl in ("rbg", "unsafe_rbg", "threefry"):
        with pytest.raises(errors.GeneratorUnknown):
            random.key(0, impl=impl)
    same(random.key(0, impl="threefry2x32"), jax.random.key(0))
    same(random.key(0, dtype=random.key_dtype()), jax.random.key(0))
    with pytest.raises(errors.OptionsExclude):
        random.wrap_key_data(random.PRNGKey(0), impl="threefry2x32", dtype=random.key_dtype())
