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
from gpu_bridge.api import solve_many
from gpu_bridge.batch.outcomes import Outcomes, Singles
from gpu_bridge.interrupt import solving
from gpu_bridge.options import make_options
from gpu_bridge.outcome import Outcome
from solvers.core.errors import CrossedBoundsError, ProblemError
from solvers.core.outcome import SolutionStatus, StopReason
from solvers.core.problem import FloatArray

CONVERSION_SHARE = 0.5
"""Part of the time limit that converting row by row may take: solving takes some, too."""


class TableResults:
    """The answers for the rows of a table, (K,) of everything, in the model's own sense.

    Attributes
    ----------
    outcomes : Outcomes
        All that is known of each solve.
    """

    def __init__(
        self,
        model: Any,
        table: ParameterTable,
        outcomes: Outcomes,
        converted: Sequence[ConvertedModel | None],
    ) -> None:
        self.outcomes = outcomes
        self._model = model
        self._table = table
        self._converted = converted  # one for all rows, or one for each
        self._places: dict[tuple[int, str], dict[int, int]] = {}

    def __len__(self) -> int:
        return len(self.outcomes)

    @property
    def objective(self) -> FloatArray:
        """Objective values, NaN where there is no point."""
        return self.outcomes.objectives

    @property
    def status(self) -> list[SolutionStatus]:
        """Status of each row's answer."""
        return self.outcomes.statuses

    def value(self, variable: Any) -> FloatArray:
        """Return the values of a variable, given itself or by name.

        NaN where there is no point; a variable that takes no part keeps the value it has.
        """
        found = self._component(variable, VarData, "variable")
        here = np.nan if found.value is None else float(found.value)
        absent = np.where(np.isfinite(self.objective), here, np.nan)
        return self._column("x", found, "columns", absent)

    def reduced_cost(self, variable: Any) -> FloatArray:
        """Return d(objective)/d(bound) of a variable, NaN where there are no duals."""
        found = self._component(variable, VarData, "variable")
        return self._column("reduced_cost", found, "columns", np.full(len(self), np.nan))

    def dual(self, constraint: Any) -> FloatArray:
        """Return d(objective)/d(side) of a constraint, NaN where there are no duals."""
        found = self._component(constraint, ConstraintData, "constraint")
        return self._column("row_dual", found, "rows", np.full(len(self), np.nan))

    def as_dict(self, variables: Iterable[Any] | None = None) -> dict[str, Any]:
        """Return columns by name, ready for ``pandas.DataFrame``.

        The parameters of the table, ``status`` (its name in small letters), ``objective``, and
        the variables given, by default all that take part.
        """
        columns: dict[str, Any] = {
            parameter.name: self._table.values[:, place]
            for place, parameter in enumerate(self._table.parameters)
        }
        columns["status"] = [status.name.lower() for status in self.status]
        columns["objective"] = self.objective
        if variables is None:
            known = next((item for item in self._converted if item is not None), None)
            variables = [] if known is None else known.columns
        for variable in variables:
            found = self._component(variable, VarData, "variable")
            columns[found.name] = self.value(found)
        return columns

    def load(self, k: int) -> None:
        """Give the model the parameters of row k and the values of its solution.

        Raises
        ------
        ProblemError
            There is no feasible point for that row.
        """
        outcome = self.outcomes[k]
        converted = self._converted[k if len(self._converted) > 1 else 0]
        if not outcome.solution_status.has_point or outcome.x is None or converted is None:
            raise ProblemError(f"Row {k} of the table has no point: {outcome.answer}.")
        self._table.set_row(k)
        StaleFlagManager.mark_all_as_stale()
        for variable, number in zip(converted.columns, outcome.x.tolist(), strict=False):
            variable.set_value(number, True)
        StaleFlagManager.mark_all_as_stale(delayed=True)

    def _component(self, wanted: Any, kind: type, what: str) -> Any:
        found = self._model.find_component(wanted) if isinstance(wanted, str) else wanted
        if not isinstance(found, kind):
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


@solving()
def solve_table(
    model: Any, table: Any, *, streams: Sequence[TextIO] = (), **options: Any
) -> TableResults:
    """Solve a Pyomo model once for each row of a table of mutable parameters.

    Parameters
    ----------
    model : BlockData
        Its parameters have their old values again afterwards; its variables are not touched
        (see :meth:`TableResults.load`).
    table : mapping, list of mappings, or pandas.DataFrame
        Columns by parameter: its name, such as ``'demand[1]'``, and a number for each row; or
        the name of an indexed parameter, and a mapping from its indices to columns. A list
        holds a mapping from parameters to numbers for each row. In a ComponentMap the
        parameters themselves may stand for their names.
    streams : sequence of text streams
        Where log lines go.
    **options
        Those of :func:`gpu_bridge.solve_many`, which solves the rows: ``method='pdlp'``, or a
        GPU and enough rows, solve them together. ``time_limit`` is that of the whole call: no
        more than half of it goes to converting rows, and those left over are not reached.

    Raises
    ------
    ProblemError
        The table does not fit the model, or data is not usable.
    IncompatiblePyomoModelError
        A part of the model is not linear; the message names it.
    """
    began = time.monotonic()
    limit = make_options(options).time_limit
    rows = read_table(model, table)
    with rows.restored():
        rows.check_domains()
        if len(rows) == 0:
            return TableResults(model, rows, solve_many([], **options), [])
        rows.set_row(0)
        base = _convert(model)
        if isinstance(base, ConvertedModel):
            batch = read_batch(model, rows, base)
            if batch is not None:
                if limit is not None:
                    options["time_limit"] = max(0.0, limit - (time.monotonic() - began))
                outcomes = solve_many(batch, streams=streams, **options)
                return TableResults(model, rows, outcomes, [base])
        return _solve_each(model, rows, streams, options, limit, began)


def _solve_each(
    model: Any,
    rows: ParameterTable,
    streams: Sequence[TextIO],
    options: dict[str, Any],
    limit: float | None,
    began: float,
) -> TableResults:
    """Convert the model for every row of the table that there is time for."""
    from gpu_bridge.pipeline.crossed_bounds import crossed_bounds_outcome

    until = np.inf if limit is None else began + CONVERSION_SHARE * limit
    found: list[ConvertedModel | CrossedBoundsError | None] = []
    for k in range(len(rows)):
        rows.set_row(k)
        found.append(_convert(model, k) if time.monotonic() < until else None)
    problems = [item.problem for item in found if isinstance(item, ConvertedModel)]
    if limit is not None:
        options["time_limit"] = max(0.0, limit - (time.monotonic() - began))
    solved = iter(solve_many(problems, streams=streams, **options))
    outcomes: list[Outcome] = []
    for item in found:
        if isinstance(item, ConvertedModel):
            outcomes.append(next(solved))
        elif item is None:
            outcomes.append(Outcome(SolutionStatus.NOTHING, StopReason.TIME_LIMIT))
        else:
            outcomes.append(crossed_bounds_outcome(item))
    converted = [item if isinstance(item, ConvertedModel) else None for item in found]
    return TableResults(model, rows, Outcomes([Singles(outcomes)]), converted)


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
