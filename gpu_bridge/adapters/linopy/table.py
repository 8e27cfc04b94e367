"""Solve a linopy model for each row of a table of sides, bounds, costs and coefficients."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, TextIO

import numpy as np
import xarray

from gpu_bridge.adapters.arrays import IndexArray
from gpu_bridge.adapters.linopy.answer import linopy_status
from gpu_bridge.adapters.linopy.model import read_model
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

ROW = "row"
"""The dimension of a table's rows, where none of its columns names it."""


class LinopyTableResults(TableResults):
    """The answers for the rows of a table, as DataArrays whose first dimension is the table's.

    Entries that are masked are NaN.
    """

    def __init__(self, places: Places, rows: xarray.DataArray, outcomes: Outcomes) -> None:
        super().__init__(outcomes)
        self._places = places
        self._rows = rows

    def _of(self, name: str, part: Any) -> xarray.DataArray:
        places = self._places
        of = places.of_constraint if name == "row_dual" else places.of_variable
        return self._array(name, *of(part))

    def load(self, k: int) -> None:
        """Give the model the values, duals and status of row k; its data stay its own."""
        outcome, model = self._with_point(k), self._places.model
        row = {self._rows.dims[0]: k}
        for name in model.variables:
            model.variables[name].solution = self.value(name).isel(row, drop=True)
        if outcome.problem is not None and not outcome.problem.is_mip:
            for name in model.constraints:
                model.constraints[name].dual = self.dual(name).isel(row, drop=True)
        model.objective.set_value(outcome.objective)
        status = linopy_status(outcome, has_values=True)
        model.status = status.status.value
        model.termination_condition = status.termination_condition.value

    def _array(self, name: str, labels: xarray.DataArray, places: IndexArray) -> xarray.DataArray:
        """Return an array of the outcomes as that of a component, whose places may be -1."""
        known = places >= 0
        values = np.full((len(self), places.size), np.nan)
        values[:, known] = self._columns(name, places[known])
        dims = (self._rows.dims[0], *labels.dims)
        coords = {**self._rows.coords, **labels.coords}
        return xarray.DataArray(values.reshape(len(self), *labels.shape), coords, dims)


class Places:
    """Where a model's variables and constraints stand in its arrays."""

    def __init__(self, model: Any) -> None:
        self.model = model
        matrices = model.matrices
        self._columns = _positions(matrices.vlabels)
        self._rows = _positions(matrices.clabels)

    def of_variable(self, wanted: Any) -> tuple[xarray.DataArray, IndexArray]:
        """Return the labels of a variable, and the columns of its entries, -1 where masked."""
        return self._of(wanted, self.model.variables, self._columns, "variable")

    def of_constraint(self, wanted: Any) -> tuple[xarray.DataArray, IndexArray]:
        """Return the labels of a constraint, and the rows of its entries, -1 where masked."""
        return self._of(wanted, self.model.constraints, self._rows, "constraint")

    def _of(
        self, wanted: Any, known: Any, positions: IndexArray, what: str
    ) -> tuple[xarray.DataArray, IndexArray]:
        name = wanted if isinstance(wanted, str) else getattr(wanted, "name", wanted)
        if name not in known:
            raise ProblemError(
                f"The model has no {what} '{name}'; there are: {', '.join(map(str, known))}."
            )
        labels = known[name].labels
        numbers = labels.values.ravel()
        last = positions.size - 1  # where -1 stands, also for labels of what is left out
        return labels, positions[np.where(numbers < 0, last, np.minimum(numbers, last))]


def solve_linopy_table(
    model: Any, table: Any, *, streams: Sequence[TextIO] = (), **options: Any
) -> LinopyTableResults:
    """Solve a linopy model for each row of a table; see :func:`gpu_bridge.solve_table`."""
    began = time.monotonic()
    checked = make_options(options)
    _check_parts(model)
    problem = read_model(model).problem()
    _check_scaling(model)
    places = Places(model)
    rows = xarray.DataArray(np.zeros(0), dims=ROW)
    columns: list[tuple[_Part, FloatArray]] = []
    for key, column in columns_of(table):
        part = _Part(places, key)
        if not hasattr(column, "dims") and hasattr(column, "iloc"):  # of pandas
            column = xarray.DataArray(column)
        if hasattr(column, "dims"):
            column, rows = part.aligned(column), _row_labels(column, part.labels, rows, str(part))
        columns.append((part, part.spread(numbers_of(column, str(part)))))
    count = length_of(values for _, values in columns)
    if rows.size != count:
        rows = xarray.DataArray(np.zeros(count), dims=ROW)
    data = TableData(problem, count)
    for part, values in columns:
        part.put(data, values)
    outcomes = solve_rows(data.batch() if count else [], checked, streams, began)
    return LinopyTableResults(places, rows, outcomes)


class _Part:
    """What a column of the table holds: a part of a variable or constraint, or coefficients."""

    def __init__(self, places: Places, key: Any) -> None:
        self._key = key
        self._variable: IndexArray | None = None
        if is_coefficient(key):
            self.labels, self._places = places.of_constraint(key[0])
            self._variable = places.of_variable(key[1])[1]
            return
        name, self._part = name_and_part(str(key))
        of = places.of_constraint if self._part == SIDE else places.of_variable
        self.labels, self._places = of(name)

    def __str__(self) -> str:
        return key_text(self._key)

    def aligned(self, column: xarray.DataArray) -> xarray.DataArray:
        """Return a column with the dimensions of the part, in its order, after the table's own."""
        own = [dim for dim in column.dims if dim not in self.labels.dims]
        if len(own) != 1:
            raise ProblemError(
                f"The column of '{self}' has the dimensions {tuple(column.dims)}; it needs one for "
                f"the rows of the table, and at most {tuple(self.labels.dims)} besides."
            )
        shared = {
            dim: self.labels.indexes[dim] for dim in column.dims if dim in self.labels.indexes
        }
        whole = column.reindex(shared).broadcast_like(self.labels)
        return whole.transpose(own[0], *self.labels.dims)

    def spread(self, values: FloatArray) -> FloatArray:
        """Return numbers (K,), or (K, ...) in the shape of the part, as (K, 1) or (K, p)."""
        if values.ndim > 1 and values.shape[1:] != self.labels.shape:
            raise ProblemError(
                f"The column of '{self}' has the shape {values.shape[1:]} in each row of the "
                f"table; it must be {self.labels.shape}."
            )
        return values.reshape(len(values), int(np.prod(values.shape[1:])))

    def put(self, data: TableData, values: FloatArray) -> None:
        """Put a column (K, 1) or (K, p) in its place."""
        known = self._places >= 0
        values = values if values.shape[1] == 1 else values[:, known]
        if self._variable is not None:
            self._put_coefficients(data, self._places[known], values)
        elif self._part == SIDE:
            data.put_sides(self._places[known], values, str(self))
        else:
            data.put(self._part, self._places[known], values)

    def _put_coefficients(self, data: TableData, rows: IndexArray, values: FloatArray) -> None:
        """Put coefficients of a variable that stands at most once in each row of a constraint."""
        assert self._variable is not None
        A = data.problem.matrix[rows]
        height = np.repeat(np.arange(rows.size), np.diff(A.indptr))
        chosen = np.isin(A.indices, self._variable)
        of, columns = height[chosen], A.indices[chosen].astype(np.int64)
        if np.unique(of).size != of.size:
            raise ProblemError(
                f"The table has a column '{self}', but the variable stands more than once in a row "
                "of that constraint, so a number would not say which coefficient is meant."
            )
        missing = np.setdiff1d(np.arange(rows.size), of)
        if missing.size:  # which has words for it
            data.put_coefficients(rows[missing[:1]], np.array([-1]), values[:, :1], str(self))
        values = values if values.shape[1] == 1 else values[:, of]
        data.put_coefficients(rows[of], columns, values, str(self))


def _row_labels(
    column: xarray.DataArray, labels: xarray.DataArray, known: xarray.DataArray, key: str
) -> xarray.DataArray:
    """Return the table's own dimension of a column with its coordinate, if it has one.

    Raises
    ------
    ProblemError
        An earlier column has another.
    """
    (own,) = (dim for dim in column.dims if dim not in labels.dims)
    if known.size and known.dims[0] != own:
        raise ProblemError(
            f"The column of '{key}' has the dimension '{own}' for the rows of the table, an "
            f"earlier one '{known.dims[0]}'; give them the same."
        )
    coords: Mapping[Any, Any] = {own: column.coords[own]} if own in column.coords else {}
    return xarray.DataArray(np.zeros(column.sizes[own]), coords, [own])


def _positions(labels: IndexArray) -> IndexArray:
    """Return the place of each label among those given, -1 for others."""
    places = np.full(int(labels.max(initial=-1)) + 2, -1, dtype=np.int64)
    places[labels] = np.arange(labels.size)
    return places


def _check_parts(model: Any) -> None:
    """Refuse what a linear model lacks, or has to be rewritten in a way that no table follows.

    Raises
    ------
    UnsupportedModelError
        What the model has. The oldest linopy knows none of it but quadratic objectives.
    """
    variables = model.variables
    present = {
        "a quadratic objective": model.is_quadratic,
        "semi-continuous variables": len(getattr(variables, "semi_continuous", ())),
        "special ordered sets": len(getattr(variables, "sos", ())),
        "indicator constraints": len(getattr(model, "indicator_constraints", ())),
    }
    for what, there in present.items():
        if there:
            raise UnsupportedModelError(
                f"The model has {what}, which a table cannot be solved with; rewrite them as "
                "linear constraints."
            )


def _check_scaling(model: Any) -> None:
    """Refuse factors by which linopy scales what solvers get, and the table would not.

    Raises
    ------
    ProblemError
        Which of the model's parts has one.
    """
    parts = {**dict(model.variables.items()), **dict(model.constraints.items())}
    for name, part in {**parts, "objective": model.objective}.items():
        if np.any(np.asarray(getattr(part, "scaling", 1.0)) != 1.0):
            raise ProblemError(
                f"'{name}' is scaled by linopy, which a table would have to be, too; take the "
                "scaling away and leave it to the solver."
            )
