"""solve_many(method='simplex'): batches to vertices, verified, and the rest one by one."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpu_bridge
from gpu_bridge import Batch, OptionError, Problem, SolutionStatus, StopReason
from solvers.core.outcome import Basis, BasisStatus, Start
from solvers.simplex.batch import Ending
from tests.batch.families import boxed_family, family, infeasible_and_unbounded

CPU = {"method": "simplex", "device": "cpu", "threads": 1}


def together(batch, **more):
    return gpu_bridge.solve_many(batch, **{**CPU, **more})


def singly(batch):
    return [gpu_bridge.solve(batch.member(k), explain=False) for k in range(len(batch))]


@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 4),
    rows=st.integers(1, 9),
    columns=st.integers(1, 12),
    varying=st.sets(st.sampled_from(["cost", "coefficients", "upper", "row_lower", "offset"])),
)
@settings(max_examples=30, deadline=None)
def test_random_families_have_the_answers_of_single_solves(seed, count, rows, columns, varying):
    batch = family(seed, count, rows, columns, sorted(varying | {"lower"}), density=0.6)
    found, expected = together(batch), singly(batch)
    assert found.statuses == [outcome.solution_status for outcome in expected]
    objectives = [outcome.objective for outcome in expected]
    np.testing.assert_allclose(found.objectives, objectives, rtol=1e-8, atol=1e-8)


def test_every_ending_is_proven_by_the_engine_itself():
    found = together(infeasible_and_unbounded())
    assert found.statuses == [
        SolutionStatus.OPTIMAL,
        SolutionStatus.INFEASIBLE,
        SolutionStatus.UNBOUNDED,
        SolutionStatus.INFEASIBLE,
    ]
    assert {outcome.engine for outcome in found} == {"simplex"}
    assert found[1].dual_ray is not None
    assert found[2].primal_ray is not None


def test_answers_have_bases_to_start_from():
    batch = boxed_family(3, 20, 12, 20, ["row_upper"])
    cold = together(batch)
    basis = cold[0].basis
    assert basis is not None
    assert (
        np.count_nonzero(basis.column_status == BasisStatus.BASIC)
        + np.count_nonzero(basis.row_status == BasisStatus.BASIC)
        == batch.problem.num_rows
    )
    warm = together(batch, start=Start(basis=basis))
    np.testing.assert_allclose(warm.objectives, cold.objectives, rtol=1e-10)
    assert warm.iterations.sum() < cold.iterations.sum()


def test_a_basis_of_the_wrong_size_is_refused():
    batch = boxed_family(3, 2, 4, 5, ["cost"])
    wrong = Basis(np.zeros(4, dtype=np.int8), np.ones(4, dtype=np.int8))
    with pytest.raises(OptionError, match=r"must be \(5,\) for the columns and \(4,\)"):
        together(batch, start=Start(basis=wrong))


def test_duals_of_a_maximisation_are_those_of_the_model():
    base = Problem.from_arrays([1.0, 2.0], [[1.0, 1.0]], -np.inf, 4.0, upper=3.0, maximize=True)
    found = together(Batch(base, row_upper=[[4.0], [5.0]]))
    np.testing.assert_allclose(found.objectives, [7.0, 8.0])
    np.testing.assert_allclose(found.row_dual, [[1.0], [1.0]])
    np.testing.assert_allclose(found.bounds, found.objectives)


def test_crossed_bounds_are_infeasible():
    base = Problem.from_arrays([1.0], [[1.0]], 0.0, 5.0)
    found = together(Batch(base, row_lower=[[1.0], [6.0], [np.inf]]))
    assert found.statuses == [SolutionStatus.OPTIMAL] + [SolutionStatus.INFEASIBLE] * 2


def test_problems_in_a_list_are_grouped_and_each_gets_its_answer():
    small = [Problem.from_arrays([1.0], [[1.0]], side) for side in (1.0, 2.0, 3.0)]
    other = Problem.from_arrays([1.0, 1.0], [[1.0, 2.0]], 4.0)
    without_rows = Problem.from_arrays([-1.0], upper=2.0)
    found = together([small[0], other, small[1], without_rows, small[2]])
    np.testing.assert_allclose(found.objectives, [1.0, 2.0, 2.0, -2.0, 3.0])


def test_who_is_not_settled_goes_to_the_reference_engine(monkeypatch):
    from solvers.simplex import batch as engine

    solve = engine.solve

    def spoilt(*arguments, **more):
        answer = solve(*arguments, **more)
        answer.ending[1] = Ending.TROUBLE
        answer.x[1] += 1.0
        answer.x[2] += 0.5  # still called optimal
        return answer

    monkeypatch.setattr(engine, "solve", spoilt)
    batch = boxed_family(3, 4, 5, 8, ["cost"])
    found = together(batch)
    assert [outcome.engine for outcome in found] == ["simplex", "highs", "highs", "simplex"]
    objectives = [outcome.objective for outcome in singly(batch)]
    np.testing.assert_allclose(found.objectives, objectives, rtol=1e-8)


def test_a_time_limit_that_is_up_leaves_nothing():
    found = together(boxed_family(3, 4, 5, 8, ["cost"]), time_limit=0.0)
    assert found.statuses == [SolutionStatus.NOTHING] * 4
    assert {outcome.stop_reason for outcome in found} == {StopReason.TIME_LIMIT}


def test_large_members_and_integers_are_not_solved_together(monkeypatch):
    from gpu_bridge.batch import simplex as many_simplex
    from gpu_bridge.batch import solve_many as many
    from gpu_bridge.options import make_options

    options = make_options(CPU)
    problem = boxed_family(3, 1, 5, 8, ["cost"]).problem
    assert many._together_on(problem, 1, options) == "cpu"
    whole = dataclasses.replace(problem, integrality=np.ones(8, dtype=bool))
    assert many._together_on(whole, 1, options) is None
    monkeypatch.setattr(many_simplex, "LARGEST_DICTIONARY", 39)
    assert many._together_on(problem, 1, options) is None


def test_a_table_of_parameters_of_a_pyomo_model():
    pyo = pytest.importorskip("pyomo.environ")
    model = pyo.ConcreteModel()
    model.demand = pyo.Param(initialize=1.0, mutable=True)
    model.x = pyo.Var(bounds=(0, 4))
    model.y = pyo.Var(bounds=(0, 9))
    model.cost = pyo.Objective(expr=model.x + 3 * model.y)
    model.met = pyo.Constraint(expr=model.x + model.y >= model.demand)
    results = gpu_bridge.solve_table(model, {"demand": [1.0, 5.0, 20.0]}, **CPU)
    assert results.outcomes.statuses[2] is SolutionStatus.INFEASIBLE
    np.testing.assert_allclose(results.outcomes.objectives[:2], [1.0, 7.0])
    assert {outcome.engine for outcome in results.outcomes} == {"simplex"}
