"""The arrays of a problem while it is being put together, and names read only when needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import scipy.sparse as sp

from solvers.problem import BoolArray, FloatArray, Problem


@dataclass(frozen=True, eq=False)
class ProblemArrays:
    """Arguments of :meth:`Problem.from_arrays`, in the model's own sense."""

    cost: FloatArray
    matrix: sp.csr_array
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
            self.cost,
            self.matrix,
            self.row_lower,
            self.row_upper,
            lower=self.lower,
            upper=self.upper,
            integrality=self.integrality,
            offset=offset,
            maximize=maximize,
            name=name,
            column_names=self.column_names,
            row_names=self.row_names,
        )


class ComponentNames(Sequence[str]):
    """Names of Pyomo components, put together at each look: few are ever asked for.

    ``more`` holds names of rows or columns that stand for no component of their own.
    """

    def __init__(self, components: list[Any], more: Sequence[str] = ()) -> None:
        self._components = components
        self._more = more

    def with_more(self, names: Sequence[str]) -> ComponentNames:
        """Return these names followed by ``names``."""
        return ComponentNames(self._components, [*self._more, *names])

    def __len__(self) -> int:
        return len(self._components) + len(self._more)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if index < 0:
            index += len(self)
        if index < len(self._components):
            return str(self._components[index].name)
        return self._more[index - len(self._components)]
