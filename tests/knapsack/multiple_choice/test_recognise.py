"""Models that are multiple-choice knapsack problems in disguise, and some that are none."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pulp
import pyomo.environ as pyo
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpu_bridge
from gpu_bridge.classify import ProblemKind, classify
from gpu_bridge.options import make_options
from gpu_bridge.pipeline.registry import choose
from solvers.core.errors import EngineError
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.knapsack.engine import solve
from solvers.knapsack.multiple_choice.engine import solve_multiple_choice
from solvers.knapsack.multiple_choice.recognise import recognise
from tests.cases import through
from tests.knapsack.multiple_choice.instances import instance, model_of


@st.composite
def models(draw: st.DrawFn) -> Problem:
    """Classes of exactly or at most one, complemented columns, loose columns, rows in any order."""
    sizes = draw(st.lists(st.integers(2, 3), min_size=2, max_size=3))
    loose = draw(st.integers(0, 2))
    inside, n = sum(sizes), sum(sizes) + loose
    quantum = draw(st.sampled_from([1.0, 0.1]))
    sign = np.array(draw(st.lists(st.sampled_from([1, 1, -1]), min_size=inside, max_size=inside)))
    rows, sides = [], []
    for i, size in enumerate(sizes):
        begin = sum(sizes[:i])
        row = np.zeros(n)
        row[begin : begin + size] = sign[begin : begin + size]
        most = 1 - int((row < 0).sum())
        least = most if draw(st.booleans()) else -np.inf
        factor = draw(st.sampled_from([1.0, -1.0, 2.5]))
        rows.append(row * factor)
        sides.append(sorted([least * factor, most * factor]))
    numbers = st.lists(st.integers(-10, 30), min_size=n, max_size=n)
    weight, side = np.array(draw(numbers)) * quantum, draw(st.integers(-10, 60)) * quantum
    at_least = draw(st.booleans())
    # a row of one sign and size would be a choice as well
    weight[:2] = 7.0 * quantum, 8.0 * quantum
    rows.append(-weight if at_least else weight)
    sides.append([-side, np.inf] if at_least else [-np.inf, side])
    order = draw(st.permutations(range(len(rows))))
    lower = np.zeros(n)
    lower[inside:] = draw(st.lists(st.integers(-3, 2), min_size=loose, max_size=loose))
    upper = np.ones(n)
    upper[inside:] = lower[inside:] + draw(st.integers(0, 3))
    fixed = draw(st.integers(0, 3 * n))
    if fixed < n:
        upper[fixed] = lower[fixed] = draw(st.sampled_from([lower[fixed], upper[fixed]]))
    return Problem.from_arrays(
        np.array(draw(numbers)) * quantum,
        np.array(rows)[order],
        row_lower=np.array(sides)[order, 0],
        row_upper=np.array(sides)[order, 1],
        lower=lower,
        upper=upper,
        integrality=np.ones(n, dtype=bool),
        maximize=draw(st.booleans()),
    )


def best_objective(problem: Problem) -> float:
    """Return the least objective of a point that keeps the rows, inf without one."""
    ranges = [range(int(a), int(b) + 1) for a, b in zip(problem.lower, problem.upper, strict=True)]
    points = np.array(list(product(*ranges)), dtype=float)
    activity = points @ problem.matrix.toarray().T
    fits = (activity <= problem.row_upper + 1e-9) & (activity >= problem.row_lower - 1e-9)
    values = (points @ problem.cost + problem.offset)[fits.all(axis=1)]
    return float(values.min(initial=np.inf))


@given(models())
@settings(max_examples=200)
def test_models_in_any_guise_are_solved_like_by_brute_force(problem: Problem) -> None:
    outcome = solve(problem, EngineOptions(), Progress())
    best = best_objective(problem)
    if best == np.inf:
        assert outcome.solution_status is SolutionStatus.INFEASIBLE
        return
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.objective == pytest.approx(best)
    assert outcome.bound == outcome.objective
    assert outcome.x is not None
    assert ((outcome.x >= problem.lower) & (outcome.x <= problem.upper)).all()


def plain(**changes: object) -> Problem:
    """Return a model of two classes and a loose column, with something else about it."""
    parts: dict[str, object] = {
        "cost": [5.0, 4.0, 3.0, 2.0, 1.0],
        "matrix": np.array(
            [[1.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0, 0.0], [2.0, 1.0, 4.0, 3.0, 2.5]]
        ),
        "row_lower": [1.0, -np.inf, -np.inf],
        "row_upper": [1.0, 1.0, 6.0],
        "upper": 1.0,
        "integrality": np.ones(5, dtype=bool),
        "maximize": True,
    }
    parts.update(changes)
    return Problem.from_arrays(parts.pop("cost"), parts.pop("matrix"), **parts)  # type: ignore[arg-type]


def test_what_was_recognised_is_said() -> None:
    model = recognise(plain())
    assert model is not None
    expected = "a multiple-choice knapsack problem of 3 classes, 7 items, weights times 2"
    assert model.sentence == expected
    assert classify(plain()).sentence == expected


def test_columns_without_an_upper_bound_are_limited_by_their_class() -> None:
    problem = plain(upper=[np.inf, np.inf, np.inf, np.inf, 1.0])
    found = gpu_bridge.solve(problem, method="knapsack")
    assert found.engine == "knapsack-multiple-choice"
    assert found.objective == gpu_bridge.solve(plain(), method="highs").objective


def test_an_implication_is_a_class() -> None:
    matrix = np.array([[1.0, -1.0, 0.0, 0.0], [0.0, 0.0, -1.0, 1.0], [3.0, 5.0, 7.0, 2.0]])
    problem = Problem.from_arrays(
        [6.0, -1.0, -2.0, 9.0],
        matrix,
        row_upper=[0.0, 0.0, 12.0],
        upper=1.0,
        integrality=[True] * 4,
        maximize=True,
    )
    found = gpu_bridge.solve(problem, method="knapsack")
    assert (found.engine, found.objective) == ("knapsack-multiple-choice", -best_objective(problem))


def test_a_capacity_that_looks_like_a_choice_is_the_longest_row() -> None:
    matrix = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0]])
    problem = Problem.from_arrays(
        [6.0, 3.0, 2.0, 9.0],
        matrix,
        row_upper=[1.0, 1.0, 1.0],
        upper=1.0,
        integrality=[True] * 4,
        maximize=True,
    )
    model = recognise(problem)
    assert model is not None
    assert model.knapsack.num_classes == 2
    assert solve_multiple_choice(model.knapsack).profit == 9


TWO_CAPACITIES = np.array(
    [[1.0, 1.0, 0.0, 0.0, 0.0], [2.0, 2.0, 1.0, 1.0, 0.0], [2.0, 1.0, 4.0, 3.0, 2.5]]
)
SHARED = np.array([[1.0, 1.0, 0, 0, 0], [0, 1.0, 1.0, 0, 0], [2.0, 1.0, 4.0, 3.0, 2.5]])
IRRATIONAL = np.array([[1.0, 1.0, 0, 0, 0], [0, 0, 1.0, 1.0, 0], [2.0, 1.0, 4.0, 3.0, np.pi]])


@through(
    "problem",
    [
        plain(integrality=np.array([True, True, True, True, False])),
        plain(row_lower=[1.0, -np.inf, 6.0]),
        plain(row_lower=[1.0, -np.inf, 1.0]),
        plain(row_upper=[1.0, 2.0, 6.0]),
        plain(lower=[-1.0, 0.0, 0.0, 0.0, 0.0]),
        plain(upper=[1.0, 1.0, 1.0, 1.0, np.inf]),
        plain(matrix=TWO_CAPACITIES),
        plain(matrix=SHARED),
        plain(matrix=IRRATIONAL),
        plain(cost=[5.0, np.e, 3.0, 2.0, 1.0]),
        plain(lower=[1.0, 1.0, 0.0, 0.0, 0.0]),
    ],
)
def test_other_models_are_left_to_others(problem: Problem) -> None:
    assert recognise(problem) is None
    assert classify(problem).kind is not ProblemKind.KNAPSACK_MULTIPLE_CHOICE
    with pytest.raises(EngineError, match="not a knapsack"):
        solve(problem, EngineOptions(), Progress())


def test_the_pipeline_takes_the_engine_and_says_so() -> None:
    problem = model_of(instance("weakly", 20, 6, 300, 2), unit=0.01)
    assert choose(problem, make_options()).method == "knapsack"
    assert choose(problem, make_options(method="mip")).method == "mip"
    assert choose(problem, make_options(heuristics_only=True)).method == "mip"
    found = gpu_bridge.solve(problem)
    reference = gpu_bridge.solve(problem, method="highs", rel_gap=0.0, abs_gap=0.0)
    assert found.engine == "knapsack-multiple-choice"
    assert found.objective == found.bound == reference.objective
    assert "a multiple-choice knapsack problem of 20 classes, 120 items" in found.log


def test_what_no_choice_fits_is_infeasible() -> None:
    problem = plain(row_lower=[1.0, 1.0, -np.inf], row_upper=[1.0, 1.0, 3.0])
    found = gpu_bridge.solve(problem, method="knapsack")
    assert found.engine == "knapsack-multiple-choice"
    assert found.solution_status is SolutionStatus.INFEASIBLE


def test_what_presolve_leaves_is_solved_exactly() -> None:
    choice = instance("weakly", 20, 6, 10**6, 1)
    core = model_of(choice)
    rows = core.matrix.toarray()
    copy = np.eye(1, core.num_columns + 1, core.num_columns) - np.eye(1, core.num_columns + 1, 0)
    problem = Problem.from_arrays(
        np.append(-core.cost, 0.0),
        np.vstack([np.pad(rows, ((0, 0), (0, 1))), copy, np.pad(2 * rows[:1], ((0, 0), (0, 1)))]),
        row_lower=np.concatenate([core.row_lower, [0.0, -np.inf]]),
        row_upper=np.concatenate([core.row_upper, [0.0, 2 * choice.capacity + 5]]),
        upper=1.0,
        integrality=np.ones(core.num_columns + 1, dtype=bool),
        maximize=True,
    )
    assert classify(problem).kind is ProblemKind.MIP
    found = gpu_bridge.solve(problem, rel_gap=0.0, abs_gap=0.0, device="cpu", time_limit=600)
    assert "Presolve leaves a multiple-choice knapsack problem" in found.log
    assert found.solution_status is SolutionStatus.OPTIMAL
    assert found.objective == found.bound == solve_multiple_choice(choice).profit


WEIGHT = [[1.5, 4.0, 7.5], [2.0, 3.5, 6.0], [1.0, 5.0, 8.0]]
PROFIT = [[2.0, 5.0, 9.0], [3.0, 4.5, 8.0], [1.0, 6.0, 11.0]]
CAPACITY, BEST = 15.5, 21.0


def test_a_pulp_model_is_recognised() -> None:
    model = pulp.LpProblem("choice", pulp.LpMaximize)
    pairs = list(product(range(3), range(3)))
    take = {(i, j): model.add_variable(f"take_{i}_{j}", cat="Binary") for i, j in pairs}
    model += pulp.lpSum(PROFIT[i][j] * take[i, j] for i, j in pairs)
    for i in range(3):
        model += pulp.lpSum(take[i, j] for j in range(3)) == 1
    model += pulp.lpSum(WEIGHT[i][j] * take[i, j] for i, j in pairs) <= CAPACITY
    solver = pulp.getSolver("GPUHEUR", msg=False, method="knapsack")
    model.solve(solver)
    assert solver.outcome.solution_status is SolutionStatus.OPTIMAL
    assert pulp.value(model.objective) == BEST
    assert model.solverModel.outcome.engine == "knapsack-multiple-choice"


def test_a_pyomo_model_that_minimises_is_recognised(tmp_path: Path) -> None:
    model = pyo.ConcreteModel()
    model.take = pyo.Var(range(3), range(3), domain=pyo.NonNegativeIntegers)
    pairs = list(product(range(3), range(3)))
    model.one = pyo.Constraint(range(3), rule=lambda m, i: sum(m.take[i, j] for j in range(3)) == 1)
    room = sum(WEIGHT[i][j] * model.take[i, j] for i, j in pairs)
    model.capacity = pyo.Constraint(expr=-room >= -CAPACITY)
    loss = sum(-PROFIT[i][j] * model.take[i, j] for i, j in pairs)
    model.loss = pyo.Objective(expr=loss, sense=pyo.minimize)
    log = tmp_path / "solve.log"
    results = pyo.SolverFactory("gpuheur", options={"method": "knapsack"}).solve(
        model, logfile=str(log)
    )
    pyo.assert_optimal_termination(results)
    assert pyo.value(model.loss) == -BEST
    assert "a multiple-choice knapsack problem of 3 classes" in log.read_text()
