"""Importing this gives the ops that hold programs their rules: call, cond, scan, while_loop, reduce and reduce_window.

A rule's module is loaded when the rule is first applied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from celadon.facade import Lazy
from celadon.op import Op
from celadon.vocabulary.call import call
from celadon.vocabulary.control import cond, while_loop
from celadon.vocabulary.scan import scan
from celadon.vocabulary.window import reduce, reduce_window


def _define(op: Op, module: str, *rules: str, prefix: str = "") -> None:
    """Rules that the module calls tangent_rule, transpose_rule, batch_rule."""
    home = Lazy(f"celadon.transforms.{module}")
    op.define(**{rule: _late(home, f"{prefix}{rule}_rule") for rule in rules})


def _late(home: Lazy, name: str) -> Callable[..., Any]:
    def rule(*args: Any, **params: Any) -> Any:
        return getattr(home, name)(*args, **params)

    return rule


_define(call, "calls", "tangent", "transpose", "batch")
_define(cond, "branch_rules", "tangent", "transpose", "batch")
_define(scan, "scan_rules", "tangent", "transpose", "batch")
_define(while_loop, "while_rules", "tangent", "transpose", "batch")
_define(reduce, "fold_rules", "tangent", "batch", prefix="reduce_")
_define(reduce_window, "fold_rules", "tangent", "transpose", "batch", prefix="window_")
