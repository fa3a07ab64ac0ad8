"""Errors about pytrees: structures that part, keys that have no order, classes that are no nodes (codes 3xx)."""

from __future__ import annotations

from celadon.errors.catalogue import CeladonError

_TOGETHER = "When trees are mapped over together, one is broadcast, or a prefix such as in_axes is laid over arguments."
_PARTING = "{tree} parts from {reference} at {path}"
_BOX = """class Box:
    def __init__(self, value, tag):
        self.value, self.tag = value, tag
celadon.tree_util.register_pytree_node(Box, lambda b: ((b.value,), b.tag), lambda tag, c: Box(c[0], tag))
"""
_MANY = """class Many:
    def __init__(self, *values):
        self.values = values
celadon.tree_util.register_pytree_node(Many, lambda m: (m.values, None), lambda _, values: Many(*values))
"""


class TreeTypesDiffer(CeladonError, ValueError, TypeError):
    code = "CEL301"
    title = "Two trees have different containers at the same place"
    message = _PARTING + ": {reference} has {here}, {tree} has {there}"
    cause = "The first tree gives the structure; where it has a container, the others need one of the same class."
    cure = "Give both trees the same class of container there; a list is no tuple, and no namedtuple is another one."
    when = _TOGETHER
    trigger = "celadon.tree.map(lambda a, b: a + b, {'k': [5, 6]}, {'k': 0})"
    cured = "celadon.tree.map(lambda a, b: a + b, {'k': [5, 6]}, {'k': [0, 0]})"
    related = ("CEL302", "CEL303", "CEL304", "CEL305")


class TreeLengthsDiffer(CeladonError, ValueError, TypeError):
    code = "CEL302"
    title = "A list or tuple has another length in one of the trees"
    message = _PARTING + ": {reference} has {here}, {tree} has {there}"
    cause = "The first tree gives the structure; every other tree needs as many children at the same place."
    cure = "Make the sequences equally long, or let a single leaf stand for the whole sequence in the first tree."
    when = _TOGETHER
    trigger = "celadon.tree.map(lambda a, b: a + b, {'k': (1, 2)}, {'k': (1,)})"
    cured = "celadon.tree.map(lambda a, b: a + b, {'k': (1, 2)}, {'k': (1, 2)})"
    related = ("CEL301", "CEL303", "CEL304", "CEL305")


class TreeKeysDiffer(CeladonError, ValueError, TypeError):
    code = "CEL303"
    title = "A dict has other keys in one of the trees"
    message = _PARTING + ", where it {difference}: {reference} has {here}, {tree} has {there}"
    cause = "The first tree gives the structure; every other tree needs the same keys at the same place."
    cure = "Add what is missing and drop what is extra; an OrderedDict also needs its keys in the same order."
    when = _TOGETHER
    trigger = "celadon.tree.map(lambda a, b: a + b, {'p': {'w': 1, 'b': 2}}, {'p': {'w': 1}})"
    cured = "celadon.tree.map(lambda a, b: a + b, {'p': {'w': 1, 'b': 2}}, {'p': {'w': 1, 'b': 0}})"
    related = ("CEL301", "CEL302", "CEL304", "CEL305")


class TreeMetadataDiffers(CeladonError, ValueError, TypeError):
    code = "CEL304"
    title = "A node has other metadata in one of the trees"
    message = _PARTING + ": the metadata of {type} is {here} in {reference} and {there} in {tree}"
    cause = "The metadata (aux data) of a registered class is part of the structure, so it must be equal in all trees."
    cure = "Give both nodes equal metadata, or make what may differ a child instead of metadata."
    when = _TOGETHER
    trigger = _BOX + "celadon.tree.map(lambda a, b: a + b, [Box(1, 'p')], [Box(2, 'q')])"
    cured = _BOX + "celadon.tree.map(lambda a, b: a + b, [Box(1, 'p')], [Box(2, 'p')])"
    related = ("CEL301", "CEL302", "CEL303", "CEL305", "CEL307")


class ValueErrorInChildren(CeladonError, ValueError):  # named for the built-in, by which logs are searched for it
    code = "CEL305"
    title = "A node of a registered class has another number of children in one of the trees"
    message = _PARTING + ", where it {difference}: {reference} has {here}, {tree} has {there}"
    cause = "The first tree gives the structure; every other tree needs as many children in a node of the same class."
    cure = "Give both nodes the same children."
    when = _TOGETHER
    trigger = _MANY + "celadon.tree.map(lambda a, b: a + b, Many(1, 2), Many(1, 2, 3))"
    cured = _MANY + "celadon.tree.map(lambda a, b: a + b, Many(1, 2), Many(1, 2))"
    related = ("CEL301", "CEL302", "CEL303", "CEL304")


class DictKeysUnordered(CeladonError, ValueError):
    code = "CEL306"
    title = "The keys of a dict refuse to be sorted"
    message = "the keys of the dict at {path} could not be sorted: {keys}; comparing them raised {reason!r}"
    cause = (
        "The children of a dict are taken in the order of its sorted keys. Keys that can't be compared are sorted "
        "by type first, or keep the order of insertion; a comparison that raises anything but TypeError stops that."
    )
    cure = "Use keys that can be compared, strings for example, or an OrderedDict, which keeps its own order."
    when = "When a tree is flattened that holds a dict whose keys have a comparison of their own."
    trigger = """class Key:
    def __lt__(self, other):
        raise ValueError("no order")
celadon.tree.leaves({Key(): 1, Key(): 2})"""
    cured = "celadon.tree.leaves({'one': 1, 'two': 2})"


class MetadataAmbiguous(CeladonError, ValueError):
    code = "CEL307"
    title = "The metadata of a node can't be compared"
    message = "metadata (aux data) of {type} can't be compared: {metadata} is not just equal or unequal ({reason})"
    cause = (
        "The metadata of a registered class is part of the structure, and structures are compared whenever a program "
        "is looked up. Comparing arrays gives an array, not yes or no."
    )
    cure = "Make the array a child of the node (a data field), or keep the metadata as a tuple of Python numbers."
    when = "When a node whose metadata holds an array is passed to a jitted function, or its structure is compared."
    trigger = _BOX + "celadon.tree.structure(Box(1, np.arange(3))) == celadon.tree.structure(Box(1, np.arange(3)))"
    cured = _BOX + "celadon.tree.structure(Box(1, (0, 1, 2))) == celadon.tree.structure(Box(1, (0, 1, 2)))"
    related = ("CEL101", "CEL304")


class FlattenFunctionInvalid(CeladonError, ValueError):
    code = "CEL308"
    title = "The flatten function of a class does not return (children, metadata)"
    message = "the flatten function of {type} must return (children, metadata), children iterable, not {result}"
    cause = (
        "A node is taken apart by the function that its class was registered with; one with keys gives (key, child) "
        "pairs for children."
    )
    cure = "Return a tuple of two: an iterable of the children, and hashable metadata (None if there is none)."
    when = "When a tree with a node of that class is flattened."
    trigger = """class Pair:
    pass
celadon.tree_util.register_pytree_node(Pair, lambda p: [1], lambda _, c: Pair())
celadon.tree.leaves([Pair()])"""
    cured = """class Pair:
    pass
celadon.tree_util.register_pytree_node(Pair, lambda p: ((), None), lambda _, c: Pair())
celadon.tree.leaves([Pair()])"""


class LeafCountDiffers(CeladonError, ValueError):
    code = "CEL309"
    title = "The number of leaves does not fit the structure"
    message = "{treedef} has {expected} leaves, but {found} were given"
    cause = "A structure is filled with exactly as many leaves as it has places."
    cure = "Pass the leaves that flatten returned together with this structure, one for each."
    when = "When unflatten is called with too few or too many leaves."
    trigger = "celadon.tree.unflatten(celadon.tree.structure((1, 2)), [1])"
    cured = "celadon.tree.unflatten(celadon.tree.structure((1, 2)), [1, 2])"


class TransposeMismatch(CeladonError, TypeError):
    code = "CEL310"
    title = "The tree to transpose is not the outer structure filled with inner ones"
    message = "the tree parts from the outer structure filled with inner ones at {path}: expected {here}, found {there}"
    cause = "A transposition swaps two levels, so at each leaf of the outer structure the inner structure must stand."
    cure = "Pass the structures that the tree really has, outer first; None as the inner one reads it off the tree."
    when = "When tree.transpose is called with a tree of another structure."
    trigger = """s = celadon.tree.structure
celadon.tree.transpose(s([0, 0]), s({'a': 0}), [{'a': 1}, {'b': 2}])"""
    cured = """s = celadon.tree.structure
celadon.tree.transpose(s([0, 0]), s({'a': 0}), [{'a': 1}, {'a': 2}])"""


class InnerStructureUnknown(CeladonError, IndexError):
    code = "CEL311"
    title = "The inner structure can't be read off an empty outer one"
    message = "{outer} has no leaves, so the inner structure can't be inferred"
    cause = "Without an inner structure it is read off the first leaf of the outer one, and there is none."
    cure = "Pass the inner structure."
    when = "When tree.transpose is called with inner_treedef=None and an outer structure without leaves."
    trigger = "celadon.tree.transpose(celadon.tree.structure([]), None, [])"
    cured = "celadon.tree.transpose(celadon.tree.structure([]), celadon.tree.structure(0), [])"


class NodeClassTaken(CeladonError, ValueError):
    code = "CEL312"
    title = "The class is a node already"
    message = "{type} can't be registered as a tree node: it is one already"
    cause = "A class has one way of being taken apart, as structures that exist already depend on it."
    cure = "Register each class once, where it is defined; to treat a container otherwise, derive a class from it."
    when = "When a class is registered a second time, or a built-in container such as dict is registered."
    trigger = "celadon.tree_util.register_pytree_node(dict, lambda d: ((), None), lambda _, c: {})"
    cured = """class Mapping(dict):
    pass
celadon.tree_util.register_pytree_node(Mapping, lambda d: ((), None), lambda _, c: Mapping())"""


class NotANode(CeladonError, ValueError):
    code = "CEL313"
    title = "A leaf can't be taken apart"
    message = "can't tree-flatten type {type}: {value} is a leaf"
    cause = "Only containers have children: tuple, list, dict and its kin, namedtuples and registered classes."
    cure = "Register the class with celadon.tree_util, or check with celadon.tree_util.is_tree_node first."
    when = "When flatten_one_level is called with a leaf."
    trigger = "celadon.tree_util.flatten_one_level(1)"
    cured = "celadon.tree_util.flatten_one_level((1,))"


class DataclassFieldsUnclear(CeladonError, TypeError):
    code = "CEL314"
    title = "It is unclear which fields are data and which are metadata"
    message = "register_dataclass can't tell the fields of {type}: {reason}"
    cause = "Fields are read off a dataclass; for any other class, or when one list is given, both lists are needed."
    cure = "Give data_fields and meta_fields, both, or register a dataclass whose metadata fields are tree.static()."
    when = "When register_dataclass gets one of the two lists, or neither and a class that is no dataclass."
    trigger = """class Plain:
    pass
celadon.tree_util.register_dataclass(Plain)"""
    cured = """class Plain:
    pass
celadon.tree_util.register_dataclass(Plain, data_fields=[], meta_fields=[])"""
    related = ("CEL315",)


class DataclassFieldsMismatch(CeladonError, ValueError):
    code = "CEL315"
    title = "The lists of fields do not cover the dataclass"
    message = "data_fields and meta_fields of {type} must hold each field that its __init__ takes once: {reason}"
    cause = "A node is rebuilt by calling the class with its data and metadata fields, so each must be in one list."
    cure = "Correct the lists; fields with a default that the tree shall not carry go into drop_fields."
    when = "When register_dataclass is called with lists that miss a field, name an unknown one, or overlap."
    trigger = """import dataclasses
Point = dataclasses.make_dataclass("Point", ["x", "y"])
celadon.tree_util.register_dataclass(Point, data_fields=["x"], meta_fields=[])"""
    cured = """import dataclasses
Point = dataclasses.make_dataclass("Point", ["x", "y"])
celadon.tree_util.register_dataclass(Point, data_fields=["x"], meta_fields=["y"])"""
    related = ("CEL314",)


class ReductionEmpty(CeladonError, TypeError):
    code = "CEL316"
    title = "A tree without leaves was reduced without a start value"
    message = "{function} of a tree without leaves needs {argument}"
    cause = "A reduction combines leaves; without leaves the result is the start value, and none was given."
    cure = "Pass initializer= to tree.reduce, identity= to tree.reduce_associative."
    when = "When a tree without leaves (empty containers and None have none) is reduced."
    trigger = "celadon.tree.reduce(lambda a, b: a + b, [])"
    cured = "celadon.tree.reduce(lambda a, b: a + b, [], 0)"


class LeafPredicateInvalid(CeladonError, ValueError):
    code = "CEL317"
    title = "The is_leaf function does not answer with a bool"
    message = "is_leaf must return True or False, not {result}"
    cause = "is_leaf is asked at every node whether the node counts as a leaf."
    cure = "Return a bool: isinstance(x, tuple), x is None, or bool(...)."
    when = "When a tree is flattened with an is_leaf function that returns anything else."
    trigger = "celadon.tree.leaves([1, 2], is_leaf=lambda x: 'yes')"
    cured = "celadon.tree.leaves([1, 2], is_leaf=lambda x: x is None)"


class TreeTooDeep(CeladonError, RecursionError):
    code = "CEL318"
    title = "A tree is nested too deeply, or contains itself"
    message = "the tree is nested too deeply to be flattened, or a container contains itself; its root is {root}"
    cause = "Flattening descends into every container; one that contains itself has no bottom."
    cure = "Remove the container from itself, or stop at it with is_leaf."
    when = "When a tree is flattened."
    trigger = """loop = []
loop.append(loop)
celadon.tree.leaves(loop)"""
    cured = "celadon.tree.leaves([[]])"


class UnravelMismatch(CeladonError, ValueError):
    code = "CEL319"
    title = "A vector does not fit the tree it is to become"
    message = "unravel was given {found}, but its tree was raveled to {wanted}"
    cause = "The function that ravel_pytree returns takes vectors of the length that it made."
    cure = "Give a vector of that length."
    when = "When unravel gets a vector of another length or rank."
    trigger = (
        "import numpy as np\nfrom celadon.flatten_util import ravel_pytree\n"
        "_, unravel = ravel_pytree([1.0, 2.0])\nunravel(np.ones(3, np.float32))"
    )
    cured = (
        "import numpy as np\nfrom celadon.flatten_util import ravel_pytree\n"
        "_, unravel = ravel_pytree([1.0, 2.0])\nunravel(np.ones(2, np.float32))"
    )
    related = ("CEL320",)


class UnravelDtypeDiffers(CeladonError, TypeError):
    code = "CEL320"
    title = "A vector has not the dtype of the tree it is to become"
    message = "unravel was given {found}, but its tree, which has several dtypes, was raveled to {wanted}"
    cause = "Values of several dtypes were converted to a common one, and only from that one they can be converted back."
    cure = "Convert the vector to that dtype with astype."
    when = "When a tree of several dtypes was raveled, and unravel gets a vector of another dtype than it became."
    trigger = (
        "import numpy as np\nfrom celadon.flatten_util import ravel_pytree\n"
        "_, unravel = ravel_pytree([1.0, 2])\nunravel(np.ones(2, np.int32))"
    )
    cured = (
        "import numpy as np\nfrom celadon.flatten_util import ravel_pytree\n"
        "_, unravel = ravel_pytree([1.0, 2])\nunravel(np.ones(2, np.float32))"
    )
    related = ("CEL319",)


class StructureNotWritable(CeladonError, ValueError):
    code = "CEL321"
    title = "A structure has no form as bytes"
    message = "a structure is written as bytes without {what}: only tuples, lists, None and dicts with strings for keys are"
    cause = "The bytes can be read anywhere, also where a registered class is not known."
    cure = "Pickle the structure, or turn such nodes into dicts first."
    when = "When serialize_using_proto is called on the structure of other containers."
    trigger = "celadon.tree.structure({1: 'one'}).serialize_using_proto()"
    cured = "celadon.tree.structure({'1': 'one'}).serialize_using_proto()"
    related = ("CEL322",)


class StructureUnreadable(CeladonError, ValueError):
    code = "CEL322"
    title = "Bytes hold no structure"
    message = "these {size} bytes hold no structure: {reason}"
    cause = "They were cut, changed, or written by something else."
    cure = "Give bytes as serialize_using_proto returns them."
    when = "When PyTreeDef.deserialize_using_proto reads them."
    trigger = "celadon.tree_util.PyTreeDef.deserialize_using_proto(celadon.tree_util.default_registry, b'text')"
    cured = """data = celadon.tree.structure([1]).serialize_using_proto()
celadon.tree_util.PyTreeDef.deserialize_using_proto(celadon.tree_util.default_registry, data)"""
    related = ("CEL321",)
