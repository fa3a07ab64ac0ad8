"""The CPU compiler and its machine layer."""
