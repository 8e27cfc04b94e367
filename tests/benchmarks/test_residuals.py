"""The independent check of answers: by hand, and on models with known optima."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks.linear_programs import SHAPES, LinearProgram, read
from benchmarks.peers import Task, find
from benchmarks.residuals import measure, measure_either_sign, sides_norm
from tests.locations import DATA


@pytest.fixture
def lp() -> LinearProgram:
    """min x0 + 2 x1, x0 + x1 >= 4, x0 - x1 = 1, 0 <= x0 <= 3, x1 >= 0: x = (2.5, 1.5)."""
    return LinearProgram(
        name="by hand",
        cost=np.array([1.0, 2.0]),
        matrix=sp.csr_matrix([[1.0, 1.0], [1.0, -1.0]]),
        row_lower=np.array([4.0, 1.0]),
        row_upper=np.array([np.inf, 1.0]),
        lower=np.zeros(2),
        upper=np.array([3.0, np.inf]),
        offset=10.0,
    )


OPTIMUM = np.array([2.5, 1.5])
DUALS = np.array([1.5, -0.5])


def test_the_optimum_has_no_residuals(lp):
    quality = measure(lp, OPTIMUM, DUALS)
    assert quality.worst == 0.0
    assert quality.objective == 15.5
    assert quality.holds(0.0)


def test_sides_count_once_per_equation(lp):
    assert sides_norm(lp) == pytest.approx(np.sqrt(16 + 1))
    ranged = replace(lp, row_lower=np.array([3.0, 1.0]), row_upper=np.array([4.0, 1.0]))
    assert sides_norm(ranged) == pytest.approx(np.sqrt(9 + 16 + 1))


def test_violated_rows_and_bounds_both_count(lp):
    # Rows by 1 and 0.5, the upper bound of x0 by 0.5.
    x = np.array([3.5, 2.0])
    quality = measure(lp, x, DUALS)
    assert quality.primal == pytest.approx(np.hypot(0.5, 0.5) / (1 + np.sqrt(17)))
    short = measure(lp, np.array([2.0, 1.0]), DUALS)
    assert short.primal == pytest.approx(1.0 / (1 + np.sqrt(17)))


def test_reduced_costs_without_a_bound_to_hold_them_are_dual_residuals(lp):
    # y = (3, 0): z = (-2, -1); x0's upper bound holds -2, nothing holds x1's -1.
    quality = measure(lp, OPTIMUM, np.array([3.0, 0.0]))
    assert quality.dual == pytest.approx(1.0 / (1 + np.sqrt(5)))
    dual_objective = 3.0 * 4.0 + (-2.0) * 3.0 + 10.0
    expected = abs(15.5 - dual_objective) / (1 + 15.5 + abs(dual_objective))
    assert quality.gap == pytest.approx(expected)


def test_duals_of_a_sign_that_no_side_supports_are_dropped(lp):
    wrong = measure(lp, OPTIMUM, np.array([-7.0, -0.5]))
    without = measure(lp, OPTIMUM, np.array([0.0, -0.5]))
    assert wrong == without


def test_the_better_sign_of_the_duals_is_taken(lp):
    assert measure_either_sign(lp, OPTIMUM, -DUALS) == measure(lp, OPTIMUM, DUALS)
    assert not measure(lp, OPTIMUM, -DUALS).holds(1e-3)


def test_the_objective_is_in_the_sense_of_the_file(lp):
    assert measure(replace(lp, sense=-1.0), OPTIMUM, DUALS).objective == -15.5


def test_nan_never_holds(lp):
    assert not measure(lp, np.array([np.nan, 1.0]), DUALS).holds(1e9)


@pytest.mark.parametrize("name", ["highs-simplex", "highs-ipm"])
@pytest.mark.parametrize(
    ("file", "optimum"), [("afiro", -464.753142857), ("adlittle", 225494.963162)]
)
def test_exact_answers_pass(name, file, optimum):
    program = read(DATA / f"{file}.mps.gz")
    solver, task = find(name), Task(1e-8, 10.0)
    answer = solver.solve(solver.prepare(program, task), task)
    quality = measure(program, answer.x, answer.y)
    assert answer.status == "optimal"
    assert quality.worst < 1e-9
    assert quality.objective == pytest.approx(optimum, rel=1e-9)


def test_our_answer_passes_at_the_tolerance_asked_for():
    program = read(DATA / "adlittle.mps.gz")
    solver, task = find("ours", "cpu"), Task(1e-4, 30.0)
    answer = solver.solve(solver.prepare(program, task), task)
    assert answer.status == "optimal"
    assert answer.iterations > 0
    assert measure(program, answer.x, answer.y).holds(1e-4)


@pytest.mark.parametrize("shape", SHAPES)
def test_made_up_programs_have_an_optimum(shape):
    program = SHAPES[shape](800, seed=3)
    solver, task = find("highs-simplex"), Task(1e-7, 10.0)
    answer = solver.solve(solver.prepare(program, task), task)
    assert answer.status == "optimal"
    assert measure(program, answer.x, answer.y).holds(1e-7)
    again = SHAPES[shape](800, seed=3)
    assert (program.matrix != again.matrix).nnz == 0


def test_relaxations_drop_integrality_and_maximisation_is_turned_round(tmp_path):
    path = tmp_path / "small.lp"
    path.write_text(
        "maximize\n obj: 3 x + 5 y + 7\nsubject to\n work: 2 x + 4 y <= 11\n"
        "bounds\n x <= 2\ngeneral\n y\nend\n"
    )
    program = read(path)
    assert program.sense == -1.0
    np.testing.assert_array_equal(program.cost, [-3.0, -5.0])
    assert program.offset == -7.0
    solver, task = find("highs-simplex"), Task(1e-7, 10.0)
    answer = solver.solve(solver.prepare(program, task), task)
    np.testing.assert_allclose(answer.x, [2.0, 1.75])
    assert measure(program, answer.x, answer.y).objective == pytest.approx(6 + 8.75 + 7)


def test_presolved_programs_keep_the_optimum(tmp_path):
    program = read(DATA / "adlittle.mps.gz", presolved=True)
    assert program.nonzeros < read(DATA / "adlittle.mps.gz").nonzeros
    solver, task = find("highs-simplex"), Task(1e-8, 10.0, presolve=False)
    answer = solver.solve(solver.prepare(program, task), task)
    quality = measure(program, answer.x, answer.y)
    assert quality.worst < 1e-9
    assert quality.objective == pytest.approx(225494.963162, rel=1e-9)
    path = tmp_path / "nothing.lp"
    path.write_text("minimize\n obj: x\nsubject to\n work: x >= 1\nend\n")
    with pytest.raises(ValueError, match="leaves nothing"):
        read(path, presolved=True)
