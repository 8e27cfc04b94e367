"""Kernels of the resident simplex core, each as CUDA C++ and as C++ for the CPU."""
