"""Functions over words: what their IR does is what Python does with the same source, on a list for memory."""

import ctypes

import pytest

from celadon.cpu import link, llvm
from celadon.cpu.words import translated

SOURCE = '''
def triangle(n, unused):
    """A loop, a comparison, a break."""
    total = 0
    while 1:
        if n <= 0:
            break
        total += n
        n -= 1
    return total

def sides(a, b):
    """Only as much of a condition is looked at as is needed."""
    if not (a and 12 * b > a) or b == -3:
        if a == 7 and b == 0 or a == 8:
            return 1
        else:
            return 2
    elif a == 5:
        return 3
    return 4

def reversed(p, n):
    """Words of memory."""
    i = 0
    n = n - 1
    while i < n:
        kept = p[i]
        p[i] = p[n]
        p[n] = kept
        i += 1
        n -= 1
    return (p + 8)[0]

def nothing(a, b):
    if a != b:
        a = 1

def both(a, b):
    return triangle(a, 0) + CONSTANT * triangle(b, 0) - (a & b)
'''
OUTSIDE = '''
def told(x, y):
    outside.last = outside.negated(x)
    scratch = room(y)
    scratch[y - 1] = outside.last
    return scratch[y - 1]

def rounded(x, y):
    return single(outside.half(x))
'''


@pytest.fixture(scope="module")
def native():
    names = ("triangle", "sides", "reversed", "nothing", "both")
    library = link.load(llvm.compile_text(translated(SOURCE, (), {"CONSTANT": 10}, {})), names).pin()
    prototype = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
    return {name: prototype(library.symbols[name]) for name in names}


@pytest.fixture(scope="module")
def python():
    found = {"CONSTANT": 10}
    exec(SOURCE, found)
    return found


@pytest.mark.parametrize("name", ["triangle", "sides", "both", "nothing"])
def test_words_do_what_python_does(native, python, name):
    for a in range(-3, 10):
        for b in range(-4, 9):
            assert native[name](a, b) == (python[name](a, b) or 0)


@pytest.mark.parametrize("size", [2, 3, 8])
def test_memory_is_read_and_written(native, size):
    words = (ctypes.c_int64 * size)(*range(-1, size - 1))
    result = native["reversed"](ctypes.addressof(words), size)
    assert list(words) == list(range(-1, size - 1))[::-1]
    assert result == words[1]


def test_outside_functions_and_words():
    text = translated(OUTSIDE, ("negated", "half", "last"), {}, {"negated": "i32", "half": "double"})
    library = link.load(llvm.compile_text(text), ("outside", "told", "rounded")).pin()
    negated = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_int64)(lambda x: -x)
    half = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int64)(lambda x: x / 2)
    table = (ctypes.c_int64 * 3).from_address(library.symbols["outside"])
    table[:] = [ctypes.cast(negated, ctypes.c_void_p).value, ctypes.cast(half, ctypes.c_void_p).value, 0]
    prototype = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)
    assert prototype(library.symbols["told"])(5, 100) == -5
    assert table[2] == -5
    bits = prototype(library.symbols["rounded"])(7, 0)
    assert ctypes.c_float.from_buffer(ctypes.c_int64(bits)).value == 3.5


def test_what_has_no_translation_is_refused():
    with pytest.raises((KeyError, AssertionError, AttributeError)):
        translated("def f(x):\n    return x ** 2", (), {}, {})
    with pytest.raises((KeyError, AssertionError, AttributeError)):
        translated("def f(x):\n    import os", (), {}, {})
