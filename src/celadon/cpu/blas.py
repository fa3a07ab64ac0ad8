"""Names of BLAS and LAPACK routines come in, their addresses in OpenBLAS go out, for the tables of kernels."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import sys

from celadon import errors

_PACKAGE = "scipy_openblas32"
_PREFIX = "scipy_"


@functools.cache
def address(name: str) -> int:
    """Where a routine is; OpenBLAS is loaded at the first call and set to one thread, as our own team splits the work.

    Args:
        name: as in the C or Fortran interface, without OpenBLAS' own prefix: "cblas_sgemm", "dgetrf_".

    Raises:
        NumericLibraryMissing: if the library can't be loaded or lacks the routine.

    >>> address("cblas_sgemm") > 0
    True
    """
    try:
        routine = getattr(_library(), _PREFIX + name)
    except AttributeError:
        raise errors.NumericLibraryMissing(library=_PACKAGE, entry=name, reason="no such symbol") from None
    except OSError as error:
        raise errors.NumericLibraryMissing(library=_PACKAGE, entry=name, reason=error) from None
    return ctypes.cast(routine, ctypes.c_void_p).value or 0


@functools.cache
def _library() -> ctypes.CDLL:
    path = _path()
    if sys.platform == "win32":
        os.add_dll_directory(os.path.dirname(path))
    library = ctypes.CDLL(path)
    getattr(library, _PREFIX + "openblas_set_num_threads")(1)
    return library


def _path() -> str:
    """Found without importing the package, whose own import takes longer than loading the library."""
    spec = importlib.util.find_spec(_PACKAGE)
    folder = os.path.join(os.path.dirname(spec.origin), "lib") if spec is not None and spec.origin is not None else ""
    for name in sorted(os.listdir(folder) if os.path.isdir(folder) else ()):
        if name.startswith("lib") and "openblas" in name and name.endswith((".so", ".dylib", ".dll")):
            return os.path.join(folder, name)
    raise errors.NumericLibraryMissing(library=_PACKAGE, entry="its shared library", reason="not installed")
