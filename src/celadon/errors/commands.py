"""Errors of the command line: targets, argument specs, files (codes 6xx)."""

from __future__ import annotations

from celadon.errors.catalogue import CeladonError
