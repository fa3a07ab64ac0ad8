"""Each op with dimensions or regions as a program of text: moves, places, products, reductions, sorts, branches, loops."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from tests.stablehlo.broadcasting import NAMES
from tests.stablehlo.elementwise import CHLO, SAME
from tests.stablehlo.reader import rules
from tests.stablehlo.statements import dense, holds, program, region, tensor

X = np.arange(12, dtype=np.int32).reshape(3, 4)
F = np.array([[0.5, -1.25, 2.0, 7.5], [1.5, 0.25, -3.0, 0.0], [4.0, 2.5, -0.5, 1.0]], np.float32)
A = np.array([[2.0, 0.0, 0.0], [1.0, 3.0, 0.0], [-1.0, 0.5, 4.0]])
V = np.array([[1.0, 2.0], [-3.0, 0.5], [2.5, -1.0]])
S = ["tensor<i32>", "tensor<i32>"]
ADD = region(S, "%s = stablehlo.add %a, %b : tensor<i32>", "%s")
B, R = ["tensor<i1>"], ["tensor<3xi32>"] * 2
_BOTH = "%s = stablehlo.add %a, %c : tensor<i32>\n%t = stablehlo.{} %b, %d : tensor<i32>"
ADD_BOTH, ADD_AND_MAX = (region(S * 2, _BOTH.format(name), "%s, %t", S) for name in ("add", "maximum"))
_COMPARED = "%s = stablehlo.compare {0}, %a, %b : (tensor<{1}>, tensor<{1}>) -> tensor<i1>"
LESS, GREATER, AT_LEAST = (region(S, _COMPARED.format(word, "i32"), "%s", B) for word in ("LT", "GT", "GE"))
LESS_OF_PAIRS = region(["tensor<f32>"] * 4, _COMPARED.format("LT", "f32"), "%s", B)
TIMES = region(S, "%s = stablehlo.multiply %a, %b : tensor<i32>", "%s")
ROWS = region(R, "%s = stablehlo.add %a, %b : tensor<3xi32>", "%s, %s", R)
LONGS = np.int64


def _ints(**params: Any) -> str:
    shown = [f"{name} = array<i64{':' if len(values) else ''} {', '.join(map(str, values))}>" for name, values in params.items()]
    return "{" + ", ".join(shown) + "}"


def _wide(*values: int) -> Any:
    return np.array(values, LONGS)


GATHER = (
    "{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], "
    "index_vector_dim = 1>, indices_are_sorted = false%s}"
)
SCATTER = (
    "{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
    "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, indices_are_sorted = false, unique_indices = false}"
)
CONV = (
    "{%swindow_strides = array<i64: 1>, lhs_dilation = array<i64: 1>, rhs_dilation = array<i64: 1>, "
    "window_reversal = array<i1: %s>, dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, i, 0]->[b, f, 0]>, "
    "feature_group_count = 1 : i64, batch_group_count = 1 : i64}"
)
LINE, KERNEL = np.array([[[1.0, 2.0, 4.0, 8.0]]]), np.array([[[1.0, -1.0]]])
WAVE = np.array([1.0, 2.0, -1.0, 0.5])
SOLVE = "{left_side = true, lower = %s, unit_diagonal = false, transpose_a = #stablehlo<transpose %s>}"
DOT = "{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}"
G = np.array([[1.0, -2.0, 0.5, 3.0], [0.25, 4.0, -1.0, 2.0], [-0.5, 1.0, 1.5, 0.0]], np.float32)
NORMS = [np.array(row, np.float32) for row in ([1, 2, 0.5, -1], [0, 1, -1, 3], [1, 0.5, 0, 2], [4, 1, 0.25, 9])]
NORMAL = (F - NORMS[2]) / np.sqrt(NORMS[3] + np.float32(0.125))
NORM = "{epsilon = 0.125 : f32, feature_index = 1 : i64}"
WINDOW = dict(window_dimensions=(2,), window_strides=(1,))


def _scattered(updates: Any, at: Any) -> Any:
    found = X.copy()
    for place, row in zip(at, updates, strict=True):
        if 0 <= place < 3:
            found[place] += row
    return found


UPDATES = np.array([[1, 2, 3, 4], [10, 20, 30, 40], [100, 200, 300, 400]], np.int32)
PROGRAMS: dict[str, list[tuple[list[Any], list[Any], str]]] = {
    "stablehlo.broadcast_in_dim": [([X[0]], [np.broadcast_to(X[0], (2, 4))], _ints(broadcast_dimensions=[1]))],
    "stablehlo.broadcast": [([X[0]], [np.broadcast_to(X[0], (2, 4))], _ints(broadcast_sizes=[2]))],
    "stablehlo.dynamic_broadcast_in_dim": [
        ([X[0], _wide(2, 4)], [np.broadcast_to(X[0], (2, 4))], _ints(broadcast_dimensions=[1]))
    ],
    "stablehlo.reshape": [([X], [X.reshape(2, 6)], "")],
    "stablehlo.dynamic_reshape": [([X, _wide(2, 6)], [X.reshape(2, 6)], "")],
    "stablehlo.transpose": [([X], [X.T], _ints(permutation=[1, 0]))],
    "stablehlo.reverse": [([X], [X[:, ::-1]], _ints(dimensions=[1]))],
    "stablehlo.concatenate": [([X, X], [np.concatenate([X, X], 1)], "{dimension = 1 : i64}")],
    "stablehlo.pad": [
        ([X[0], np.int32(9)], [np.array([9, 0, 9, 1, 9, 2, 9, 3], np.int32)],
         _ints(edge_padding_low=[1], edge_padding_high=[0], interior_padding=[1])),
    ],
    "stablehlo.dynamic_pad": [
        ([X[0], np.int32(9), _wide(1), _wide(-1), _wide(0)], [np.array([9, 0, 1, 2], np.int32)], ""),
    ],
    "stablehlo.slice": [([X], [X[1:3, ::2]], _ints(start_indices=[1, 0], limit_indices=[3, 4], strides=[1, 2]))],
    "stablehlo.real_dynamic_slice": [([X, _wide(1, 0), _wide(3, 4), _wide(1, 2)], [X[1:3, ::2]], "")],
    "stablehlo.iota": [([], [np.broadcast_to(np.arange(4.0), (3, 4))], "{iota_dimension = 1 : i64}")],
    "stablehlo.dynamic_iota": [([_wide(3, 4)], [np.broadcast_to(np.arange(4.0), (3, 4))], "{iota_dimension = 1 : i64}")],
    "stablehlo.get_dimension_size": [([X], [np.int32(4)], "{dimension = 1 : i64}")],
    "stablehlo.set_dimension_size": [([X, np.int32(4)], [X], "{dimension = 1 : i64}")],
    "stablehlo.dynamic_slice": [([X, np.int32(5), np.int32(1)], [X[1:3, 1:3]], _ints(slice_sizes=[2, 2]))],
    "stablehlo.dynamic_update_slice": [
        ([X, np.zeros((2, 2), np.int32), np.int32(5), np.int32(1)], [np.where((np.indices((3, 4))[0] > 0)
         & (np.abs(np.indices((3, 4))[1] - 1.5) < 1), 0, X).astype(np.int32)], ""),
    ],
    "stablehlo.gather": [
        ([X, np.array([[2], [9], [-1]])], [X[[2, 2, 0]]], GATHER % ", slice_sizes = array<i64: 1, 4>"),
        ([X, np.array([[2, 9, -1]])], [X[[2, 2, 0]]],
         (GATHER % ", slice_sizes = array<i64: 1, 4>").replace("index_vector_dim = 1", "index_vector_dim = 0")),
    ],
    "stablehlo.dynamic_gather": [([X, np.array([[2], [9], [-1]]), _wide(1, 4)], [X[[2, 2, 0]]], GATHER % "")],
    "stablehlo.torch_index_select": [
        ([X, np.array([2, 0], np.int32)], [X[:, [2, 0]]], "{dim = 1 : i64, batch_dims = 0 : i64}"),
        ([X, np.array([[1], [0], [3]], np.int32)], [np.array([[1], [4], [11]], np.int32)],
         "{dim = 1 : i64, batch_dims = 1 : i64}"),
    ],
    "stablehlo.scatter": [
        ([X, np.array([[0], [2], [0]]), UPDATES], [_scattered(UPDATES, [0, 2, 0])], f"({ADD}) {SCATTER}"),
        ([X, np.array([[0], [3], [-1]]), UPDATES], [_scattered(UPDATES, [0, 3, -1])], f"({ADD}) {SCATTER}"),
        ([X, X + 1, np.array([[0], [3], [0]]), UPDATES, 2 * UPDATES],
         [_scattered(UPDATES, [0, 3, 0]), _scattered(2 * UPDATES, [0, 3, 0]) + 1],
         f"({ADD_BOTH}) {SCATTER}"),
    ],
    "stablehlo.sort": [
        ([F, F], [np.sort(F), np.sort(F)], f"({LESS_OF_PAIRS}) {{dimension = 1 : i64, is_stable = true}}"),
        ([X[0] % 2], [np.array([1, 1, 0, 0], np.int32)], f"({GREATER}) {{dimension = 0 : i64, is_stable = true}}"),
        ([X[:, ::-1]], [X], f"({LESS}) {{dimension = 1 : i64, is_stable = true}}"),
    ],
    "chlo.top_k": [([F], [np.sort(F)[:, :1:-1], np.argsort(-F, kind="stable")[:, :2].astype(np.int32)], "{k = 2 : i64}")],
    "stablehlo.map": [([X, X], [X * X], f"({TIMES}) {{dimensions = array<i64: 0, 1>}}")],
    "stablehlo.reduce": [
        ([X, np.int32(5)], [5 + X.sum(1, dtype=np.int32)], f"({ADD}) {_ints(dimensions=[1])}"),
        ([X, F.astype(np.int32), np.int32(1), np.int32(0)], [1 + X.sum(0, dtype=np.int32), F.astype(np.int32).max(0, initial=0)],
         f"({ADD_AND_MAX}) {_ints(dimensions=[0])}"),
    ],
    "stablehlo.reduce_window": [([X[0], np.int32(0)], [X[0][:-1] + X[0][1:]], f"({ADD}) {_ints(**WINDOW)}")],
    "stablehlo.select_and_scatter": [
        ([X[1], np.array([1, 10, 100], np.int32), np.int32(7)], [np.array([7, 8, 17, 107], np.int32)],
         f"({AT_LEAST}, {ADD}) {_ints(**WINDOW)}"),
    ],
    "chlo.scan": [
        ([X, np.zeros(3, np.int32)], [np.cumsum(X, 1, dtype=np.int32), X.sum(1, dtype=np.int32)],
         f"({ROWS}) {{dimension = 1 : i64, is_reverse = false, operandSegmentSizes = array<i32: 1, 1>, "
         "resultSegmentSizes = array<i32: 1, 1>}"),
    ],
    "stablehlo.dot_general": [([A, V], [A @ V], DOT), ([X, X.T], [X @ X.T], DOT)],
    "stablehlo.dot": [([A, V], [A @ V], ""), ([V[:, 0], V[:, 1]], [np.dot(V[:, 0], V[:, 1])], "")],
    "stablehlo.convolution": [
        ([LINE, KERNEL], [np.array([[[-1.0, -2.0, -4.0, 8.0]]])],
         CONV % ("padding = dense<[[0, 1]]> : tensor<1x2xi64>, ", "false")),
        ([LINE, KERNEL], [np.array([[[1.0, 2.0, 4.0]]])], CONV % ("", "true")),
    ],
    "stablehlo.dynamic_conv": [
        ([LINE, KERNEL, np.array([[0, 1]])], [np.array([[[-1.0, -2.0, -4.0, 8.0]]])], CONV % ("", "false")),
    ],
    "stablehlo.fft": [
        ([WAVE], [np.fft.rfft(WAVE)], "{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 4>}"),
        ([WAVE * 1j], [np.fft.ifft(WAVE * 1j)], "{fft_type = #stablehlo<fft_type IFFT>, fft_length = array<i64: 4>}"),
    ],
    "stablehlo.cholesky": [
        ([A @ A.T], [np.linalg.cholesky(A @ A.T)], "{lower = true}"),
        ([A @ A.T], [np.linalg.cholesky(A @ A.T).T], "{lower = false}"),
    ],
    "stablehlo.triangular_solve": [
        ([A, V], [np.linalg.solve(A, V)], SOLVE % ("true", "NO_TRANSPOSE")),
        ([A, V], [np.linalg.solve(A.T, V)], SOLVE % ("true", "TRANSPOSE")),
        ([A.astype("f2"), V.astype("f2")], [np.linalg.solve(A, V).astype("f2")], SOLVE % ("true", "NO_TRANSPOSE")),
    ],
    "stablehlo.optimization_barrier": [([X, F], [X, F], "")],
    "stablehlo.all_reduce": [([X], [X], f"({ADD}) {{replica_groups = dense<0> : tensor<1x1xi64>}}")],
    "stablehlo.all_gather": [
        ([X], [X], "{all_gather_dim = 1 : i64, replica_groups = dense<0> : tensor<1x1xi64>}"),
    ],
    "stablehlo.all_to_all": [
        ([X], [X], "{split_dimension = 1 : i64, concat_dimension = 0 : i64, split_count = 1 : i64, "
         "replica_groups = dense<0> : tensor<1x1xi64>}"),
    ],
    "stablehlo.reduce_scatter": [
        ([X], [X], f"({ADD}) {{scatter_dimension = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}}"),
    ],
    "stablehlo.collective_permute": [
        ([X], [X], "{source_target_pairs = dense<0> : tensor<1x2xi64>}"),
        ([X], [np.zeros_like(X)], "{source_target_pairs = dense<> : tensor<0x2xi64>}"),
    ],
    "stablehlo.collective_broadcast": [([X], [X], "{replica_groups = dense<0> : tensor<1x1xi64>}")],
    "stablehlo.batch_norm_inference": [([F, *NORMS], [NORMAL * NORMS[0] + NORMS[1]], NORM)],
    "stablehlo.batch_norm_training": [
        ([F, *NORMS[:2]],
         [(F - F.mean(0)) / np.sqrt(F.var(0) + np.float32(0.125)) * NORMS[0] + NORMS[1], F.mean(0), F.var(0)], NORM),
    ],
    "stablehlo.batch_norm_grad": [
        ([F, NORMS[0], *NORMS[2:], G],
         [(3 * G - G.sum(0) - NORMAL * (G * NORMAL).sum(0)) * NORMS[0] / np.sqrt(NORMS[3] + np.float32(0.125)) / 3,
          (G * NORMAL).sum(0), G.sum(0)], NORM),
    ],
    "chlo.broadcast_add": [
        ([X, X[0]], [X + X[0]], ""), ([X, X[:, 0]], [X + X[:, :1]], _ints(broadcast_dimensions=[0])),
        ([X[:, :1], X[0]], [X[:, :1] + X[0]], ""),
    ],
    "chlo.broadcast_compare": [([X, X[1]], [np.less(X, X[1])], "{comparison_direction = #chlo<comparison_direction LT>}")],
    "chlo.broadcast_select": [([X > 3, X, np.int32(7)], [np.where(X > 3, X, 7)], "")],
    "stablehlo.partition_id": [([], [np.uint32(0)], "")],
    "stablehlo.replica_id": [([], [np.uint32(0)], "")],
}  # fmt: skip
CASES = [(name, i) for name, samples in PROGRAMS.items() for i in range(len(samples))]
WRITTEN = {
    "stablehlo.if": """%r = "stablehlo.if"(%p) ({ "stablehlo.return"(%x) : (tensor<3xi32>) -> () },
        { %n = stablehlo.negate %x : tensor<3xi32>
          "stablehlo.return"(%n) : (tensor<3xi32>) -> () }) : (tensor<i1>) -> tensor<3xi32>""",
    "stablehlo.case": """%i = stablehlo.constant dense<-5> : tensor<i32>
        %r = "stablehlo.case"(%i) ({ "stablehlo.return"(%x) : (tensor<3xi32>) -> () },
        { %n = stablehlo.negate %x : tensor<3xi32>
          "stablehlo.return"(%n) : (tensor<3xi32>) -> () }) : (tensor<i32>) -> tensor<3xi32>""",
    "stablehlo.while": """%zero = stablehlo.constant dense<0> : tensor<i32>
        %token = stablehlo.create_token : !stablehlo.token
        %w:3 = stablehlo.while(%i = %zero, %t = %token, %v = %x) : tensor<i32>, !stablehlo.token, tensor<3xi32>
        cond { %five = stablehlo.constant dense<5> : tensor<i32>
          %c = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %c : tensor<i1> }
        do { %one = stablehlo.constant dense<1> : tensor<i32>
          %n = stablehlo.negate %v : tensor<3xi32>
          %next = stablehlo.add %i, %one : tensor<i32>
          stablehlo.return %next, %t, %n : tensor<i32>, !stablehlo.token, tensor<3xi32> }
        %r = stablehlo.optimization_barrier %w#2 : tensor<3xi32>""",
    "func.call": "%r = func.call @negated(%x) : (tensor<3xi32>) -> tensor<3xi32>",
    "stablehlo.composite": """%r = stablehlo.composite "own.negated" %x {decomposition = @negated} :
        (tensor<3xi32>) -> tensor<3xi32>""",
    "stablehlo.after_all": """%token = stablehlo.after_all : !stablehlo.token
        %r = stablehlo.negate %x : tensor<3xi32>""",
    "stablehlo.tuple": """%n = stablehlo.negate %x : tensor<3xi32>
        %t = stablehlo.tuple %x, %n : tuple<tensor<3xi32>, tensor<3xi32>>
        %r = stablehlo.get_tuple_element %t[1] : (tuple<tensor<3xi32>, tensor<3xi32>>) -> tensor<3xi32>""",
}


@pytest.mark.parametrize(("name", "index"), CASES)
def test_an_op_with_dimensions_or_regions(name: str, index: int) -> None:
    operands, expected, inside = PROGRAMS[name][index]
    near = name.startswith(("stablehlo.fft", "stablehlo.cholesky", "stablehlo.triangular_solve", "stablehlo.batch_norm"))
    holds(program(name, operands, expected, inside, "expect_almost_eq" if near else "expect_close"))


@pytest.mark.parametrize("name", WRITTEN)
def test_calls_branches_and_loops(name: str) -> None:
    x = np.array([1, -2, 3], np.int32)
    holds(f"""
    func.func private @negated(%x: tensor<3xi32>) -> tensor<3xi32> {{
      %n = stablehlo.negate %x : tensor<3xi32>
      return %n : tensor<3xi32>
    }}
    func.func @main() {{
      %x = stablehlo.constant {dense(x)}
      %p = stablehlo.constant dense<false> : tensor<i1>
      {WRITTEN[name]}
      check.expect_eq_const %r, {dense(-x)}
      return
    }}""")


def test_shapes_that_are_computed() -> None:
    shape = "%r = stablehlo.dynamic_broadcast_in_dim %x, %s, dims = [1] : (tensor<4xi32>, tensor<2xi64>) -> tensor<?x4xi32>"
    holds(f"""
    func.func @main() {{
      %x = stablehlo.constant {dense(X[0])}
      %a = stablehlo.constant dense<[1, 4]> : tensor<2xi64>
      %b = stablehlo.constant dense<[2, 0]> : tensor<2xi64>
      %s = stablehlo.add %a, %b : tensor<2xi64>
      {shape}
      %e = stablehlo.constant {dense(np.broadcast_to(X[0], (3, 4)))}
      stablehlo.custom_call @check.expect_eq(%r, %e) : (tensor<?x4xi32>, {tensor(X)}) -> ()
      return
    }}""")


def test_random_bits() -> None:
    state = np.array([(5 << 32) | 7, (1 << 32) - 3], np.uint64)
    with jax.enable_x64(True):
        algorithm = jax.lax.RandomAlgorithm.RNG_THREE_FRY
        found = jax.lax.rng_bit_generator(state, (4, 6), np.uint64, algorithm)
    holds(program("stablehlo.rng_bit_generator", [state], [np.asarray(x) for x in found],
                  "{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}"))  # fmt: skip


def test_every_rule_has_a_program() -> None:
    elsewhere = ("convert", "bitcast_convert", "compare", "reduce_precision", "constant", "custom_call", "create_token",
                 "get_tuple_element", "rng_bit_generator", "constant_like",
                 "is_inf", "is_pos_inf", "is_neg_inf", "mulhi")  # fmt: skip
    names = {name.partition(".")[2] for name in (*PROGRAMS, *WRITTEN)} | set(elsewhere)
    alike = {f"broadcast_{name}" for name in NAMES} | {"cross-replica-sum"}  # of one function with one that has a program
    assert {name.partition(".")[2] for name in rules} - names - alike == set(SAME) | set(CHLO)
