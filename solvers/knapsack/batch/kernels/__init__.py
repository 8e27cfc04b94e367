"""Kernels that solve many small knapsack problems at once."""
