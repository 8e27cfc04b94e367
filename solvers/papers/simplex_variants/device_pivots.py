"""The variants "resident" and "graphs": an explicit inverse that stays where the kernels run."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse.linalg as sparse

from solvers.core.device import Device
from solvers.core.problem import FloatArray
from solvers.kernels.family import Family, recorded
from solvers.papers.simplex_variants.basic_solution import PENALTY, Basis, basis_matrix, positions
from solvers.papers.simplex_variants.kernels import layout as word
from solvers.papers.simplex_variants.kernels.iterate import ITERATE
from solvers.papers.simplex_variants.kernels.resident import RESIDENT
from solvers.papers.simplex_variants.standard_form import ScaledForm

# The arrays of a solve where its kernels run, and the largest of them, the inverse of a basis.
#
# The inverse is made anew by LU (paper, appendix A: "LSE-style refactorization").


ALIGNMENT = 16
"""Columns of the inverse start at multiples of so many numbers, 128 bytes."""

LONG_COLUMN = 2048
"""Rows from which a whole block streams over a column of the inverse, instead of a warp."""

LANES = (1, 2, 4, 8, 16, 32)
"""Threads that may share a column of A in pricing."""

USABLE = 1e-3
"""Error of B^-1 (B e), for a vector e of ones, up to which an inverse is taken.

Pivots lead on from ill-conditioned bases, and no answer is taken from them; but a basis that is
called singular loses columns, and feasibility with them: with 1e-6 greenbea went round in circles.
A step of Newton's iteration was tried, and makes this error larger where it is large.
"""


class Workspace:
    """Everything that pivots read and change, with the names of ``kernels/iterate.py``.

    Columns of the inverse begin ``stride`` apart; ``lanes`` threads share a column of A, ``team`` a
    column of the inverse, ``column_parts`` and ``row_parts`` blocks a reduction. Of columns (n,):
    ``cost``, ``weight``, ``reduced``; of rows and positions (m,): ``rhs``, ``basic``, ``x``, ``y``,
    ``basic_cost``, ``d``, ``pivot_row``; of variables (n + m,): ``position``. ``inverse``
    (m * stride,) holds column k in row k, and is not filled at first. ``offers``, ``nearest`` and
    ``chosen`` are what blocks leave of a reduction.
    """

    def __init__(self, form: ScaledForm, device: Device) -> None:
        m, n = form.num_rows, form.num_columns
        self.device = device
        self.size, self.columns = m, n
        self.stride = -(-m // ALIGNMENT) * ALIGNMENT
        self.lanes = _lanes(form.matrix.nnz, n)
        self.team = word.BLOCK if m >= LONG_COLUMN else 32
        self.column_parts, self.row_parts = word.parts_for(n, self.lanes), word.parts_for(m)
        self.starts = device.to_device(form.matrix.indptr.astype(np.int32))
        self.rows = device.to_device(form.matrix.indices.astype(np.int32))
        self.values, self.cost, self.rhs = map(
            device.to_device, (form.matrix.data, form.cost, form.rhs)
        )

        def reals(count: int) -> Any:
            return device.to_device(np.zeros(count))

        self.basic = device.to_device(np.zeros(m, dtype=np.int32))
        self.position = device.to_device(np.zeros(n + m, dtype=np.int32))
        self.inverse = reals(m * self.stride)
        self.x, self.y, self.basic_cost, self.d, self.pivot_row = (reals(m) for _ in range(5))
        self.weight, self.reduced = device.to_device(np.ones(n)), reals(n)
        self.offers = reals(word.SLOTS * self.column_parts)
        self.nearest, self.chosen = (reals(word.SLOTS * self.row_parts) for _ in range(2))
        self.control = reals(word.CONTROL_SIZE)


def _lanes(entries: int, columns: int) -> int:
    """Return the power of two next to the mean number of entries in a column, up to a warp."""
    mean = entries / max(1, columns)
    return next((lanes for lanes in LANES if lanes >= mean), LANES[-1])


def invert(form: ScaledForm, basic: Basis, space: Workspace) -> bool:
    """Put the inverse of a basis into the workspace; return False where it is singular.

    On a GPU by a dense LU of cuSOLVER, on the CPU by SuperLU, as the bases are sparse.
    """
    if space.device.kind == "cpu":
        return _by_sparse_lu(form, basic, space)
    return _by_dense_lu(space)


def _by_sparse_lu(form: ScaledForm, basic: Basis, space: Workspace) -> bool:
    matrix = basis_matrix(form, basic)
    try:
        found = sparse.splu(matrix).solve(np.eye(space.size)).T
    except RuntimeError:  # exactly singular
        return False
    space.inverse.reshape(space.size, space.stride)[:, : space.size] = found
    return _error(found.T @ (matrix @ np.ones(space.size))) < USABLE


def _by_dense_lu(space: Workspace) -> bool:
    xp, m = space.device.xp, space.size
    transposed = xp.zeros((m, m))
    RESIDENT["basis_rows"](
        m, space.columns, space.starts, space.rows, space.values, space.basic,
        transposed.reshape(-1),
    )  # fmt: skip
    right = space.device.to_device(np.ones(m)) @ transposed  # B e
    found = xp.linalg.inv(transposed)
    space.inverse.reshape(m, space.stride)[:, :m] = found
    return _error(space.device.to_host(right @ found)) < USABLE


def _error(ones: FloatArray) -> float:
    """Return the largest difference from one; infinite where it is none of a number."""
    worst = float(np.max(np.abs(ones - 1.0)))
    return worst if worst < np.inf else np.inf


class Call(NamedTuple):
    """A kernel and its arguments."""

    family: Family
    name: str
    values: tuple[Any, ...]


GRAPH_ITERATIONS = 100
"""Iterations that are launched before the host looks (paper, section 3.7: "k = 100")."""


class DevicePivots:
    """What both variants share: the arrays, inversions, and what the host sees after a batch."""

    batch = GRAPH_ITERATIONS

    def __init__(self, form: ScaledForm, device: Device) -> None:
        self.form = form
        self.space = Workspace(form, device)
        self.control = np.zeros(word.CONTROL_SIZE)
        self.inversions = 0
        self._inverted: Basis | None = None
        self._launches: list[Callable[[], None]] = []

    def load(self, basic: Basis, rhs: FloatArray, *, new_weights: bool) -> bool:
        """Take a basis over."""
        space = self.space
        known = self.control[word.SINCE_INVERSE] == 0 and _same(basic, self._inverted)
        self._put(space.basic, basic.astype(np.int32))
        self._put(space.rhs, rhs)
        everywhere = positions(basic, self.form.num_columns + self.form.num_rows)
        self._put(space.position, everywhere.astype(np.int32))
        self._put(space.pivot_row, np.zeros(space.size))
        if new_weights:
            self._put(space.weight, np.ones(space.columns))
        self.control[[word.STOP, word.SINCE_INVERSE]] = word.RUNNING, 0
        self._put(space.control, self.control)
        if not known:
            self.inversions += 1
            self._inverted = basic.copy() if invert(self.form, basic, space) else None
        if self._inverted is None:
            return False
        self.set_phase()
        return True

    def set_phase(self) -> None:
        """Compute x, costs and y anew for the phase that ``control`` names."""
        self.control[word.STOP] = word.RUNNING
        self._put(self.space.control, self.control)
        for call in self._fresh_calls():
            self._launcher(call)()

    def run(self, count: int) -> int:
        """Make up to ``count`` pivots."""
        self.control[word.STOP] = word.RUNNING
        self.control[word.LIMIT] = self.control[word.ITERATION] + count
        self._put(self.space.control, self.control)
        self._iterate(count)
        self.control[:] = self.space.device.to_host(self.space.control)
        return int(self.control[word.STOP]) or word.BATCH_DONE

    def basic(self) -> Basis:
        """(m,) variables of the basis."""
        return self.space.device.to_host(self.space.basic).astype(np.int64)

    def x(self) -> FloatArray:
        """(m,) values of the basic variables."""
        return self.space.device.to_host(self.space.x)

    def penalise(self, variable: int) -> None:
        """Let pricing take a variable last."""
        weight = self.space.device.to_host(self.space.weight)
        weight[variable] = PENALTY
        self._put(self.space.weight, weight)

    def _iterate(self, count: int) -> None:
        on_cpu = self.space.device.kind == "cpu"
        if not self._launches:
            self._launches = [self._launcher(call) for call in self.pivot_calls()]
        for _ in range(count):
            for launch in self._launches:
                launch()
            if on_cpu and self.space.control[word.STOP] != word.RUNNING:
                return

    def _put(self, target: Any, values: Any) -> None:
        """Copy host values into an array of the device."""
        if self.space.device.kind == "cpu":
            target[:] = values
        else:
            target.set(np.ascontiguousarray(values, dtype=target.dtype))

    def _launcher(self, call: Call) -> Callable[[], None]:
        """Return a launch of a kernel with its arguments bound."""
        if self.space.device.kind == "cpu":
            return partial(getattr(call.family.twin, call.name), *call.values, 1)
        return call.family.bind(call.name, *call.values)

    def pivot_calls(self) -> tuple[Call, ...]:
        """Return the kernels of one pivot, in order."""
        raise NotImplementedError

    def _fresh_calls(self) -> tuple[Call, Call]:
        """Return the kernels that compute x and y from the inverse."""
        return self._call(RESIDENT, "solution"), self._call(RESIDENT, "dual")

    def _search_calls(self) -> tuple[Call, Call]:
        """Return the kernels of pricing and of the direction."""
        s = self.space
        price = self._call(ITERATE, "price", parts=s.column_parts)
        offered = {"offered": s.column_parts, "parts": s.row_parts}
        return price, self._call(ITERATE, "direction", **offered)

    def _call(self, family: Family, name: str, **others: Any) -> Call:
        return Call(family, name, family.kernels[name].arguments_of(self.space, **others))


class ResidentPivots(DevicePivots):
    """GPU-RS: kernels launched one by one, the ratio test in one block, x and y computed anew."""

    def pivot_calls(self) -> tuple[Call, ...]:
        """Return the kernels of one pivot, in order."""
        return (
            *self._search_calls(),
            self._call(RESIDENT, "ratio_test"),
            self._call(RESIDENT, "update_in_place"),
            *self._fresh_calls(),
        )


class GraphsPivots(DevicePivots):
    """GPU-RS+G: a batch of iterations as one recorded graph."""

    def __init__(self, form: ScaledForm, device: Device) -> None:
        super().__init__(form, device)
        self._graph: Any = None

    def pivot_calls(self) -> tuple[Call, ...]:
        """Return the kernels of one pivot, in order."""
        parts = self.space.row_parts
        return (
            *self._search_calls(),
            self._call(ITERATE, "choose", parts=parts),
            self._call(ITERATE, "make_pivot", parts=parts),
            self._call(ITERATE, "update"),
        )

    def _iterate(self, count: int) -> None:
        if self.space.device.kind == "cpu":
            super()._iterate(count)
            return
        if self._graph is None:
            launches = [self._launcher(call) for call in self.pivot_calls()]
            stream = self.space.device.xp.cuda.get_current_stream()
            self._graph = recorded(stream, launches * GRAPH_ITERATIONS)
        for _ in range(-(-count // GRAPH_ITERATIONS)):
            self._graph.launch()


def _same(basic: Basis, other: Basis | None) -> bool:
    return other is not None and bool(np.array_equal(basic, other))
