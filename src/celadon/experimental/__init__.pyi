"""What jax.experimental has of use here: io_callback, and checkify as a module of its own."""

from celadon.experimental import checkify as checkify
from celadon.experimental.effects import io_callback as io_callback
