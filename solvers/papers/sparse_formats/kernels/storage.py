"""How kernels are passed the entries of a matrix in whatever form they are stored."""

from __future__ import annotations

from solvers.kernels.family import Values, arguments

STORAGE = arguments("packed[] indices, values; real[] dictionary; index[] bases; int base_shift")
"""Column indices and values (entries,) as stored; the reals that codes of 8 or 16 bits stand for;
and what indices of 16 bits are counted from, one base for 2^base_shift places."""


def storage_bytes(values: Values) -> int:
    """Bytes of the matrix entries and of the vector, each read once."""
    names = ("indices", "values", "dictionary", "bases", "vector")
    return sum(int(values[name].nbytes) for name in names)
