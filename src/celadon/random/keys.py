"""Random keys: made of seeds, split, folded with numbers, wrapped and unwrapped; and the words that samplers take."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from celadon import errors, vocabulary as ops
from celadon.array import Array, from_host
from celadon.keys import GENERATOR, KEY, KeyDType, default_prng_impl, is_key, key_dtype as _key_dtype, legacy_prng_key
from celadon.numpy import creation, shapes
from celadon.numpy.promotion import array, shape_from
from celadon.program import fixed, literal
from celadon.random.blocks import Words, row_of_keys
from celadon.tracing import Value, recording
from celadon.types import ArrayType, Shape, canonical, kind
from celadon.vocabulary.bits import WORD
from celadon.vocabulary.call import named

_TYPED = ArrayType((), KEY)


def key(seed: Any, *, impl: Any = None, dtype: Any = None) -> Any:
    """A random key, of dtype key<fry>.

    Args: seed: an integer; impl or dtype: "threefry2x32", or the dtype of a key.
    Raises SeedInvalid, GeneratorUnknown, OverflowError for seeds of more than 64 bits.

    >>> key(0).dtype, key(0).shape
    (key<fry>, ())
    """
    _check_generator("random.key", impl, dtype)
    found = _seeded("random.key", seed)
    return found.typed(_TYPED) if type(found) is Array else ops.bitcast_convert(found, new_dtype=KEY)


def PRNGKey(seed: Any, *, impl: Any = None) -> Any:
    """A random key as two words, of dtype uint32.

    Args: seed: an integer. Raises SeedInvalid, GeneratorUnknown, OverflowError for seeds of more than 64 bits.

    >>> PRNGKey(42)
    Array([ 0, 42], dtype=uint32)
    """
    _check_generator("random.PRNGKey", impl, None)
    if legacy_prng_key.value != "allow":
        _report_legacy()
    return _seeded("random.PRNGKey", seed)


def _report_legacy() -> None:
    if legacy_prng_key.value == "error":
        raise errors.LegacyKeyError()
    errors.warn(errors.LegacyKeyWarning())


def _check_generator(function: str, impl: Any, dtype: Any) -> None:
    if impl is not None and dtype is not None:
        raise errors.OptionsExclude(function=function, one="impl", other="dtype")
    wanted = impl if impl is not None else dtype if dtype is not None else default_prng_impl.value
    if wanted != GENERATOR and not (hasattr(wanted, "kind") and is_key(wanted)):
        raise errors.GeneratorUnknown(impl=wanted)


def _seeded(function: str, seed: Any) -> Any:
    """The words of a seed: the upper and lower half of its 64 bits, of which there are 32 unless x64 is on."""
    if isinstance(seed, int):
        return _from_number(seed)
    found = array(seed, function) if isinstance(seed, Value | np.ndarray | np.generic) else None
    if found is None or found.type.shape or kind(found.type.dtype) not in "iu":
        raise errors.SeedInvalid(function=function, given=seed if found is None else found.type)
    upper = fixed(0, WORD)
    if found.type.dtype.itemsize == 8:
        shifted = ops.shift_right_logical(found, fixed(32, found.type.dtype))
        upper = ops.convert(shifted, new_dtype=WORD)
    return _joined(upper, ops.convert(found, new_dtype=WORD))


def _from_number(seed: int) -> Any:
    if not -(1 << 63) <= seed < 1 << 63:
        raise errors.IntegerTooLarge(value=seed, dtype="a seed of 64 bits")
    halves = [seed >> 32 & 0xFFFFFFFF if canonical(np.int64).itemsize == 8 else 0, seed & 0xFFFFFFFF]
    if recording() is None:
        return from_host(np.array(halves, WORD))
    return _joined(*[literal(half, WORD) for half in halves])


def _joined(upper: Any, lower: Any) -> Any:
    parts = [ops.broadcast_in_dim(x, shape=(1,), broadcast_dimensions=()) for x in (upper, lower)]
    return ops.concatenate(*parts, dimension=0)


def single(function: str, key: Any) -> Any:
    """The key that a sampler was given, typed or as words.

    Raises KeyInvalid or KeyNotSingle.
    """
    found = _keys(function, key)
    if found.type.ndim != (0 if is_key(found.type.dtype) else 1):
        raise errors.KeyNotSingle(function=function, shape=found.type.shape)
    return found


def _keys(function: str, key: Any) -> Any:
    if not isinstance(key, Value | np.ndarray):
        raise errors.KeyInvalid(function=function, given=repr(key))
    found = array(key, function)
    type: ArrayType = found.type
    if not is_key(type.dtype) and (type.dtype != WORD or type.shape[-1:] != (2,)):
        raise errors.KeyInvalid(function=function, given=type)
    return found


def key_data(keys: Any) -> Any:
    """The words of keys, in a last axis of extent 2.

    >>> key_data(key(42))
    Array([ 0, 42], dtype=uint32)
    """
    return _data(_keys("random.key_data", keys))


def _data(keys: Any) -> Any:
    return ops.bitcast_convert(keys, new_dtype=WORD) if is_key(keys.type.dtype) else keys


def wrap_key_data(key_bits_array: Any, *, impl: Any = None, dtype: Any = None) -> Any:
    """The typed keys whose words are given, in a last axis of extent 2.

    >>> wrap_key_data(np.array([0, 42], "uint32")).shape
    ()
    """
    _check_generator("random.wrap_key_data", impl, dtype)
    found = _keys("random.wrap_key_data", key_bits_array)
    if is_key(found.type.dtype):
        raise errors.KeyInvalid(function="random.wrap_key_data", given=found.type)
    return ops.bitcast_convert(found, new_dtype=KEY)


def key_impl(keys: Any) -> str:
    """The name of the generator that keys are for.

    >>> key_impl(key(0))
    'threefry2x32'
    """
    _keys("random.key_impl", keys)
    return GENERATOR


def key_dtype(impl: Any = None) -> KeyDType:
    """The dtype of keys of a generator.

    >>> key_dtype()
    key<fry>
    """
    _check_generator("random.key_dtype", impl, None)
    return _key_dtype


def clone(key: Any) -> Any:
    """The same key, for a second use that is meant.

    >>> bool(clone(key(0)) == key(0))
    True
    """
    return _keys("random.clone", key)


def split(key: Any, num: int | Sequence[int] = 2) -> Any:
    """New keys whose streams are independent of each other and of the old key's.

    Args: num: how many, or their shape. Returns keys of the old one's dtype, in new leading axes.
    Raises KeyInvalid, KeyNotSingle.

    >>> split(PRNGKey(0), 3).shape, split(globals()["key"](0), (2, 3)).shape
    ((3, 2), (2, 3))
    """
    shape = shape_from(tuple(num) if isinstance(num, Sequence) else num)
    return _split(single("random.split", key), shape=shape)


@named("_threefry_split", whole=True)
def _split(key: Any, *, shape: Shape) -> Any:
    found = row_of_keys(words(key), math.prod(shape))
    if is_key(key.type.dtype):
        return shapes.reshape(ops.bitcast_convert(found, new_dtype=KEY), shape)
    return shapes.reshape(found, (*shape, 2))


def fold_in(key: Any, data: Any) -> Any:
    """A new key, of a key and a number.

    Args: data: an integer scalar of at most 32 bits.
    Raises KeyInvalid, KeyNotSingle, DimensionsUnfit, OverflowError for negative or larger Python integers.

    >>> fold_in(PRNGKey(0), 1).shape
    (2,)
    """
    found = single("random.fold_in", key)
    number = creation.asarray(data, WORD)
    if number.type.shape:
        raise errors.DimensionsUnfit(
            function="random.fold_in", argument="data", value="an array", shape=number.type.shape, reason="it must be a scalar"
        )
    return _fold_in(found, number)


@named("_threefry_fold_in", whole=True)
def _fold_in(key: Any, number: Any) -> Any:
    pair = ops.threefry2x32(*words(key), fixed(0, WORD), number, folded=False)
    return ops.bitcast_convert(pair, new_dtype=key.type.dtype)


def words(key: Any) -> Words:
    """The two words of a single key, typed or not, as scalars."""
    data = _data(key)
    parts = [ops.slice_(data, start_indices=(i,), limit_indices=(i + 1,), strides=(1,)) for i in (0, 1)]
    first, second = (ops.reshape(part, shape=()) for part in parts)
    return first, second


def as_program(name: str, body: Callable[..., Any]) -> Callable[..., Any]:
    """The sampler that takes a key where its body takes the words of one, and always runs as one program."""

    @named(name, whole=True)
    def sampler(key: Any, *parameters: Any, **structure: Any) -> Any:
        return body(words(key), *parameters, **structure)

    return sampler
