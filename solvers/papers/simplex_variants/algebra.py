"""LU of the basis and products with A, for the variants "cpu" and "naive"."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as dense

from solvers.core.problem import FloatArray
from solvers.papers.simplex_variants.basic_solution import Basis, basis_matrix
from solvers.papers.simplex_variants.kernels.layout import CONTROL_SIZE
from solvers.papers.simplex_variants.kernels.resident import RESIDENT
from solvers.papers.simplex_variants.scaling import ScaledForm


class HostAlgebra:
    """LU of the basis and products with A on the host."""

    def __init__(self, form: ScaledForm) -> None:
        self.form = form
        self._transposed = form.matrix.T.tocsr()
        self._factor: Any = None

    def factorise(self, basic: Basis) -> bool:
        """Compute the dense LU of a basis; return False if it is singular."""
        whole = basis_matrix(self.form, basic).toarray()
        factor, pivots, info = dense.lapack.dgetrf(whole)
        self._factor = (factor, pivots)
        return bool(info == 0)

    def solve(self, right: FloatArray) -> FloatArray:
        """Return v with B v = ``right``."""
        return np.asarray(dense.lapack.dgetrs(*self._factor, right)[0])

    def solve_transposed(self, right: FloatArray) -> FloatArray:
        """Return y with B'y = ``right``."""
        return np.asarray(dense.lapack.dgetrs(*self._factor, right, trans=1)[0])

    def price(self, y: FloatArray) -> FloatArray:
        """Return (n,) A'y."""
        return np.asarray(self._transposed @ y)


class GpuAlgebra(HostAlgebra):
    """The same through CuPy: cuSOLVER and cuSPARSE, with copies to the host and back."""

    def __init__(self, form: ScaledForm) -> None:
        super().__init__(form)
        import cupy
        import scipy.sparse
        from cupyx.scipy import linalg, sparse

        self._cupy, self._linalg = cupy, linalg
        self._on_gpu = sparse.csr_matrix(scipy.sparse.csr_matrix(self._transposed))
        matrix = form.matrix
        self._columns = (
            cupy.asarray(matrix.indptr.astype(np.int32)),
            cupy.asarray(matrix.indices.astype(np.int32)),
            cupy.asarray(matrix.data),
        )
        self._control = cupy.zeros(CONTROL_SIZE)

    def factorise(self, basic: Basis) -> bool:
        """Compute the dense LU of a basis by cuSOLVER."""
        cupy, m = self._cupy, self.form.num_rows
        transposed = cupy.zeros((m, m))  # which is the basis in the order of columns
        RESIDENT["basis_rows"](
            m, self.form.num_columns, *self._columns, cupy.asarray(basic.astype(np.int32)),
            transposed.reshape(-1), self._control,
        )  # fmt: skip
        factor, pivots = self._linalg.lu_factor(transposed.T, overwrite_a=True, check_finite=False)
        self._factor = (factor, pivots)
        return bool((cupy.abs(cupy.diagonal(factor)) > 0.0).all())

    def solve(self, right: FloatArray) -> FloatArray:
        """Return v with B v = ``right``."""
        return self._solve(right, 0)

    def solve_transposed(self, right: FloatArray) -> FloatArray:
        """Return y with B'y = ``right``."""
        return self._solve(right, 1)

    def price(self, y: FloatArray) -> FloatArray:
        """Return (n,) A'y."""
        return np.asarray(self._cupy.asnumpy(self._on_gpu @ self._cupy.asarray(y)))

    def _solve(self, right: FloatArray, trans: int) -> FloatArray:
        on_gpu = self._cupy.asarray(right)
        found = self._linalg.lu_solve(self._factor, on_gpu, trans=trans, check_finite=False)
        return np.asarray(self._cupy.asnumpy(found))
