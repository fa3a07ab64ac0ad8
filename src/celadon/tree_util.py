"""JAX's older names for the functions on trees, and everything that makes a class a node of trees."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from celadon import errors, tree, tree_fields, tree_nodes
from celadon.tree import (
    PyTreeDef,
    all as tree_all,
    broadcast as tree_broadcast,
    flatten as tree_flatten,
    flatten_with_path as tree_flatten_with_path,
    leaves as tree_leaves,
    leaves_with_path as tree_leaves_with_path,
    map as tree_map,
    map_with_path as tree_map_with_path,
    reduce as tree_reduce,
    reduce_associative as tree_reduce_associative,
    structure as tree_structure,
    transpose as tree_transpose,
    treedef_tuple,
    unflatten as tree_unflatten,
)
from celadon.tree_nodes import is_node as is_tree_node
from celadon.tree_paths import DictKey, FlattenedIndexKey, GetAttrKey, KeyEntry, KeyPath, SequenceKey, keystr

__all__ = ["DictKey", "FlattenedIndexKey", "GetAttrKey", "KeyEntry", "KeyPath", "Partial", "PyTreeDef", "SequenceKey"]
__all__ += ["all_leaves", "build_tree", "default_registry", "flatten_one_level", "flatten_one_level_with_keys"]
__all__ += ["is_tree_node", "keystr", "register_dataclass", "register_pytree_node", "register_pytree_node_class"]
__all__ += ["register_pytree_with_keys", "register_pytree_with_keys_class", "register_static", "tree_all"]
__all__ += ["tree_broadcast", "tree_flatten", "tree_flatten_with_path", "tree_leaves", "tree_leaves_with_path"]
__all__ += ["tree_map", "tree_map_with_path", "tree_reduce", "tree_reduce_associative", "tree_structure"]
__all__ += ["tree_transpose", "tree_unflatten", "treedef_children", "treedef_is_leaf", "treedef_tuple"]

Class = TypeVar("Class", bound=type)


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the root's children.

    >>> treedef_children(tree_structure([(1, 2), 3]))
    [PyTreeDef((*, *)), PyTreeDef(*)]
    """
    return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether a structure is a single node: a leaf, or a container without children.

    >>> treedef_is_leaf(tree_structure(1)), treedef_is_leaf(tree_structure([1]))
    (True, False)
    """
    return treedef.num_nodes == 1


def all_leaves(iterable: Iterable[Any], is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether every element of an iterable is a leaf.

    >>> all_leaves([1, "a"]), all_leaves([[1]])
    (True, False)
    """
    items = list(iterable)
    found = tree_leaves(items, is_leaf)
    return len(found) == len(items) and all(map(operator.is_, found, items))


def build_tree(treedef: PyTreeDef, xs: Any) -> Any:
    """A tree of a structure from nested iterables.

    >>> build_tree(tree_structure({"a": (0, 0)}), [[1, 2]])
    {'a': (1, 2)}
    """
    return treedef.from_iterable_tree(xs)


def flatten_one_level(tree: Any) -> tuple[Iterable[Any], Any]:
    """The children of a container, and its metadata.

    Args:
        tree: a container.

    Returns:
        Children and metadata.

    Raises:
        NotANode: for a leaf.

    >>> flatten_one_level({"a": [1, 2], "b": 3})
    (([1, 2], 3), ('a', 'b'))
    """
    if type(tree) in tree_nodes.registrations:
        registration = tree_nodes.registrations[type(tree)]
        children, data = tree_nodes.taken_apart(tree, lambda node: registration.flatten(node)[:2])
        return children if registration.fields is None else list(children), data
    node = _opened(tree)
    return node.children if node.type in (tuple, dict, type(None)) else list(node.children), _data(node)


def flatten_one_level_with_keys(tree: Any) -> tuple[Iterable[tuple[KeyEntry, Any]], Any]:
    """The children of a container with their keys, and its metadata; like flatten_one_level.

    >>> flatten_one_level_with_keys([5])
    (((SequenceKey(idx=0), 5),), None)
    """
    node = _opened(tree)
    pairs = tuple(zip(node.keys, node.children, strict=True))
    return pairs if node.type in (tuple, list, dict, type(None)) else list(pairs), _data(node)


def _data(node: tree_nodes.Node) -> Any:
    registered = node.type in tree_nodes.registrations
    return node.type if not registered and tree_nodes.is_namedtuple(node.type) else node.data


def _opened(tree: Any) -> tree_nodes.Node:
    node = tree_nodes.open_node(tree)
    if node is None:
        raise errors.NotANode(type=tree_nodes.class_of(tree), value=tree_nodes.short(tree))
    return node


def register_pytree_node(
    nodetype: type,
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_with_keys_func: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]] | None = None,
) -> None:
    """Makes the instances of a class containers.

    Args:
        nodetype: the class; its subclasses are not concerned.
        flatten_func: from an instance to (children, metadata); the metadata must be comparable, best hashable.
        unflatten_func: from (metadata, children) to an instance.
        flatten_with_keys_func: like flatten_func, with (key, child) pairs for children.

    Raises:
        NodeClassTaken: if the class is a container already.

    >>> class Pair:
    ...     def __init__(self, x, y): self.x, self.y = x, y
    >>> register_pytree_node(Pair, lambda p: ((p.x, p.y), None), lambda _, xy: Pair(*xy))
    >>> tree_leaves([Pair(1, 2), 3])
    [1, 2, 3]
    """
    tree.register(nodetype, flatten_func, unflatten_func, flatten_with_keys_func)


def register_pytree_with_keys(
    nodetype: type,
    flatten_with_keys: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]] | None = None,
) -> None:
    """Makes the instances of a class containers whose children have names.

    Args:
        nodetype: the class.
        flatten_with_keys: from an instance to ((key, child) pairs, metadata), keys such as GetAttrKey("x").
        unflatten_func: from (metadata, children) to an instance.
        flatten_func: the same without keys, where that is quicker.

    Raises:
        NodeClassTaken: if the class is a container already.

    >>> class Named:
    ...     def __init__(self, x): self.x = x
    >>> register_pytree_with_keys(Named, lambda n: ([(GetAttrKey("x"), n.x)], None), lambda _, c: Named(*c))
    >>> [keystr(path) for path, leaf in tree_leaves_with_path([Named(1)])]
    ['[0].x']
    """
    tree.register(nodetype, flatten_func, unflatten_func, flatten_with_keys)


def register_pytree_node_class(cls: Class) -> Class:
    """Class decorator: registers a class by its tree_flatten() and its classmethod tree_unflatten(aux, children).

    >>> @register_pytree_node_class
    ... class Box:
    ...     def __init__(self, value): self.value = value
    ...     def tree_flatten(self): return (self.value,), None
    ...     @classmethod
    ...     def tree_unflatten(cls, aux, children): return cls(*children)
    >>> tree_map(lambda x: x + 1, Box(1)).value
    2
    """
    register_pytree_node(cls, operator.methodcaller("tree_flatten"), cls.tree_unflatten)  # type: ignore[attr-defined]
    return cls


def register_pytree_with_keys_class(cls: Class) -> Class:
    """Class decorator: like register_pytree_node_class, with tree_flatten_with_keys(); tree_flatten() is optional.

    >>> @register_pytree_with_keys_class
    ... class Cell:
    ...     def __init__(self, value): self.value = value
    ...     def tree_flatten_with_keys(self): return ((GetAttrKey("value"), self.value),), None
    ...     @classmethod
    ...     def tree_unflatten(cls, aux, children): return cls(*children)
    >>> tree_leaves_with_path(Cell(1))
    [((GetAttrKey(name='value'),), 1)]
    """
    flatten = operator.methodcaller("tree_flatten") if hasattr(cls, "tree_flatten") else None
    with_keys = operator.methodcaller("tree_flatten_with_keys")
    register_pytree_with_keys(cls, with_keys, cls.tree_unflatten, flatten)  # type: ignore[attr-defined]
    return cls


def register_dataclass(
    nodetype: Class,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> Class:
    """Makes the instances of a dataclass containers.

    Args:
        nodetype: the class; its instances are rebuilt by calling it with all fields as keywords.
        data_fields: the fields that are children.
        meta_fields: the fields that are metadata; without both lists, those declared with `tree.static()`.
        drop_fields: fields of a dataclass that are neither.

    Returns:
        The class itself.

    Raises:
        DataclassFieldsUnclear, DataclassFieldsMismatch, NodeClassTaken

    >>> import dataclasses
    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     name: str = tree.static(default="dense")
    >>> tree_structure(Layer(1.0))
    PyTreeDef(CustomNode(Layer[('dense',)], [*]))
    """
    data, meta = tree_fields.fields_of(nodetype, data_fields, meta_fields, drop_fields)
    read_data, read_meta = tree_fields.getter(data), tree_fields.getter(meta)

    def flatten(value: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        return read_data(value), read_meta(value)

    def unflatten(metadata: tuple[Any, ...], children: tuple[Any, ...]) -> Any:
        return nodetype(**dict(zip(meta + data, (*metadata, *children), strict=True)))

    tree.register(nodetype, flatten, unflatten, fields=data)
    return nodetype


def register_static(cls: Class) -> Class:
    """Class decorator: makes the instances of a class containers without children, themselves their metadata.

    A jitted function takes such an argument as static wherever it stands in a tree.

    >>> @register_static
    ... class Mode(str): ...
    >>> tree_leaves([Mode("train"), 1])
    [1]
    """
    tree.register(cls, lambda value: ((), value), lambda value, _: value)
    return cls


class _Whole:
    """A function that does not show it is a functools.partial, so that another partial does not merge with it."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __eq__(self, other: object) -> bool:
        return self.function == (other.function if isinstance(other, _Whole) else other)

    def __hash__(self) -> int:
        return hash(self.function)

    def __repr__(self) -> str:
        return repr(self.function)


def _apart(func: Any) -> Callable[..., Any]:
    return _Whole(func) if isinstance(func, functools.partial) else func  # pyright: ignore[reportUnknownArgumentType]


class Partial(functools.partial[Any]):
    """A functools.partial that is a container: its arguments are children, its function is metadata.

    Such a function can be an argument of a jitted function, its bound arguments being traced.

    >>> tree_map(lambda x: x + 1, Partial(divmod, 6))(2)
    (3, 1)
    """

    def __new__(cls, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Partial:
        return super().__new__(cls, _apart(func), *args, **kwargs)


tree.register(
    Partial,
    lambda partial: ((partial.args, partial.keywords), partial.func),
    lambda func, bound: Partial(func, *bound[0], **bound[1]),
)


class Registry:
    """The registered classes under JAX's name for them, `default_registry`."""

    flatten = staticmethod(tree_flatten)
    flatten_one_level = staticmethod(flatten_one_level)
    flatten_one_level_with_keys = staticmethod(flatten_one_level_with_keys)
    is_node = staticmethod(is_tree_node)
    register_node = staticmethod(register_pytree_node)
    register_dataclass_node = staticmethod(register_dataclass)

    def flatten_with_path(self, tree: Any, is_leaf: Callable[[KeyPath, Any], bool] | None = None) -> Any:
        """Like tree_flatten_with_path; `is_leaf` takes the path."""
        return tree_flatten_with_path(tree, is_leaf, is_leaf_takes_path=True)

    def __reduce__(self) -> str:
        return "default_registry"


default_registry = Registry()
