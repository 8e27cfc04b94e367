"""The variants "cpu" and "naive": a dense LU of the basis in every iteration.

"naive" keeps the basis matrix and the products on the GPU and copies reduced costs and the
direction to the host for every choice, as the paper's GPU-naive does ("host-device ping-pong").

Pricing and ratio test are those of the twins of the other variants (``kernels/rules.py``), so that
all would make the same pivots in exact arithmetic.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from solvers.core.device import Device
from solvers.core.errors import ProblemError
from solvers.core.problem import FloatArray
from solvers.papers.dense_lu import lu
from solvers.papers.simplex_variants.basic_solution import (
    PENALTY,
    Basis,
    basis_matrix,
    cost_of,
    phase_one_cost,
    positions,
)
from solvers.papers.simplex_variants.kernels import layout as word
from solvers.papers.simplex_variants.kernels.resident import RESIDENT
from solvers.papers.simplex_variants.kernels.rules import entering, leaving, ratios
from solvers.papers.simplex_variants.standard_form import ScaledForm


class Algebra:
    """LU of the basis and products with A on a device, with copies to the host and back."""

    def __init__(self, form: ScaledForm, device: Device) -> None:
        self.form = form
        self._device = device
        self._factors: lu.Factors | None = None
        self._transposed: Any = sp.csr_matrix(form.matrix.T)
        if device.kind == "cuda":
            from cupyx.scipy import sparse

            self._transposed = sparse.csr_matrix(self._transposed)
            parts = (form.matrix.indptr, form.matrix.indices)
            indices = (device.to_device(part.astype(np.int32)) for part in parts)
            self._columns = (*indices, device.to_device(form.matrix.data))

    def factorise(self, basic: Basis) -> bool:
        """Compute the dense LU of a basis; return False if it is singular."""
        try:
            self._factors = lu.factorise(self._dense(basic), self._device)
        except ProblemError:
            return False
        return True

    def solve(self, right: FloatArray, *, transposed: bool = False) -> FloatArray:
        """Return v with B v = ``right``, or B'v."""
        assert self._factors is not None
        there = self._device.to_device(right)
        return self._device.to_host(lu.solve(self._factors, there, transposed=transposed))

    def price(self, y: FloatArray) -> FloatArray:
        """Return (n,) A'y."""
        return self._device.to_host(self._transposed @ self._device.to_device(y))

    def _dense(self, basic: Basis) -> Any:
        """Return a basis as a dense matrix in the order of columns, made where it is needed."""
        if self._device.kind == "cpu":
            return basis_matrix(self.form, basic).toarray()
        m = self.form.num_rows
        transposed = self._device.xp.zeros((m, m))
        RESIDENT["basis_rows"](
            m, self.form.num_columns, *self._columns,
            self._device.to_device(basic.astype(np.int32)), transposed.reshape(-1),
        )  # fmt: skip
        return transposed.T


class HostPivots:
    """Pivots whose choices are made on the host.

    Parameters
    ----------
    device : Device
        Where LU and products are computed.
    """

    batch = 1

    def __init__(self, form: ScaledForm, device: Device) -> None:
        self.form = form
        self._algebra = Algebra(form, device)
        self.control = np.zeros(word.CONTROL_SIZE)
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
        self.control[[word.STOP, word.SINCE_INVERSE]] = word.RUNNING, 0
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
        self.control[word.STOP] = word.RUNNING
        for _ in range(count):
            stop = self._pivot()
            if stop != word.RUNNING:
                self.control[word.STOP] = stop
                return stop
        return word.BATCH_DONE

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
        if self.control[word.PHASE] == 2:
            self._basic_cost = cost_of(self.form.cost, self._basic)
        else:
            artificial = self._basic >= self.form.num_columns
            tolerance = float(self.control[word.PRIMAL_TOLERANCE])
            self._basic_cost = phase_one_cost(self._x, artificial, tolerance)

    def _pivot(self) -> int:
        """Make one pivot; every quantity is computed anew from the LU of the basis."""
        n = self.form.num_columns
        phase_two = self.control[word.PHASE] == 2
        cost = self.form.cost if phase_two else np.zeros(n)
        reduced = cost - self._algebra.price(self._algebra.solve(self._basic_cost, transposed=True))
        nonbasic = positions(self._basic, n + self._basic.size)[:n] < 0
        q = entering(reduced, self._weight, nonbasic, self.control)
        if q < 0:
            return word.NO_CANDIDATE
        d = self._algebra.solve(self._column(q))
        exact, relaxed = ratios(self._x, d, self._basic >= n, self.control)
        farthest = float(np.min(relaxed))
        self.control[[word.ENTERING, word.ENTERING_COST, word.ENTERING_WEIGHT]] = (
            q,
            reduced[q],
            self._weight[q],
        )
        if farthest == np.inf:
            return word.NO_RATIO
        r = leaving(exact, farthest, d, self._basic, self.control)
        if abs(d[r]) < self.control[word.SAFE_PIVOT]:
            return word.SMALL_PIVOT
        self._update_weights(r, d[r], nonbasic, self._weight[q])
        left = self._basic[r]
        self._basic[r] = q
        if not self._algebra.factorise(self._basic):
            self._basic[r] = left
            self._algebra.factorise(self._basic)
            return word.SMALL_PIVOT
        self._x = self._algebra.solve(self._rhs)
        self._set_costs()
        self.control[[word.LEAVING, word.STEP, word.PIVOT]] = r, exact[r], d[r]
        self.control[word.ITERATION] += 1
        self.control[word.DEGENERATE] += exact[r] * -reduced[q] <= 0.0
        return word.RUNNING

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
        row = self._algebra.price(self._algebra.solve(unit, transposed=True))
        self._weight[~nonbasic] = 1.0
        self._weight = np.maximum(self._weight, row**2 * weight)
