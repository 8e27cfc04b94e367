"""``milp`` and ``linprog`` beside SciPy's own, on random models and on each way to end."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from scipy.optimize import Bounds, LinearConstraint

from gpu_bridge.adapters.scipy import linprog, milp
from solvers.core.errors import OptionError, ProblemError, UnsupportedModelError
from tests.cases import through


def random_program(seed: int) -> dict[str, object]:
    """Return a bounded linear program with one optimum, as arguments of ``linprog``."""
    rng = np.random.default_rng(seed)
    inequalities, equations = rng.standard_normal((6, 8)), rng.standard_normal((2, 8))
    inside = rng.uniform(0, 2, 8)
    return {
        "c": rng.standard_normal(8),
        "A_ub": inequalities,
        "b_ub": inequalities @ inside + rng.uniform(0, 1, 6),
        "A_eq": equations,
        "b_eq": equations @ inside,
        "bounds": [(0, 3)] * 7 + [(None, None if seed % 2 else 4)],
    }


@through("seed", range(8))
@through("form", [np.asarray, sp.csr_array, sp.coo_matrix])
def test_linprog_gives_what_scipy_gives(seed, form):
    program = random_program(seed)
    theirs = scipy.optimize.linprog(**program)
    ours = linprog(**{**program, "A_ub": form(program["A_ub"]), "A_eq": form(program["A_eq"])})
    assert ours.status == theirs.status
    if theirs.status:
        return
    assert ours.success
    assert ours.fun == pytest.approx(theirs.fun)
    for name in ("x", "slack", "con"):
        np.testing.assert_allclose(ours[name], theirs[name], atol=1e-7)
    for part in ("ineqlin", "eqlin", "lower", "upper"):
        for name in ("residual", "marginals"):
            np.testing.assert_allclose(ours[part][name], theirs[part][name], atol=1e-7)


def test_most_random_programs_have_an_optimum():
    statuses = [scipy.optimize.linprog(**random_program(seed)).status for seed in range(8)]
    assert statuses.count(0) >= 6


@pytest.mark.parametrize("seed", range(6))
def test_milp_gives_what_scipy_gives(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(1, 30, (3, 12)).astype(float)
    constraints = [
        LinearConstraint(sp.csr_array(matrix[:2]), ub=matrix[:2].sum(axis=1) / 3),
        (matrix[2:], 10, matrix[2].sum()),
    ]
    arguments = {
        "c": -rng.integers(1, 30, 12),
        "integrality": rng.integers(0, 2, 12),
        "bounds": Bounds(0, rng.integers(1, 4, 12)),
        "constraints": constraints,
    }
    theirs = scipy.optimize.milp(**arguments, options={"mip_rel_gap": 0})
    ours = milp(**arguments, options={"mip_rel_gap": 0, "abs_gap": 0, "disp": False})
    assert ours.success
    assert ours.fun == pytest.approx(theirs.fun)
    assert ours.mip_dual_bound == pytest.approx(theirs.fun)
    assert ours.mip_gap == pytest.approx(0, abs=1e-9)
    assert matrix[0] @ ours.x <= matrix[0].sum() / 3 + 1e-6
    assert set(theirs) == set(ours)


def test_one_constraint_comes_in_every_form():
    matrix, low, high = [[1.0, 2.0]], [1.0], [4.0]
    for constraints in (
        (matrix, low, high),
        LinearConstraint(matrix, low, high),
        [LinearConstraint(matrix, low, high)],
        [(matrix, low, high)],
        [(matrix, low), (matrix, -np.inf, high)],
        [(matrix, low), (matrix, -np.inf, high), (matrix,)],
    ):
        assert milp([-1, -1], constraints=constraints).fun == -4
    assert milp([1, 1]).fun == 0


@pytest.mark.parametrize(
    ("result", "status", "says"),
    [
        (lambda: linprog([1, 1], [[1, 1]], [-1]), 2, "r0: c0 + c1 <= -1"),
        (lambda: linprog([1], bounds=(2, 1)), 2, "lower bound 2 of variable 'c0'"),
        (lambda: linprog([-1]), 3, "unbounded"),
        (lambda: milp([-1], integrality=1), 3, "unbounded"),
        (
            lambda: milp([-1], integrality=1, bounds=Bounds(0, 5.5), options={"time_limit": 0}),
            1,
            "the time limit was reached",
        ),
    ],
)
def test_without_a_point(result, status, says):
    found = result()
    assert (found.status, found.success, found.x, found.fun) == (status, False, None, None)
    assert says in found.message


def test_marginals_are_not_given_for_integers():
    found = linprog([-1, -1], [[2, 1]], [3.5], integrality=[1, 0], bounds=(0, 2))
    assert found.fun == -2.5
    assert found.ineqlin.marginals is None
    assert found.lower.marginals is None
    assert found.mip_gap == 0


@pytest.mark.parametrize("method", ["auto", "highs", "highs-ds", "highs-ipm", "pdlp", "simplex"])
def test_methods_of_both(method):
    found = linprog([-1, 4], [[-3, 1], [1, 2]], [6, 4], bounds=[(None, None), (-3, None)],
                    method=method, x0=[9, -3])  # fmt: skip
    assert found.fun == pytest.approx(-22)
    np.testing.assert_allclose(found.ineqlin.marginals, [0, -1], atol=1e-6)


@through(
    ("call", "error", "says"),
    [
        (lambda: linprog([1], callback=print), OptionError, "no callback"),
        (lambda: linprog([1], options={"spam": 1}), OptionError, "'spam'"),
        (lambda: linprog([1], options={"maxiter": -1}), OptionError, "'maxiter'"),
        (lambda: linprog([1], method="interior-point"), OptionError, "'interior-point'"),
        (lambda: linprog([1], [[1]]), ProblemError, "'A_ub' and 'b_ub' belong together"),
        (lambda: linprog([1], [[1, 1]], [1]), ProblemError, "'A_ub' has shape (1, 2)"),
        (lambda: linprog([1], sp.csr_array([[1, 1]]), [1]), ProblemError, "'A_ub' has 2 columns"),
        (lambda: linprog([1], A_eq=[[1]], b_eq=[1, 2]), ProblemError, "'b_eq' has shape (2,)"),
        (lambda: linprog([1], [["a"]], [1]), ProblemError, "'A_ub' is not a matrix"),
        (lambda: linprog([1, 1], bounds=[(0, 1)] * 3), ProblemError, "its shape is (3, 2)"),
        (lambda: linprog([[1, 2], [3, 4]]), ProblemError, "'c' must have one dimension"),
        (lambda: linprog("one"), ProblemError, "'c' is not an array of numbers"),
        (lambda: milp(sp.csr_array([[1]])), ProblemError, "sparse"),
        (lambda: milp([1], bounds=5), ProblemError, "'bounds'"),
        (lambda: milp([1], bounds=Bounds([0, 0], 1)), ProblemError, "do not fit the 1 entries"),
        (lambda: milp([1], constraints=5), ProblemError, "'constraints'"),
        (lambda: milp([1], constraints=[5]), ProblemError, "Constraint 0"),
        (lambda: milp([1], constraints=([[1, 1]], 1, 1)), ProblemError, "Constraint 0 has 2"),
        (lambda: milp([1], integrality=[1, 1]), ProblemError, "'integrality' has shape (2,)"),
        (lambda: milp([1, 1], integrality=[0, 2]), UnsupportedModelError, "Variable 1"),
    ],
)
def test_bad_input_names_the_culprit(call, error, says):
    with pytest.raises(error) as caught:
        call()
    assert says in str(caught.value)
