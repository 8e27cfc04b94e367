from __future__ import annotations

import itertools

import numpy as np
import pytest

from solvers.mip.heuristics.large_neighbourhood import mending
from solvers.mip.heuristics.large_neighbourhood.mending import Mending
from solvers.mip.heuristics.large_neighbourhood.neighbourhoods import repair
from solvers.mip.heuristics.large_neighbourhood.situation import Situation
from solvers.mip.inference.aggregation import eliminate
from solvers.mip.model import MipModel, is_feasible
from solvers.mip.portfolio.budget import Budget
from solvers.mip.solutions.incumbents import InfeasiblePoint
from solvers.mip.submip import SubMipResult, SubMipStatus
from tests.mip.inference.aggregation.schedules import schedule
from tests.mip.solutions.polish.test_polisher import model_of
from tests.mip.submip.test_submip import Submissions


def near_point(model: MipModel, seed: int) -> InfeasiblePoint:
    """Return a schedule in which every job starts somewhere, and the resource has no room."""
    sub = eliminate(model)
    assert sub is not None
    rng = np.random.default_rng(seed)
    small = sub.model
    x = np.zeros(small.num_columns)
    equations = np.flatnonzero(small.row_lower == small.row_upper)
    for i in equations:
        x[rng.choice(small.rows[i][0])] = 1.0
    got: list[InfeasiblePoint] = []
    sub.infeasible_to(lambda point, rows: got.append(InfeasiblePoint(point, rows)))(x, 0)
    assert got[0].violated_rows > 0
    return got[0]


def implied_of(model: MipModel) -> np.ndarray:
    sub = eliminate(model)
    assert sub is not None
    return sub.implied


@pytest.mark.parametrize("seed", range(3))
def test_a_schedule_without_room_is_mended(seed):
    model = schedule(seed, jobs=12, periods=20)
    submissions = Submissions(model)
    way: list[tuple[np.ndarray, int]] = []
    one = Mending(
        model,
        submissions,
        implied_of(model),
        infeasible_points=lambda x, rows: way.append((x, rows)),
    )
    points = (near_point(model, seed),)
    assert one.has_work(points)
    mended = any(one.run(points, Budget(work=1e7), turn) for turn in range(5))
    assert mended
    assert is_feasible(model, model.rounded(submissions.points[-1]))
    assert submissions.sources == {mending.SOURCE}
    assert all(rows > 0 for _, rows in way)
    assert not one.has_work(points)


def test_what_equations_define_is_never_fixed():
    model = schedule(0, jobs=12, periods=20)
    implied = implied_of(model)
    point = near_point(model, 0)
    situation = Situation(model, infeasible_point=point.x, implied=implied)
    assert not np.intersect1d(situation.decidable, implied).size
    sub = repair(situation, np.random.default_rng(0), rate=1.0)
    assert sub is not None
    np.testing.assert_array_equal(sub.lower[implied], model.lower[implied])
    np.testing.assert_array_equal(sub.upper[implied], model.upper[implied])
    assert np.all(sub.lower[situation.decidable] == sub.upper[situation.decidable])


def test_nothing_is_tried_again_once_everything_was_free():
    # x + y + z is 1 and at least 2: no point mends that, and HiGHS proves it at once
    model = model_of([1, 1, 1], [[1, 1, 1], [1, 1, 1]], [1, 2], [1, np.inf], 0, 1, True)
    one = Mending(model, Submissions(model))
    points = (InfeasiblePoint(np.array([1.0, 0.0, 0.0]), 1),)
    assert not one.run(points, Budget(work=1e9), 0)
    assert not one.has_work(points)
    assert not one.run(points, Budget(work=1e9), 1)


def answers_with(monkeypatch, status: SubMipStatus) -> list[int]:
    """Let sub-MIPs end in this way; return the list of their free columns."""
    free: list[int] = []

    def solve(model, sub, *_, **__):
        free.append(int(np.count_nonzero(sub.lower < sub.upper)))
        return SubMipResult(status)

    monkeypatch.setattr(mending, "solve_submip", solve)
    monkeypatch.setattr(mending, "FIRST_FREE", 40)
    return free


def test_proofs_free_more_columns_until_all_are(monkeypatch):
    model = schedule(0, jobs=12, periods=20)
    free = answers_with(monkeypatch, SubMipStatus.OPTIMAL)
    one = Mending(model, Submissions(model))
    one.run((near_point(model, 0),), Budget(), 0)
    assert free[0] == 40
    assert all(b > a for a, b in itertools.pairwise(free))
    assert free[-1] == np.count_nonzero(model.lower < model.upper)


def test_a_lack_of_time_frees_fewer_columns_until_too_few(monkeypatch):
    model = schedule(0, jobs=12, periods=20)
    free = answers_with(monkeypatch, SubMipStatus.LIMIT)
    one = Mending(model, Submissions(model))
    one.run((near_point(model, 0),), Budget(), 0)
    assert free[0] == 40
    assert all(b < a for a, b in itertools.pairwise(free))
    assert free[-1] == mending.FEWEST_FREE


def test_the_least_violated_point_comes_first_until_its_turns_are_in_vain(monkeypatch):
    model = schedule(0, jobs=12, periods=20)
    one = Mending(model, Submissions(model))
    treated: list[float] = []

    def solve(model, sub, *_, **__):
        patient = min(tried, key=lambda place: abs(place - sub.elastic.size))
        treated.append(patient)
        return SubMipResult(SubMipStatus.LIMIT)

    monkeypatch.setattr(mending, "solve_submip", solve)
    monkeypatch.setattr(mending, "FIRST_FREE", 40)
    monkeypatch.setattr(mending, "FEWEST_FREE", 0)
    points = sorted((near_point(model, seed) for seed in (0, 3)), key=lambda p: p.violated_rows)
    tried = [point.violated_rows for point in points]
    assert tried[0] < tried[1]
    for turn in range(12):
        one.run(points, Budget(stop=lambda now=turn: len(treated) > now), turn)
    assert treated[0] == tried[0]
    assert set(treated) == set(tried)
    assert treated.count(tried[0]) > treated.count(tried[1])


def test_points_wait_for_their_turns_and_the_hopeless_make_room(monkeypatch):
    model = schedule(0, jobs=12, periods=20)
    answers_with(monkeypatch, SubMipStatus.LIMIT)
    one = Mending(model, Submissions(model))
    points = tuple(near_point(model, seed) for seed in range(mending.POINTS))
    for turn in range(mending.POINTS):
        assert one.has_work(points)
        one.run(points, Budget(), turn)
    assert not one.has_work(points)
    assert not one.is_getting_on
    assert one.has_work((near_point(model, 99),))
