"""What fuse makes, emit and plan read: kernels (which code to write, cached by digest) and steps (what a plan runs)."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import Any, NamedTuple


class Constant(NamedTuple):
    """A number in the code: its dtype's short name and its bits."""

    dtype: str
    bits: bytes


Place = int | Constant  # a value of a body: leaves first, then nodes


class Leaf(NamedTuple):
    """An operand of a body.

    source: "array"; "scalar", loaded once; "number", a scalar that lies among the numbers of the call, beside the others that
    the kernel reads; or "iota", the index along the loop whose access is not "0".
    access: a letter for each loop, outermost first: "0" stands still, "1" walks by one element, "s" by a run-time
    stride, "t" by one element along the last loop but one of a tiled nest. Empty for scalars and numbers.
    """

    source: str
    dtype: str
    access: str = ""


class Node(NamedTuple):
    """One elementwise op of a body."""

    op: str
    dtype: str
    operands: tuple[Place, ...]
    params: tuple[tuple[str, Any], ...] = ()


class Body(NamedTuple):
    """What a kernel computes for one element: leaves and nodes in order, and which of them are results."""

    leaves: tuple[Leaf, ...]
    nodes: tuple[Node, ...]
    results: tuple[Place, ...]

    def dtype(self, place: Place) -> str:
        if isinstance(place, Constant):
            return place.dtype
        count = len(self.leaves)
        return self.leaves[place].dtype if place < count else self.nodes[place - count].dtype

    @property
    def result_dtypes(self) -> tuple[str, ...]:
        return tuple(self.dtype(place) for place in self.results)


class Map(NamedTuple):
    """A loop nest that stores the results of a body, each by its access.

    whole: every array is walked in order and is padded, so that one flat loop may run over the end.
    tiled: an array has its neighbours along the last loop but one, so the last two are walked in small blocks.
    """

    loops: int
    body: Body
    writes: tuple[str, ...]
    whole: bool = False
    tiled: bool = False


class Reduce(NamedTuple):
    """A loop nest that combines a body's result over the loops marked in `reduced` ("r" or "k", a letter a loop).

    op: the elementwise op that combines two values; dtype: the result's.
    """

    op: str
    reduced: str
    body: Body
    dtype: str


class Sink(NamedTuple):
    """Where a result of a pass over a row goes: to operand number `target`; reduced by `op` first, unless that is "".
    """

    op: str
    target: int


class Pass(NamedTuple):
    """One walk along a row, or what is computed once a row where nothing in it lies along the row.

    operands: for each leaf of the body the kernel's operand that it is; sinks: one a result.
    """

    body: Body
    operands: tuple[int, ...]
    sinks: tuple[Sink, ...]


class Rows(NamedTuple):
    """Passes over one row after the other, while it is in cache: reductions, and maps of what they give.

    kept: how many loops are around a row. dtype: what decides how rows are reduced, see emit_lines.
    operands: of all passes, read or written; their sources are a Leaf's, or "line", a row that nobody else sees, or
    "value", a number of the row that stays in a register.
    """

    kept: int
    dtype: str
    operands: tuple[Leaf, ...]
    passes: tuple[Pass, ...]


class Moved(NamedTuple):
    """A kernel of emit_moves or emit_contract: its kind, the dtypes and what else its code depends on."""

    kind: str
    dtypes: tuple[str, ...]
    facts: tuple[Any, ...] = ()


Kernel = Map | Reduce | Rows | Moved

NUMBER_BYTES = 64  # the room of one number of a call, which is repeated there so that it can be loaded as a vector
TILE_ROWS = 4  # rows that our own matrix kernel computes together; plan makes blocks of a multiple
CUMULATIVE = {"cumsum": "add", "cumprod": "multiply", "cummax": "maximum", "cummin": "minimum", "cumlogsumexp": "log_of_sum"}


def digest(kernel: Kernel) -> str:
    """A stable name of a kernel's code.

    >>> len(digest(Moved("copy", ("f32",))))
    24
    """
    return sha256(repr(kernel).encode()).hexdigest()[:24]


class Alias(NamedTuple):
    """A variable that is another one's memory, seen in another way: by the view rule of an equation's op."""

    rule: str
    equation: int
    operand: int
    result: int
    axes: tuple[int, ...] = ()  # for "arranged": the operand's axis that each of the result's walks, or -1


class Launch(NamedTuple):
    """A kernel run over variables.

    like: the variable whose axes the loops walk, grouped by `loops` (the axes of each loop, outermost first).
    reads, writes: variables in the order of the kernel's operands; reduced: axes of `like` that the writes lack.
    rule: how plan fills the table; equation: the one whose parameters it reads, or -1; then: a kernel that finishes the
    work, where there is one; part: which operand of the equation this launch is for. walks: of a Rows kernel, for each
    array that it reads or writes, which of the array's axes each loop walks, or -1.
    """

    kernel: int
    rule: str
    like: int
    loops: tuple[tuple[int, ...], ...]
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    reduced: tuple[int, ...] = ()
    equation: int = -1
    then: int = -1
    part: int = 0
    walks: tuple[tuple[int, ...], ...] = ()


def sums_in_parts(kernel: Moved) -> bool:
    """Whether a convolution's sums may be made in parts: what they have come to stands in the result, whose lines lie in
    memory."""
    return kernel.dtypes[1] == kernel.dtypes[2] and bool(kernel.facts[4])


def numbers_of(leaves: Sequence[Leaf], reads: Sequence[int]) -> tuple[int, ...]:
    """Those of the variables that leaves read which are numbers."""
    read = [leaf for leaf in leaves if leaf.source != "iota"]
    return tuple([number for leaf, number in zip(read, reads, strict=False) if leaf.source == "number"])


class Free(NamedTuple):
    """The end of the lives of buffers that stood in the arena."""

    numbers: tuple[int, ...]


class Region(NamedTuple):
    """The steps of a body, and numbers of variables: what it is given anew each time, and what it makes."""

    steps: tuple[Step, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class Nested(NamedTuple):
    """A loop or branch over step lists.

    rule: "while", "scan" or "branch". equation: whose parameters plan reads. reads: the arrays of a scan, the index of a
    branch. writes: the results, of which the first `carries` already hold what is carried at the start. Of a loop's body,
    inputs and outputs are the carried values, then rows of `reads`, or of the results that are stacked.
    swapped: carried values that a step can't write where it reads them.
    """

    rule: str
    equation: int
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    regions: tuple[Region, ...]
    carries: int = 0
    swapped: tuple[int, ...] = ()


class Hosted(NamedTuple):
    """A call of a Python function: the equation that names it, and the variables that it is given and that it makes."""

    equation: int
    reads: tuple[int, ...]
    writes: tuple[int, ...]


Step = Alias | Launch | Free | Nested | Hosted


class Extra(NamedTuple):
    """A variable that the program does not have: a constant (dtype and bits), one with the shape of variable `like`, or
    one with the extents of some variables' axes."""

    dtype: str
    bits: bytes = b""
    like: int = -1
    axes: tuple[tuple[int, int], ...] = ()

    @property
    def is_constant(self) -> bool:
        return bool(self.bits)


class Schedule(NamedTuple):
    """Kernels and steps of a structure.

    Variables are numbered: inputs of the program, results of its equations in order, then the extras.
    """

    kernels: tuple[Kernel, ...]
    steps: tuple[Step, ...]
    extras: tuple[Extra, ...]
    outputs: tuple[int, ...]
