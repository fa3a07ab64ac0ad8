"""Errors about pytrees: structures that part, keys that have no order (codes 3xx)."""

from __future__ import annotations

from celadon.errors.catalogue import CeladonError
