"""Kernels of bound propagation."""
