"""The variants "cpu" and "naive": a dense LU of the basis in every iteration.

"naive" keeps the basis matrix and the products on the GPU and copies reduced costs and the
direction to the host for every choice, as the paper's GPU-naive does ("host-device ping-pong").

Pricing and ratio test are the rules of ``kernels/iterate.py``, in NumPy on the host, so that all
variants would make the same pivots in exact arithmetic; ties go to the smaller index there and
here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.linalg as dense

from solvers.core.device import Device
from solvers.core.problem import FloatArray
from solvers.papers.simplex_variants.basic_solution import (
    PENALTY,
    Basis,
    basis_matrix,
    cost_of,
    phase_one_cost,
    positions,
)
from solvers.papers.simplex_variants.kernels.layout import (
    BATCH_DONE,
    BLAND,
    CONTROL_SIZE,
    DEGENERATE,
    DUAL_TOLERANCE,
    ENTERING,
    ENTERING_COST,
    ENTERING_WEIGHT,
    ITERATION,
    LEAVING,
    NO_CANDIDATE,
    NO_RATIO,
    PHASE,
    PIVOT,
    PRIMAL_TOLERANCE,
    RUNNING,
    SAFE_PIVOT,
    SINCE_INVERSE,
    SMALL_PIVOT,
    STEP,
    STOP,
    ZERO_PIVOT,
)
from solvers.papers.simplex_variants.kernels.resident import RESIDENT
from solvers.papers.simplex_variants.standard_form import ScaledForm

Flags = npt.NDArray[np.bool_]


def entering(reduced: FloatArray, weight: FloatArray, nonbasic: Flags, control: FloatArray) -> int:
    """Return the nonbasic variable with the largest s^2 / w; -1 where none prices out.

    Bland's rule takes the first.
    """
    eligible = nonbasic & (reduced < -control[DUAL_TOLERANCE])
    if not eligible.any():
        return -1
    key = np.where(eligible, 1.0 if control[BLAND] else reduced**2 / weight, -1.0)
    return int(np.argmax(key))


def ratios(
    x: FloatArray, d: FloatArray, artificial: Flags, control: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the exact and the relaxed steps (m,) to the bounds of the basic variables."""
    tolerance = control[PRIMAL_TOLERANCE]
    allowed = 0.0 if control[BLAND] else tolerance
    falling = (d > control[ZERO_PIVOT]) & (x >= -tolerance)
    rising = (d < -control[ZERO_PIVOT]) & ((x < -tolerance) | (artificial & (x <= tolerance)))
    room = np.maximum(np.where(falling, x, -x), 0.0)
    size = np.where(falling | rising, np.abs(d), 1.0)
    exact = np.where(falling | rising, room / size, np.inf)
    return exact, np.where(falling | rising, (room + allowed) / size, np.inf)


def leaving(
    x: FloatArray,
    d: FloatArray,
    basic: npt.NDArray[np.int64],
    artificial: Flags,
    control: FloatArray,
) -> tuple[int, float]:
    """Return the position that leaves and the step, by Harris's two passes; -1 without a bound."""
    exact, relaxed = ratios(x, d, artificial, control)
    farthest = float(np.min(relaxed))
    if not farthest < np.inf:
        return -1, np.inf
    among = exact <= farthest
    key = np.where(among, -basic.astype(np.float64) if control[BLAND] else np.abs(d), -np.inf)
    r = int(np.argmax(key))
    return r, float(exact[r])


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

    def factorise(self, basic: Basis) -> bool:
        """Compute the dense LU of a basis by cuSOLVER."""
        cupy, m = self._cupy, self.form.num_rows
        transposed = cupy.zeros((m, m))  # which is the basis in the order of columns
        RESIDENT["basis_rows"](
            m, self.form.num_columns, *self._columns, cupy.asarray(basic.astype(np.int32)),
            transposed.reshape(-1),
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


class HostPivots:
    """Pivots whose choices are made on the host.

    Parameters
    ----------
    form : ScaledForm
    device : Device, optional
        Where LU and products are computed; by LAPACK and SciPy if absent.
    """

    batch = 1

    def __init__(self, form: ScaledForm, device: Device | None) -> None:
        self.form = form
        on_gpu = device is not None and device.kind == "cuda"
        self._algebra: HostAlgebra = GpuAlgebra(form) if on_gpu else HostAlgebra(form)
        self.control = np.zeros(CONTROL_SIZE)
        self.inversions = 0
        self._weight = np.ones(form.num_columns)
        self._basic = np.arange(form.num_rows) + form.num_columns
        self._rhs = form.rhs
        self._x = np.zeros(form.num_rows)
        self._basic_cost = np.zeros(form.num_rows)

    def load(self, basic: Basis, rhs: FloatArray, *, new_weights: bool) -> bool:
        """Take a basis over."""
        self._basic, self._rhs = basic.copy(), rhs
        if new_weights:
            self._weight = np.ones(self.form.num_columns)
        self.control[[STOP, SINCE_INVERSE]] = RUNNING, 0
        self.inversions += 1
        if not self._algebra.factorise(self._basic):
            return False
        self.set_phase()
        return True

    def set_phase(self) -> None:
        """Compute x and the costs of the phase that ``control`` names."""
        self._x = self._algebra.solve(self._rhs)
        self._set_costs()

    def run(self, count: int) -> int:
        """Make up to ``count`` pivots."""
        self.control[STOP] = RUNNING
        for _ in range(count):
            stop = self._pivot()
            if stop != RUNNING:
                self.control[STOP] = stop
                return stop
        return BATCH_DONE

    def basic(self) -> Basis:
        """(m,) variables of the basis."""
        return self._basic.copy()

    def x(self) -> FloatArray:
        """(m,) values of the basic variables."""
        return self._x.copy()

    def penalise(self, variable: int) -> None:
        """Let pricing take a variable last."""
        self._weight[variable] = PENALTY

    def _set_costs(self) -> None:
        if self.control[PHASE] == 2:
            self._basic_cost = cost_of(self.form.cost, self._basic)
        else:
            artificial = self._basic >= self.form.num_columns
            tolerance = float(self.control[PRIMAL_TOLERANCE])
            self._basic_cost = phase_one_cost(self._x, artificial, tolerance)

    def _pivot(self) -> int:
        """Make one pivot; every quantity is computed anew from the LU of the basis."""
        n = self.form.num_columns
        phase_two = self.control[PHASE] == 2
        cost = self.form.cost if phase_two else np.zeros(n)
        reduced = cost - self._algebra.price(self._algebra.solve_transposed(self._basic_cost))
        nonbasic = positions(self._basic, n + self._basic.size)[:n] < 0
        q = entering(reduced, self._weight, nonbasic, self.control)
        if q < 0:
            return NO_CANDIDATE
        d = self._algebra.solve(self._column(q))
        r, theta = leaving(self._x, d, self._basic, self._basic >= n, self.control)
        self.control[[ENTERING, ENTERING_COST, ENTERING_WEIGHT]] = q, reduced[q], self._weight[q]
        if r < 0:
            return NO_RATIO
        if abs(d[r]) < self.control[SAFE_PIVOT]:
            return SMALL_PIVOT
        self._update_weights(r, d[r], nonbasic, self._weight[q])
        left = self._basic[r]
        self._basic[r] = q
        if not self._algebra.factorise(self._basic):
            self._basic[r] = left
            self._algebra.factorise(self._basic)
            return SMALL_PIVOT
        self._x = self._algebra.solve(self._rhs)
        self._set_costs()
        self.control[[LEAVING, STEP, PIVOT]] = r, theta, d[r]
        self.control[ITERATION] += 1
        self.control[DEGENERATE] += theta * -reduced[q] <= 0.0
        return RUNNING

    def _column(self, q: int) -> FloatArray:
        column = np.zeros(self.form.num_rows)
        matrix = self.form.matrix
        entries = slice(matrix.indptr[q], matrix.indptr[q + 1])
        column[matrix.indices[entries]] = matrix.data[entries]
        return column

    def _update_weights(self, r: int, pivot: float, nonbasic: Any, weight: float) -> None:
        """Devex: w_j = max(w_j, (alpha_rj / alpha_rq)^2 w_q), before the basis changes."""
        unit = np.zeros(self.form.num_rows)
        unit[r] = 1.0 / pivot
        row = self._algebra.price(self._algebra.solve_transposed(unit))
        self._weight[~nonbasic] = 1.0
        self._weight = np.maximum(self._weight, row**2 * weight)
