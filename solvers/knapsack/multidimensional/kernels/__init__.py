"""Kernels of parallel tempering among packings."""
