"""The points of a solve by the names of PuLP's variables, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gpu_bridge.adapters.pulp.arrays import ModelArrays
from solvers.core.problem import FloatArray

if TYPE_CHECKING:
    from gpu_bridge.outcome import Outcome


class Columns:
    """Column numbers by name and by variable, worked out when somebody asks."""

    def __init__(self, arrays: ModelArrays) -> None:
        self._arrays = arrays

    @property
    def names(self) -> Sequence[str]:
        """Names of the variables, in the order of the columns."""
        return self._arrays.column_names

    def number(self, key: Any) -> int | None:
        """Return the column of a variable or of a name; None where there is none."""
        if isinstance(key, str):
            return self._by_name.get(key)
        if self._wrapped:
            return self._by_name.get(getattr(key, "name", ""))
        return self._by_variable.get(id(key))

    @cached_property
    def _by_name(self) -> dict[str, int]:
        # of several variables of one name, which PuLP lets be, the first is meant
        names = list(self.names)
        return dict(zip(reversed(names), range(len(names) - 1, -1, -1), strict=True))

    @cached_property
    def _by_variable(self) -> dict[int, int]:
        variables = self._arrays.variables
        return dict(zip(map(id, variables), range(len(variables)), strict=True))

    @cached_property
    def _wrapped(self) -> bool:
        """Whether these are PuLP 4's variables, made anew at each access but unique by name."""
        return any(callable(getattr(one, "id", None)) for one in self._arrays.variables[:1])


class PointValues(Mapping[Any, float]):
    """A point as a mapping from names, or from variables, to values; it iterates over names.

    Making one costs nothing, so that a callback that looks at the objective alone is cheap.
    """

    def __init__(self, columns: Columns, x: FloatArray) -> None:
        self._columns = columns
        self._x = x

    def __getitem__(self, key: Any) -> float:
        number = self._columns.number(key)
        if number is None:
            raise KeyError(f"There is no variable '{key}' in the model that was solved.")
        return float(self._x[number])

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(self._columns.names))

    def __len__(self) -> int:
        return len(set(self._columns.names))


@dataclass(frozen=True, eq=False)
class PooledSolution:
    """One of the points of a solve.

    Parameters
    ----------
    objective : float
        In the sense of the model.
    seconds : float
        When it was found.
    source : str
        Which heuristic or engine found it.
    values : mapping
        From the names of variables, or the variables themselves, to values.
    """

    objective: float
    seconds: float
    source: str
    values: Mapping[Any, float]


def presenter(arrays: ModelArrays) -> Callable[[FloatArray], PointValues]:
    """Return what turns points (n,) into mappings from names or variables to values."""
    columns = Columns(arrays)
    return lambda x: PointValues(columns, x)


def pool_of(outcome: Outcome, arrays: ModelArrays) -> list[PooledSolution]:
    """Return the points of an answer, best first; the first is the answer itself."""
    from gpu_bridge.solution_pool import pool_solutions

    present = presenter(arrays)
    return [
        PooledSolution(entry.objective, entry.seconds, entry.source, present(entry.x))
        for entry in pool_solutions(outcome)
    ]
