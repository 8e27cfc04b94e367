"""The solution that belongs to a basis, as exactly as float64 gives it: the judge of all claims.

Pivots work with an explicit inverse that has seen many updates, on a perturbed right-hand side.
Nothing is claimed from that: the last basis is factorised once more as a sparse matrix on the host,
and x, y and the reduced costs come from it by iterative refinement.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt
import scipy.linalg as dense
import scipy.sparse as sp
import scipy.sparse.linalg as sparse

from solvers.core.problem import FloatArray
from solvers.papers.simplex_variants.standard_form import NONE, ScaledForm

DEPENDENT = (1e-11, 1e-9, 1e-7)
"""Parts of the largest diagonal element of R below which a column of a basis that could not be
inverted counts as dependent on others: one attempt after the other."""

REFINEMENTS = 2
"""Steps of iterative refinement; the second finds nothing left but rounding."""


Basis = npt.NDArray[np.int64]


class BasicSolution:
    """A factorised basis and the point, duals and directions that follow from it.

    Parameters
    ----------
    basic : (m,) array
        The variable of each position; n + i is the artificial of row i.

    Raises
    ------
    RuntimeError
        The basis is singular.
    """

    def __init__(self, form: ScaledForm, basic: Basis) -> None:
        self.form = form
        self.basic = basic
        self.matrix = basis_matrix(form, basic)
        self._factor = sparse.splu(self.matrix)

    def solve(self, right: FloatArray) -> FloatArray:
        """Return v with B v = ``right``."""
        found = self._factor.solve(right)
        for _ in range(REFINEMENTS):
            found = found + self._factor.solve(right - self.matrix @ found)
        return np.asarray(found)

    def solve_transposed(self, right: FloatArray) -> FloatArray:
        """Return y with B'y = ``right``."""
        found = self._factor.solve(right, "T")
        for _ in range(REFINEMENTS):
            found = found + self._factor.solve(right - self.matrix.T @ found, "T")
        return np.asarray(found)

    @cached_property
    def x(self) -> FloatArray:
        """(m,) values of the basic variables for the right-hand side as it is."""
        return self.solve(self.form.rhs)

    def reduced_costs(self, y: FloatArray, cost: FloatArray) -> FloatArray:
        """Return (n,) cost - A'y."""
        return np.asarray(cost - self.form.matrix.T @ y)

    @property
    def basic_cost(self) -> FloatArray:
        """(m,) costs of the basic variables; those of artificials are zero."""
        return cost_of(self.form.cost, self.basic)


def cost_of(cost: FloatArray, basic: npt.NDArray[np.integer]) -> FloatArray:
    """Return (m,) costs of basic variables."""
    return np.asarray(np.append(cost, 0.0)[np.minimum(basic, cost.size)])


def phase_one_cost(
    x: FloatArray, artificial: npt.NDArray[np.bool_], tolerance: float
) -> FloatArray:
    """Return (m,) the gradient of the sum of infeasibilities."""
    above = artificial & (x > tolerance)
    return np.where(x < -tolerance, -1.0, np.where(above, 1.0, 0.0))


def violations(form: ScaledForm, basic: Basis, x: FloatArray) -> FloatArray:
    """Return (m,) how far basic variables are from what they may be."""
    artificial = basic >= form.num_columns
    return np.where(artificial, np.abs(x), np.maximum(-x, 0.0))


def basis_matrix(form: ScaledForm, basic: Basis) -> sp.csc_array:
    """Return B (m, m) as a sparse matrix."""
    m = form.num_rows
    structural = np.flatnonzero(basic < form.num_columns)
    artificial = np.flatnonzero(basic >= form.num_columns)
    own = form.matrix[:, basic[structural]].tocoo()
    rows = np.concatenate([own.row, basic[artificial] - form.num_columns])
    columns = np.concatenate([structural[own.col], artificial])
    values = np.concatenate([own.data, np.ones(artificial.size)])
    return sp.csc_array((values, (rows, columns)), shape=(m, m))


def repaired(form: ScaledForm, basic: Basis, threshold: float) -> Basis:
    """Return a basis in which artificials have replaced columns that depend on the others.

    Two QR factorisations with pivoting find the columns to keep and the rows they leave out; a
    column goes if its diagonal element of R is below ``threshold`` of the largest.
    """
    whole = basis_matrix(form, basic).toarray()
    factor, order = dense.qr(whole, mode="r", pivoting=True)
    diagonal = np.abs(np.diag(factor))
    rank = int(np.sum(diagonal > threshold * max(diagonal[0], 1e-300)))
    fixed = basic.copy()
    if rank == basic.size:
        return fixed
    _, row_order = dense.qr(whole[:, order[:rank]].T, mode="r", pivoting=True)
    fixed[order[rank:]] = form.num_columns + row_order[rank:]
    return fixed


def exact_solution(form: ScaledForm, basic: Basis) -> BasicSolution:
    """Return the exact solution of a basis, repaired first where it is singular."""
    try:
        return BasicSolution(form, basic)
    except RuntimeError:
        return BasicSolution(form, repaired(form, basic, DEPENDENT[0]))


def start_basis(form: ScaledForm) -> Basis:
    """Return the basis of slacks, with artificials in the equations (paper, section 3.5)."""
    slack = form.origin.slack
    return np.where(slack == NONE, form.num_columns + np.arange(form.num_rows), slack)


# What the four variants have in common: pivots on one basis.


class Pivots(Protocol):
    """Pivots on one basis, steered by a control array (``kernels/layout.py``).

    ``control`` is the host's copy: ``run`` takes tolerances and limits from it and leaves what the
    device made of it there. ``batch`` is how many pivots to ask for between two looks at the clock,
    and ``inversions`` counts inverses or LUs made by ``load``.
    """

    control: FloatArray
    batch: int
    inversions: int

    def load(self, basic: Basis, rhs: FloatArray, *, new_weights: bool) -> bool:
        """Take a basis over: its inverse or LU, x, costs and y; return False if it is singular.

        A basis that was loaded before, with no pivot since, is not inverted again.
        """

    def set_phase(self) -> None:
        """Compute costs and y anew for the phase that ``control`` names."""

    def run(self, count: int) -> int:
        """Make up to ``count`` pivots; return the reason to stop."""

    def basic(self) -> Basis:
        """(m,) variables of the basis."""

    def x(self) -> FloatArray:
        """(m,) values of the basic variables."""

    def penalise(self, variable: int) -> None:
        """Let pricing take a variable last."""


PENALTY = 1e30
"""Devex weight of a variable whose pivots were too small."""


def positions(basic: Basis, count: int) -> Basis:
    """Return (count,) the position of each variable in the basis; -1 outside."""
    position = np.full(count, -1, dtype=np.int64)
    position[basic] = np.arange(basic.size)
    return position
