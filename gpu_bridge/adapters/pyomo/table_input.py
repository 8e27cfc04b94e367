"""A table of parameter values: from what a caller has to columns of numbers for each parameter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from pyomo.core.base import Any as AnyDomain
from pyomo.core.base import Reals
from pyomo.core.base.param import Param, ScalarParam

from gpu_bridge.adapters.pyomo.data_classes import BlockData, ParamData
from solvers.core.errors import ProblemError
from solvers.core.problem import FloatArray

SHOWN = 5
"""Indices of a parameter that an error names."""


@dataclass(frozen=True, eq=False)
class ParameterTable:
    """Mutable parameters (P of them) of a model and the values (K, P) they are to take."""

    parameters: list[Any]
    values: FloatArray

    def __len__(self) -> int:
        return len(self.values)

    def set_row(self, k: int) -> None:
        """Give the model's parameters the values of row k."""
        for parameter, value in zip(self.parameters, self.values[k].tolist(), strict=True):
            parameter.set_value(value)

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Put the parameters' values back at the end of the block."""
        before = [parameter._value for parameter in self.parameters]
        try:
            yield
        finally:
            for parameter, value in zip(self.parameters, before, strict=True):
                parameter._value = value

    def check_domains(self) -> None:
        """Refuse a value outside its parameter's domain.

        Raises
        ------
        ProblemError
            The parameter, the row and the value.
        """
        for place, parameter in enumerate(self.parameters):
            component = parameter.parent_component()
            if component.domain in (AnyDomain, Reals) and component._validate is None:
                continue
            column = self.values[:, place]
            for value in np.unique(column).tolist():
                try:
                    parameter.set_value(value)
                except ValueError as error:
                    row = int(np.flatnonzero(column == value)[0])
                    raise ProblemError(
                        f"Row {row} of the table gives '{parameter.name}' the value {value:g}, "
                        f"which the parameter does not take: {error}"
                    ) from error


def read_table(model: Any, table: Any) -> ParameterTable:
    """Read a table in any of the forms that :func:`gpu_bridge.solve_table` takes.

    Raises
    ------
    ProblemError
        A parameter is unknown or not mutable, columns differ in length, or a value is no number.
    """
    if not isinstance(model, BlockData):
        raise ProblemError(
            f"solve_table() takes a Pyomo model and a table; a {type(model).__name__} was given "
            "for the model."
        )
    parameters: list[Any] = []
    values: list[FloatArray] = []
    for key, column in _columns(table):
        if isinstance(column, Mapping):
            component = _find(model, key)
            for index, inner in column.items():
                parameters.append(_single(_member(component, index), key))
                values.append(_numbers(inner, key))
        else:
            parameters.append(_single(_find(model, key), key))
            values.append(_numbers(column, key))
    if not parameters:
        raise ProblemError("The table has no columns; give it a parameter of the model.")
    lengths = {len(column) for column in values}
    if len(lengths) > 1:
        raise ProblemError(f"The columns of the table differ in length: {sorted(lengths)}.")
    if len({id(parameter) for parameter in parameters}) < len(parameters):
        raise ProblemError("A parameter stands in the table twice; leave one of its columns out.")
    return ParameterTable(parameters, np.column_stack(values))


def _columns(table: Any) -> list[tuple[Any, Any]]:
    """Return pairs of parameter and column: parameters are not hashable, so no dictionary."""
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
    rows = [_by_key(row) for row in table]
    for k, row in enumerate(rows):
        if row.keys() != rows[0].keys():
            raise ProblemError(
                f"Row {k} of the table names other parameters than the first; each row must "
                "name all of them."
            )
    return [(name, [row[_key(name)] for row in rows]) for name in names]


def _by_key(row: Mapping[Any, Any]) -> dict[Any, Any]:
    return {_key(name): value for name, value in row.items()}


def _key(name: Any) -> Any:
    return name if isinstance(name, str) else id(name)


def _find(model: Any, key: Any) -> Any:
    if isinstance(key, (ParamData, Param)):
        return key
    found = model.find_component(str(key))
    if found is None or not isinstance(found, (ParamData, Param)):
        raise ProblemError(f"The model '{model.name}' has no parameter '{key}'.")
    return found


def _member(component: Any, index: Any) -> Any:
    """Return the parameter at an index of an indexed one."""
    try:
        return component[index]
    except KeyError as error:
        known = f"known are {', '.join(map(repr, list(component.keys())[:SHOWN]))}"
        if not component.is_indexed():
            known = "it is not indexed: give its column alone"
        raise ProblemError(
            f"The parameter '{component.name}' has no index {index!r}; {known}."
        ) from error


def _single(parameter: Any, key: Any) -> Any:
    """Return one mutable parameter, which can be given another value."""
    if isinstance(parameter, (ParamData, ScalarParam)) and getattr(
        parameter.parent_component(), "mutable", False
    ):
        return parameter
    name = getattr(parameter, "name", key)
    if isinstance(parameter, Param) and parameter.is_indexed() and parameter.mutable:
        raise ProblemError(
            f"'{name}' is indexed: name its members, such as '{name}[1]', or give a mapping from "
            "its indices to columns."
        )
    raise ProblemError(
        f"'{name}' is not a mutable parameter; declare it with Param(..., mutable=True)."
    )


def _numbers(column: Any, key: Any) -> FloatArray:
    try:
        numbers = np.asarray(column, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ProblemError(f"The column of '{key}' does not hold numbers: {error}") from error
    if numbers.ndim != 1:
        raise ProblemError(f"The column of '{key}' must hold one number for each row.")
    missing = np.flatnonzero(np.isnan(numbers))
    if missing.size:
        raise ProblemError(
            f"Row {missing[0]} of the table has no number for '{key}' (NaN or None); give it one, "
            "or leave the row out."
        )
    return numbers
