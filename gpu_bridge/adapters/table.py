"""What tables of parameters have in common, whichever package a model is of.

A table in any form becomes columns of numbers, these become a batch, and its answers arrays.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from gpu_bridge.adapters.arrays import IndexArray, places_of
from gpu_bridge.batch.batch import Batch
from gpu_bridge.batch.outcomes import Outcomes
from gpu_bridge.batch.solve_many import solve_many
from gpu_bridge.outcome import Outcome
from gpu_bridge.report.log_output import checked_streams
from solvers.core.errors import ProblemError
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import FloatArray, Problem

if TYPE_CHECKING:
    from gpu_bridge.options import Options


class TableResults(ABC):
    """The answers for the rows of a table, (K,) of everything, in the model's own sense.

    Variables and constraints are given themselves or by name.

    Attributes
    ----------
    outcomes : Outcomes
        All that is known of each solve.
    """

    def __init__(self, outcomes: Outcomes) -> None:
        self.outcomes = outcomes

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

    def value(self, variable: Any) -> Any:
        """Return the values (K,) of a variable, NaN where there is no point."""
        return self._of("x", variable)

    def reduced_cost(self, variable: Any) -> Any:
        """Return d(objective)/d(bound) (K,) of a variable, NaN where there are no duals."""
        return self._of("reduced_cost", variable)

    def dual(self, constraint: Any) -> Any:
        """Return d(objective)/d(side) (K,) of a constraint, NaN where there are no duals."""
        return self._of("row_dual", constraint)

    @abstractmethod
    def _of(self, name: str, part: Any) -> Any:
        """Return what an array of the outcomes holds of a variable; duals are of a constraint."""

    def _with_point(self, k: int) -> Outcome:
        """Return the answer for a row that is to be loaded.

        Raises
        ------
        ProblemError
            It has no feasible point.
        """
        outcome = self.outcomes[k]
        if not outcome.solution_status.has_point:
            raise ProblemError(f"Row {k} of the table has no point: {outcome.answer}.")
        return outcome

    def _columns(self, name: str, places: Any) -> FloatArray:
        """Return columns of an array of the outcomes, which needs rows to have any."""
        if not len(self):
            return np.zeros((0, *np.shape(places)))
        array: FloatArray = getattr(self.outcomes, name)[:, places]
        return array

    def _as_dict(self, table: Mapping[str, FloatArray], variables: Iterable[Any]) -> dict[str, Any]:
        """Return columns of the table, status and objective, and of variables, by name."""
        columns: dict[str, Any] = dict(table)
        columns["status"] = [status.name.lower() for status in self.status]
        columns["objective"] = self.objective
        for variable in variables:
            columns[str(getattr(variable, "name", variable))] = self.value(variable)
        return columns


def solve_rows(
    problems: Iterable[Problem] | Batch, options: Options, streams: Sequence[TextIO], began: float
) -> Outcomes:
    """Solve what the rows of a table have become, in what is left of the time limit.

    ``began`` is when the caller's call began, on the clock ``time.monotonic``.
    """
    if options.time_limit is not None:
        left = max(0.0, options.time_limit - (time.monotonic() - began))
        options = replace(options, time_limit=left)
    streams = checked_streams(streams)
    if options.cluster is None:
        return solve_many(problems, options, streams=streams)
    from gpu_bridge.batch.on_cluster import solve_many_on_cluster

    return solve_many_on_cluster(problems, options, streams=streams)


def columns_of(table: Any) -> list[tuple[Any, Any]]:
    """Return pairs of key and column: keys may be parameters, which no dictionary takes.

    Raises
    ------
    ProblemError
        The table is none of a mapping, a list of mappings and a DataFrame, or has no columns.
    """
    pairs = _pairs(table)
    if not pairs:
        raise ProblemError("The table has no columns; give it a parameter of the model.")
    return pairs


def _pairs(table: Any) -> list[tuple[Any, Any]]:
    if isinstance(table, Mapping):
        return list(table.items())
    if hasattr(table, "columns") and hasattr(table, "__getitem__"):
        return [(name, np.asarray(table[name])) for name in table.columns]
    if not isinstance(table, Sequence) or not all(isinstance(row, Mapping) for row in table):
        raise ProblemError(
            "The table must be a mapping from parameters to columns of values, a list of "
            f"mappings from parameters to values, or a pandas DataFrame, not a "
            f"{type(table).__name__}."
        )
    names = list(table[0]) if table else []
    rows = [{_plain(name): value for name, value in row.items()} for row in table]
    for k, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            raise ProblemError(
                f"Row {k} of the table names other parameters than the first; each row must "
                "name all of them."
            )
    return [(name, [row[_plain(name)] for row in rows]) for name in names]


def _plain(name: Any) -> Any:
    return name if isinstance(name, (str, tuple)) else id(name)


def numbers_of(column: Any, key: Any) -> FloatArray:
    """Return a column of a table as numbers, with the table's rows first.

    Raises
    ------
    ProblemError
        It does not hold numbers, or one is missing.
    """
    try:
        numbers = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ProblemError(f"The column of '{key}' does not hold numbers: {error}") from error
    if numbers.ndim == 0:
        raise ProblemError(f"The column of '{key}' must hold one number for each row.")
    missing = np.argwhere(np.isnan(numbers))
    if missing.size:
        raise ProblemError(
            f"Row {missing[0][0]} of the table has no number for '{key}' (NaN or None); give it "
            "one, or leave the row out."
        )
    return numbers


def length_of(columns: Iterable[FloatArray]) -> int:
    """Return how many rows the columns of a table have.

    Raises
    ------
    ProblemError
        They differ.
    """
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise ProblemError(f"The columns of the table differ in length: {sorted(lengths)}.")
    return lengths.pop()


# Packages without mutable parameters: a table says what of the model differs, by name and part.

OF_COLUMNS = {"cost": "cost", "lower": "lower", "upper": "upper"}
"""Parts of a variable, and the arrays of a batch that hold them."""

SIDE = "rhs"
"""The part of a constraint."""


def name_and_part(key: str) -> tuple[str, str]:
    """Return what a key such as ``capacity.rhs`` consists of; names may hold dots.

    Raises
    ------
    ProblemError
        It has no such form.
    """
    name, dot, part = key.rpartition(".")
    if not dot or part not in (SIDE, *OF_COLUMNS):
        raise ProblemError(
            f"The table has a column '{key}', which does not say what of the model it holds: name "
            f"a constraint as in 'NAME.{SIDE}', a variable as in 'NAME.cost', 'NAME.lower' or "
            "'NAME.upper', or a pair of both for a coefficient."
        )
    return name, part


def is_coefficient(key: Any) -> bool:
    """Whether a key is a pair of a constraint and a variable."""
    return isinstance(key, tuple) and len(key) == 2


def key_text(key: Any) -> str:
    """Return a column's key as text: ``row[column]`` for the pair of a coefficient."""
    if not is_coefficient(key):
        return str(key)
    row, column = (str(getattr(part, "name", part)) for part in key)
    return f"{row}[{column}]"


class TableData:
    """The arrays of a batch: those of a problem, with columns of a table in their places."""

    def __init__(self, problem: Problem, count: int) -> None:
        self.problem, self.count = problem, count
        self._arrays: dict[str, FloatArray] = {}

    def batch(self) -> Batch:
        """Return the batch; a problem for each row of the table."""
        return Batch.from_model_data(self.problem, **self._arrays)

    def put(self, part: str, places: IndexArray, values: FloatArray) -> None:
        """Let columns (p,) have costs or bounds ``values``, (K, p) or (K, 1)."""
        self._array(OF_COLUMNS[part])[:, places] = values

    def put_sides(self, rows: IndexArray, values: FloatArray, key: str) -> None:
        """Let rows (p,) have right-hand sides ``values``, (K, p) or (K, 1), where they have one.

        Raises
        ------
        ProblemError
            A row has none.
        """
        values = np.broadcast_to(values, (self.count, rows.size))
        free = np.ones(rows.size, dtype=np.bool_)
        for name in ("row_lower", "row_upper"):
            bounded = np.isfinite(getattr(self.problem, name)[rows])
            free &= ~bounded
            if bounded.any():
                self._array(name)[:, rows[bounded]] = values[:, bounded]
        if free.any():
            raise ProblemError(
                f"The table has a column '{key}', but the model has no finite right-hand side "
                "there, whose place the numbers could take; give it one."
            )

    def put_coefficients(
        self, rows: IndexArray, columns: IndexArray, values: FloatArray, key: str
    ) -> None:
        """Let coefficients of rows and columns (p,) be ``values``, (K, p) or (K, 1).

        Raises
        ------
        ProblemError
            The model lacks one of them.
        """
        places, found = places_of(self.problem.matrix, rows, columns)
        if not found.all():
            raise ProblemError(
                f"The table has a column '{key}', but the model has no coefficient there, or a "
                "zero, whose place the numbers could take; give it one that is not zero."
            )
        self._array("coefficients")[:, places] = values

    def _array(self, name: str) -> FloatArray:
        """Return an array of the batch in the model's sense, at first the problem's own."""
        if name not in self._arrays:
            problem = self.problem
            base = problem.matrix.data if name == "coefficients" else getattr(problem, name)
            sign = -1.0 if name == "cost" and problem.maximize else 1.0
            self._arrays[name] = np.tile(sign * base, (self.count, 1))
        return self._arrays[name]
