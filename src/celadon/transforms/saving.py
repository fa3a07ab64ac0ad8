"""Checkpoint policies: of the ops of a function, whose results are saved for the backward pass."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NamedTuple

from celadon import tree
from celadon.transforms.bodies import value
from celadon.vocabulary.name import name as name_op

Policy = Callable[..., Any]


class Recompute:
    """A policy's word for: compute it again."""


class Saveable:
    """A policy's word for: save it."""


class Offloadable(NamedTuple):
    """A policy's word for: save it in another memory. On a CPU there is one memory, so it is saved."""

    src: str = "device"
    dst: str = "pinned_host"


def checkpoint_name(x: Any, name: str) -> Any:
    """x itself, with a name for policies such as save_only_these_names.

    >>> checkpoint_name(1.0, "loss")
    Array(1., dtype=float32, weak_type=True)
    """
    from_leaf = lambda leaf: name_op(value(leaf), name=name)  # noqa: E731
    return tree.map(from_leaf, x)


def saves(answer: Any) -> bool:
    """What a policy's answer means."""
    if answer is Recompute or isinstance(answer, Recompute):
        return False
    return answer is Saveable or isinstance(answer, Saveable | Offloadable) or bool(answer)


def everything_saveable(*_: Any, **__: Any) -> bool:
    """Save every result, as without checkpoint."""
    return True


def nothing_saveable(*_: Any, **__: Any) -> bool:
    """Save nothing but the arguments: the default."""
    return False


def dots_saveable(op: Any, *_: Any, **__: Any) -> bool:
    """Save what matrix products and convolutions give."""
    return op.name in ("dot_general", "convolution")


def dots_with_no_batch_dims_saveable(op: Any, *_: Any, **params: Any) -> bool:
    """Save what matrix products without batch axes give."""
    return op.name == "dot_general" and params["dimension_numbers"][1] == ((), ())


def _named(op: Any, params: dict[str, Any], names: frozenset[str], inside: bool) -> bool:
    return op is name_op and (params["name"] in names) == inside


def save_only_these_names(*names_which_can_be_saved: str) -> Policy:
    """Save the values of these names alone."""
    names = frozenset(names_which_can_be_saved)
    return lambda op, *_, **params: _named(op, params, names, True)


def save_any_names_but_these(*names_not_to_save: str) -> Policy:
    """Save the values that have another name than these."""
    names = frozenset(names_not_to_save)
    return lambda op, *_, **params: _named(op, params, names, False)


def save_anything_except_these_names(*names_not_to_save: str) -> Policy:
    """Save every result but the values of these names."""
    names = frozenset(names_not_to_save)
    return lambda op, *_, **params: not _named(op, params, names, True)


def save_from_both_policies(policy_1: Policy, policy_2: Policy) -> Policy:
    """Save what either of two policies saves."""
    return lambda op, *args, **params: saves(policy_1(op, *args, **params)) or saves(policy_2(op, *args, **params))


def offload_dot_with_no_batch_dims(offload_src: str, offload_dst: str) -> Policy:
    """Offload what matrix products without batch axes give; on a CPU they are saved."""
    return lambda op, *args, **params: (
        Offloadable(offload_src, offload_dst) if dots_with_no_batch_dims_saveable(op, *args, **params) else Recompute
    )


def save_and_offload_only_these_names(
    *, names_which_can_be_saved: Any, names_which_can_be_offloaded: Any, offload_src: str, offload_dst: str
) -> Policy:
    """Save the values of some names, offload those of others; on a CPU both are saved."""
    saved, offloaded = frozenset(names_which_can_be_saved), frozenset(names_which_can_be_offloaded)

    def policy(op: Any, *_: Any, **params: Any) -> Any:
        if _named(op, params, saved, True):
            return Saveable
        return Offloadable(offload_src, offload_dst) if _named(op, params, offloaded, True) else Recompute

    return policy


checkpoint_policies = SimpleNamespace(
    everything_saveable=everything_saveable,
    nothing_saveable=nothing_saveable,
    dots_saveable=dots_saveable,
    checkpoint_dots=dots_saveable,
    dots_with_no_batch_dims_saveable=dots_with_no_batch_dims_saveable,
    checkpoint_dots_with_no_batch_dims=dots_with_no_batch_dims_saveable,
    offload_dot_with_no_batch_dims=offload_dot_with_no_batch_dims,
    save_any_names_but_these=save_any_names_but_these,
    save_anything_except_these_names=save_anything_except_these_names,
    save_from_both_policies=save_from_both_policies,
    save_only_these_names=save_only_these_names,
    save_and_offload_only_these_names=save_and_offload_only_these_names,
)
