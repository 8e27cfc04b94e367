"""From a model and a table to a batch, the quick way: arithmetic on whole columns of the table.

The model is converted once. Then only the constraints, bounds and objective that mention a
parameter of the table are read again, their coefficients and sides evaluated for all rows of the
table at once. What this way cannot do exactly it does not do: :func:`read_batch` returns None,
and the caller converts the model for each row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from pyomo.common.numeric_types import native_numeric_types, value
from pyomo.core.base import Any as AnyDomain
from pyomo.core.base import Reals
from pyomo.core.base.param import Param, ScalarParam
from pyomo.core.expr.visitor import identify_mutable_parameters

from gpu_bridge.adapters.pyomo.collect import RowCollector, Scaled, factor_pairs, is_template
from gpu_bridge.adapters.pyomo.components import active_constraints, active_sos
from gpu_bridge.adapters.pyomo.convert import ConvertedModel, convert
from gpu_bridge.adapters.pyomo.interface import BlockData, ParamData, VarData
from gpu_bridge.adapters.table import columns_of, length_of, numbers_of
from gpu_bridge.batch.batch import Batch
from solvers.core.errors import ProblemError
from solvers.core.problem import FloatArray, Problem

# A table of parameter values: from what a caller has to columns of numbers for each parameter.


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
        for parameter, given in zip(self.parameters, self.values[k].tolist(), strict=True):
            parameter.set_value(given)

    @contextmanager
    def restored(self) -> Iterator[None]:
        """Put the parameters' values back at the end of the block."""
        before = [parameter._value for parameter in self.parameters]
        try:
            yield
        finally:
            for parameter, kept in zip(self.parameters, before, strict=True):
                parameter._value = kept

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
            for given in np.unique(column).tolist():
                try:
                    parameter.set_value(given)
                except ValueError as error:
                    row = int(np.flatnonzero(column == given)[0])
                    raise ProblemError(
                        f"Row {row} of the table gives '{parameter.name}' the value {given:g}, "
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
            f"solve_table() takes a model of Pyomo, PuLP or linopy and a table; a "
            f"{type(model).__name__} was given for the model."
        )
    parameters: list[Any] = []
    values: list[FloatArray] = []
    for key, column in columns_of(table):
        if isinstance(column, Mapping):
            component = _find(model, key)
            for index, inner in column.items():
                parameters.append(_single(_member(component, index), key))
                values.append(_numbers(inner, key))
        else:
            parameters.append(_single(_find(model, key), key))
            values.append(_numbers(column, key))
    length_of(values)
    if len({id(parameter) for parameter in parameters}) < len(parameters):
        raise ProblemError("A parameter stands in the table twice; leave one of its columns out.")
    return ParameterTable(parameters, np.column_stack(values))


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
    numbers = numbers_of(column, key)
    if numbers.ndim != 1:
        raise ProblemError(f"The column of '{key}' must hold one number for each row.")
    return numbers


AGREEMENT = 1e-12
"""How well columns and a conversion of the last row have to agree, relative to max(1, size)."""


class NotPossibleError(Exception):
    """The quick way does not lead to this batch."""


def read_batch(model: Any, table: ParameterTable, base: ConvertedModel) -> Batch | None:
    """Return the batch, or None where every row has to be converted.

    Parameters
    ----------
    table : ParameterTable
        With at least one row; its parameters are changed.
    base : ConvertedModel
        The model converted at the table's first row.
    """
    try:
        with np.errstate(all="ignore"):
            batch = _Reader(model, table, base).batch()
        table.set_row(len(table) - 1)
        last = convert(model)
    except (NotPossibleError, ProblemError):
        return None
    same_columns = [id(v) for v in last.columns] == [id(v) for v in base.columns]
    if not same_columns or not _agree(batch.member_or_crossing(len(table) - 1), last.problem):
        return None
    return batch


def _agree(ours: Problem | Exception, theirs: Problem) -> bool:
    """Whether two problems are the same up to rounding."""
    if not isinstance(ours, Problem) or ours.matrix.shape != theirs.matrix.shape:
        return False
    difference = abs(ours.matrix - theirs.matrix)
    largest = float(abs(theirs.matrix).max()) if theirs.matrix.nnz else 0.0
    if difference.nnz and difference.max() > AGREEMENT * max(1.0, largest):
        return False
    pairs: list[tuple[Any, Any]] = [(ours.offset, theirs.offset)]
    for name in ("cost", "lower", "upper", "row_lower", "row_upper"):
        pairs.append((getattr(ours, name), getattr(theirs, name)))
    return all(np.allclose(a, b, rtol=AGREEMENT, atol=AGREEMENT) for a, b in pairs)


class _Reader:
    """Reads what depends on the table; starts from arrays of the base, repeated as needed."""

    def __init__(self, model: Any, table: ParameterTable, base: ConvertedModel) -> None:
        self.model, self.table, self.base = model, table, base
        self.column_of = {
            id(parameter): table.values[:, place]
            for place, parameter in enumerate(table.parameters)
        }
        self.row_number = {id(row): i for i, row in enumerate(base.rows)}
        self.column_number = {id(variable): j for j, variable in enumerate(base.columns)}
        self.data: dict[str, FloatArray] = {}

    def batch(self) -> Batch:
        problem = self.base.problem
        sizes = (problem.num_rows, problem.num_columns)
        if active_sos(self.model) or sizes != (len(self.base.rows), len(self.base.columns)):
            raise NotPossibleError
        collected = RowCollector()
        objective = self.base.objective
        reread = objective is not None and self._mentioned(objective)
        collected.add_objective(objective if reread else None)
        for constraints in active_constraints(self.model):
            collected.add_constraints(
                row for row in constraints if row._active and self._mentioned(row)
            )
        if collected.unusual:
            raise NotPossibleError
        self._read_rows(collected, reread)
        self._read_bounds()
        if not self.data:
            self.data["offset"] = np.full(len(self.table), problem.offset)
        return Batch(problem, **self.data)

    def _mentioned(self, row: Any) -> bool:
        """Whether a constraint or objective holds a parameter of the table."""
        if is_template(row):
            raise NotPossibleError
        expression = row.expr
        if expression is None or expression.__class__ in native_numeric_types:
            return False
        return any(id(p) in self.column_of for p in identify_mutable_parameters(expression))

    def _array(self, name: str) -> FloatArray:
        """Return an array of the batch, at first the base's for all rows of the table."""
        if name not in self.data:
            problem = self.base.problem
            base = problem.matrix.data if name == "coefficients" else getattr(problem, name)
            shape = (len(self.table), *np.shape(base))
            self.data[name] = np.array(np.broadcast_to(base, shape), dtype=np.float64)
        return self.data[name]

    def _read_rows(self, collected: RowCollector, has_objective: bool) -> None:
        count = len(collected.rows)
        coefficients: list[dict[int, Any]] = [{} for _ in range(count)]
        constants: list[Any] = [0.0] * count
        for sign, rows, terms, lengths in (
            (1.0, range(count), collected.terms, collected.lengths),
            (
                *(-1.0, collected.subtracted_rows),
                *(collected.subtracted_terms, collected.subtracted_lengths),
            ),
        ):
            pairs, counts, _ = factor_pairs(terms, lengths)
            of_rows = np.repeat(np.array(rows, dtype=np.int64), counts).tolist()
            for row, (factor, variable) in zip(of_rows, pairs, strict=True):
                amount, known = sign * self._evaluate(factor), coefficients[row]
                if isinstance(variable, VarData) and not variable.fixed:
                    known[id(variable)] = known.get(id(variable), 0.0) + amount
                elif isinstance(variable, VarData) and variable.value is None:
                    raise NotPossibleError
                else:
                    fixed = isinstance(variable, VarData)
                    value_of = variable.value if fixed else self._evaluate(variable)
                    constants[row] = constants[row] + amount * value_of
        if has_objective:
            self._put_objective(coefficients[0], constants[0])
        for number in range(1, count):
            sides = collected.lower[number], collected.upper[number]
            self._put_row(collected.rows[number], coefficients[number], constants[number], *sides)

    def _put_objective(self, coefficients: dict[int, Any], constant: Any) -> None:
        sign = -1.0 if self.base.problem.maximize else 1.0
        cost = self._array("cost")
        cost[:] = 0.0
        for key, amount in coefficients.items():
            if key in self.column_number:
                cost[:, self.column_number[key]] = sign * amount
            elif np.any(amount != 0.0):
                raise NotPossibleError
        self._array("offset")[:] = sign * constant

    def _put_row(
        self, row: Any, coefficients: dict[int, Any], constant: Any, low: Any, high: Any
    ) -> None:
        i = self.row_number.get(id(row))
        if i is None:  # without free variables or sides at the first row of the table
            raise NotPossibleError
        self._array("row_lower")[:, i] = self._side(low, -np.inf) - constant
        self._array("row_upper")[:, i] = self._side(high, np.inf) - constant
        A = self.base.problem.matrix
        first, last = int(A.indptr[i]), int(A.indptr[i + 1])
        place = {int(j): first + k for k, j in enumerate(A.indices[first:last])}
        for key, amount in coefficients.items():
            entry = place.get(self.column_number.get(key, -1))
            if entry is not None:
                base = A.data[entry]
                if "coefficients" in self.data or np.any(amount != base):
                    self._array("coefficients")[:, entry] = amount
            elif np.any(amount != 0.0):
                raise NotPossibleError

    def _read_bounds(self) -> None:
        for j, variable in enumerate(self.base.columns):
            for name, bound in (("lower", variable._lb), ("upper", variable._ub)):
                if bound is None or bound.__class__ in native_numeric_types:
                    continue
                if not any(id(p) in self.column_of for p in identify_mutable_parameters(bound)):
                    continue
                if variable.is_integer():
                    raise NotPossibleError
                low, high = variable.domain.bounds()
                values = self._evaluate(bound)
                if name == "lower" and low is not None:
                    values = np.maximum(values, low)
                if name == "upper" and high is not None:
                    values = np.minimum(values, high)
                self._array(name)[:, j] = values

    def _side(self, side: Any, infinite: float) -> Any:
        return infinite if side is None else self._evaluate(side)

    def _evaluate(self, expression: Any) -> Any:
        """Return an expression without variables, a number or one for each row of the table."""
        if expression.__class__ in native_numeric_types:
            return float(expression)
        if expression.__class__ is Scaled:
            return expression.by * self._evaluate(expression.item)
        if isinstance(expression, ParamData):
            column = self.column_of.get(id(expression))
            return float(value(expression)) if column is None else column
        if isinstance(expression, VarData):
            raise NotPossibleError
        if not expression.is_expression_type():
            return float(value(expression))
        arguments = [self._evaluate(argument) for argument in expression.args]
        try:
            found = expression._apply_operation(arguments)
        except (TypeError, ValueError, ArithmeticError, AttributeError) as error:
            raise NotPossibleError from error
        if not np.isfinite(found).all():
            raise NotPossibleError  # the conversion of that row has the words for it
        return found
