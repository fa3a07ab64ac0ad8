"""OpenBLAS by address: products equal NumPy's, one thread, a missing routine is a catalogued error."""

import ctypes
import subprocess
import sys

import numpy as np
import pytest

from celadon import errors
from celadon.cpu import blas

ROW_MAJOR, PLAIN = 101, 111


def product(kind, a, b):
    pointer, number = ctypes.c_void_p, ctypes.c_int
    (m, k), n = a.shape, b.shape[1]
    c = np.zeros((m, n), a.dtype)
    if a.dtype.kind == "c":
        scalars = np.array([1, 0], a.dtype)
        scalar, one, zero = pointer, scalars.ctypes.data, scalars[1:].ctypes.data
    else:
        scalar, one, zero = (ctypes.c_float if a.itemsize == 4 else ctypes.c_double), 1.0, 0.0
    kinds = [number] * 6 + [scalar, pointer, number, pointer, number, scalar, pointer, number]
    call = ctypes.CFUNCTYPE(None, *kinds)(blas.address(f"cblas_{kind}gemm"))
    a_at, b_at, c_at = (array.ctypes.data for array in (a, b, c))
    call(ROW_MAJOR, PLAIN, PLAIN, m, n, k, one, a_at, k, b_at, n, zero, c_at, n)
    return c


@pytest.mark.parametrize("kind, dtype", [("s", "float32"), ("d", "float64"), ("c", "complex64"), ("z", "complex128")])
def test_products(kind, dtype):
    chance = np.random.default_rng(0)
    a, b = (chance.integers(-9, 9, shape).astype(dtype) for shape in ((17, 31), (31, 23)))
    if a.dtype.kind == "c":
        a, b = a + 1j * a[::-1], b - 2j * b
    assert np.array_equal(product(kind, a, b), a @ b)


@pytest.mark.parametrize("name", ["cblas_sgemv", "cblas_dgemv", "cblas_cgemv", "cblas_zgemv", "dgetrf_", "cheevd_"])
def test_other_routines_are_found(name):
    assert blas.address(name) > 0


def test_one_thread():
    count = ctypes.CFUNCTYPE(ctypes.c_int)(blas.address("openblas_get_num_threads"))
    assert count() == 1


def test_a_missing_routine_is_catalogued():
    with pytest.raises(errors.NumericLibraryMissing) as caught:
        blas.address("no_such_routine")
    assert caught.value.facts["entry"] == "no_such_routine"


def test_a_missing_package_is_catalogued():
    script = (
        "from celadon import errors\n"
        "from celadon.cpu import blas\n"
        "blas._PACKAGE = 'no_such_package_anywhere'\n"
        "try:\n"
        "    blas.address('cblas_sgemm')\n"
        "except errors.NumericLibraryMissing as error:\n"
        "    print(error.facts['reason'])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "not installed\n"


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_loaded_at_the_first_need_only():
    script = (
        "from celadon.cpu import blas\n"
        "loaded = lambda: 'scipy_openblas32' in open('/proc/self/maps').read()\n"
        "before = loaded()\n"
        "blas.address('cblas_sgemm')\n"
        "print(before, loaded())\n"
    )
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n"
