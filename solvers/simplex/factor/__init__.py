"""Sparse LU of a simplex basis, with updates, for compiled loops.

``basis.BasisFactor`` factorises; ``solves.ftran``, ``solves.ftran_entering``, ``solves.btran`` and
``updates.update`` are called from compiled code with ``BasisFactor.arrays``.
"""
