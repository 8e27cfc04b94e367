from __future__ import annotations

import copy
import decimal
import gc
import pickle
from typing import Any

import numpy as np
import pulp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_bridge.adapters.pulp.solver_model import read
from gpu_bridge.adapters.pulp.version import constraints_of
from solvers.core.errors import ProblemError
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from tests.adapters.pulp.models import PULP_4, model_of, pulp_3_only, rows_of, small, solve, solver
from tests.cases import through
from tests.properties.strategies import problems

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def _key(variable: Any) -> int:
    """Tell variables apart, whose wrappers are made anew by PuLP 4 and whose names may repeat."""
    number = getattr(variable, "id", None)
    if number is None:
        return id(variable)
    return int(number() if callable(number) else number)


def slow_conversion(lp: pulp.LpProblem) -> tuple[list[Any], Problem]:
    """Convert a model the plain way, through PuLP's own methods only."""
    variables = lp.exported_variables() if PULP_4 else lp.variables()
    number = {_key(variable): j for j, variable in enumerate(variables)}
    cost = np.zeros(len(variables))
    for variable, value in lp.objective.items():
        cost[number[_key(variable)]] = float(value)
    constraints = rows_of(lp)
    matrix = np.zeros((len(constraints), len(variables)))
    sides = np.tile([-np.inf, np.inf], (len(constraints), 1))
    for i, constraint in enumerate(constraints):
        for variable, value in constraint.items():
            matrix[i, number[_key(variable)]] += float(value)
        low, high = constraint.getLb(), constraint.getUb()
        sides[i] = (-np.inf if low is None else low, np.inf if high is None else high)
    return variables, Problem.from_arrays(
        cost,
        matrix,
        sides[:, 0],
        sides[:, 1],
        lower=[-np.inf if v.getLb() is None else v.getLb() for v in variables],
        upper=[np.inf if v.getUb() is None else v.getUb() for v in variables],
        integrality=[v.isInteger() for v in variables],
        offset=lp.objective.constant,
        maximize=lp.sense == pulp.LpMaximize,
    )


def assert_same(lp: pulp.LpProblem) -> None:
    """Compare both conversions, whatever the order of their columns."""
    arrays = read(lp)
    fast = arrays.to_problem(lp.name, lp.sense == pulp.LpMaximize)
    variables, slow = slow_conversion(lp)
    here = {_key(variable): j for j, variable in enumerate(arrays.variables)}
    assert len(here) == len(variables)
    order = [here[_key(variable)] for variable in variables]
    for name in ("cost", "lower", "upper", "integrality"):
        np.testing.assert_array_equal(getattr(fast, name)[order], getattr(slow, name))
    for name in ("row_lower", "row_upper"):
        np.testing.assert_array_equal(getattr(fast, name), getattr(slow, name))
    np.testing.assert_array_equal(fast.matrix.toarray()[:, order], slow.matrix.toarray())
    assert (fast.offset, fast.maximize) == (slow.offset, slow.maximize)
    assert [fast.column_names[j] for j in order] == [variable.name for variable in variables]
    names = [row.name for row in rows_of(lp)] if PULP_4 else list(constraints_of(lp))
    assert fast.row_names == names  # constraints of PuLP 3.0 forget their own


@given(problems())
@settings(max_examples=60)
def test_the_same_as_a_plain_conversion(problem: Problem) -> None:
    assert_same(model_of(problem))


@given(problems(binary=True))
@settings(max_examples=20)
def test_the_same_as_a_plain_conversion_of_binaries(problem: Problem) -> None:
    assert_same(model_of(problem))


@pulp_3_only
@given(st.lists(st.sampled_from(["x", "y", "z", "x"]), min_size=1, max_size=6), st.booleans())
@settings(max_examples=30)
def test_variables_that_pulp_has_not_registered(names: list[str], objective: bool) -> None:
    lp = pulp.LpProblem("model")
    columns = [pulp.LpVariable(name, 0, k + 1) for k, name in enumerate(names)]
    lp += pulp.lpSum(columns) if objective else columns[0]
    row = pulp.LpAffineExpression([(column, k + 1) for k, column in enumerate(columns)])
    constraint = pulp.LpConstraint(row, pulp.LpConstraintLE, "row", 3)
    constraints_of(lp)["row"] = constraint  # past addConstraint, which would register them
    assert_same(lp)


@pulp_3_only
@pytest.mark.parametrize(
    "number", [2, 2.0, np.float64(2), np.float32(2), np.int32(2), decimal.Decimal(2), True + 1]
)
def test_coefficients_of_every_kind(number: Any) -> None:
    lp = small()
    x = lp.variablesDict()["x"]
    lp.get_constraint_by_name("c1").expr[x] = number
    lp.objective[x] = number
    lp.get_constraint_by_name("c2").constant = -number
    assert_same(lp)


def test_zero_coefficients_are_no_entries() -> None:
    lp = small()
    x = lp.variablesDict()["x"]
    row = lp.get_constraint_by_name("c1")
    (row if PULP_4 else row.expr)[x] = 0
    problem = read(lp).to_problem("model", maximize=False)
    assert problem.num_nonzeros == 5


def test_copies_are_models_of_their_own() -> None:
    lp = small()
    copies = [lp.copy(), lp.deepcopy()]
    if not PULP_4:  # whose compiled models can be copied by their own methods only
        copies += [copy.deepcopy(lp), pickle.loads(pickle.dumps(lp))]
    for again in copies:
        assert solve(again) is SolutionStatus.OPTIMAL
        assert pulp.value(again.objective) == pytest.approx(54)
    if PULP_4:
        assert {variable.varValue for variable in lp.variables()} == {None}
    else:  # copies share their variables, and nothing else
        assert lp.status == pulp.LpStatusNotSolved


def test_two_variables_of_one_name_are_two() -> None:
    lp = pulp.LpProblem("model")
    first, second = _twins(lp)
    lp += first + 2 * second
    lp += first + second >= 6
    assert solve(lp) is SolutionStatus.OPTIMAL
    assert (first.varValue, second.varValue) == (4, 2)


def _twins(lp: pulp.LpProblem) -> tuple[pulp.LpVariable, pulp.LpVariable]:
    if PULP_4:
        return lp.add_variable("x", 0, 4), lp.add_variable("x", 1, 9)
    return pulp.LpVariable("x", 0, 4), pulp.LpVariable("x", 1, 9)  # add_variable would refuse


def test_a_binary_by_assignment() -> None:
    lp = small()
    x = lp.variablesDict()["x"]
    x.cat = "Binary"
    if not PULP_4:  # where a category is only a word, and the bounds are what they were
        x.lowBound, x.upBound = None, 7
    problem = read(lp).to_problem("model", maximize=False)
    j = problem.column_names.index("x")
    assert (problem.lower[j], problem.upper[j], problem.integrality[j]) == (0, 1, True)


@pulp_3_only
@through("value", [float("nan"), float("inf"), "two", 1j, 10**400])
@through("place", ["coefficient", "objective", "bound", "side", "constant"])
def test_what_is_no_number_is_named(value: Any, place: str) -> None:
    lp = small()
    x = lp.variablesDict()["x"]
    names = {
        "coefficient": "'x' in row 'c1'",
        "objective": "objective coefficient of 'x'",
        "bound": "'x'",
        "side": "'c1'",
        "constant": "objective's constant",
    }
    if place == "coefficient":
        lp.get_constraint_by_name("c1").expr[x] = value
    elif place == "objective":
        lp.objective[x] = value
    elif place == "bound":
        x.lowBound = value
    elif place == "side":
        lp.get_constraint_by_name("c1").constant = value
    else:
        lp.objective.constant = value
    if value == float("inf") and place in ("bound", "side"):  # no number can meet it
        assert solve(lp) is SolutionStatus.INFEASIBLE
        assert names[place] in str(lp.solverModel.outcome.conflict)
        return
    with pytest.raises(ProblemError, match=names[place]):
        lp.solve(solver())
    assert x.varValue is None


@pulp_3_only
def test_a_bound_that_is_an_array_is_named_beside_one_that_is_none() -> None:
    lp = small()
    lp.variablesDict()["x"].upBound = np.array([1.0, 2.0])
    lp.variablesDict()["y"].upBound = None
    with pytest.raises(ProblemError, match="The upper bound of variable 'x'"):
        lp.solve(solver())


@pulp_3_only
def test_an_unknown_category_is_named() -> None:
    lp = small()
    lp.variablesDict()["y"].cat = "Whole"
    with pytest.raises(ProblemError, match=r"'y' is of category 'Whole'"):
        lp.solve(solver())


def test_the_garbage_collector_is_left_as_it_was() -> None:
    lp = small()
    lp.solve(solver())
    assert gc.isenabled()
    gc.disable()
    try:
        lp.solve(solver())
        assert not gc.isenabled()
    finally:
        gc.enable()
    lp.variablesDict()["x"].lowBound = float("nan")
    with pytest.raises(ProblemError):
        lp.solve(solver())
    assert gc.isenabled()
