"""The rule of fuse for dot_general: products and sums where an operand is a vector, matrix kernels and BLAS elsewhere.

All axes are put in one order: batch, then the left operand's free axes, the right one's, the contracted ones. Each
operand stands still along those it lacks; axes of extent 1 count for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from celadon.cpu.fuse import Fusion, rules
from celadon.cpu.layout import Layout, dense, merged
from celadon.cpu.recipe import Kernel, Moved, Node
from celadon.cpu.vector_products import form_of, launched
from celadon.program import Equation, Var
from celadon.types import ArrayType, DType, Shape, kind, short_name
from celadon.vocabulary.contract import free_axes

BLAS = {"f32": "cblas_sgemm", "f64": "cblas_dgemm", "c64": "cblas_cgemm", "c128": "cblas_zgemm"}


class Axes(NamedTuple):
    """The axes of a contraction in order: a letter each (b, m, n, k), and where each operand has them (or -1)."""

    letters: str
    left: tuple[int, ...]
    right: tuple[int, ...]
    shape: Shape

    def only(self, letters: str, order: str) -> Axes:
        """The axes of some letters, in an order of letters."""
        chosen = [
            i for letter in order for i, found in enumerate(self.letters) if found == letter and letter in letters
        ]
        return Axes(
            "".join([self.letters[i] for i in chosen]),
            tuple([self.left[i] for i in chosen]),
            tuple([self.right[i] for i in chosen]),
            tuple([self.shape[i] for i in chosen]),
        )

    @property
    def sources(self) -> list[tuple[int, int]]:
        """For each axis an operand (0 or 1) that has it, and where."""
        return [(0, i) if i >= 0 else (1, j) for i, j in zip(self.left, self.right, strict=True)]

    def longer(self, letter: str) -> bool:
        return any(n != 1 for n, found in zip(self.shape, self.letters, strict=True) if found == letter)


def axes_of(equation: Equation) -> Axes:
    (contract, contracted), (batch, batched) = equation.params["dimension_numbers"]
    x, y = (operand.type for operand in equation.inputs)
    left, right = free_axes(x.ndim, contract, batch), free_axes(y.ndim, contracted, batched)
    letters = "b" * len(batch) + "m" * len(left) + "n" * len(right) + "k" * len(contract)
    in_left = (*batch, *left, *(-1 for _ in right), *contract)
    in_right = (*batched, *(-1 for _ in left), *right, *contracted)
    shape = tuple(x.shape[i] if i >= 0 else y.shape[j] for i, j in zip(in_left, in_right, strict=True))
    return Axes(letters, in_left, in_right, shape)


def accumulator(dtype: DType, result: DType) -> str:
    """What products are added in."""
    if kind(dtype) in "biu" and kind(result) in "biu":
        return short_name(result if kind(dtype) == "b" else max(dtype, result, key=lambda one: one.itemsize))
    if {short_name(dtype), short_name(result)} & {"bf16", "f16"} and kind(result) == "f":
        return "f64" if short_name(result) == "f64" else "f32"
    return short_name(max(dtype, result, key=lambda one: (kind(one) == "c", one.itemsize)))


class _Contraction:
    """One dot_general on its way to steps."""

    def __init__(self, fusion: Fusion, index: int):
        self.fusion, self.index = fusion, index
        self.equation = fusion.program.equations[index]
        self.out: Var = self.equation.outputs[0]
        self.numbers = [fusion.number(x) for x in self.equation.inputs]
        self.axes = axes_of(self.equation)
        self.sum = accumulator(self.equation.inputs[0].type.dtype, self.out.type.dtype)

    def run(self) -> None:
        axes = self.axes
        if not axes.longer("k"):
            self._outer(axes.only("bmn", "bmn"))
        elif axes.longer("m") and axes.longer("n"):
            self._matrices(axes)
        else:
            self._vectors()

    def _views(self, axes: Axes) -> list[int]:
        """Both operands along the given axes."""
        return [self._view(k, axes) for k in range(2)]

    def _view(self, operand: int, axes: Axes, held: tuple[int, ...] | None = None) -> int:
        """One operand along the given axes; `held` says where it has them if it is a copy."""
        type = ArrayType(axes.shape, self.equation.inputs[operand].type.dtype)
        sources = [self.fusion.number(x) for x in self.equation.inputs]
        extents = tuple([(sources[k], i) for k, i in axes.sources])
        held = (axes.left if operand == 0 else axes.right) if held is None else held
        return self.fusion.arranged(self.numbers[operand], held, type, extents)

    def _product(self, views: Sequence[int], dtype: str) -> list[Node]:
        casts = [Node("convert", self.sum, (k,), (("new_dtype", self.sum),)) for k in range(2)]
        nodes = [*casts, Node("multiply", self.sum, (2, 3))]
        return nodes if dtype == self.sum else [*nodes, Node("convert", dtype, (4,), (("new_dtype", dtype),))]

    def _outer(self, axes: Axes) -> None:
        views = self._views(axes)
        drawn = self.fusion.drawn(views, self._product(views, short_name(self.out.type.dtype)))
        self.fusion.map(drawn, views[0], self.out)

    def _vectors(self) -> None:
        """Nothing but a sum of products: by kernels that sum lines in one order however they lie, or by a reduction along the
        axis that lies in memory where the operand is in order. One that lies otherwise is put in order first, as how a sum is
        made must not depend on that.
        """
        axes, fusion = self.axes, self.fusion
        if self._by_vectors(axes.only("bmnk", "bmnk")):
            return
        big = 0 if axes.longer("m") else 1
        last = self._last_letter(big, dense(self.equation.inputs[big].type.shape))
        if self._last_letter(big, fusion.layouts[self.numbers[big]]) != last:
            self.numbers[big] = fusion.dense(self.numbers[big])
        ordered = axes.only("bmnk", "bkmn" if last in "mn" else "bmnk")
        views = self._views(ordered)
        contracted = tuple(i for i, letter in enumerate(ordered.letters) if letter == "k")
        self.fusion.reduce(
            "add", self.fusion.drawn(views, self._product(views, self.sum)), views[0], contracted, self.out
        )

    def _by_vectors(self, axes: Axes) -> bool:
        """Whether operands in order have a kernel for vectors; it is launched for them as they lie, or put in order."""
        types = [ArrayType(axes.shape, x.type.dtype) for x in self.equation.inputs]
        ordered = [
            tuple([dense(x.type.shape)[i] if i >= 0 else None for i in held])
            for x, held in zip(self.equation.inputs, (axes.left, axes.right), strict=True)
        ]
        if form_of(types, ordered, axes.letters, self.out) is None:
            return False
        if not launched(self.fusion, self._views(axes), axes.letters, self.index):
            self.numbers = [self.fusion.dense(number) for number in self.numbers]
            launched(self.fusion, self._views(axes), axes.letters, self.index)
        return True

    def _last_letter(self, operand: int, layout: Layout) -> str:
        """The kind of axis along which elements of an operand with this layout are neighbours."""
        places = self.axes.left if operand == 0 else self.axes.right
        for letter, i in zip(self.axes.letters, places, strict=True):
            axis = layout[i] if i >= 0 else None
            if axis is not None and axis.unit:
                return letter
        return "k"

    def _matrices(self, axes: Axes) -> None:
        """Both kernels are made where both can do it; plan chooses by extents."""
        fusion, dtypes = self.fusion, [short_name(x.type.dtype) for x in (*self.equation.inputs, self.out)]
        blas = BLAS.get(dtypes[0]) if len(set(dtypes)) == 1 else None
        views = [self._matrix(k, axes, blas is not None) for k in range(2)]
        by_lines = self._walks_lines(views[1], axes)
        if not by_lines and blas is not None:
            views.append(self._turned(axes))
        kept = iter(dense(self.out.type.shape))
        target = tuple(None if letter == "k" else next(kept) for letter in axes.letters)
        loops = merged(axes.shape, [fusion.layouts[view] for view in views[:2]] + [target], axes.letters)
        kernels: list[Kernel] = []
        if by_lines or len(views) > 2:
            kernels.append(Moved("matmul", (dtypes[0], dtypes[1], self.sum, dtypes[2])))
        if blas is not None:
            kernels.append(Moved("blas", (dtypes[0],)))
        then = fusion.kernel(kernels[1]) if len(kernels) > 1 else -1
        fusion.launch(
            kernels[0], rule="contract", like=views[0], loops=loops, reads=tuple(views), then=then, equation=self.index,
            writes=(fusion.define(self.out),), reduced=tuple(i for i, x in enumerate(axes.letters) if x == "k"),
        )  # fmt: skip

    def _walks_lines(self, view: int, axes: Axes) -> bool:
        """Whether the right operand's columns are neighbours, and the kernel for that can be used."""
        ends = [self.fusion.layouts[view][i] for i, x in enumerate(axes.letters) if x == "n" and axes.shape[i] != 1]
        last = ends[-1] if ends else None
        return last is not None and last.unit

    def _turned(self, axes: Axes) -> int:
        """A view of a copy of the right operand by lines, which plan makes only if it is small: our own kernel, and so
        the order of its sums, must not depend on how the operand lies."""
        fusion, own = self.fusion, axes.only("bkn", "bkn")
        source = self._view(1, own)
        copy = fusion.temporary(source, short_name(self.equation.inputs[1].type.dtype))
        fusion.copy(source, copy, rule="small", equation=self.index)
        kept, self.numbers[1] = self.numbers[1], copy
        view = self._view(1, axes, self._held(1, axes, own))
        self.numbers[1] = kept
        return view

    def _held(self, operand: int, axes: Axes, own: Axes) -> tuple[int, ...]:
        """Where a copy along `own` axes has each of all axes."""
        places = iter(sorted(range(len(own.letters)), key=lambda i: "bmnk".index(own.letters[i])))
        return tuple(-1 if i < 0 else next(places) for i in (axes.left if operand == 0 else axes.right))

    def _matrix(self, operand: int, axes: Axes, any_order: bool) -> int:
        """A view of an operand along all axes that has one stride for each letter, one of them by neighbours."""
        view = self._view(operand, axes)
        if not self._is_matrix(self.fusion.layouts[view], axes, operand, any_order):
            own = axes.only("bmk" if operand == 0 else "bkn", "bmkn")
            self.numbers[operand] = self.fusion.dense(self._view(operand, own))
            view = self._view(operand, axes, self._held(operand, axes, own))
        return view

    def _is_matrix(self, layout: Layout, axes: Axes, operand: int, any_order: bool) -> bool:
        loops = merged(axes.shape, [layout], axes.letters)
        letters = "".join(axes.letters[loop[0]] for loop in loops)
        own = [loop for loop in loops if axes.letters[loop[0]] in ("mk" if operand == 0 else "nk")]
        ends = [layout[loop[-1]] for loop in own]
        walks = [axis for axis in ends if axis is not None and axis.step]
        by_unit = any(axis.unit for axis in walks)
        if operand == 1 and not any_order:
            by_unit = walks[:1] != [] and walks[0].unit
        return len(set(letters)) == len(letters) and len(walks) == len(ends) and by_unit


def _contract(fusion: Fusion, index: int) -> None:
    _Contraction(fusion, index).run()


rules["dot_general"] = _contract
