"""Kernels of the dense GPU core, each as CUDA C++ and as C++ for the CPU."""
