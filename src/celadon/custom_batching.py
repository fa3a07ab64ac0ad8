"""Custom batch rules under JAX's module name."""

from celadon.transforms.custom_batching import custom_vmap as custom_vmap, sequential_vmap as sequential_vmap
