"""The values of a point by variable, looked up when somebody asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from solvers.core.problem import FloatArray


class Columns:
    """The variables of a model by column number and the other way round, worked out once."""

    def __init__(self, variables: Sequence[Any]) -> None:
        self.variables = variables

    @cached_property
    def number(self) -> dict[int, int]:
        """Column numbers by the ``id`` of a variable."""
        return dict(zip(map(id, self.variables), range(len(self.variables)), strict=True))


class PointValues(Mapping[Any, float]):
    """A point as a mapping from Pyomo's variables to values, like a ComponentMap.

    Making one costs nothing, so that a callback that looks at the objective alone is cheap.
    """

    def __init__(self, columns: Columns, x: FloatArray) -> None:
        self._columns = columns
        self._x = x

    def __getitem__(self, variable: Any) -> float:
        number = self._columns.number.get(id(variable))
        if number is None:
            raise KeyError(
                f"'{getattr(variable, 'name', variable)}' took no part in the solve, so there is "
                "no value for it: it is fixed, inactive or in no objective or constraint."
            )
        return float(self._x[number])

    def __iter__(self) -> Iterator[Any]:
        return iter(self._columns.variables)

    def __len__(self) -> int:
        return len(self._columns.variables)


def presenter(variables: Sequence[Any]) -> Callable[[FloatArray], PointValues]:
    """Return what turns points (n,) into mappings from these variables to values."""
    columns = Columns(variables)
    return lambda x: PointValues(columns, x)
