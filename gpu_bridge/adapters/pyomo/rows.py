"""All rows of a model as arrays: the plain ones read in bulk, the others compiled one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gpu_bridge.adapters.pyomo.collect import RowCollector
from gpu_bridge.adapters.pyomo.compiler import RowCompiler, describe
from gpu_bridge.adapters.pyomo.entries import Entries, IndexArray, read_terms, to_numbers, to_sides
from solvers.problem import FloatArray


@dataclass(frozen=True, eq=False)
class ModelRows:
    """Rows ``lower <= coefficients * variables + constant <= upper`` as parallel arrays.

    Parameters
    ----------
    rows : list
        Objective (or None) and constraint data, (m,).
    coefficients, variables, row_of
        The entries, (k,) each; a variable may appear more than once in a row.
    constants, lower, upper : (m,) arrays
    """

    rows: list[Any]
    coefficients: FloatArray
    variables: list[Any]
    row_of: IndexArray
    constants: FloatArray
    lower: FloatArray
    upper: FloatArray


def read_rows(collected: RowCollector) -> ModelRows:
    """Turn collected rows into arrays; raises what :func:`convert` says."""
    rows = collected.rows
    label = row_label(rows)
    added = read_terms(collected.terms, collected.lengths, np.arange(len(rows)), label)
    subtracted_rows = np.array(collected.subtracted_rows, dtype=np.int64)
    subtracted = read_terms(
        collected.subtracted_terms, collected.subtracted_lengths, subtracted_rows, label
    )
    strange = added.unusual | subtracted.unusual
    added.leave_out(strange)
    subtracted.leave_out(strange)
    constants = np.zeros(len(rows))
    for row, number in added.constants.items():
        constants[row] += number
    for row, number in subtracted.constants.items():
        constants[row] -= number
    compiled = _compile(collected, sorted({*collected.unusual, *strange}), constants, label)
    return ModelRows(
        rows=rows,
        coefficients=np.concatenate(
            (added.coefficients, -subtracted.coefficients, compiled.coefficients)
        ),
        variables=added.variables + subtracted.variables + compiled.variables,
        row_of=np.concatenate((added.rows, subtracted.rows, compiled.rows)),
        constants=constants,
        lower=to_sides(collected.lower, -np.inf, lambda k: f"The lower side of {label(k)}"),
        upper=to_sides(collected.upper, np.inf, lambda k: f"The upper side of {label(k)}"),
    )


def row_label(rows: list[Any]) -> Callable[[int], str]:
    """Return a function that names a row within a sentence."""

    def label(row: int) -> str:
        name = describe(rows[row])
        return name[0].lower() + name[1:]

    return label


def _compile(
    collected: RowCollector,
    unusual: list[int],
    constants: FloatArray,
    label: Callable[[int], str],
) -> Entries:
    """Compile the unusual rows; their sides and constants are stored where they belong."""
    if not unusual:
        return Entries(np.zeros(0), [], np.zeros(0, dtype=np.int64))
    compiler = RowCompiler()
    coefficients: list[Any] = []
    variables: list[Any] = []
    lengths: list[int] = []
    for row in unusual:
        form = compiler.compile(collected.rows[row])
        collected.lower[row] = form.lower
        collected.upper[row] = form.upper
        constants[row] = form.constant
        coefficients += form.coefficients
        variables += form.variables
        lengths.append(len(form.variables))
    row_of = np.repeat(np.array(unusual, dtype=np.int64), lengths)
    numbers = to_numbers(coefficients, lambda k: f"A coefficient of {label(int(row_of[k]))}")
    return Entries(numbers, variables, row_of)
