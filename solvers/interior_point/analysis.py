"""What depends on the structure of a standard form alone, and serves every solve that shares it.

A rolling horizon, the subproblems of a decomposition and many scenarios have the same entries in
other sizes. Which columns are kept, the pattern of the matrix, the order of elimination and the
symbolic factorisation are then those of the first solve.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass

import numpy as np

from solvers.core.problem import BoolArray
from solvers.interior_point.assembly import Pattern
from solvers.interior_point.linear_system import Factorisation, LinearSystem
from solvers.interior_point.standard_form import StandardForm


@dataclass(frozen=True, eq=False)
class Analysis:
    """The pattern of a linear system and a factorisation that has analysed it."""

    pattern: Pattern
    factorisation: Factorisation
    seconds: float

    @classmethod
    def of(
        cls, form: StandardForm, kept: BoolArray, factorisation: Factorisation, most: float = np.inf
    ) -> Analysis:
        """Analyse the system of a standard form in which some columns (columns,) are kept.

        A factor of more than ``most`` entries is of no use.
        """
        began = time.perf_counter()
        pattern = Pattern.of(form.transposed, kept)
        factorisation.analyse(pattern.row, pattern.column, pattern.size, most)
        return cls(pattern, factorisation, time.perf_counter() - began)

    def system(self, form: StandardForm, seconds: float = 0.0) -> LinearSystem:
        """Return the system of a form of this structure, on which so many seconds were spent."""
        assembly = self.pattern.assembly(form.transposed)
        return LinearSystem(form.matrix, form.transposed, assembly, self.factorisation, seconds)


def structure_of(form: StandardForm, place: str) -> bytes:
    """Return what two forms share whose systems have the same analysis in a place."""
    digest = hashlib.sha256(f"{place} {form.matrix.shape}".encode())
    for part in (form.matrix.indptr, form.matrix.indices, form.free):
        digest.update(part.tobytes())
    return digest.digest()
