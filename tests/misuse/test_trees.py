"""Documented misuses of pytrees and of vmap's axes."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

from celadon import errors
from tests.misuse.misuses import Misuse, Table, check

NODES = "docs/custom_pytrees"
PYTREES = "docs/pytrees"
VMAP = "docs/automatic-vectorization and docstring of jax.vmap"

table = Table()


class Other(NamedTuple):
    name: str
    a: Any


@table.documented(NODES, errors.ArgumentNotArray, "x.name", "str")
def a_string_in_a_namedtuple(jax: Any) -> None:
    jax.jit(lambda x: x.a)(Other("moc", 1))  # here


@table.documented(PYTREES, errors.TreeLengthsDiffer, "['a']", "a list of 2", "a list of 3")
def trees_of_two_lengths(jax: Any) -> None:
    jax.tree.map(lambda x, y: x + y, {"a": [1, 2]}, {"a": [1, 2, 3]})  # here


@table.documented(PYTREES, errors.TreeKeysDiffer, "'a'", "'b'")
def trees_of_two_sets_of_keys(jax: Any) -> None:
    jax.tree.map(lambda x, y: x + y, {"a": 1}, {"b": 1})  # here


@table.documented(PYTREES, errors.TreeTypesDiffer, "['a']", "a list of 2", "a tuple of 2")
def trees_of_two_classes(jax: Any) -> None:
    jax.tree.map(lambda x, y: x + y, {"a": [1, 2]}, {"a": (1, 2)})  # here


@table.documented(PYTREES, errors.TreeTypesDiffer, "['a']", "None", "the leaf 1")
def none_against_a_leaf(jax: Any) -> None:
    jax.tree.map(lambda x, y: x + y, {"a": None}, {"a": 1})  # here


@table.documented(PYTREES, errors.LeafCountDiffers, "2 leaves", "1 were given")
def too_few_leaves(jax: Any) -> None:
    jax.tree.unflatten(jax.tree.structure([1, 2]), [1])  # here


@table.documented(
    PYTREES, errors.TransposeMismatch, "a list of 2", "a dict", silent="JAX returns a tree that mixes the leaves up"
)
def structures_that_the_tree_does_not_have(jax: Any) -> None:
    jax.tree.transpose(jax.tree.structure([0, 0]), jax.tree.structure({"a": 0}), {"a": [1, 2]})  # here


@table.documented(NODES, errors.NodeClassTaken, "A ")
def a_class_registered_twice(jax: Any) -> None:
    class A:
        pass

    jax.tree_util.register_pytree_node(A, lambda t: ((), None), lambda _, args: A())
    jax.tree_util.register_pytree_node(A, lambda t: ((), None), lambda _, args: A())  # here


@table.documented(NODES, errors.DataclassFieldsMismatch, "A", "y missing")
def a_field_that_is_forgotten(jax: Any) -> None:
    @dataclasses.dataclass
    class A:
        x: Any
        y: Any

    jax.tree_util.register_dataclass(A, data_fields=["x"], meta_fields=[])  # here


@table.documented(NODES, errors.MetadataAmbiguous, "A", "array([1., 1., 1.])")
def an_array_as_metadata(jax: Any) -> None:
    class A:
        def __init__(self, x, opts):
            self.x, self.opts = x, opts

    jax.tree_util.register_pytree_node(A, lambda t: ((t.x,), t.opts), lambda o, c: A(c[0], o))
    f = jax.jit(lambda a: a.x)
    f(A(1.0, np.ones(3)))  # here
    f(A(1.0, np.ones(3)))


@table.documented(PYTREES, errors.TreeKeysDiffer, "in_axes[1]", "argument b", "'k2'")
def in_axes_of_another_tree(jax: Any) -> None:
    x = jax.numpy.ones(3)
    jax.vmap(lambda a, b: a, in_axes=(0, {"k1": 0}))(x, {"k1": x, "k2": x})  # here


@table.documented(VMAP, errors.BatchSizesDiffer, "p['w'] of type f32[3,2]", "x of type f32[4]")
def axes_of_two_sizes(jax: Any) -> None:
    jax.vmap(lambda p, x: x)({"w": jax.numpy.ones((3, 2))}, jax.numpy.ones(4))  # here


@table.documented(VMAP, errors.BatchAxisOutOfRange, "p['w']", "0 dimensions")
def a_scalar_that_is_mapped(jax: Any) -> None:
    jax.vmap(lambda p, x: x)({"w": 1.0}, jax.numpy.ones(4))  # here


@table.documented(VMAP, errors.BatchAxisOutOfRange, "axis 2", "p['w']", "2 dimensions")
def an_axis_out_of_range(jax: Any) -> None:
    jax.vmap(lambda p, x: x, in_axes=(2, 0))({"w": jax.numpy.ones((3, 2))}, jax.numpy.ones(4))  # here


@table.documented(VMAP, errors.BatchSpecInvalid, "in_axes")
def nothing_that_is_mapped(jax: Any) -> None:
    jax.vmap(lambda x: x, in_axes=None)(jax.numpy.ones(4))  # here


@table.documented(VMAP, errors.BatchSpecInvalid, "(0, 1)", "1 positional")
def in_axes_for_more_arguments(jax: Any) -> None:
    jax.vmap(lambda x: x, in_axes=(0, 1))(jax.numpy.ones((4, 4)))  # here


@table.documented(VMAP, errors.BatchSpecInvalid, "'0'")
def in_axes_that_is_a_string(jax: Any) -> None:
    jax.vmap(lambda x: x, in_axes="0")(jax.numpy.ones((4, 4)))  # here


@table.documented(VMAP, errors.BatchSpecInvalid, "out_axes", "result['y']")
def a_mapped_result_with_out_axes_none(jax: Any) -> None:
    jax.vmap(lambda x: {"y": x}, out_axes=None)(jax.numpy.ones(4))  # here


@table.documented(VMAP, errors.BatchAxisOutOfRange, "out_axes", "axis 3", "result", "1 dimensions")
def out_axes_out_of_range(jax: Any) -> None:
    jax.vmap(lambda x: x, out_axes=3)(jax.numpy.ones(4))  # here


@table.documented(VMAP, errors.TreeLengthsDiffer, "out_axes", "a tuple of 3", "a tuple of 2")
def out_axes_of_another_tree(jax: Any) -> None:
    jax.vmap(lambda x: (x, x), out_axes=(0, 0, 0))(jax.numpy.ones(4))  # here


@table.documented(VMAP, errors.AxisNameUnbound, "'batch'")
def an_axis_name_that_is_not_bound(jax: Any) -> None:
    jax.lax.psum(1.0, "batch")  # here


@table.documented(VMAP, errors.MappedNotArray, "argument m of <lambda>", "str")
def a_string_that_is_mapped(jax: Any) -> None:
    jax.vmap(lambda x, m: x)(jax.numpy.ones(3), "mode")  # here


@table.documented(VMAP, errors.ResultNotArray, "<lambda>", "str", "result['m']")
def a_string_as_a_mapped_result(jax: Any) -> None:
    jax.vmap(lambda x: {"m": "mode"})(jax.numpy.ones(3))  # here


@table.documented(VMAP, errors.BatchSpecInvalid, "no arrays to map")
def vmap_without_arguments(jax: Any) -> None:
    jax.vmap(lambda: 1)()  # here


@table.documented(VMAP, errors.BatchSizesDiffer, "axis_size is 4", "x of type f32[3]")
def another_axis_size(jax: Any) -> None:
    jax.vmap(lambda x: x, axis_size=4)(jax.numpy.ones(3))  # here


@table.each
def test_it_is_refused_with_a_reason(misuse: Misuse) -> None:
    check(misuse)
