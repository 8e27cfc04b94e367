"""OR-tools' models of both forms: values, duals, rays, bases, statuses, parameters."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

pytest.importorskip("ortools")

from ortools.linear_solver import linear_solver_pb2 as pb
from ortools.linear_solver import pywraplp
from ortools.linear_solver.python import model_builder
from ortools.math_opt.python import mathopt

from gpu_bridge.adapters.ortools import solve, solve_mp_model, solve_proto
from solvers.core.errors import OptionError, ProblemError, UnsupportedModelError

NO_PRESOLVE = mathopt.SolveParameters(presolve=mathopt.Emphasis.OFF)


def random_model(seed: int, *, maximize: bool, integer: bool = False) -> mathopt.Model:
    """Return a bounded model with a point inside, one variable gone from its numbers."""
    rng = np.random.default_rng(seed)
    model = mathopt.Model(name="random")
    gone = model.add_variable(name="gone")
    x = [model.add_variable(lb=0, ub=3, is_integer=integer, name=f"x[{j}]") for j in range(6)]
    model.delete_variable(gone)
    inside = rng.integers(0, 4, 6) if integer else rng.uniform(0.2, 2.8, 6)  # duals are unique
    for i, row in enumerate(rng.integers(-5, 6, (4, 6)).tolist()):
        value = float(np.dot(row, inside))
        sides = (value, value) if i == 0 else (value - 2 * i, value + i)
        expression = mathopt.fast_sum(a * v for a, v in zip(row, x, strict=True))
        model.add_linear_constraint(lb=sides[0], expr=expression, ub=sides[1], name=f"row{i}")
    cost = rng.uniform(-1, 1, 6).tolist()
    model.set_objective(
        mathopt.fast_sum(a * v for a, v in zip(cost, x, strict=True)) + 5, is_maximize=maximize
    )
    return model


def numbers(values: dict[object, float]) -> list[float]:
    return [values[key] for key in sorted(values, key=lambda key: key.id)]


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_a_linear_program_has_what_glop_gives(seed, maximize):
    model = random_model(seed, maximize=maximize)
    ours, theirs = solve(model), mathopt.solve(model, mathopt.SolverType.GLOP)
    assert ours.termination.reason == theirs.termination.reason == mathopt.TerminationReason.OPTIMAL
    assert ours.objective_value() == pytest.approx(theirs.objective_value())
    assert ours.dual_bound() == pytest.approx(theirs.objective_value())
    for name in ("variable_values", "dual_values", "reduced_costs"):
        mine, other = (numbers(getattr(result, name)()) for result in (ours, theirs))
        np.testing.assert_allclose(mine, other, atol=1e-6)
    assert ours.termination.problem_status == theirs.termination.problem_status


def test_a_basis_starts_the_next_solve():
    model = random_model(3, maximize=True)
    simplex = {"method": "simplex", "presolve": False}
    first = solve(model, **simplex)
    assert first.has_basis()
    assert set(first.constraint_status()) == set(model.linear_constraints())
    start = mathopt.ModelSolveParameters(initial_basis=first.solutions[0].basis)
    again = solve(model, model_params=start, **simplex)
    assert first.solve_stats.simplex_iterations > 0
    assert again.solve_stats.simplex_iterations == 0
    assert again.objective_value() == pytest.approx(first.objective_value())


@pytest.mark.parametrize("seed", range(4))
def test_a_mixed_integer_program_has_what_scip_gives(seed):
    model = random_model(seed, maximize=True, integer=True)
    params = mathopt.SolveParameters(relative_gap_tolerance=0.0, solution_pool_size=3)
    ours = solve(model, params=params)
    theirs = mathopt.solve(model, mathopt.SolverType.GSCIP)
    assert ours.objective_value() == pytest.approx(theirs.objective_value())
    assert ours.dual_bound() == pytest.approx(theirs.objective_value())
    assert not ours.has_dual_feasible_solution()
    values = [entry.primal_solution.objective_value for entry in ours.solutions]
    assert values == sorted(values, reverse=True)
    assert len(values) <= 3


def test_hints_and_filters():
    model = random_model(1, maximize=True, integer=True)
    best = solve(model)
    wanted = sorted(model.variables(), key=lambda v: v.id)[:2]
    hint = mathopt.SolutionHint(variable_values=best.variable_values())
    params = mathopt.ModelSolveParameters(
        solution_hints=[hint],
        variable_values_filter=mathopt.VariableFilter(filtered_items=wanted),
    )
    found = solve(model, model_params=params)
    assert found.objective_value() == pytest.approx(best.objective_value())
    assert set(found.variable_values()) == set(wanted)


@pytest.mark.parametrize("maximize", [False, True])
def test_an_infeasible_model_has_a_certificate(maximize):
    model = mathopt.Model()
    x, y = model.add_variable(lb=0, ub=4, name="x"), model.add_variable(lb=0, ub=10, name="y")
    too_much = model.add_linear_constraint(x + y >= 50, name="too much")
    model.set_objective(x + 2 * y, is_maximize=maximize)
    found = solve(model)
    theirs = mathopt.solve(model, mathopt.SolverType.GLOP, params=NO_PRESOLVE)
    assert found.termination.reason == mathopt.TerminationReason.INFEASIBLE
    assert found.termination.problem_status == theirs.termination.problem_status
    assert found.termination.objective_bounds == theirs.termination.objective_bounds
    assert "too much: x + y >= 50" in found.termination.detail
    ray = found.dual_rays[0]
    price = ray.dual_values[too_much] * (-1 if maximize else 1)
    assert price > 0
    costs = [ray.reduced_costs[v] * (-1 if maximize else 1) for v in (x, y)]
    np.testing.assert_allclose(costs, [-price, -price])


def test_an_unbounded_model_has_a_ray():
    model = mathopt.Model()
    x, y = model.add_variable(lb=0), model.add_variable(lb=0)
    model.add_linear_constraint(x - y <= 3)
    model.maximize(x)
    found = solve(model)
    assert found.termination.reason == mathopt.TerminationReason.UNBOUNDED
    ray = found.primal_rays[0].variable_values
    assert ray[x] > 0
    assert ray[x] <= ray[y] + 1e-9


def test_a_limit_without_a_point():
    model = random_model(0, maximize=True, integer=True)
    found = solve(model, params=mathopt.SolveParameters(time_limit=datetime.timedelta(0)))
    assert found.termination.reason == mathopt.TerminationReason.NO_SOLUTION_FOUND
    assert found.termination.limit == mathopt.Limit.TIME
    assert not found.has_primal_feasible_solution()


@pytest.mark.parametrize(
    ("params", "says"),
    [
        (mathopt.SolveParameters(cutoff_limit=3.0), "'cutoff_limit'"),
        (mathopt.SolveParameters(solution_limit=1), "'solution_limit'"),
        (mathopt.SolveParameters(cuts=mathopt.Emphasis.HIGH), "'cuts'"),
    ],
)
def test_parameters_without_a_counterpart_are_refused(params, says):
    with pytest.raises(OptionError, match=says):
        solve(random_model(0, maximize=True), params=params)


@pytest.mark.parametrize("algorithm", list(mathopt.LPAlgorithm))
def test_parameters_are_options(algorithm, capfd):
    params = mathopt.SolveParameters(
        lp_algorithm=algorithm, enable_output=True, threads=1, random_seed=3, iteration_limit=10**6,
        absolute_gap_tolerance=0.0, node_limit=10, presolve=mathopt.Emphasis.LOW,
    )  # fmt: skip
    model = random_model(2, maximize=False)
    expected = mathopt.solve(model, mathopt.SolverType.GLOP).objective_value()
    assert solve(model, params=params).objective_value() == pytest.approx(expected)
    assert "gpu-bridge" in capfd.readouterr().out


def test_parts_that_are_not_linear_are_refused():
    model = mathopt.Model()
    x, y = model.add_variable(lb=0), model.add_variable(lb=0)
    model.minimize(x * x)
    with pytest.raises(UnsupportedModelError, match="quadratic"):
        solve(model)
    model.minimize(x + y)
    proto = model.export_model()
    proto.sos1_constraints[3].weights.append(1.0)
    with pytest.raises(UnsupportedModelError, match="sos1_constraints"):
        solve_proto(proto)
    with pytest.raises(ProblemError, match="takes a ModelProto"):
        solve_proto(model)


def built(*, maximize: bool, integer: bool = False) -> model_builder.Model:
    model = model_builder.Model()
    make = model.new_int_var if integer else model.new_num_var
    x, y = make(0, 4, "x"), make(0, 10, "y")
    model.add(x + 2 * y <= 9, "cap")
    model.add(x - y >= -2)
    (model.maximize if maximize else model.minimize)((2 * x + 3 * y) * (1 if maximize else -1) + 1)
    return model


@pytest.mark.parametrize("maximize", [False, True])
def test_a_model_of_model_builder(maximize):
    found = solve_mp_model(built(maximize=maximize).export_to_proto())
    sign = 1 if maximize else -1
    assert found.status == pb.MPSOLVER_OPTIMAL
    assert found.objective_value == pytest.approx(1 + sign * 15.5)
    np.testing.assert_allclose(found.variable_value, [4, 2.5])
    np.testing.assert_allclose(found.dual_value, [sign * 1.5, 0], atol=1e-9)
    np.testing.assert_allclose(found.reduced_cost, [sign * 0.5, 0], atol=1e-9)
    assert found.best_objective_bound == pytest.approx(found.objective_value)


def test_a_model_of_pywraplp_takes_the_answer():
    solver = pywraplp.Solver.CreateSolver("GLOP")
    x, y = solver.NumVar(0, 4, "x"), solver.NumVar(0, 10, "y")
    solver.Add(x + 2 * y <= 9)
    solver.Maximize(2 * x + 3 * y)
    proto = pb.MPModelProto()
    solver.ExportModelToProto(proto)
    assert solver.LoadSolutionFromProto(solve_mp_model(proto))
    assert (x.solution_value(), y.solution_value()) == (4, 2.5)
    assert solver.Objective().Value() == pytest.approx(15.5)


def test_a_request_has_options_and_gets_more_points():
    proto = built(maximize=True, integer=True).export_to_proto()
    request = pb.MPModelRequest(
        model=proto, solver_time_limit_seconds=60, populate_additional_solutions_up_to=2
    )
    found = solve_mp_model(request, rel_gap=0)
    assert found.objective_value == pytest.approx(16)
    assert not found.dual_value
    assert len(found.additional_solutions) <= 2
    assert all(other.objective_value <= 16 for other in found.additional_solutions)
    request.solver_time_limit_seconds = 0
    late = solve_mp_model(request)
    assert late.status == pb.MPSOLVER_NOT_SOLVED
    assert "time limit" in late.status_str
    request.solver_specific_parameters = "spam"
    with pytest.raises(OptionError, match="'spam'"):
        solve_mp_model(request)


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (lambda proto: proto.constraint[0].__setattr__("lower_bound", 9.5), pb.MPSOLVER_INFEASIBLE),
        (lambda proto: proto.constraint[1].__setattr__("lower_bound", 5), pb.MPSOLVER_INFEASIBLE),
        (lambda proto: proto.ClearField("constraint"), pb.MPSOLVER_OPTIMAL),
        (lambda proto: proto.variable[1].__setattr__("lower_bound", -np.inf), pb.MPSOLVER_OPTIMAL),
    ],
)
def test_statuses_of_responses(change, status):
    proto = built(maximize=True).export_to_proto()
    change(proto)
    assert solve_mp_model(proto).status == status


def test_an_unbounded_response():
    model = model_builder.Model()
    model.maximize(model.new_num_var(0, np.inf, "x"))
    assert solve_mp_model(model.export_to_proto()).status == pb.MPSOLVER_UNBOUNDED


def test_hints_are_starts_and_bad_models_are_refused():
    proto = built(maximize=True, integer=True).export_to_proto()
    proto.solution_hint.var_index.extend([0, 1])
    proto.solution_hint.var_value.extend([3, 3])
    assert solve_mp_model(proto).objective_value == pytest.approx(16)
    proto.solution_hint.var_index[0] = 7
    with pytest.raises(ProblemError, match="variable 7"):
        solve_mp_model(proto)
    proto.ClearField("solution_hint")
    proto.constraint[0].var_index[0] = 9
    with pytest.raises(ProblemError, match="variable 9"):
        solve_mp_model(proto)
    proto.constraint[0].var_index.append(1)
    with pytest.raises(ProblemError, match="5 indices and 4 coefficients"):
        solve_mp_model(proto)
    proto.general_constraint.add(name="either").indicator_constraint.var_index = 0
    with pytest.raises(UnsupportedModelError, match="'either' is a indicator_constraint"):
        solve_mp_model(proto)
    with pytest.raises(ProblemError, match="export_to_proto"):
        solve_mp_model(built(maximize=True))


def test_a_message_callback_gets_the_lines_of_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    def fails(lines: list[str]) -> None:
        raise LookupError("no such line")

    told: list[str] = []
    solve(
        random_model(1, maximize=True),
        params=mathopt.SolveParameters(enable_output=True),
        msg_cb=told.extend,
    )
    assert any(line.startswith("Status      optimal") for line in told)
    assert not any("\n" in line for line in told)
    assert capsys.readouterr().out == ""
    with pytest.raises(OptionError, match="msg_cb"):
        solve(random_model(1, maximize=True), msg_cb="log.txt")
    with pytest.raises(LookupError, match="no such line"):
        solve(random_model(1, maximize=True), msg_cb=fails)
