"""Kernels of breadth-first branch and bound; each has a twin for the CPU."""
