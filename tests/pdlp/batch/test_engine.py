"""The batched engine on the CPU: its answers, its endings, its limits."""

from __future__ import annotations

import dataclasses
import importlib
import time

import numpy as np
import pytest

from gpu_bridge.many_batch import VARIABLE_DATA
from solvers.errors import DeviceError
from solvers.kernels.batch import watched
from solvers.kernels.upload import copy_by_threads
from solvers.options import EngineOptions
from solvers.outcome import StopReason
from solvers.pdlp import batch as engine
from solvers.pdlp.batch import Ending
from solvers.pdlp.batch.prepare import prepare
from solvers.pdlp.batch.settings import DEFAULT
from solvers.progress import Progress
from solvers.rays import proves_infeasible
from tests.pdlp.batch.families import (
    boxed_family,
    engine_data,
    family,
    infeasible_and_unbounded,
)
from tests.pdlp.lps import solve_with_highs

run_module = importlib.import_module("solvers.pdlp.batch.run")

OPTIONS = EngineOptions(device="cpu", threads=1, tolerance=1e-8)
SOLVED = (Ending.CONVERGED, Ending.VERTEX)


def solve(batch, options=OPTIONS, progress=None, **start):
    return engine.solve(engine_data(batch, **start), options, progress or Progress())


@pytest.mark.parametrize("name", VARIABLE_DATA)
def test_each_kind_of_data_may_vary(name):
    batch = boxed_family(3, 6, 8, 13, [name])
    answer = solve(batch)
    assert np.isin(answer.ending, SOLVED).all()
    for k in range(6):
        problem = batch.member(k)
        assert problem.objective_at(answer.x[k]) == pytest.approx(
            solve_with_highs(problem)[1], rel=1e-6, abs=1e-6
        )


@pytest.mark.parametrize("seed", range(4))
def test_every_kind_of_row_and_column(seed):
    varying = ["lower", "upper", "row_lower", "row_upper", "offset"]
    batch = family(seed, 5, 12, 17, varying)
    answer = solve(batch)
    for k in range(5):
        status, objective = solve_with_highs(batch.member(k))
        assert status == "kOptimal"
        assert answer.ending[k] in SOLVED
        found = batch.member(k).objective_at(answer.x[k])
        assert found == pytest.approx(objective, rel=1e-5, abs=1e-5)


def test_points_are_exactly_within_their_bounds():
    batch = boxed_family(1, 5, 9, 16, ["lower", "upper"])
    answer = solve(batch, dataclasses.replace(OPTIONS, tolerance=1e-3))
    assert (answer.x >= batch.lower).all()
    assert (answer.x <= batch.upper).all()


def test_a_unique_optimum_ends_on_its_vertex():
    batch = boxed_family(2, 4, 6, 10, ["cost"])
    answer = solve(batch)
    assert (answer.ending == Ending.VERTEX).all()
    for k in range(4):
        problem = batch.member(k)
        reduced = problem.cost - problem.matrix.T @ answer.row_dual[k]
        inside = (answer.x[k] > problem.lower) & (answer.x[k] < problem.upper)
        np.testing.assert_allclose(reduced[inside], 0.0, atol=1e-12)


def test_infeasible_and_unbounded_members_end_with_candidates():
    batch = infeasible_and_unbounded()
    answer = solve(batch)
    assert answer.ending[0] in SOLVED
    assert answer.ending[2] == Ending.PRIMAL_RAY
    for k in (1, 3):
        assert answer.ending[k] == Ending.DUAL_RAY
        assert proves_infeasible(batch.member(k), answer.row_dual[k])


def test_badly_scaled_coefficients():
    batch = boxed_family(5, 4, 8, 12, ["coefficients"])
    size = 10.0 ** np.random.default_rng(0).integers(-4, 5, 8)
    factors = np.repeat(size, 12)
    batch = dataclasses.replace(
        batch,
        coefficients=batch.coefficients * factors,
        row_upper=np.tile(batch.problem.row_upper * size, (4, 1)),
    )
    answer = solve(batch, dataclasses.replace(OPTIONS, tolerance=1e-6))
    assert np.isin(answer.ending, SOLVED).all()


def test_geometric_scaling_is_made_where_the_spread_is_wide():
    narrow, wide = boxed_family(5, 2, 4, 6, ["cost"]), boxed_family(5, 2, 4, 6, ["coefficients"])
    wide.coefficients[:, 0] = 1e8
    assert prepare(engine_data(narrow), OPTIONS, DEFAULT).parameters.norm > 0
    prepared = prepare(engine_data(wide), OPTIONS, DEFAULT)
    assert prepared.parameters.norm == 0.0
    assert prepared.row_scale.min() < 1e-2


def test_norm_of_a_shared_matrix_is_not_below_the_true_one():
    for seed in range(5):
        data = engine_data(boxed_family(seed, 2, 10, 15, ["cost"]))
        prepared = prepare(data, OPTIONS, DEFAULT)
        scaled = (
            prepared.row_scale[:, None] * data.pattern.toarray() * prepared.column_scale[None, :]
        )
        assert prepared.parameters.norm >= 0.999 * np.linalg.norm(scaled, 2)


def test_a_good_start_saves_iterations():
    batch = boxed_family(7, 5, 10, 20, ["row_upper"])
    cold = solve(batch)
    warm = solve(batch, x0=cold.x, y0=cold.row_dual)
    assert warm.iterations.sum() < cold.iterations.sum()
    assert np.isin(warm.ending, SOLVED).all()


def test_iteration_limit():
    answer = solve(boxed_family(1, 3, 9, 16, ["cost"]), EngineOptions("cpu", iteration_limit=7))
    assert (answer.ending == Ending.LIMIT).all()
    assert (answer.iterations == 7).all()
    assert np.isfinite(answer.x).all()


def test_without_time_nothing_is_reached():
    answer = solve(boxed_family(1, 3, 9, 16, ["cost"]), progress=Progress(0.0))
    assert (answer.ending == Ending.NOT_REACHED).all()
    assert not answer.x.any()


class StopsAfter(Progress):
    """Says stop from the second look on."""

    def __init__(self):
        super().__init__(1e6)
        self.looks = 0

    def should_stop(self):
        self.looks += 1
        return StopReason.INTERRUPTED if self.looks > 1 else None


def test_an_interruption_keeps_what_is_there(monkeypatch):
    monkeypatch.setattr(run_module, "run_watched", lambda work, flag, progress: work())
    batch = boxed_family(1, 600, 3, 4, ["cost"])
    answer = solve(batch, progress=StopsAfter())
    reached = answer.ending != Ending.NOT_REACHED
    assert reached[:512].all()
    assert not reached[512:].any()
    assert np.isin(answer.ending[:512], SOLVED).all()


NEVER = EngineOptions("cpu", threads=1, tolerance=-1.0, iteration_limit=50_000_000)
"""Goes on for a minute where nobody stops it."""


def test_an_interruption_is_heard_within_a_launch():
    batch = boxed_family(1, 2, 3, 4, ["cost"])
    solve(batch)  # so that everything is compiled
    answer = solve(batch, NEVER, progress=StopsAfter())
    assert list(answer.ending) == [Ending.LIMIT, Ending.NOT_REACHED]
    assert 0 < answer.iterations[0] < NEVER.iteration_limit
    assert np.isfinite(answer.x).all()
    assert answer.x[0].any()
    assert not answer.x[1].any()


def test_lps_that_nobody_waits_for_are_not_begun(monkeypatch):
    def stopped(work, flag, progress):
        flag[0] = watched.STOP
        work()

    monkeypatch.setattr(run_module, "run_watched", stopped)
    answer = solve(boxed_family(1, 3, 3, 4, ["cost"]))
    assert (answer.ending == Ending.NOT_REACHED).all()
    assert not answer.iterations.any()
    assert not answer.x.any()
    assert not answer.row_dual.any()


def test_what_a_watched_loop_raises_is_raised_where_it_is_waited_for():
    def fails():
        raise MemoryError("too large")

    with pytest.raises(MemoryError, match="too large"):
        watched.run_watched(fails, np.zeros(1, dtype=np.int32), Progress())


def test_a_second_interruption_waits_for_the_loop_to_end():
    class Impatient(Progress):
        def should_stop(self):
            raise KeyboardInterrupt

    flag, ended = np.zeros(1, dtype=np.int32), []

    def loop():
        while flag[0] != watched.STOP:
            time.sleep(1e-3)
        ended.append(True)

    with pytest.raises(KeyboardInterrupt):
        watched.run_watched(loop, flag, Impatient())
    assert ended


def test_slices_make_no_difference():
    batch = boxed_family(4, 600, 3, 5, ["cost", "row_upper"])
    whole, sliced = solve(batch), solve(batch, progress=Progress(1e6))
    np.testing.assert_array_equal(whole.x, sliced.x)
    np.testing.assert_array_equal(whole.iterations, sliced.iterations)


def test_numbers_that_are_not_finite_end_a_member_alone():
    batch = boxed_family(4, 3, 5, 8, ["coefficients"])
    data = engine_data(batch)
    values = data.values.copy()
    values[1, 3] = np.nan
    answer = engine.solve(dataclasses.replace(data, values=values), OPTIONS, Progress())
    assert answer.ending[1] == Ending.TROUBLE
    assert np.isin(answer.ending[[0, 2]], SOLVED).all()


def test_a_gpu_that_is_not_there(monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    with pytest.raises(DeviceError):
        solve(boxed_family(1, 2, 3, 4, ["cost"]), EngineOptions("cuda"))


def test_copies_by_threads_are_copies():
    for size in (0, 1, 7, 1000):
        source, target = np.arange(size, dtype=float), np.full(size, -1.0)
        copy_by_threads(target, source)
        np.testing.assert_array_equal(target, source)
