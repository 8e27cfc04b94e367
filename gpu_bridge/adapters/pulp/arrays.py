"""A PuLP model of either version as arrays, from which a ``Problem`` is made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.core.rows import SparseRows

if TYPE_CHECKING:
    from gpu_bridge.adapters.sos import OrderedSet


@dataclass(frozen=True, eq=False)
class ModelArrays:
    """A PuLP model as arrays, in its own sense.

    ``variables`` and ``constraints`` are PuLP's objects, in the order of columns and rows.
    """

    variables: Sequence[Any]
    constraints: Sequence[Any]
    column_names: list[str]
    row_names: list[str]
    cost: FloatArray
    offset: float
    matrix: SparseRows
    row_lower: FloatArray
    row_upper: FloatArray
    lower: FloatArray
    upper: FloatArray
    integrality: BoolArray
    sets: Sequence[OrderedSet] = ()

    def to_problem(self, name: str, maximize: bool) -> Problem:
        """Return the model in the one form that engines take."""
        sign = -1.0 if maximize else 1.0
        problem = Problem(
            cost=sign * self.cost,
            matrix=self.matrix,
            row_lower=self.row_lower,
            row_upper=self.row_upper,
            lower=self.lower,
            upper=self.upper,
            integrality=self.integrality,
            offset=sign * self.offset,
            maximize=maximize,
            name=str(name),
            column_names=self.column_names,
            row_names=self.row_names,
        )
        if not self.sets:
            return problem
        from gpu_bridge.adapters.sos import add_ordered_sets

        return add_ordered_sets(problem, self.sets)

    def on(self, problem: Problem) -> ModelArrays:
        """Return the arrays with the matrix of their problem, so that there are not two of it."""
        if problem.entries.shape != self.matrix.shape:
            return self  # ordered sets have added rows
        return replace(self, matrix=problem.entries)
