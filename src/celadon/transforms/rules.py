"""Importing this gives the ops that hold programs their rules: call, cond, scan, while_loop, reduce and reduce_window."""

from celadon.transforms import branch_rules, calls, fold_rules, scan_rules, while_rules

__all__ = ["branch_rules", "calls", "fold_rules", "scan_rules", "while_rules"]
