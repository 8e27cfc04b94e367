"""Sparse matrices: layouts, products, and what the hardware allows."""
