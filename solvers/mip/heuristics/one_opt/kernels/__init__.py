"""Kernels that score moves from a feasible point."""
