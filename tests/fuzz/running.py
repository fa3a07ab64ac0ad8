"""One case of the fuzzer: run outside of jit, jitted, baked, on several threads; what is wrong with any of it, as text."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

import celadon
from celadon import cache, enable_x64
from celadon.array import as_array
from celadon.cpu import threads
from tests.bits import bits
from tests.fuzz.judge import wrong
from tests.fuzz.trees import Leaf, Node, function_of, leaf_of, leaves, nodes, parts, shown

Array = np.ndarray[Any, Any]
SECONDS_TO_LOOK = 20.0


@contextmanager
def quiet() -> Iterator[None]:
    """64-bit dtypes, and no warnings about what NumPy overflows."""
    with enable_x64(True), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        warnings.simplefilter("ignore", np.exceptions.ComplexWarning)
        yield


def trouble(root: Node) -> str:
    """What is wrong with a tree; "" if nothing is."""
    with quiet():
        try:
            return _ops(root) or _bits(root)
        except Exception as error:
            return f"{type(error).__name__}: {error}"


def _ops(root: Node) -> str:
    """Each call outside of jit, beside its NumPy rule on the same operands."""
    known: dict[int, list[Any]] = {id(leaf): [as_array(leaf.given)] for leaf in leaves(root)}
    for node in nodes(root):
        operands = [known[id(x)][x.result if isinstance(x, Node) else 0] for x in node.inputs]
        found = known[id(node)] = node(*operands)
        hosts = [np.asarray(x) for x in operands]
        said = wrong(node, hosts, [np.asarray(x) for x in found], node.reference(hosts))
        if said:
            return f"{node.name}: {said}"
    return ""


def _bits(root: Node) -> str:
    """All values of the tree: outside of jit, jitted, once more, baked, and on other numbers of threads."""
    arrays = [leaf.given for leaf in leaves(root)]
    function = function_of(root, nodes(root)[:-1])
    plain = bits(function(*map(as_array, arrays)))
    few = bits(function_of(root)(*map(as_array, arrays)))
    jitted = celadon.jit(function)
    for what, run in _ways(jitted, arrays):
        if bits(run()) != plain:
            return f"{what} differs from the bits outside of jit"
    alone = celadon.jit(function_of(root))
    return "" if bits(alone(*arrays)) == few else "the result alone differs from the bits outside of jit"


def _ways(jitted: Callable[..., Any], arrays: Sequence[Array]) -> Iterator[tuple[str, Callable[[], Any]]]:
    yield "the first call", lambda: jitted(*arrays)
    yield "the second call", lambda: jitted(*arrays)
    yield "a call with lifting off", lambda: _baked(jitted, arrays)
    for count in (1, 3):
        yield f"a call on {count} threads", partial(_on_threads, count, jitted, arrays)


def _baked(jitted: Callable[..., Any], arrays: Sequence[Array]) -> Any:
    with cache.lifting(False):
        return jitted(*arrays)


def _on_threads(count: int, jitted: Callable[..., Any], arrays: Sequence[Array]) -> Any:
    threads.set_threads(count)
    try:
        return jitted(*arrays)
    finally:
        threads.set_threads(None)


# A smaller case


def smaller(root: Node, said: str) -> Node:
    """A tree in which the same goes wrong, with operands computed beforehand and fewer elements where that can be."""
    found, end = root, time.monotonic() + SECONDS_TO_LOOK
    for make in (_heads, _cut):
        for candidate in make(found):
            if time.monotonic() > end:
                break
            if _same(trouble(candidate), said):
                found = candidate
                break
    return found


def _same(found: str, said: str) -> bool:
    return bool(found) and found.split(" is ")[0].split(":")[0] == said.split(" is ")[0].split(":")[0]


def _heads(root: Node) -> Iterator[Node]:
    """Each call alone on what its operands are, then each with their operands."""
    with quiet():
        known = {id(leaf): [as_array(leaf.given)] for leaf in leaves(root)}
        for node in nodes(root):
            known[id(node)] = node(*[known[id(x)][x.result if isinstance(x, Node) else 0] for x in node.inputs])

        def given(part: Any) -> Leaf:
            return leaf_of(np.array(known[id(part)][part.result if isinstance(part, Node) else 0]))

        for depth in (1, 2, 3):
            for node in nodes(root):
                yield _kept(node, depth, given)


def _kept(part: Any, depth: int, given: Callable[[Any], Leaf]) -> Any:
    if isinstance(part, Leaf):
        return part
    if not depth:
        return given(part)
    inputs = [_kept(x, depth - 1, given) for x in part.inputs]
    return Node(part.name, part.function, inputs, part.params, part.text, part.result)


def _cut(root: Node) -> Iterator[Node]:
    """An elementwise call on single elements."""
    given = leaves(root)
    sizes = {leaf.given.shape for leaf in given if leaf.given.ndim}
    if len(nodes(root)) == 1 and len(sizes) == 1 and getattr(root.function, "kind", "") == "elementwise":
        for place in range(min(given[0].given.size, 3000)):
            picked = [leaf_of(leaf.given.reshape(-1)[place : place + 1]) if leaf.given.ndim else leaf for leaf in given]
            yield Node(root.name, root.function, list(picked), root.params, root.text, root.result)


def report(root: Node, said: str) -> str:
    """What to paste, and what it says."""
    small = smaller(root, said)
    return f"{shown(small)}\n# {trouble(small) or said}"


__all__ = ["parts", "quiet", "report", "trouble"]
