"""The thesis: other extents and other static scalars give one structure, and a lifted number gives the bits of a baked one."""

import difflib
import pprint

import numpy as np
import pytest

import celadon
import celadon.numpy as cnp
from celadon import cache, compiler
from tests import callables
from tests.bits import bits

CALLS = list(callables.calls())
IDS = [call.name for call in CALLS]

# Calls whose structure other extents, or other scalars, may change, and why.
BY_SHAPE = dict.fromkeys(
    ("numpy.searchsorted", "numpy.searchsorted/1", "numpy.digitize", "random.choice/3"),
    "the search halves as often as the extent has bits",
) | {
    "lax.associative_scan": "pairs are joined as often as the extent has bits",
    "lax.map/1": "an extent that batches do not divide leaves a remainder",
}
BY_SCALAR = {
    "numpy.take": "what a gather gives outside is a parameter of the op",
    "lax.scatter_apply": "the numbers of a function of single elements belong to it",
}


def structure(call: callables.Call, sizes: callables.Sizes) -> compiler.Structure:
    function, arrays = call.on(sizes)
    program = celadon.jit(function).trace(arrays).needed
    native = cache.executor("cpu").native
    return compiler.lift(compiler.simplify(compiler.lower(program, native)))[0]


def parted(one: compiler.Structure, other: compiler.Structure) -> str:
    """Where two keys part, for the message of a failure."""
    if len(one.program.equations) != len(other.program.equations):
        return f"the number of equations:\n{one.program}\n{other.program}"
    return "\n".join(line for line in difflib.ndiff(_lines(one), _lines(other)) if line[0] in "+-")


def _lines(structure: compiler.Structure) -> list[str]:
    return pprint.pformat(structure.key, width=200).splitlines()


@pytest.mark.parametrize("call", CALLS, ids=IDS)
def test_other_extents_give_the_same_structure(call):
    one, other = structure(call, callables.FIRST), structure(call, callables.OTHER_SHAPES)
    assert (one.digest == other.digest) == (call.name not in BY_SHAPE), BY_SHAPE.get(call.name) or parted(one, other)


@pytest.mark.parametrize("call", CALLS, ids=IDS)
def test_other_scalars_give_the_same_structure(call):
    one, other = structure(call, callables.FIRST), structure(call, callables.OTHER_SCALARS)
    assert (one.digest == other.digest) == (call.name not in BY_SCALAR), BY_SCALAR.get(call.name) or parted(one, other)


@pytest.mark.parametrize("call", CALLS, ids=IDS)
def test_lifted_numbers_give_the_bits_of_baked_ones(call):
    function, arrays = call.on(callables.FIRST)
    celadon.jit(function)(arrays)  # whose structure the other scalars take
    for sizes in (callables.OTHER_SHAPES, callables.OTHER_SCALARS):
        function, arrays = call.on(sizes)
        lifted = celadon.jit(function)(arrays)
        with cache.lifting(False):
            baked = celadon.jit(function)(arrays)
        assert bits(lifted) == bits(baked)


def test_exceptions_name_calls():
    assert not (BY_SHAPE.keys() | BY_SCALAR.keys()) - set(IDS)


def test_no_public_callable_is_left_out():
    assert callables.left_out() == []


def test_no_table_names_what_is_not_public():
    assert callables.stale() == []


def test_an_extent_that_two_axes_share_by_chance_unites_nothing():
    """The first sizes have m equal to n; what is said of x (m, n) must not hold only for squares."""
    assert callables.FIRST.m == callables.FIRST.n
    assert callables.OTHER_SHAPES.m != callables.OTHER_SHAPES.n
    assert np.unique([callables.OTHER_SHAPES.m, callables.OTHER_SHAPES.n, callables.OTHER_SHAPES.p]).size == 3


def test_a_private_function_called_twice_is_computed_twice():
    inner = celadon.jit(lambda x: cnp.sin(x) * 2)
    x = np.float32([1, 2, 3])
    expected = np.asarray(inner(x)) + np.asarray(inner(x + 1))
    np.testing.assert_array_equal(celadon.jit(lambda x: inner(x) + inner(x + 1))(x), expected)


@pytest.mark.parametrize("shape", [(6, 6), (6, 9)])
def test_calls_share_no_numbers_for_having_equal_types(shape):
    """Two calls of one private function, on types that are equal by chance in one case and differ in the other."""

    def digest(y):
        program = celadon.jit(lambda x, y: (cnp.nan_to_num(x), cnp.nan_to_num(y))).trace(np.ones((6, 6)), y).needed
        return compiler.lift(compiler.simplify(compiler.lower(program)))[0].digest

    assert digest(np.ones(shape)) == digest(np.ones((4, 5)))


def test_numbers_among_parameters_are_told_apart_by_their_bits():
    """0.0 equals -0.0, and is another fill; one after the other, and in one program."""
    x, out = np.ones(3, np.float32), np.array([5])

    def filled(x, value):
        return cnp.take(x, out, mode="fill", fill_value=value)

    for value in (0.0, -0.0, np.float32(0.0), np.float32(-0.0), np.nan):
        expected = cnp.asarray(np.array([value], np.float32))
        assert bits(celadon.jit(lambda x, value=value: filled(x, value))(x)) == bits(expected) == bits(filled(x, value))
    both = celadon.jit(lambda x: [filled(x, 0.0), filled(x, -0.0)])(x)
    assert bits(both) == bits([cnp.asarray(np.array([value], np.float32)) for value in (0.0, -0.0)])
