"""Solve a Pyomo model for each row of a table of parameter values."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

import numpy as np
from pyomo.core.staleflag import StaleFlagManager

from gpu_bridge.adapters.pyomo.convert import ConvertedModel, convert
from gpu_bridge.adapters.pyomo.interface import ConstraintData, VarData
from gpu_bridge.adapters.pyomo.table_batch import ParameterTable, read_batch, read_table
from gpu_bridge.adapters.table import TableResults, solve_rows
from gpu_bridge.batch.outcomes import Outcomes, Singles
from gpu_bridge.options import Options, make_options
from gpu_bridge.outcome import Outcome
from solvers.core.errors import CrossedBoundsError, ProblemError
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.problem import FloatArray

CONVERSION_SHARE = 0.5
"""Part of the time limit that converting row by row may take: solving takes some, too."""


class PyomoTableResults(TableResults):
    """The answers for the rows of a table, by Pyomo's components or their names.

    A variable that takes no part keeps the value it has.
    """

    def __init__(
        self,
        model: Any,
        table: ParameterTable,
        outcomes: Outcomes,
        converted: Sequence[ConvertedModel | None],
    ) -> None:
        super().__init__(outcomes)
        self._model = model
        self._table = table
        self._converted = converted  # one for all rows, or one for each
        self._places: dict[tuple[int, str], dict[int, int]] = {}

    def _of(self, name: str, part: Any) -> FloatArray:
        absent = np.full(len(self), np.nan)
        if name == "row_dual":
            return self._column(name, self._component(part, ConstraintData), "rows", absent)
        found = self._component(part, VarData)
        if name == "x" and found.value is not None:
            absent[np.isfinite(self.objective)] = found.value
        return self._column(name, found, "columns", absent)

    def as_dict(self, variables: Iterable[Any] | None = None) -> dict[str, Any]:
        """Return columns by name, ready for ``pandas.DataFrame``.

        The parameters of the table, ``status`` (its name in small letters), ``objective``, and
        the variables given, by default all that take part.
        """
        table = {
            parameter.name: self._table.values[:, place]
            for place, parameter in enumerate(self._table.parameters)
        }
        if variables is None:
            known = next((item for item in self._converted if item is not None), None)
            variables = [] if known is None else known.columns
        found = [self._component(variable, VarData) for variable in variables]
        return self._as_dict(table, found)

    def load(self, k: int) -> None:
        """Give the model the parameters of row k and the values of its solution."""
        outcome = self._with_point(k)
        converted = self._converted[k if len(self._converted) > 1 else 0]
        assert outcome.x is not None
        assert converted is not None
        self._table.set_row(k)
        StaleFlagManager.mark_all_as_stale()
        for variable, number in zip(converted.columns, outcome.x.tolist(), strict=False):
            variable.set_value(number, True)
        StaleFlagManager.mark_all_as_stale(delayed=True)

    def _component(self, wanted: Any, kind: type) -> Any:
        found = self._model.find_component(wanted) if isinstance(wanted, str) else wanted
        if not isinstance(found, kind):
            what = "variable" if kind is VarData else "constraint"
            raise ProblemError(
                f"The model '{self._model.name}' has no {what} '{wanted}'; an indexed one is "
                "named with its index."
            )
        return found

    def _column(self, name: str, found: Any, of: str, absent: FloatArray) -> FloatArray:
        """Return the values that belong to a component, from the arrays or row by row."""
        if len(self._converted) == 1:
            number = self._place(self._converted[0], of, found)
            if number is None:
                return absent
            column: FloatArray = getattr(self.outcomes, name)[:, number]
            return column
        values = absent.copy()
        for k, converted in enumerate(self._converted):
            number = self._place(converted, of, found)
            array = getattr(self.outcomes[k], name)
            if number is not None:
                values[k] = np.nan if array is None else array[number]
        return values

    def _place(self, converted: ConvertedModel | None, of: str, component: Any) -> int | None:
        """Return the number of a column or row, or None if the component takes no part."""
        if converted is None:
            return None
        key = id(converted), of
        if key not in self._places:
            components = getattr(converted, of)
            self._places[key] = {id(item): number for number, item in enumerate(components)}
        return self._places[key].get(id(component))


def solve_pyomo_table(
    model: Any, table: Any, *, streams: Sequence[TextIO] = (), **options: Any
) -> PyomoTableResults:
    """Solve a Pyomo model for each row of a table; see :func:`gpu_bridge.solve_table`."""
    began = time.monotonic()
    checked = make_options(options)
    rows = read_table(model, table)
    with rows.restored():
        rows.check_domains()
        if len(rows) == 0:
            return PyomoTableResults(model, rows, solve_rows([], checked, streams, began), [])
        rows.set_row(0)
        base = _convert(model)
        if isinstance(base, ConvertedModel):
            batch = read_batch(model, rows, base)
            if batch is not None:
                outcomes = solve_rows(batch, checked, streams, began)
                return PyomoTableResults(model, rows, outcomes, [base])
        return _solve_each(model, rows, streams, checked, began)


def _solve_each(
    model: Any, rows: ParameterTable, streams: Sequence[TextIO], options: Options, began: float
) -> PyomoTableResults:
    """Convert the model for every row of the table that there is time for."""
    from gpu_bridge.outcome import crossed_bounds_outcome

    limit = options.time_limit
    until = np.inf if limit is None else began + CONVERSION_SHARE * limit
    found: list[ConvertedModel | CrossedBoundsError | None] = []
    for k in range(len(rows)):
        rows.set_row(k)
        found.append(_convert(model, k) if time.monotonic() < until else None)
    problems = [item.problem for item in found if isinstance(item, ConvertedModel)]
    solved = iter(solve_rows(problems, options, streams, began))
    outcomes: list[Outcome] = []
    for item in found:
        if isinstance(item, ConvertedModel):
            outcomes.append(next(solved))
        elif item is None:
            outcomes.append(Outcome(SolutionStatus.NOTHING, StopReason.TIME_LIMIT))
        else:
            outcomes.append(crossed_bounds_outcome(item))
    converted = [item if isinstance(item, ConvertedModel) else None for item in found]
    return PyomoTableResults(model, rows, Outcomes([Singles(outcomes)]), converted)


def _convert(model: Any, row: int | None = None) -> ConvertedModel | CrossedBoundsError:
    """Convert the model as it stands.

    Raises
    ------
    ProblemError
        It cannot be; the message names the row of the table, where one is given.
    """
    try:
        return convert(model)
    except CrossedBoundsError as error:
        return error
    except ProblemError as error:
        if row is None:
            raise
        raise type(error)(f"Row {row} of the table: {error}") from error
