"""Errors about static arguments, the signature of a jitted function and donation (codes 1xx)."""

from __future__ import annotations

from celadon.errors.catalogue import CeladonError


class StaticArgumentUnhashable(CeladonError, ValueError):
    code = "CEL101"
    title = "A static argument is not hashable"
    message = "static argument '{argument}' of {function} has the non-hashable type {type}: {reason}"
    cause = "The value of a static argument is part of the key under which a program is kept, so it must have a hash."
    cure = "Pass a hashable equivalent (a tuple for a list, a frozen dataclass for a config), or trace the argument."
    when = "When a jitted function is called with a list, dict, array or another value without a hash as a static argument."
    trigger = "celadon.jit(lambda x, n: x * len(n), static_argnums=1)(1.0, [1, 2])"
    cured = "celadon.jit(lambda x, n: x * len(n), static_argnums=1)(1.0, (1, 2))"
