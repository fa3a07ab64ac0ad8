"""Kernels in; out, data that says what each computes and how it walks its operands, and their LLVM IR and assembly."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from celadon.cpu import emit, llvm
from celadon.cpu.inspect_views import KernelView
from celadon.cpu.recipe import Body, Constant, Kernel, Leaf, Map, Moved, Place, Reduce, Rows, digest
from celadon.types import from_short


def kernels(found: Sequence[Kernel], nbytes: Sequence[int]) -> tuple[KernelView, ...]:
    """The views of a schedule's kernels; `nbytes` of machine code each has."""
    return tuple([
        KernelView(i, emit.symbol(digest(one)), kind(one), _dtypes(one), _about(one), tuple(_body(one)), size)
        for i, (one, size) in enumerate(zip(found, nbytes, strict=True))
    ])  # fmt: skip


def kind(kernel: Kernel) -> str:
    """What sort of kernel it is: map, reduce, or the kind of a moved one.

    >>> kind(Map(1, Body((), (), ()), ()))
    'map'
    """
    kinds = {Map: "map", Reduce: "reduce", Rows: "rows"}
    return kernel.kind if isinstance(kernel, Moved) else kinds[type(kernel)]


def _dtypes(kernel: Kernel) -> tuple[str, ...]:
    if isinstance(kernel, Map):
        return kernel.body.result_dtypes
    return (kernel.dtype,) if isinstance(kernel, Reduce | Rows) else kernel.dtypes


def _about(kernel: Kernel) -> str:
    if isinstance(kernel, Map):
        how = ", whole vectors past the end" if kernel.whole else ", the last two in blocks" if kernel.tiled else ""
        return f"{kernel.loops} loop{'' if kernel.loops == 1 else 's'}{how}"
    if isinstance(kernel, Reduce):
        loops = " ".join(["reduced" if letter == "r" else "kept" for letter in kernel.reduced])
        return f"by {kernel.op}, loops: {loops}"
    if isinstance(kernel, Rows):
        return f"{kernel.kept} loop{'' if kernel.kept == 1 else 's'} over rows, {len(kernel.passes)} passes over each"
    return " ".join([str(fact) for fact in kernel.facts if not isinstance(fact, Body)])


def _body(kernel: Kernel) -> list[str]:
    if isinstance(kernel, Map):
        stores = zip(kernel.body.results, kernel.writes, strict=True)
        return [*_computed(kernel.body), *(f"store {_value(place)} {walk(access)}" for place, access in stores)]
    if isinstance(kernel, Reduce):
        return [*_computed(kernel.body), f"{kernel.op} {_value(kernel.body.results[0])} into {kernel.dtype}"]
    if isinstance(kernel, Rows):
        return _rows(kernel)
    inside = [fact for fact in kernel.facts if isinstance(fact, Body)]
    found: list[str] = []
    for k, body in enumerate(inside):
        found += [f"part {k}:"] if len(inside) > 1 else []
        found += [*_computed(body), f"result {', '.join(map(_value, body.results))}"]
    return found


def _rows(kernel: Rows) -> list[str]:
    lines = [f"r{i}: {one.dtype} = {_leaf(one)}" for i, one in enumerate(kernel.operands)]
    for k, one in enumerate(kernel.passes):
        lines += [f"pass {k} over {', '.join([f'r{i}' for i in one.operands])}", *(f"  {line}" for line in _computed(one.body))]
        for place, sink in zip(one.body.results, one.sinks, strict=True):
            lines.append(f"  {sink.op or 'store'} {_value(place)} into r{sink.target}")
    return lines


def _computed(body: Body) -> list[str]:
    lines = [f"x{i}: {leaf.dtype} = {_leaf(leaf)}" for i, leaf in enumerate(body.leaves)]
    for i, node in enumerate(body.nodes, len(body.leaves)):
        parameters = "".join([f" {name}={value}" for name, value in node.params])
        lines.append(f"x{i}: {node.dtype} = {node.op}({', '.join([_value(place) for place in node.operands])}){parameters}")
    return lines


def _leaf(leaf: Leaf) -> str:
    return f"{leaf.source} {walk(leaf.access)}" if leaf.source in ("array", "iota", "line") else leaf.source


def walk(access: str) -> str:
    """How loops walk an operand, outermost first, in words.

    >>> walk("s1"), walk("0"), walk("")
    ('by stride, by neighbours', 'still', 'at one place')
    """
    return ", ".join([_WALKS[letter] for letter in access]) or "at one place"


_WALKS = {"0": "still", "1": "by neighbours", "s": "by stride", "t": "by neighbours across"}


def _value(place: Place) -> str:
    return constant(place.dtype, place.bits) if isinstance(place, Constant) else f"x{place}"


def constant(dtype: str, bits: bytes) -> str:
    """The value of bits.

    >>> constant("f32", b"\\0\\0\\0\\0")
    '0.0'
    """
    return str(np.frombuffer(bits[: from_short[dtype].itemsize], from_short[dtype])[0])


def ir(found: Sequence[Kernel]) -> str:
    """The LLVM module of kernels, a comment before each."""
    return _headed(emit.text({digest(kernel): kernel for kernel in found}), found, r"^define [^\n]*@{}\(", ";")


def assembly(found: Sequence[Kernel]) -> str:
    """The assembly of the same for this processor."""
    text = llvm.assembly(emit.text({digest(kernel): kernel for kernel in found}))
    return _headed(text, found, r"^_?{}:", "#")


def _headed(text: str, found: Sequence[Kernel], start: str, comment: str) -> str:
    for i, kernel in enumerate(found):
        line = re.search(start.format(emit.symbol(digest(kernel))), text, re.MULTILINE)
        assert line is not None
        head = f"{comment} kernel {i}: {kind(kernel)} {' '.join(_dtypes(kernel))}, {_about(kernel)}".rstrip(", ")
        text = f"{text[: line.start()]}{head}\n{text[line.start() :]}"
    return text
