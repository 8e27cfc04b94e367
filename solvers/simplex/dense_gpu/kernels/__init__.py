"""Kernels of the dense GPU core, each as CUDA C++ and in NumPy for the CPU."""
