"""The arrays of a problem while it is being put together, and names read only when needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

from solvers.core.problem import BoolArray, FloatArray, Problem
from solvers.core.rows import SparseRows


@dataclass(frozen=True, eq=False)
class ProblemArrays:
    """Arguments of :meth:`Problem.from_arrays`, in the model's own sense."""

    cost: FloatArray
    matrix: SparseRows
    row_lower: FloatArray
    row_upper: FloatArray
    lower: FloatArray
    upper: FloatArray
    integrality: BoolArray
    column_names: ComponentNames
    row_names: ComponentNames

    def problem(self, name: str, offset: float, maximize: bool) -> Problem:
        """Return the validated problem."""
        return Problem.from_arrays(
            **vars(self),
            offset=offset,
            maximize=maximize,
            name=name,
        )

    def problem_of_checked_matrix(self, name: str, offset: float, maximize: bool) -> Problem:
        """Return the validated problem, where the matrix is one that another problem has."""
        sign = -1.0 if maximize else 1.0
        return Problem.from_canonical(
            cost=sign * self.cost,
            matrix=self.matrix,
            row_lower=self.row_lower,
            row_upper=self.row_upper,
            lower=self.lower.copy(),
            upper=self.upper.copy(),
            integrality=self.integrality,
            offset=sign * offset,
            maximize=maximize,
            name=name,
            column_names=self.column_names,
            row_names=self.row_names,
        )


class ComponentNames(Sequence[str]):
    """Names of Pyomo components, put together at each look: few are ever asked for."""

    def __init__(self, components: list[Any]) -> None:
        self._components = components

    def __len__(self) -> int:
        return len(self._components)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [str(component.name) for component in self._components[index]]
        return str(self._components[index].name)
