"""Kernels of stages on long lists; each has a twin for the CPU."""
