"""The same model through Pyomo's own compiler, as the reference for our conversion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from pyomo.repn.plugins.standard_form import LinearStandardFormCompiler

from gpu_bridge.adapters.pyomo.convert import ConvertedModel


@dataclass
class Reference:
    """Rows by constraint name as ({variable name: coefficient}, lower, upper), and the cost."""

    rows: dict[str, tuple[dict[str, float], float, float]]
    cost: dict[str, float]
    offset: float
    bounds: dict[str, tuple[float, float]]
    contradiction: bool = False


def by_compiler(model: Any) -> Reference:
    form = LinearStandardFormCompiler().write(model, mixed_form=True, set_sense=None)
    names = [variable.name for variable in form.columns]
    A = form.A.toarray()
    rows: dict[str, tuple[dict[str, float], float, float]] = {}
    for i, (constraint, kind) in enumerate(form.rows):
        side = float(form.rhs[i])
        lower = side if kind in (0, -1) else -np.inf
        upper = side if kind in (0, 1) else np.inf
        if constraint.name in rows:  # the second half of a ranged row
            _, low, high = rows[constraint.name]
            lower, upper = max(low, lower), min(high, upper)
        rows[constraint.name] = (_nonzeros(names, A[i]), lower, upper)
    has_objective = form.c.shape[0] > 0
    return Reference(
        rows={name: row for name, row in rows.items() if row[0] and np.isfinite(row[1:]).any()},
        cost=_nonzeros(names, form.c.toarray()[0]) if has_objective else {},
        offset=float(form.c_offset[0]) if has_objective else 0.0,
        bounds={variable.name: _bounds(variable) for variable in form.columns},
        contradiction=any(not row[0] and not row[1] <= 0 <= row[2] for row in rows.values()),
    )


def by_bridge(converted: ConvertedModel) -> Reference:
    problem = converted.problem
    names = [variable.name for variable in converted.columns]
    A = problem.matrix.toarray()
    sign = -1.0 if problem.maximize else 1.0
    return Reference(
        rows={
            constraint.name: (
                _nonzeros(names, A[i]),
                float(problem.row_lower[i]),
                float(problem.row_upper[i]),
            )
            for i, constraint in enumerate(converted.rows)
        },
        cost=_nonzeros(names, sign * problem.cost),
        offset=sign * problem.offset,
        bounds={
            name: (float(low), float(high))
            for name, low, high in zip(names, problem.lower, problem.upper, strict=True)
        },
    )


def assert_same(ours: Reference, theirs: Reference) -> None:
    assert set(ours.rows) == set(theirs.rows)
    for name, (terms, low, high) in theirs.rows.items():
        assert _close(ours.rows[name][0], terms), name
        assert np.allclose(ours.rows[name][1:], (low, high), rtol=1e-12, atol=1e-12), name
    assert _close(ours.cost, theirs.cost)
    assert np.isclose(ours.offset, theirs.offset, rtol=1e-12, atol=1e-12)
    assert ours.bounds == theirs.bounds


def _nonzeros(names: list[str], values: Any) -> dict[str, float]:
    return {name: float(v) for name, v in zip(names, values, strict=True) if v != 0}


def _close(ours: dict[str, float], theirs: dict[str, float]) -> bool:
    keys = sorted(theirs)
    return sorted(ours) == keys and np.allclose(
        [ours[k] for k in keys], [theirs[k] for k in keys], rtol=1e-12, atol=1e-12
    )


def _bounds(variable: Any) -> tuple[float, float]:
    low, high = variable.bounds
    return (-np.inf if low is None else float(low)), (np.inf if high is None else float(high))
