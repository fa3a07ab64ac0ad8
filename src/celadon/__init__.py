"""Celadon: array programs in JAX's terms, on a compiler that compiles structure and passes numbers."""
