"""From a Pyomo model to a :class:`~solvers.core.problem.Problem`, never through a file.

    components -> collected rows -> arrays -> matrix over free variables -> settled rows -> Problem

The objective travels as row 0 of the same matrix, so that it is read by the same code.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, compress
from typing import Any

import numpy as np
from pyomo.common.gc_manager import PauseGC
from pyomo.core.base import minimize

from gpu_bridge.adapters.pyomo.arrays import BoundsReader, component_names
from gpu_bridge.adapters.pyomo.collect import RowCollector
from gpu_bridge.adapters.pyomo.components import (
    Parts,
    active_constraints,
    active_objective,
    active_sos,
    check_model,
)
from gpu_bridge.adapters.pyomo.interface import BlockData, IncompatiblePyomoModelError
from gpu_bridge.adapters.pyomo.matrix import FreeMatrix, MatrixReader
from gpu_bridge.adapters.pyomo.rows import ModelRows, RowReader, Rows
from gpu_bridge.adapters.sos import FixedMember, OrderedSet, add_ordered_sets
from gpu_bridge.report.conversion import Tell, in_parts, silent
from solvers.core.errors import CrossedBoundsError, ProblemError, UnsupportedModelError
from solvers.core.linear_algebra import SparseRows
from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.core.process_state import Slot
from solvers.highs.live import Live

# Pyomo's special ordered sets on their way to :mod:`gpu_bridge.adapters.sos`.


def add_special_ordered_sets(problem: Problem, sets: list[Any], columns: list[Any]) -> Problem:
    """Return the problem with the rows and binary columns of all ``sets`` at its ends.

    ``columns`` are the variables of the problem's columns; a member that is not among them is
    fixed and enters as a number.

    Raises
    ------
    IncompatiblePyomoModelError
        A set of level three or more, or a member without finite bounds, declared or implied.
    """
    number = {id(variable): j for j, variable in enumerate(columns)}
    ordered = [_ordered_set(item, number) for item in sets]
    try:
        return add_ordered_sets(problem, ordered)
    except UnsupportedModelError as error:
        raise IncompatiblePyomoModelError(str(error)) from error


def _ordered_set(item: Any, number: dict[int, int]) -> OrderedSet:
    by_weight = sorted(item.get_items(), key=lambda pair: pair[1])
    members = tuple(_member(variable, number) for variable, _ in by_weight)
    return OrderedSet(item.name, item.level, members)


def _member(variable: Any, number: dict[int, int]) -> int | FixedMember:
    column = number.get(id(variable))
    if column is not None:
        return column
    if variable.value is None:
        raise ProblemError(f"Variable '{variable.name}' is fixed but has no value.")
    return FixedMember(variable.name, float(variable.value))


CONSTANT_ROW_TOLERANCE = 1e-6
"""How far, relative to max(1, |body|), a constraint without variables may miss its side."""


@dataclass(frozen=True, eq=False)
class ConvertedModel:
    """A problem and the way back from its rows and columns to the model's components."""

    problem: Problem
    """May have more rows and columns at its end than the lists here: those of reformulated special
    ordered sets."""
    columns: list[Any]
    """Variable of each column."""
    rows: list[Any]
    """Constraint of each row."""
    constant_rows: dict[Any, float]
    """Constraints that hold no free variable but have a finite side, with their slacks."""
    objective: Any | None
    """The active objective."""
    live: Live
    """What is left in the reference engine of the last solve of the same model."""


class ComponentReader:
    """Reads an objective and constraints, which may be read again after their data have changed.

    Everything that was read is kept in the steps that it took, and a step is taken again where what
    it was made of has changed.
    """

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._matrix = MatrixReader()
        self._has_sets = False
        self._bounds = BoundsReader()
        self._kept: _KeptRows | None = None
        self._live = Live()

    def read(
        self, name: str, objective: Any | None, sets: list[Any], tell: Tell = silent
    ) -> ConvertedModel:
        """Return the model as it is now; ``objective`` is the first of the rows.

        ``tell`` hears what comes next.

        Raises
        ------
        IncompatiblePyomoModelError
            A row or domain that is not linear, or not understood; the message names it.
        ProblemError
            A coefficient, side or bound without a usable value.
        CrossedBoundsError
            Bounds or constraints without free variables that contradict each other: the model is
            infeasible as it stands.
        """
        with PauseGC():
            tell("coefficients and sides")
            rows = self._rows.read()
            tell(f"a matrix of {len(rows.rows):,} rows")
            if sets or self._has_sets:  # whose members may be others than before
                self._matrix = MatrixReader(chain.from_iterable(item.variables for item in sets))
                self._has_sets = bool(sets)
            free = self._matrix.read(rows)
            constant_rows, kept = _settle_rows(rows, free)
            last = self._kept
            if last is not None and last.is_shaped_as(free.matrix, kept):
                self._kept = last.with_data(free.matrix)
            else:
                self._kept = _KeptRows.of(rows.rows, free, kept)
            tell(f"bounds of {len(free.columns):,} variables")
            problem = self._problem(rows, free, self._kept, objective, name)
            if sets:
                problem = add_special_ordered_sets(problem, sets, free.columns)
        return ConvertedModel(
            problem,
            free.columns,
            self._kept.constraints,
            constant_rows,
            objective,
            self._live,
        )

    def _problem(
        self, rows: ModelRows, free: FreeMatrix, kept: _KeptRows, objective: Any | None, name: str
    ) -> Problem:
        lower, upper, integrality = self._bounds.read(free.columns)
        maximize = objective is not None and objective.sense != minimize
        sign = -1.0 if maximize else 1.0
        problem = Problem.from_canonical(
            cost=sign * kept.cost,
            matrix=kept.matrix,
            row_lower=(rows.lower - free.constants)[kept.kept],
            row_upper=(rows.upper - free.constants)[kept.kept],
            lower=lower.copy(),
            upper=upper.copy(),
            integrality=integrality,
            offset=sign * float(free.constants[0]),
            maximize=maximize,
            name=name,
            column_names=kept.column_names,
            row_names=kept.row_names,
        )
        if not kept.is_checked:
            problem.check_coefficients()
            self._kept = replace(kept, is_checked=True)
        return problem


class ModelReader:
    """Reads one model, which may be read again as long as it has the same parts.

    Whatever holds no parameter is read once.

    Raises
    ------
    IncompatiblePyomoModelError
        A part of the model is not linear, or not understood; the message names it.
    """

    def __init__(self, model: Any, tell: Tell = silent) -> None:
        check_model(model)
        with PauseGC():  # the pass makes many small objects and needs them all until its end
            self._parts = Parts.of(model)
            self._objective = active_objective(model)
            self._sets = active_sos(model)
            collected = RowCollector()
            collected.add_objective(self._objective)
            for part in chain.from_iterable(map(in_parts, active_constraints(model))):
                collected.add_constraints(part)
                tell(f"{len(collected.rows) - 1:,} constraints are read")
            tell(f"{len(collected.terms):,} terms")
            self._reader = ComponentReader(RowReader(collected))

    def fits(self, model: Any) -> bool:
        """Whether the model it was made for has the same parts as then; where in doubt, False."""
        return self._parts is not None and self._parts.are_those_of(model)

    def read(self, model: Any, tell: Tell = silent) -> ConvertedModel:
        """Return the model as it is now; raises what :class:`ComponentReader` says."""
        return self._reader.read(model.name or "", self._objective, self._sets, tell)


def convert(model: Any) -> ConvertedModel:
    """Read a Pyomo model or block once; raises what :class:`ModelReader` says."""
    return ModelReader(model).read(model)


@dataclass(frozen=True, eq=False)
class _KeptRows:
    """The matrix without the rows that say nothing, and without the objective, its first one."""

    whole: SparseRows
    """(m, n), with those rows."""
    kept: BoolArray
    """(m,) of bool."""
    cost: FloatArray
    """(n,)."""
    matrix: SparseRows
    constraints: list[Any]
    column_names: Sequence[str]
    row_names: Sequence[str]
    is_checked: bool = False
    """A problem has looked at its coefficients."""

    @classmethod
    def of(cls, rows: list[Any], free: FreeMatrix, kept: BoolArray) -> _KeptRows:
        constraints = list(compress(rows, kept))
        whole = free.matrix
        return cls(
            whole=whole,
            kept=kept,
            cost=_cost(whole),
            matrix=whole.last(len(rows) - 1) if kept[1:].all() else whole.select(kept),
            constraints=constraints,
            column_names=component_names(free.columns),
            row_names=component_names(constraints),
        )

    def is_shaped_as(self, matrix: SparseRows, kept: BoolArray) -> bool:
        """Whether it was made of a matrix with the very same places and of the same rows."""
        return matrix.indices is self.whole.indices and np.array_equal(kept, self.kept)

    def with_data(self, whole: SparseRows) -> _KeptRows:
        """Return it with the entries of another such matrix; its own matrix where none differs."""
        if whole is self.whole:
            return self
        changed = replace(self, whole=whole, cost=_cost(whole))
        changed.__dict__["_entries"] = self._entries
        data = whole.data[self._entries]
        if np.array_equal(data, self.matrix.data):
            return changed
        return replace(changed, matrix=replace(self.matrix, data=data), is_checked=False)

    @cached_property
    def _entries(self) -> BoolArray:
        """Which entries of the whole matrix are kept."""
        entries: BoolArray = self.kept[self.whole.row]
        return entries


def _cost(whole: SparseRows) -> FloatArray:
    """Return the first row of a matrix as a vector (n,)."""
    own = slice(0, whole.indptr[1])
    cost = np.zeros(whole.shape[1])
    cost[whole.indices[own]] = whole.data[own]
    return cost


def _settle_rows(rows: ModelRows, free: FreeMatrix) -> tuple[dict[Any, float], BoolArray]:
    """Check rows without free variables and return their slacks, and the rows (m,) to keep.

    Rows without a finite side say nothing and are dropped, as Pyomo's compiler does.
    """
    # a side of infinite size on the wrong end is no free row but a contradiction
    bounded = (rows.lower != -np.inf) | (rows.upper != np.inf)
    empty = np.diff(free.matrix.indptr) == 0
    constant_rows = {}
    for i in np.flatnonzero(bounded & empty):
        if i > 0:
            sides = float(rows.lower[i]), float(rows.upper[i])
            constant_rows[rows.rows[i]] = _constant_row(rows.rows[i], *sides, free.constants[i])
    kept: BoolArray = bounded & ~empty
    kept[0] = False
    return constant_rows, kept


def _constant_row(row: Any, lower: float, upper: float, body: float) -> float:
    """Return the slack of a constraint that holds no free variable, or refuse it."""
    if math.isnan(body):
        raise ProblemError(f"Constraint '{row.name}' has a body that is not a number.")
    allowed = CONSTANT_ROW_TOLERANCE * max(1.0, abs(body))
    reaches_lower = lower - body <= allowed  # false for NaN
    if not (reaches_lower and body - upper <= allowed):
        wanted = f"at most {upper:g}" if reaches_lower else f"at least {lower:g}"
        raise CrossedBoundsError(
            f"Constraint '{row.name}' has no free variable: its body is {body:g}, but it must be "
            f"{wanted}, so the model is infeasible as it stands."
        )
    return float(row_slack(np.array([lower]), np.array([upper]), np.array([body]))[0])


def row_slack(lower: FloatArray, upper: FloatArray, body: FloatArray) -> FloatArray:
    """Return side - body: positive towards the upper side, negative towards the lower one.

    Of two finite sides the farther one counts, as in Pyomo's other solver interfaces.
    """
    above = upper - body
    below = lower - body
    return np.where(np.isinf(above) | (np.isfinite(below) & (-below > above)), below, above)


# The reader of a model that a solver has solved before, so that only what changed is read again.
#
# It is kept beside the solver and not in it, so that solvers can be copied and written to files.
# It holds the model's parts but not the model, and goes with whichever of the two goes first.


MOST_MODELS = 4
"""Models that one solver may be used on by turns."""

_Readers = weakref.WeakKeyDictionary[Any, ModelReader]
_last: Slot[weakref.WeakKeyDictionary[Any, _Readers]] = Slot(
    "each solver's last Pyomo models, as they were read", weakref.WeakKeyDictionary
)


def convert_again(solver: Any, model: Any, tell: Tell = silent) -> ConvertedModel:
    """Read a model as :func:`convert` does, with what this solver knows of it.

    ``tell`` hears what a long conversion is at.
    A reader is used by one thread at a time, and by none after it has failed.
    """
    if not isinstance(model, BlockData):
        return convert(model)  # which says what is wrong
    readers = _last.value.setdefault(solver, weakref.WeakKeyDictionary())
    reader = readers.pop(model, None)
    if reader is None or not reader.fits(model):
        reader = ModelReader(model, tell)
    converted = reader.read(model, tell)
    readers[model] = reader
    for old in list(readers.keys())[:-MOST_MODELS]:
        readers.pop(old, None)
    return converted
