"""Solve a PuLP model for each row of a table of sides, bounds, costs and coefficients."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TextIO

import numpy as np
import pulp

from gpu_bridge.adapters.pulp.reading import ModelArrays
from gpu_bridge.adapters.pulp.solver_model import collector_paused, read
from gpu_bridge.adapters.pulp.statuses import pulp_3_statuses
from gpu_bridge.adapters.pulp.values import Columns, set_values
from gpu_bridge.adapters.pulp.version import has_rust_core
from gpu_bridge.adapters.table import (
    SIDE,
    TableData,
    TableResults,
    columns_of,
    is_coefficient,
    key_text,
    length_of,
    name_and_part,
    numbers_of,
    solve_rows,
)
from gpu_bridge.batch.outcomes import Outcomes
from gpu_bridge.options import make_options
from solvers.core.errors import ProblemError, UnsupportedModelError
from solvers.core.problem import FloatArray


class PulpTableResults(TableResults):
    """The answers for the rows of a table, by PuLP's variables and constraints or their names."""

    def __init__(self, places: Places, table: Mapping[str, FloatArray], outcomes: Outcomes) -> None:
        super().__init__(outcomes)
        self._places = places
        self._table = table

    def _of(self, name: str, part: Any) -> FloatArray:
        places = self._places
        return self._columns(name, (places.row if name == "row_dual" else places.column)(part))

    def as_dict(self, variables: Iterable[Any] | None = None) -> dict[str, Any]:
        """Return columns by name, ready for ``pandas.DataFrame``.

        Those of the table, ``status`` (its name in small letters), ``objective``, and the
        variables given, by default all.
        """
        return self._as_dict(self._table, self._places.names if variables is None else variables)

    def load(self, k: int) -> None:
        """Give the model the values, prices and slacks of row k; its data stay its own."""
        outcome = self._with_point(k)
        lp, arrays, problem = self._places.lp, self._places.arrays, outcome.problem
        assert problem is not None
        of_row = replace(
            arrays,
            matrix=problem.entries,
            row_lower=problem.row_lower,
            row_upper=problem.row_upper,
        )
        with collector_paused():
            set_values(lp, of_row, outcome)
        if not has_rust_core(lp):
            lp.assignStatus(*pulp_3_statuses(outcome))


class Places:
    """Where a model's variables and constraints stand in its arrays."""

    def __init__(self, lp: Any, arrays: ModelArrays) -> None:
        self.lp, self.arrays = lp, arrays
        self._columns = Columns(arrays)
        self._rows = {name: number for number, name in enumerate(arrays.row_names)}

    @property
    def names(self) -> Sequence[str]:
        """Names of the variables."""
        return self._columns.names

    def column(self, variable: Any) -> int:
        """Return the number of a variable, given itself or by name; raises ProblemError."""
        number = self._columns.number(variable)
        if number is None:
            raise ProblemError(f"The model '{self.lp.name}' has no variable '{variable}'.")
        return number

    def row(self, constraint: Any) -> int:
        """Return the number of a constraint, given itself or by name; raises ProblemError."""
        name = constraint if isinstance(constraint, str) else constraint.name
        if name not in self._rows:
            raise ProblemError(f"The model '{self.lp.name}' has no constraint '{name}'.")
        return self._rows[name]


def solve_pulp_table(
    lp: Any, table: Any, *, streams: Sequence[TextIO] = (), **options: Any
) -> PulpTableResults:
    """Solve a PuLP model for each row of a table; see :func:`gpu_bridge.solve_table`.

    Raises
    ------
    UnsupportedModelError
        The model has special ordered sets, whose binaries would not follow the table.
    """
    began = time.monotonic()
    checked = make_options(options)
    with collector_paused():
        arrays = read(lp)
    if arrays.sets:
        raise UnsupportedModelError(
            f"The model '{lp.name}' has special ordered sets, which a table cannot vary with; "
            "solve its rows one by one."
        )
    places = Places(lp, arrays)
    named = ((key_text(key), key, column) for key, column in columns_of(table))
    columns = {name: (key, numbers_of(column, name)) for name, key, column in named}
    values = {name: column for name, (_, column) in columns.items()}
    for name, column in values.items():
        if column.ndim != 1:
            raise ProblemError(f"The column of '{name}' must hold one number for each row.")
    problem = arrays.to_problem(lp.name, lp.sense == pulp.LpMaximize)
    count = length_of(values.values())
    data = TableData(problem, count)
    for name, (key, column) in columns.items():
        _put(data, places, key, name, column[:, None])
    outcomes = solve_rows(data.batch() if count else [], checked, streams, began)
    return PulpTableResults(places, values, outcomes)


def _put(data: TableData, places: Places, key: Any, name: str, values: FloatArray) -> None:
    if is_coefficient(key):
        row, column = np.array([places.row(key[0])]), np.array([places.column(key[1])])
        data.put_coefficients(row, column, values, name)
        return
    of, part = name_and_part(name)
    if part == SIDE:
        data.put_sides(np.array([places.row(of)]), values, name)
    else:
        data.put(part, np.array([places.column(of)]), values)
