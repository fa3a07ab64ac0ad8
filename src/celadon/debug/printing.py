"""jax.debug's functions: the dictionary from its names to the callbacks."""

from celadon.transforms.callbacks import debug_callback as callback, debug_log as log, debug_print as print

__all__ = ["callback", "log", "print"]
