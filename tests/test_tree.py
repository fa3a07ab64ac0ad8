"""Trees against real JAX: random trees for order, paths, text and structure; then errors and registration."""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import gc
import operator
import pickle
import time
import types
import weakref
from typing import Any, NamedTuple

import jax
import jax.flatten_util
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import celadon
import celadon.numpy as cnp
from celadon import errors, tree, tree_util
from celadon.flatten_util import ravel_pytree


class Point(NamedTuple):
    x: Any
    y: Any


class Other(NamedTuple):
    x: Any
    y: Any


class Box:
    """Registered in both libraries, without keys."""

    def __init__(self, value: Any, tag: Any = None) -> None:
        self.value, self.tag = value, tag

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Box) and (self.value, self.tag) == (other.value, other.tag)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Box({self.value!r}, {self.tag!r})"


@dataclasses.dataclass
class Layer:
    """Registered in both libraries as a dataclass."""

    w: Any
    b: Any
    name: str = dataclasses.field(default="dense", metadata={"static": True})


@dataclasses.dataclass
class Named:
    """Registered in both libraries with keys."""

    first: Any
    second: Any


for library in (tree_util, jax.tree_util):
    library.register_pytree_node(Box, lambda b: ((b.value,), b.tag), lambda tag, children: Box(*children, tag))
    library.register_dataclass(Layer)
    key = library.GetAttrKey
    library.register_pytree_with_keys(
        Named,
        lambda n, key=key: ([(key("first"), n.first), (key("second"), n.second)], None),
        lambda _, children: Named(*children),
    )

LEAVES = st.one_of(st.integers(0, 9), st.none(), st.text("ab", max_size=2))
KEYS = st.text("abcd", min_size=1, max_size=2)


def containers(children: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    dicts = st.dictionaries(KEYS, children, max_size=3)
    return st.one_of(
        st.lists(children, max_size=3),
        st.lists(children, max_size=3).map(tuple),
        dicts,
        dicts.map(collections.OrderedDict),
        dicts.map(lambda d: collections.defaultdict(int, d)),
        st.dictionaries(st.integers(-3, 3), children, max_size=3),
        st.builds(Point, children, children),
        st.builds(Box, children, st.sampled_from(["p", "q", (1, 2)])),
        st.builds(Layer, children, children, st.sampled_from(["dense", "conv"])),
        st.builds(Named, children, children),
    )


TREES = st.recursive(LEAVES, containers, max_leaves=12)
NUMBERED = st.recursive(st.just(0), containers, max_leaves=8)


def text(paths: list[Any], library: Any) -> list[str]:
    return [library.keystr(path) + "|" + library.keystr(path, simple=True, separator="/") for path in paths]


@given(TREES)
def test_leaves_and_text_agree_with_jax(value: Any) -> None:
    found, treedef = tree.flatten(value)
    expected, jax_treedef = jax.tree.flatten(value)
    assert found == expected
    assert repr(treedef) == repr(jax_treedef)
    assert (treedef.num_leaves, treedef.num_nodes) == (jax_treedef.num_leaves, jax_treedef.num_nodes)
    assert treedef.node_data() == jax_treedef.node_data()
    assert list(map(repr, treedef.children())) == list(map(repr, jax_treedef.children()))
    assert tree_util.treedef_is_leaf(treedef) == jax.tree_util.treedef_is_leaf(jax_treedef)


@given(TREES)
def test_unflatten_agrees_with_jax(value: Any) -> None:
    found, treedef = tree.flatten(value)
    rebuilt, expected = treedef.unflatten(found), jax.tree.unflatten(jax.tree.structure(value), found)
    assert rebuilt == value
    assert repr(rebuilt) == repr(expected)  # the same types, keys in the same order
    assert tree.map(lambda x: (x,), value) == jax.tree.map(lambda x: (x,), value)


@given(TREES)
def test_paths_agree_with_jax(value: Any) -> None:
    pairs, treedef = tree.flatten_with_path(value)
    expected, _ = jax.tree.flatten_with_path(value)
    assert [leaf for _, leaf in pairs] == [leaf for _, leaf in expected]
    assert treedef == tree.structure(value)
    assert text([path for path, _ in pairs], tree_util) == text([path for path, _ in expected], jax.tree_util)
    assert repr([path for path, _ in pairs]) == repr([path for path, _ in expected])
    assert tree.paths(treedef) == [path for path, _ in pairs]


@given(TREES, TREES)
def test_structures_are_equal_where_jax_says_so(a: Any, b: Any) -> None:
    same = jax.tree.structure(a) == jax.tree.structure(b)
    here, there = tree.structure(a), tree.structure(b)
    assert (here == there) is same
    assert (tree.difference(here, there) is None) is same
    assert not same or hash(here) == hash(there)
    assert here != 3


@given(TREES, TREES)
def test_map_refuses_what_jax_refuses(a: Any, b: Any) -> None:
    try:
        expected = jax.tree.map(lambda x, y: (x, y), a, b)
    except ValueError:
        with pytest.raises(ValueError, match=r"(?s)rest\[0\] parts from tree at .*\[CEL30[1-5]\]"):
            tree.map(lambda x, y: (x, y), a, b)
    else:
        assert tree.map(lambda x, y: (x, y), a, b) == expected
        assert tree.structure(a).flatten_up_to(b) == jax.tree.structure(a).flatten_up_to(b)


@given(TREES, st.data())
def test_broadcast_agrees_with_jax(prefix: Any, data: st.DataObject) -> None:
    full = jax.tree.map(lambda _: data.draw(NUMBERED), prefix)
    assert tree.broadcast(prefix, full) == jax.tree.broadcast(prefix, full)


@given(TREES, TREES)
def test_broadcast_refuses_what_jax_refuses(prefix: Any, full: Any) -> None:
    try:
        expected = jax.tree.broadcast(prefix, full)
    except ValueError:
        with pytest.raises(ValueError, match="full_tree parts from prefix_tree"):
            tree.broadcast(prefix, full)
    else:
        assert tree.broadcast(prefix, full) == expected


@given(NUMBERED, NUMBERED)
def test_transpose_agrees_with_jax(outer: Any, inner: Any) -> None:
    counter = iter(range(1000))
    value = jax.tree.map(lambda _: jax.tree.map(lambda _: next(counter), inner), outer)
    ours = tree.transpose(tree.structure(outer), tree.structure(inner), value)
    if jax.tree.leaves(outer) or not jax.tree.leaves(inner):  # JAX can't transpose an empty outer tree
        assert ours == jax.tree.transpose(jax.tree.structure(outer), jax.tree.structure(inner), value)
    assert tree.transpose(tree.structure(inner), tree.structure(outer), ours) == value


@given(TREES, TREES)
def test_treedefs_compose_and_pickle(a: Any, b: Any) -> None:
    ours, theirs = tree.structure(a).compose(tree.structure(b)), jax.tree.structure(a).compose(jax.tree.structure(b))
    assert repr(ours) == repr(theirs)
    assert pickle.loads(pickle.dumps(ours)) == ours
    assert hash(pickle.loads(pickle.dumps(ours))) == hash(ours)
    pair = tree_util.treedef_tuple([tree.structure(a), tree.structure(b)])
    assert pair == tree.structure((a, b))


@given(TREES)
def test_is_leaf_sees_what_jax_shows(value: Any) -> None:
    seen: list[list[Any]] = [[], []]

    def is_leaf(log: list[Any], x: Any) -> bool:
        log.append(x)
        return isinstance(x, (dict, Point))

    ours = tree.flatten(value, is_leaf=functools.partial(is_leaf, seen[0]))
    theirs = jax.tree.flatten(value, is_leaf=functools.partial(is_leaf, seen[1]))
    assert ours[0] == theirs[0]
    assert repr(ours[1]) == repr(theirs[1])
    assert seen[0] == seen[1]


@given(TREES, st.integers(0, 2))
def test_is_leaf_with_path_agrees_with_jax(value: Any, depth: int) -> None:
    def deep(path: tuple[Any, ...], _: Any) -> bool:
        return len(path) >= depth

    ours, treedef = tree.flatten_with_path(value, deep, is_leaf_takes_path=True)
    theirs, jax_treedef = jax.tree.flatten_with_path(value, deep, is_leaf_takes_path=True)
    assert repr(ours) == repr(theirs)
    assert repr(treedef) == repr(jax_treedef)
    assert treedef.unflatten([leaf for _, leaf in ours]) == value


@given(st.recursive(st.integers(-5, 5), containers, max_leaves=12))
def test_reductions_agree_with_jax(value: Any) -> None:
    assert tree.reduce(operator.sub, value, 0) == jax.tree.reduce(operator.sub, value, 0)
    assert tree.all(value) == jax.tree.all(value)
    joined = tree.reduce_associative(lambda a, b: f"({a}{b})", value, identity="")
    assert joined == jax.tree.reduce_associative(lambda a, b: f"({a}{b})", value, identity="")


@given(TREES)
def test_one_level_agrees_with_jax(value: Any) -> None:
    assert tree_util.is_tree_node(type(value)) == jax.tree_util.is_tree_node(type(value))
    assert tree_util.all_leaves([value]) == jax.tree_util.all_leaves([value])
    if not jax.tree_util.is_tree_node(type(value)):
        return
    children, data = tree_util.flatten_one_level(value)
    expected, expected_data = jax.tree_util.flatten_one_level(value)
    assert repr(list(children)) == repr(list(expected))
    assert data == expected_data
    assert type(children) is type(expected)
    ours, theirs = (u.flatten_one_level_with_keys(value) for u in (tree_util, jax.tree_util))
    assert type(ours[0]) is type(theirs[0])
    assert ours[1] == theirs[1]
    if not isinstance(value, Point):  # of a namedtuple JAX 0.10.2 gives all children the last field's key
        assert repr(list(ours[0])) == repr(list(theirs[0]))


@given(TREES)
def test_walk_and_nested_iterables_agree_with_jax(value: Any) -> None:
    found, treedef = tree.flatten(value)
    theirs = jax.tree.structure(value)
    log: list[list[Any]] = [[], []]
    treedef.walk(lambda children, data: log[0].append(len(children)), log[0].append, found)
    theirs.walk(lambda children, data: log[1].append(len(children)), log[1].append, found)
    assert log[0] == log[1]


def test_nested_iterables_fill_a_structure() -> None:
    assert tree_util.build_tree(tree.structure({"a": (0, 0), "b": None}), [[1, 2], None]) == {"a": (1, 2), "b": None}


@given(TREES)
def test_a_structure_is_rebuilt_from_its_root_and_children(value: Any) -> None:
    treedef = tree.structure(value)
    rebuilt = treedef.from_node_data_and_children(tree_util.default_registry, treedef.node_data(), treedef.children())
    assert rebuilt == treedef


# ---- errors


def message(call: Any, kind: type[Exception] = ValueError) -> str:
    with pytest.raises(kind) as caught:
        call()
    assert isinstance(caught.value, errors.CeladonError)
    return str(caught.value)


CASES = [
    ({"p": {"w": 1, "b": 2}}, {"p": {"w": 1}}, ["['p']", "lacks 'b'", "'b', 'w'"]),
    ({"p": {"w": 1}}, {"p": {"w": 1, "b": 2}}, ["['p']", "adds 'b'"]),
    ({"k": [1, (1, 2)]}, {"k": [1, (1,)]}, ["['k'][1]", "a tuple of 2", "a tuple of 1"]),
    ({"k": [5, 6]}, {"k": 0}, ["['k']", "a list of 2", "the leaf 0"]),
    ({"k": [5, 6]}, {"k": None}, ["['k']", "a list of 2", "None"]),
    ([None], [1], ["[0]", "None", "the leaf 1"]),
    ([(1, 2)], [[1, 2]], ["[0]", "a tuple of 2", "a list of 2"]),
    ([Point(1, 2)], [Other(1, 2)], ["[0]", "Point(x, y)", "Other(x, y)"]),
    ([Point(1, 2)], [(1, 2)], ["Point(x, y)", "a tuple of 2"]),
    ({"a": 1}, collections.OrderedDict(a=1), ["the root", "a dict", "an OrderedDict"]),
    (collections.OrderedDict(a=1, b=2), collections.OrderedDict(b=2, a=1), ["another order", "'a', 'b'", "'b', 'a'"]),
    (collections.defaultdict(int, a=1), collections.defaultdict(list, a=1), ["metadata of defaultdict", "int", "list"]),
    ({"k": [Box(1, "p")]}, {"k": [Box(2, "q")]}, ["['k'][0]", "Box", "'p'", "'q'"]),
    (Layer(1, 2), Layer(1, (2,), "conv"), ["the root", "Layer", "'dense'", "'conv'"]),
    (Named(1, [2]), Named(1, 2), [".second", "a list of 1", "the leaf 2"]),
]


@pytest.mark.parametrize(("first", "third", "words"), CASES)
def test_map_says_where_which_tree_parts(first: Any, third: Any, words: list[str]) -> None:
    said = message(lambda: tree.map(lambda a, b, c: a, first, first, third))
    assert said.startswith("rest[1] parts from tree at")
    assert all(word in said for word in words), said
    with pytest.raises(ValueError, match="pytree"):
        jax.tree.map(lambda a, b, c: a, first, first, third)


def test_a_node_with_more_children_names_them() -> None:
    class Many:
        def __init__(self, *values: Any) -> None:
            self.values = values

    tree_util.register_pytree_with_keys(
        Many,
        lambda m: ([(tree_util.GetAttrKey(f"f{i}"), v) for i, v in enumerate(m.values)], None),
        lambda _, values: Many(*values),
    )
    said = message(lambda: tree.map(lambda a, b: a, Many(1, 2), Many(1, 2, 3)))
    assert "adds .f2" in said
    assert "the children .f0, .f1, .f2" in said


def test_a_difference_is_data() -> None:
    parting = tree.difference(tree.structure({"a": [1, {"k": 2}]}), tree.structure({"a": [1, {"k": 2, "z": 3}]}))
    assert parting is not None
    assert tree_util.keystr(parting.path) == "['a'][1]"
    assert (parting.kind, parting.missing, parting.extra) == ("keys", (), (tree_util.DictKey("z"),))
    first = tree.difference(tree.structure([1, (2, 3)]), tree.structure([[1], (2,)]))
    assert first is not None
    assert (tree_util.keystr(first.path), first.here, first.there) == ("[0]", "a leaf", "a list of 1")


def test_flatten_up_to_and_broadcast_name_their_trees() -> None:
    treedef = tree.structure({"a": 0, "b": {"c": (0, 0)}})
    assert treedef.flatten_up_to({"a": [1, 2], "b": {"c": (3, {"q": 4})}}) == [[1, 2], 3, {"q": 4}]
    said = message(lambda: treedef.flatten_up_to({"a": 1, "b": {"c": (1,)}}))
    assert "the tree parts from the treedef at ['b']['c']" in said
    said = message(lambda: tree.spread((0, None), tree.structure(([1], 2, 3)), reference="in_axes", name="the call"))
    assert "the call parts from in_axes at the root" in said


def test_prefixes_spread_over_a_structure_without_building_it() -> None:
    class Strict:
        def __init__(self, value: np.ndarray) -> None:
            assert value.ndim == 1
            self.value = value

    tree_util.register_pytree_node(Strict, lambda s: ((s.value,), None), lambda _, children: Strict(*children))
    treedef = tree.structure((Strict(np.ones(3)), {"a": 1, "b": 2}))
    assert tree.spread((0, None), treedef, is_leaf=lambda x: x is None) == [0, None, None]
    assert repr(tree.paths(treedef)[0]) == "(SequenceKey(idx=0), FlattenedIndexKey(key=0))"


def test_keys_without_order_have_one_by_type_and_value() -> None:
    letters = enum.Enum("letters", "A B")
    mixed = {3: 0, "q": 1, None: 2, 1: 3}
    assert tree.leaves(mixed) == [2, 3, 0, 1]
    assert [path[0].key for path, _ in tree.leaves_with_path(mixed)] == [None, 1, 3, "q"]
    for value in (mixed, {None: 1, "a": 2}, {letters.B: 1, letters.A: 2}):
        assert tree.map(lambda x: x + 1, value) == {key: x + 1 for key, x in value.items()}
        assert tree.map(operator.add, value, dict(reversed(value.items()))) == {k: 2 * x for k, x in value.items()}


def test_keys_that_refuse_comparison_are_shown_with_their_path() -> None:
    class Key:
        def __lt__(self, other: object) -> bool:
            raise ValueError("no order")

        def __repr__(self) -> str:
            return "Key()"

    said = message(lambda: tree.leaves({"outer": [{Key(): 1, Key(): 2}]}))
    assert "['outer'][0]" in said
    assert "Key(), Key()" in said
    assert "no order" in said


def test_metadata_that_holds_an_array_is_named() -> None:
    boxes = Box(1.0, np.arange(3)), Box(1.0, np.arange(3))
    said = message(lambda: tree.structure(boxes[0]) == tree.structure(boxes[1]))
    assert "metadata (aux data) of Box" in said
    assert "array([0, 1, 2])" in said
    message(lambda: tree.map(lambda a, b: a, *boxes))
    for tag in (np.arange(3), (1, [np.arange(2)]), {"k": np.ones(2)}, Layer(np.ones(2), 1), cnp.ones(2)):
        said = message(functools.partial(tree.check_metadata, tree.structure([Box(1, tag)])))
        assert "Box" in said
    for tag in ("p", (1, [2]), {"k": 3}, np.float32(2), None, Layer(1, 2), object(), np.ones(1), cnp.ones(())):
        tree.check_metadata(tree.structure([Box(1, tag)]))
    tree.check_metadata(tree.structure([1, {"a": 2}]))


def test_metadata_that_holds_an_array_never_becomes_part_of_a_key() -> None:
    function = celadon.jit(lambda box: box.value * 2)
    nested = celadon.jit(lambda x: function(Box(x, cnp.ones(2))))
    for _ in range(2):
        for call in (function, function.lower):
            message(functools.partial(call, Box(1.0, cnp.ones(2))))
            message(functools.partial(call, Box(1.0, np.ones(2))))
        message(lambda: nested(1.0))
    assert [float(function(Box(x, np.ones(1)))) for x in (1.0, 2.0)] == [2.0, 4.0]
    message(lambda: function(Box(1.0, np.ones(2))))
    assert len(function.entries) == 1


def test_a_flatten_function_that_lies_is_named() -> None:
    results = iter(["hello", (1, 2, 3, 4), (7, 7), ["a"]])

    class Liar:
        pass

    tree_util.register_pytree_node(Liar, lambda _: result, lambda _, children: Liar())
    for result in results:
        said = message(lambda: tree.leaves([Liar()]))
        assert "flatten function of Liar" in said
        assert repr(result) in said


def test_trees_that_contain_themselves() -> None:
    loop: list[Any] = []
    loop.append(loop)
    message(lambda: tree.leaves(loop), RecursionError)
    assert tree.leaves(loop, is_leaf=lambda x: x is loop) == [loop]


def test_wrong_numbers_of_leaves() -> None:
    treedef = tree.structure((1, {"a": 2}))
    for leaves in ([1], [1, 2, 3]):
        said = message(functools.partial(treedef.unflatten, leaves))
        assert f"has 2 leaves, but {len(leaves)}" in said
    assert treedef.unflatten(iter([1, 2])) == (1, {"a": 2})


def test_transpose_compares_more_than_numbers() -> None:
    s = tree.structure
    assert tree.transpose(s([0, 0]), s({"a": 0}), [{"a": 1}, {"a": 2}]) == {"a": [1, 2]}
    assert tree.transpose(s([0, 0]), None, [{"a": 1}, {"a": 2}]) == {"a": [1, 2]}
    said = message(lambda: tree.transpose(s([0, 0]), s({"a": 0}), [{"a": 1}, {"b": 2}]), TypeError)
    assert "at [1]" in said
    message(lambda: tree.transpose(s([]), None, []), IndexError)


@pytest.mark.parametrize("error", [e for code, e in errors.entries.items() if code.startswith("CEL3")])
def test_triggers_raise_their_error_and_cures_work(error: type[errors.CeladonError]) -> None:
    scope = {"celadon": types.SimpleNamespace(tree=tree, tree_util=tree_util), "np": np}
    with pytest.raises(error) as caught:
        exec(error.trigger, dict(scope))
    assert type(caught.value) is error
    assert error.code in str(caught.value)
    exec(error.cured, dict(scope))


# ---- classes and kinds of containers


def test_names_of_jax_are_all_there() -> None:
    assert {name for name in vars(jax.tree) if not name.startswith("_")} <= set(tree.__all__)
    assert {name for name in vars(jax.tree_util) if not name.startswith("_")} <= set(tree_util.__all__)
    assert all(hasattr(tree, name) for name in tree.__all__)
    assert all(hasattr(tree_util, name) for name in tree_util.__all__)


def test_a_deque_is_a_leaf_as_in_jax() -> None:
    value = {"history": collections.deque([1, 2])}
    assert tree.leaves(value) == jax.tree.leaves(value) == [value["history"]]
    assert tree.leaves(value, is_leaf=lambda x: x == 3) == [value["history"]]
    assert tree.map(len, value) == {"history": 2}


def test_records_of_the_interpreter_are_rebuilt() -> None:
    now = time.gmtime(0)
    assert tree.map(lambda x: x, now) == now
    assert isinstance(tree.map(lambda x: x, now), time.struct_time)
    assert len(tree.leaves_with_path(now)) == len(tree.leaves(now))


def test_optree_users_are_not_disturbed() -> None:
    optree = pytest.importorskip("optree")
    assert optree.tree_leaves(box := Box(1)) == [box]


def test_a_class_is_registered_once() -> None:
    for cls in (Box, dict, type(None), collections.deque):
        message(functools.partial(tree_util.register_pytree_node, cls, lambda x: ((), None), lambda _, c: None))


def test_a_registered_namedtuple_follows_its_functions() -> None:
    class Half(NamedTuple):
        child: Any
        tag: Any

    tree_util.register_pytree_node(Half, lambda h: ((h.child,), h.tag), lambda tag, children: Half(*children, tag))
    assert tree.leaves([Half(1, "t")]) == [1]
    assert repr(tree.structure(Half(1, "t"))) == "PyTreeDef(CustomNode(Half[t], [*]))"
    assert tree.map(lambda x: x + 1, Half(1, "t")) == Half(2, "t")


def test_registered_static_objects_are_metadata() -> None:
    @tree_util.register_static
    class Mode(str):
        pass

    assert tree.leaves([Mode("a"), 1]) == [1]
    assert tree.structure(Mode("a")) != tree.structure(Mode("b"))
    assert repr(tree.structure(Mode("a"))) == "PyTreeDef(CustomNode(Mode[a], []))"


def test_partials_keep_their_arguments_apart() -> None:
    inner = functools.partial(divmod, 7)
    outer = tree_util.Partial(inner, 2)
    assert (outer.args, outer()) == ((2,), (3, 1))
    assert outer.func == inner == tree_util.Partial(inner, 3).func
    assert hash(outer.func) == hash(inner)
    rebuilt = tree.map(lambda x: x + 1, tree_util.Partial(dict, a=1))
    assert (rebuilt.func, rebuilt.args, rebuilt.keywords) == (dict, (), {"a": 2})
    assert repr(tree.structure(tree_util.Partial(max, 1, key=2))) == repr(
        jax.tree.structure(jax.tree_util.Partial(max, 1, key=2))
    )


def test_dataclasses_have_their_fields_checked() -> None:
    point = dataclasses.make_dataclass("Point", ["x", "y", ("z", int, 0)])
    for lists in (
        {"data_fields": ["x"], "meta_fields": ["y"]},
        {"data_fields": ["x", "z", "q"], "meta_fields": ["y"]},
        {"data_fields": ["x", "y"], "meta_fields": ["y", "z"]},
    ):
        message(functools.partial(tree_util.register_dataclass, point, **lists))
        with pytest.raises(ValueError, match="data_fields"):
            jax.tree_util.register_dataclass(point, **lists)
    message(lambda: tree_util.register_dataclass(point, data_fields=["x"]), TypeError)
    tree_util.register_dataclass(point, data_fields=["y", "x"], meta_fields=[], drop_fields=["z"])
    assert tree.leaves(point(1, 2, 3)) == [2, 1]
    assert tree.map(lambda v: v, point(1, 2, 3)) == point(1, 2, 0)


def test_static_fields_are_metadata() -> None:
    @tree_util.register_dataclass
    @dataclasses.dataclass
    class Op:
        x: Any
        op: str = tree.static(default="add", metadata={"more": 1})

    assert dict(dataclasses.fields(Op)[1].metadata) == {"static": True, "more": 1}
    assert repr(tree.structure(Op(1))) == "PyTreeDef(CustomNode(Op[('add',)], [*]))"


def test_keys_are_values() -> None:
    ours, theirs = tree_util, jax.tree_util
    for name, held in (("SequenceKey", 1), ("DictKey", "a"), ("GetAttrKey", "a"), ("FlattenedIndexKey", 1)):
        key, expected = getattr(ours, name)(held), getattr(theirs, name)(held)
        assert (str(key), repr(key), key.__match_args__) == (str(expected), repr(expected), expected.__match_args__)
        assert key == getattr(ours, name)(held)
        assert hash(key) == hash(getattr(ours, name)(held))
        assert pickle.loads(pickle.dumps(key)) == key
    assert hash(ours.SequenceKey(1)) != hash(ours.FlattenedIndexKey(1))
    assert ours.SequenceKey(1) != ours.FlattenedIndexKey(1)


def test_the_registry_under_its_name_in_jax() -> None:
    registry = tree_util.default_registry
    assert registry.flatten([1, 2])[0] == [1, 2]
    assert registry.flatten_with_path([1], lambda path, x: len(path) == 1)[0] == tree.leaves_with_path([1])
    assert pickle.loads(pickle.dumps(registry)) is registry


# ---- what calls rely on


def test_the_quick_flatten_gives_the_same_structure() -> None:
    value = ({"b": 1, "a": Point(2, Box(3, "t"))}, {})
    found, spec = tree.flatten_spec(value)
    assert found == tree.leaves(value)
    assert tree.PyTreeDef(spec) == tree.structure(value)
    assert {spec: 1}[tree.flatten_spec(({"a": Point(2, Box(3, "t")), "b": 1}, {}))[1]] == 1


def test_keys_that_are_equal_keep_their_types() -> None:
    for key in (1, True, 1.0, np.int64(1)):
        rebuilt = tree.map(lambda x: x, {key: "a"})
        assert type(next(iter(rebuilt))) is type(key)
        assert type(tree.leaves_with_path({key: "a"})[0][0][0].key) is type(key)


def test_structures_do_not_keep_metadata_alive() -> None:
    class Config:
        pass

    config = Config()
    alive = weakref.ref(config)
    value = tree.map(lambda x: x, [Box(1, config), {"b": 1, "a": 2}])
    del value, config
    gc.collect()
    assert alive() is None


@settings(max_examples=20)
@given(st.integers(0, 60))
def test_deep_trees_pass(depth: int) -> None:
    value = functools.reduce(lambda inner, _: [inner], range(depth), 1)
    assert tree.leaves(value) == [1]
    assert tree.unflatten(tree.structure(value), [1]) == value


def test_functions_that_unravel_alike_are_equal() -> None:
    vector, unravel = ravel_pytree({"a": np.arange(2), "b": np.ones(3, np.float32)})
    _, same = ravel_pytree({"a": np.ones(2, np.int64), "b": np.zeros(3, np.float32)})
    traces: list[int] = []

    def doubled(vector: Any, unravel: Any) -> Any:
        traces.append(1)
        return unravel(vector * 2)

    run = celadon.jit(doubled, static_argnums=1)
    assert [run(vector, u)["b"].tolist() for u in (unravel, same)] == [[2.0, 2.0, 2.0]] * 2
    assert len(traces) == 1
    others = ({"a": np.arange(2), "c": np.ones(3)}, {"a": np.arange(3), "b": np.ones(2)}, {"a": np.ones(2), "b": np.ones(3)})
    assert not any(ravel_pytree(other)[1] == unravel for other in others)


@pytest.mark.parametrize("numbers", [[1, 2.0], [1.0, 2.0], [np.float32(1), 2.0]], ids=["mixed", "floats", "typed"])
def test_numbers_of_several_dtypes_are_not_weak_once_ravelled(numbers: Any) -> None:
    def weakness(ravel: Any) -> Any:
        vector, unravel = ravel(numbers)
        return [(str(x.dtype), x.weak_type) for x in (vector, *unravel(vector))]

    assert weakness(ravel_pytree) == weakness(jax.flatten_util.ravel_pytree)


@pytest.mark.parametrize("change", [
    lambda v: v[:2], lambda v: v[None], lambda v: v > 0, lambda v: v.astype(np.float16),
], ids=["short", "deep", "bool", "half"])  # fmt: skip
@pytest.mark.parametrize("trees", [[np.arange(2), np.ones(2)], [np.ones(4)]], ids=["mixed", "one"])
def test_unravel_refuses_what_jax_refuses(trees: Any, change: Any) -> None:
    def outcome(ravel: Any) -> Any:
        vector, unravel = ravel(trees)
        try:
            return [(np.asarray(x).tolist(), str(x.dtype)) for x in unravel(change(vector))]
        except (TypeError, ValueError) as error:
            return TypeError if isinstance(error, TypeError) else ValueError

    assert outcome(ravel_pytree) == outcome(jax.flatten_util.ravel_pytree)


PLAIN = st.recursive(
    st.one_of(st.integers(0, 9), st.none()),
    lambda children: st.one_of(
        st.lists(children, max_size=3), st.lists(children, max_size=3).map(tuple), st.dictionaries(st.text(max_size=3), children)
    ),
    max_leaves=12,
)


@given(PLAIN)
def test_structures_have_the_bytes_that_they_have_in_jax(value: Any) -> None:
    ours, theirs = tree.structure(value), jax.tree.structure(value)
    assert ours.serialize_using_proto() == theirs.serialize_using_proto()
    registry = tree_util.default_registry
    assert tree_util.PyTreeDef.deserialize_using_proto(registry, theirs.serialize_using_proto()) == ours


def test_long_structures_have_the_bytes_that_they_have_in_jax() -> None:
    value = [{f"{'k' * 200}{i:04}": i for i in range(300)}] * 2
    data = jax.tree.structure(value).serialize_using_proto()
    assert tree.structure(value).serialize_using_proto() == data
    assert tree_util.PyTreeDef.deserialize_using_proto(None, data) == tree.structure(value)


@pytest.mark.parametrize("value", [{1: 2}, Box(1), Point(1, 2), collections.OrderedDict(a=1), [Named(1, 2)]], ids=repr)
def test_what_is_not_written_as_bytes_is_named(value: Any) -> None:
    with pytest.raises(ValueError):
        jax.tree.structure(value).serialize_using_proto()
    with pytest.raises(errors.StructureNotWritable):
        tree.structure(value).serialize_using_proto()


@given(st.binary(max_size=30), st.integers(0, 60))
def test_bytes_that_hold_no_structure_are_refused(data: bytes, size: int) -> None:
    good = tree.structure([{"a": 1, "b": (2, None)}, {"a": 3}]).serialize_using_proto()
    for candidate in (data, good[:size] + data):
        try:
            found = tree_util.PyTreeDef.deserialize_using_proto(None, candidate)
        except errors.StructureUnreadable:
            continue
        assert isinstance(found, tree_util.PyTreeDef)
