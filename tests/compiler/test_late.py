"""Elementwise ops are put off until their result is used, where that keeps no more values alive."""

import numpy as np

import celadon
import celadon.numpy as cnp
from celadon import compiler

X = np.ones((4, 4), np.float32)


def order(function):
    program = compiler.simplify(compiler.lower(celadon.jit(function).trace(X, X).program))
    return [equation.op.name for equation in program.equations]


def test_a_slope_waits_for_its_use_in_the_backward_pass():
    found = order(celadon.value_and_grad(lambda x, w: (cnp.tanh(x @ w) @ w).sum()))
    at = found.index("square")
    assert found[at : at + 3] == ["square", "subtract", "multiply"] and "dot_general" not in found[at : at + 3]
    assert found.index("tanh") < at and found[:at].count("dot_general") == 3


def test_results_and_what_keeps_more_alive_stay():
    assert order(lambda x, w: (x + w, x @ w)) == ["add", "dot_general"]
    assert order(lambda x, w: (x * w).sum() + (x @ w).sum()) == ["multiply", "reduce_sum", "dot_general", "reduce_sum", "add"]
