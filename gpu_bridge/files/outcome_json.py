"""Everything an outcome holds, as plain dictionaries, lists, numbers and texts."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gpu_bridge.outcome import Outcome
from solvers.core.outcome import BasisStatus
from solvers.core.problem import Problem


def outcome_record(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome for JSON: vectors by name, enumerations by their lower-case names.

    What is not finite (an unknown bound, an undefined residual) becomes None.
    """
    problem = outcome.problem
    columns = [] if problem is None else unique_names(problem, "column")
    rows = [] if problem is None else unique_names(problem, "row")
    record = {
        "model": "" if problem is None else problem.name,
        "sense": "maximize" if problem is not None and problem.maximize else "minimize",
        "status": outcome.solution_status.name.lower(),
        "status_text": outcome.answer,
        "stop_reason": outcome.stop_reason.name.lower(),
        "stop_text": str(outcome.stop_reason),
        "message": outcome.message,
        "objective": outcome.objective,
        "bound": outcome.bound,
        "gap": outcome.gap,
        "engine": outcome.engine,
        "device": outcome.device,
        "seconds": outcome.seconds,
        "tolerance": outcome.tolerance,
        "residuals": dataclasses.asdict(outcome.residuals),
        "statistics": dict(outcome.statistics),
        "x": _named(columns, outcome.x),
        "candidate": _named(columns, outcome.candidate),
        "reduced_cost": _named(columns, outcome.reduced_cost),
        "row_activity": _named(rows, outcome.row_activity),
        "row_dual": _named(rows, outcome.row_dual),
        "basis": basis_record(outcome, columns, rows),
        "primal_ray": _named(columns, outcome.primal_ray),
        "dual_ray": _named(rows, outcome.dual_ray),
        "conflict": _conflict(outcome, columns, rows),
        "relaxation": None if outcome.relaxation is None else list(outcome.relaxation.lines),
        "history": [dataclasses.asdict(event) for event in outcome.history],
        "iterations": [
            {"seconds": moment.seconds, "count": moment.count, **moment.figures}
            for moment in outcome.iterations
        ],
        "log": outcome.log,
        "pool": [
            {
                "objective": entry.objective,
                "seconds": entry.seconds,
                "source": entry.source,
                "x": _named(columns, entry.x),
            }
            for entry in outcome.pool
        ],
    }
    return {key: _finite(value) for key, value in record.items()}


def unique_names(problem: Problem, axis: str) -> list[str]:
    """Return the names of the columns or rows; a repeated one gets its number behind a '#'."""
    size = problem.num_columns if axis == "column" else problem.num_rows
    label = problem.column_label if axis == "column" else problem.row_label
    names = [label(k) for k in range(size)]
    if len(set(names)) == size:
        return names
    seen: set[str] = set()
    for k, name in enumerate(names):
        names[k] = f"{name}#{k}" if name in seen else name
        seen.add(name)
    return names


def _named(names: Sequence[str], values: npt.NDArray[Any] | None) -> dict[str, float] | None:
    if values is None or len(names) != values.size:
        return None
    return dict(zip(names, values.tolist(), strict=True))


def basis_record(
    outcome: Outcome, columns: Sequence[str], rows: Sequence[str]
) -> dict[str, Any] | None:
    """Return where columns and rows stand in the basis, in words and by their names."""
    if outcome.basis is None:
        return None
    words = {int(status): status.name.lower() for status in BasisStatus}
    return {
        "columns": dict(
            zip(columns, map(words.get, outcome.basis.column_status.tolist()), strict=True)
        ),
        "rows": dict(zip(rows, map(words.get, outcome.basis.row_status.tolist()), strict=True)),
    }


def _conflict(
    outcome: Outcome, columns: Sequence[str], rows: Sequence[str]
) -> dict[str, Any] | None:
    conflict = outcome.conflict
    if conflict is None:
        return None
    return {
        "constraints": [rows[i] for i in conflict.rows],
        "variables": [columns[j] for j in conflict.columns],
        "lines": list(conflict.lines),
        "minimal": conflict.minimal,
    }


def _finite(value: Any) -> Any:
    """Return the same with plain Python numbers, None for those that are not finite."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, np.generic):
        return _finite(value.item())
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return value
