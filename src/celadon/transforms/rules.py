"""Importing this gives the ops that hold programs their rules: call, cond, scan and while_loop."""

from celadon.transforms import branch_rules, calls, scan_rules, while_rules

__all__ = ["branch_rules", "calls", "scan_rules", "while_rules"]
