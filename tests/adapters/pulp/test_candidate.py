"""The least violated point, where a search has found no feasible one, by PuLP's variables."""

from __future__ import annotations

import json

import pulp

import gpu_bridge
from gpu_bridge.files.solution import outcome_record


def even_numbers(low: float, high: float) -> tuple[pulp.LpProblem, list[pulp.LpVariable]]:
    """Twice a sum of binaries between two sides."""
    model = pulp.LpProblem("even", pulp.LpMinimize)
    x = [model.add_variable(f"x{j}", cat="Binary") for j in range(40)]
    model += pulp.lpSum([2 * one for one in x]) >= low
    model += pulp.lpSum([2 * one for one in x]) <= high
    return model, x


def alone() -> gpu_bridge.GPUHEUR:
    return gpu_bridge.GPUHEUR(
        msg=False,
        method="mip",
        heuristics_only=True,
        deterministic=True,
        work_limit=0.01,
        presolve=False,
        device="cpu",
    )


def test_it_is_there_by_variable_and_by_name_and_not_in_the_model() -> None:
    model, x = even_numbers(30.5, 31.5)
    solver = alone()
    assert solver.candidate is None
    before = str([one.varValue for one in x])
    model.solve(solver)
    candidate = solver.candidate
    assert candidate is not None
    assert sum(candidate[one] for one in x) == sum(candidate.values())
    assert sum(candidate.values()) in (15.0, 16.0)
    assert str([one.varValue for one in x]) == before
    record = json.loads(json.dumps(outcome_record(solver.outcome)))
    assert record["candidate"] == dict(candidate)
    assert record["x"] is None


def test_with_a_feasible_point_there_is_none() -> None:
    model, _ = even_numbers(30.0, 31.5)
    solver = alone()
    model.solve(solver)
    assert solver.candidate is None
