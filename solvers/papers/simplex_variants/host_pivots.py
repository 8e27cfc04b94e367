"""The variants "cpu" and "naive": a dense LU of the basis in every iteration.

"naive" keeps the basis matrix and the products on the GPU and copies reduced costs and the
direction to the host for every choice, as the paper's GPU-naive does ("host-device ping-pong").
"""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.problem import FloatArray
from solvers.papers.simplex_variants.algebra import GpuAlgebra, HostAlgebra
from solvers.papers.simplex_variants.basic_solution import Basis, cost_of, phase_one_cost
from solvers.papers.simplex_variants.kernels.layout import (
    BATCH_DONE,
    CONTROL_SIZE,
    DEGENERATE,
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
)
from solvers.papers.simplex_variants.pivots import PENALTY, positions
from solvers.papers.simplex_variants.rules import entering, leaving
from solvers.papers.simplex_variants.scaling import ScaledForm


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
