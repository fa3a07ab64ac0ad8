"""Constants, NumPy's own classes of dtypes, and other names of dtypes."""

from __future__ import annotations

import numpy as np

from celadon.array import Array
from celadon.numpy.dtypes import bool_, complex64, complex128, float32, float64, int64, uint64

pi, e, euler_gamma = np.pi, np.e, np.euler_gamma
inf, nan, newaxis = np.inf, np.nan, None

bool = bool_
int_, uint, float_, complex_ = int64, uint64, float64, complex128
single, double, csingle, cdouble = float32, float64, complex64, complex128

dtype, ndarray = np.dtype, Array
generic, number, integer, inexact = np.generic, np.number, np.integer, np.inexact
signedinteger, unsignedinteger = np.signedinteger, np.unsignedinteger
floating, complexfloating, flexible, character = np.floating, np.complexfloating, np.flexible, np.character
object_ = np.object_
ComplexWarning = np.exceptions.ComplexWarning

printoptions, get_printoptions, set_printoptions = np.printoptions, np.get_printoptions, np.set_printoptions
save, savez = np.save, np.savez
index_exp, s_ = np.index_exp, np.s_
