"""Trees of containers go in; leaves and a hashable treedef come out, and back; the one file that knows optree.

A tree is made of tuples, lists, dicts (in the order of their sorted keys), OrderedDicts, defaultdicts, namedtuples,
None (a container without children) and classes registered in `celadon.tree_util`; anything else is a leaf.
"""

from __future__ import annotations

import builtins
import functools
import warnings
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import optree
from optree import PyTreeSpec

from celadon import errors, tree_bytes, tree_nodes as nodes, tree_outlines, tree_partings
from celadon.tree_fields import static
from celadon.tree_nodes import IsLeaf, Leaf, Node
from celadon.tree_partings import Parting
from celadon.tree_paths import KeyPath, place

__all__ = ["all", "broadcast", "flatten", "flatten_with_path", "leaves", "leaves_with_path", "map", "map_with_path"]
__all__ += ["reduce", "reduce_associative", "static", "structure", "transpose", "unflatten"]

NAMESPACE = "celadon"
"""Under this name optree keeps our classes apart from those of its other users."""

_UNSET: Any = object()


class PyTreeDef:
    """The structure of a tree without its leaves: hashable, comparable, picklable.

    `spec` is optree's own object, the quickest key.

    >>> structure({"b": 1, "a": (2, None)})
    PyTreeDef({'a': (*, None), 'b': *})
    """

    def __init__(self, spec: PyTreeSpec) -> None:
        self.spec = spec

    @functools.cached_property
    def root(self) -> Node | Leaf:
        return tree_outlines.outline(self.spec)

    @property
    def num_leaves(self) -> int:
        return self.spec.num_leaves

    @property
    def num_nodes(self) -> int:
        return self.spec.num_nodes

    def unflatten(self, leaves: Iterable[Any], /) -> Any:
        """The tree with these leaves."""
        leaves = list(leaves)
        if len(leaves) != self.spec.num_leaves:
            raise errors.LeafCountDiffers(treedef=self, expected=self.num_leaves, found=len(leaves))
        return self.spec.walk(leaves, nodes.build)

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """What stands in a tree at the places of this structure's leaves."""
        return match(self, tree, "the treedef", "the tree")

    def compose(self, inner: PyTreeDef, /) -> PyTreeDef:
        """This structure with another one at each of its leaves."""
        return PyTreeDef(self.spec.compose(inner.spec))

    def children(self) -> list[PyTreeDef]:
        """The structures of the root's children."""
        return [PyTreeDef(child) for child in self.spec.children()]

    def node_data(self) -> tuple[type, Any] | None:
        """Class and metadata of the root, None for a leaf."""
        root = self.root
        if isinstance(root, Leaf):
            return None
        return root.type, list(root.data) if root.type is dict else root.data

    def walk(self, f_node: Callable[..., Any], f_leaf: Callable[[Any], Any] | None, leaves: Iterable[Any], /) -> Any:
        """Calls f_leaf(leaf) at the leaves and f_node(results of the children, metadata) at the containers."""
        return self.spec.walk(leaves, lambda cls, data, children: f_node(children, data), f_leaf)

    def from_iterable_tree(self, tree: Any, /) -> Any:
        """A tree of this structure from nested iterables."""
        return tree_outlines.assemble(self.root, tree)

    @staticmethod
    def from_node_data_and_children(registry: object, node_data: Any, children: Iterable[PyTreeDef]) -> PyTreeDef:
        """The structure with this root and these children; the inverse of node_data() and children()."""
        if node_data is None:
            return LEAF_TREEDEF
        return _compound(nodes.build(node_data[0], node_data[1], [child.spec for child in children]))

    make_from_node_data_and_children = from_node_data_and_children

    def serialize_using_proto(self) -> bytes:
        """The structure as bytes, in JAX's format; `deserialize_using_proto` reads them."""
        return tree_bytes.written(self.root)

    @staticmethod
    def deserialize_using_proto(registry: object, data: bytes) -> PyTreeDef:
        """The structure that bytes hold."""
        return structure(tree_bytes.read(data))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PyTreeDef):
            return NotImplemented
        try:
            return self.spec == other.spec
        except Exception:
            tree_partings.difference(self.root, other.root)
            raise

    def __hash__(self) -> int:
        return hash(self.spec)

    def __repr__(self) -> str:
        return f"PyTreeDef({tree_outlines.text(self.root)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return PyTreeDef, (self.spec,)


def _compound(collection: Any) -> PyTreeDef:
    return PyTreeDef(optree.treespec_from_collection(collection, namespace=NAMESPACE))


LEAF_TREEDEF = PyTreeDef(optree.treespec_leaf(namespace=NAMESPACE))


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple whose elements have these structures.

    >>> treedef_tuple([structure(1), structure([1])])
    PyTreeDef((*, [*]))
    """
    return _compound(tuple([treedef.spec for treedef in treedefs]))


def register(
    cls: type,
    flatten: Callable[[Any], Any] | None,
    unflatten: Callable[[Any, Any], Any],
    flatten_with_keys: Callable[[Any], Any] | None = None,
    fields: tuple[str, ...] | None = None,
) -> None:
    """Makes a class a node; one of the two flatten functions may be missing, `fields` name a dataclass' children."""
    if cls in nodes.registrations or cls in nodes.openers or cls is deque:
        raise errors.NodeClassTaken(type=cls.__name__)
    take_apart: Any = flatten or nodes.keys_beside(flatten_with_keys)
    with warnings.catch_warnings():  # a namedtuple class may be registered, of which optree warns
        warnings.simplefilter("ignore", UserWarning)
        optree.register_pytree_node(  # pyright: ignore[reportUnknownMemberType]
            cls, take_apart, unflatten, namespace=NAMESPACE
        )
    nodes.registrations[cls] = nodes.Registration(take_apart, unflatten, flatten_with_keys, fields)


def flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], PyTreeDef]:
    """Takes a tree apart.

    Args:
        tree: the tree.
        is_leaf: asked at every container and leaf; True makes it a leaf as a whole.

    Returns:
        The leaves from left to right, and the structure.

    Raises:
        DictKeysUnordered, FlattenFunctionInvalid, LeafPredicateInvalid, TreeTooDeep

    >>> flatten({"b": [1, 2], "a": (3, None)})
    ([3, 1, 2], PyTreeDef({'a': (*, None), 'b': [*, *]}))
    """
    try:
        found, spec = optree.tree_flatten(tree, nodes.stop_at(is_leaf), namespace=NAMESPACE)
    except RecursionError:
        raise errors.TreeTooDeep(root=nodes.name_of(nodes.class_of(tree))) from None
    except Exception:
        _name_culprit(tree, is_leaf)
        raise
    return found, PyTreeDef(spec)


def flatten_spec(tree: Any) -> tuple[list[Any], PyTreeSpec]:
    """Takes a tree apart as fast as it gets, for calls: leaves and optree's own structure, `PyTreeDef(spec)` later."""
    return optree.tree_flatten(tree, namespace=NAMESPACE)


def _name_culprit(tree: Any, is_leaf: IsLeaf) -> None:
    """Walks once more, in Python, where an error is raised with its path."""
    stop = nodes.stop_at(is_leaf)
    list(nodes.walk(tree, lambda path, value: stop(value)))


def leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """The leaves of a tree; arguments and errors as for `flatten`.

    >>> leaves([1, (2, None), {"a": 3}])
    [1, 2, 3]
    """
    return flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: IsLeaf = None) -> PyTreeDef:
    """The structure of a tree; arguments and errors as for `flatten`.

    >>> structure([1, (2, None)])
    PyTreeDef([*, (*, None)])
    """
    return flatten(tree, is_leaf)[1]


def unflatten(treedef: PyTreeDef, leaves: Iterable[Any]) -> Any:
    """Puts a tree together, and returns it.

    Args:
        treedef: the structure, from `flatten` or `structure`.
        leaves: as many leaves as it has places.

    Raises:
        LeafCountDiffers

    >>> unflatten(structure([0, {"a": 0}]), [1, 2])
    [1, {'a': 2}]
    """
    return treedef.unflatten(leaves)


def map(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: IsLeaf = None) -> Any:
    """Calls a function at every leaf.

    Args:
        f: called with the leaf of `tree` and what stands at its place in each tree of `rest`.
        tree: gives the structure of the result; `is_leaf` is as for `flatten`.
        rest: trees of the same structure, or deeper ones, of which the function gets subtrees.

    Returns:
        A tree with the structure of `tree` and the function's results as leaves.

    Raises:
        TreeTypesDiffer, TreeLengthsDiffer, TreeKeysDiffer, TreeMetadataDiffers, ValueErrorInChildren

    >>> map(lambda x, y: x + y, {"a": 1, "b": 2}, {"a": 10, "b": 20})
    {'a': 11, 'b': 22}
    """
    found, treedef = flatten(tree, is_leaf)
    if not rest:
        return treedef.unflatten([f(leaf) for leaf in found])
    return treedef.unflatten([f(*parts) for parts in zip(found, *_columns(treedef, rest), strict=True)])


def _columns(treedef: PyTreeDef, rest: tuple[Any, ...]) -> list[list[Any]]:
    return [match(treedef, other, "tree", f"rest[{i}]") for i, other in enumerate(rest)]


def match(treedef: PyTreeDef, tree: Any, reference: str, name: str) -> list[Any]:
    """What stands in a tree at the places of a structure's leaves; errors call the two `reference` and `name`.

    >>> match(structure({"a": 0}), {"a": [1, 2]}, "params", "updates")
    [[1, 2]]
    """
    found, whole = flatten(tree)
    return found if whole == treedef else tree_partings.laid_over(treedef.root, tree, nodes.open_node, reference, name)


def all(tree: Any, *, is_leaf: IsLeaf = None) -> bool:
    """Whether all leaves of a tree are true.

    >>> all([True, {"a": False}])
    False
    """
    return builtins.all(leaves(tree, is_leaf))


def reduce(function: Callable[[Any, Any], Any], tree: Any, initializer: Any = _UNSET, is_leaf: IsLeaf = None) -> Any:
    """Combines the leaves from left to right.

    Args:
        function: called with the result so far and the next leaf.
        tree: the tree; `is_leaf` is as for `flatten`.
        initializer: the result before the first leaf; without it, the first leaf itself.

    Returns:
        The last result.

    Raises:
        ReductionEmpty: without leaves and initializer.

    >>> reduce(lambda total, leaf: total + leaf, [1, (2, 3)])
    6
    """
    found = leaves(tree, is_leaf)
    if initializer is not _UNSET:
        return functools.reduce(function, found, initializer)
    if not found:
        raise errors.ReductionEmpty(function="reduce", argument="an initializer")
    return functools.reduce(function, found)


def reduce_associative(
    operation: Callable[[Any, Any], Any], tree: Any, *, identity: Any = _UNSET, is_leaf: IsLeaf = None
) -> Any:
    """Combines the leaves in halves: a tree of operations as deep as the logarithm of their number.

    Args:
        operation: an associative operation on two leaves.
        tree: the tree; `is_leaf` is as for `flatten`.
        identity: the result for a tree without leaves.

    Returns:
        The combined leaves.

    Raises:
        ReductionEmpty: without leaves and identity.

    >>> reduce_associative(lambda x, y: x + y, [1, (2, 3)])
    6
    """
    found = leaves(tree, is_leaf)
    if found:
        return _halves(operation, found)
    if identity is _UNSET:
        raise errors.ReductionEmpty(function="reduce_associative", argument="an identity")
    return identity


def _halves(operation: Callable[[Any, Any], Any], found: list[Any]) -> Any:
    if len(found) == 1:
        return found[0]
    middle = len(found) // 2
    return operation(_halves(operation, found[:middle]), _halves(operation, found[middle:]))


def transpose(outer_treedef: PyTreeDef, inner_treedef: PyTreeDef | None, pytree_to_transpose: Any) -> Any:
    """Turns a tree of trees inside out.

    Args:
        outer_treedef: the structure of the outer tree.
        inner_treedef: the structure at each of its leaves; None reads it off the first.
        pytree_to_transpose: the tree, structured (outer, inner).

    Returns:
        The same leaves, structured (inner, outer).

    Raises:
        TransposeMismatch, InnerStructureUnknown

    >>> transpose(structure([0, 0]), structure({"a": 0}), [{"a": 1}, {"a": 2}])
    {'a': [1, 2]}
    """
    found, whole = flatten(pytree_to_transpose)
    if inner_treedef is None and not outer_treedef.num_leaves:
        raise errors.InnerStructureUnknown(outer=outer_treedef)
    inner_treedef = inner_treedef or structure(outer_treedef.flatten_up_to(pytree_to_transpose)[0])
    _check_levels(outer_treedef.compose(inner_treedef), whole)
    size = inner_treedef.num_leaves
    columns = [found[i::size] for i in range(size)]
    return inner_treedef.unflatten([outer_treedef.unflatten(column) for column in columns])


def _check_levels(expected: PyTreeDef, found: PyTreeDef) -> None:
    parting = None if expected == found else difference(expected, found)
    if parting is None:
        return
    # a class that keeps its children's structure as metadata can be compared by the number of leaves only
    if parting.cls in nodes.registrations and expected.num_leaves == found.num_leaves:
        return
    raise errors.TransposeMismatch(path=place(parting.path), here=parting.here, there=parting.there)


def broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
    """Repeats the leaves of a tree for a deeper one.

    Args:
        prefix_tree: a tree that ends no deeper than `full_tree`; `is_leaf` is as for `flatten`.
        full_tree: gives the structure of the result.

    Returns:
        A tree like `full_tree`, with each leaf of `prefix_tree` at all leaves below its place; errors as for `map`.

    >>> broadcast((1, 2), (0, {"a": 0, "b": 0}))
    (1, {'a': 2, 'b': 2})
    """
    treedef = structure(full_tree)
    return treedef.unflatten(spread(prefix_tree, treedef, is_leaf, name="full_tree"))


def spread(
    prefix_tree: Any, treedef: PyTreeDef, is_leaf: IsLeaf = None, reference: str = "prefix_tree", name: str = "tree"
) -> list[Any]:
    """The leaves of a prefix, each as often as a structure has leaves below its place; errors name the two trees.

    >>> spread((0, None), structure((1, [2, 3])), is_leaf=lambda x: x is None)
    [0, None, None]
    """
    values, prefix = flatten(prefix_tree, is_leaf)
    pieces = tree_partings.laid_over(prefix.root, treedef.root, tree_partings.as_node, reference, name)
    return [value for value, piece in zip(values, pieces, strict=True) for _ in range(tree_outlines.count(piece))]


def flatten_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[KeyPath, Any]], PyTreeDef]:
    """Takes a tree apart and says where each leaf stood.

    Args:
        tree: the tree; `is_leaf` is as for `flatten`.
        is_leaf_takes_path: whether `is_leaf` is called with the path, too, as the first argument.

    Returns:
        Pairs of path (a tuple of keys) and leaf, and the structure.

    >>> flatten_with_path((1, {"a": 2}))[0]
    [((SequenceKey(idx=0),), 1), ((SequenceKey(idx=1), DictKey(key='a')), 2)]
    """
    if is_leaf is None and not (flat := flatten(tree))[1].spec.namespace:
        return list(zip(paths(flat[1]), flat[0], strict=True)), flat[1]
    answers: list[bool] = []
    plain = nodes.stop_at(is_leaf) if not is_leaf_takes_path else deque.__instancecheck__

    def stop(path: KeyPath, value: Any) -> bool:
        asked = is_leaf_takes_path and is_leaf is not None and nodes.answer(is_leaf(path, value))
        answers.append(asked or plain(value))
        return answers[-1]

    pairs = list(nodes.walk(tree, stop))
    again = iter(answers)
    return pairs, PyTreeDef(optree.tree_structure(tree, lambda _: next(again), namespace=NAMESPACE))


def leaves_with_path(
    tree: Any, is_leaf: Callable[..., bool] | None = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
    """The leaves of a tree with their paths; arguments as for `flatten_with_path`.

    >>> leaves_with_path({"w": [1]})
    [((DictKey(key='w'), SequenceKey(idx=0)), 1)]
    """
    return flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[..., bool] | None = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """Calls a function with the path and the leaf at every leaf; else like `map`.

    >>> map_with_path(lambda path, x: x * len(path), {"w": [1, 2]})
    {'w': [2, 4]}
    """
    pairs, treedef = flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    columns = _columns(treedef, rest)
    return treedef.unflatten([f(*pair, *parts) for pair, *parts in zip(pairs, *columns, strict=True)])


def difference(here: PyTreeDef, there: PyTreeDef) -> Parting | None:
    """The first place where two structures differ, as data; None where they are equal.

    >>> parting = difference(structure({"a": (1, 2)}), structure({"a": (1, [2])}))
    >>> parting.path, parting.here, parting.there
    ((DictKey(key='a'), SequenceKey(idx=1)), 'a leaf', 'a list of 1')
    """
    return tree_partings.difference(here.root, there.root)


def paths(treedef: PyTreeDef) -> list[KeyPath]:
    """The path of each leaf, read off the structure alone.

    >>> paths(structure({"r": [1]}))
    [(DictKey(key='r'), SequenceKey(idx=0))]
    """
    return tree_outlines.paths(treedef.root)


def check_metadata(treedef: PyTreeDef) -> None:
    """Raises MetadataAmbiguous where metadata can't be compared, before the structure becomes part of a key."""
    if treedef.spec.namespace:
        tree_outlines.check_metadata(treedef.root)
