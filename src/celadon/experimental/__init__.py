"""What jax.experimental has of use here: io_callback, and checkify as a module of its own."""

from celadon.facade import facade

_HOMES = {"effects": "io_callback"}

__all__, __getattr__, __dir__ = facade(__name__, _HOMES)
__all__ += ["checkify"]
