"""Kernels that walk among packings of several rows."""
