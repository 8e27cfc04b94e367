import numpy as np
import scipy.sparse as sp

from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.mip.model import MipModel, is_feasible, largest_row_violation
from solvers.mip.solutions.incumbents import IncumbentStore
from solvers.mip.solutions.polish.continuous import touched_up
from solvers.sparse.projection import never
from tests.cases import through


def flows(seed: int, rows: int = 40, columns: int = 160) -> tuple[Problem, np.ndarray]:
    """Return equations and inequalities over integers and continuous columns, and a point."""
    rng = np.random.default_rng(seed)
    A = sp.random_array((rows, columns), density=0.1, rng=rng, format="csr")
    A.data = np.round(10.0 * A.data) - 5.0
    integrality = rng.random(columns) < 0.4
    x = np.where(integrality, rng.integers(0, 4, columns), rng.uniform(0.0, 4.0, columns))
    at_bound = rng.random(columns) < 0.3
    x[at_bound] = 0.0
    activity = A @ x
    lower = np.where(rng.random(rows) < 0.5, activity, activity - rng.uniform(0.0, 2.0, rows))
    upper = np.where(rng.random(rows) < 0.7, activity, activity + 3.0)
    lower = np.minimum(lower, upper)
    problem = Problem.from_arrays(
        rng.normal(size=columns), A, lower, upper, upper=4.0, integrality=integrality
    )
    return problem, x


@through("seed", range(6))
@through("size", [2e-6, 1e-4])
def test_points_a_little_off_are_moved_on_to_their_rows(seed, size):
    problem, x = flows(seed)
    model = MipModel.of(problem)
    rng = np.random.default_rng(seed + 100)
    off = np.where(problem.integrality, x, x + size * rng.uniform(-1.0, 1.0, x.size))
    off = np.clip(off, 0.0, 4.0)
    assert not is_feasible(model, off)
    mended = touched_up(model, off, never)
    assert mended is not None
    assert largest_row_violation(model, mended) <= 1.01e-7
    assert np.array_equal(mended[problem.integrality], x[problem.integrality])
    assert np.max(np.abs(mended - off)) <= 100.0 * size


def test_columns_that_meet_their_bounds_take_more_than_four_rounds(monkeypatch):
    problem, x = flows(1, 120, 200)
    model = MipModel.of(problem)
    off = np.where(
        problem.integrality, x, x + 1e-4 * np.random.default_rng(101).uniform(-1, 1, 200)
    )
    off = np.clip(off, 0.0, 4.0)
    assert touched_up(model, off, never) is not None
    monkeypatch.setattr("solvers.pdlp.repair.ROUNDS", 4)
    assert touched_up(model, off, never) is None


def test_what_no_continuous_column_can_mend_is_left_alone():
    problem = Problem.from_arrays(
        [1.0, 1.0], [[1.0, 1.0]], 1.5, 1.5, upper=[4.0, 0.2], integrality=[True, False]
    )
    assert touched_up(MipModel.of(problem), np.array([1.0, 0.2]), never) is None
    whole = Problem.from_arrays([1.0], [[2.0]], 3.0, 3.0, upper=4.0, integrality=True)
    assert touched_up(MipModel.of(whole), np.array([1.0]), never) is None


def test_the_incumbents_moves_points_before_it_solves_anything(monkeypatch):
    problem, x = flows(3)
    model = MipModel.of(problem)
    off = np.where(problem.integrality, x, np.clip(x + 3e-6, 0.0, 4.0))

    def refuse(*_: object) -> None:
        raise AssertionError("an LP was asked for")

    monkeypatch.setattr("solvers.mip.solutions.polish.Polisher", refuse)
    incumbents = IncumbentStore(problem, Progress(), 1e-6, 4)
    assert incumbents.record(off, "test")
    assert is_feasible(model, incumbents.pool.points()[0].x)
