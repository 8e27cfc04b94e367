"""solve_many: the answers, whatever way they were found."""

from __future__ import annotations

import dataclasses
import signal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gpu_bridge
from gpu_bridge import Batch, Problem, ProblemError, SolutionStatus, StopReason
from gpu_bridge.batch import simplex as many_simplex
from gpu_bridge.batch import solve_many as many_module
from gpu_bridge.options import make_options
from gpu_bridge.verify.verify import verify
from solvers.core.outcome import Start
from tests.batch.families import boxed_family, family, infeasible_and_unbounded
from tests.cases import through
from tests.locations import DATA

CPU = {"method": "pdlp", "device": "cpu", "threads": 1}


def together(batch, **options):
    return gpu_bridge.solve_many(batch, **{**CPU, **options})


def singly(batch):
    return [gpu_bridge.solve(batch.member(k), explain=False) for k in range(len(batch))]


def assert_same_answers(found, expected, tolerance=1e-5):
    assert [o.solution_status for o in found] == [o.solution_status for o in expected]
    objectives = [o.objective for o in expected]
    np.testing.assert_allclose(found.objectives, objectives, rtol=tolerance, atol=tolerance)


@given(
    seed=st.integers(0, 10**6),
    count=st.integers(1, 5),
    rows=st.integers(1, 9),
    columns=st.integers(1, 12),
    varying=st.sets(st.sampled_from(["cost", "upper", "row_lower", "row_upper", "offset"])),
)
@settings(max_examples=40, deadline=None)
def test_random_families_have_the_answers_of_single_solves(seed, count, rows, columns, varying):
    batch = family(seed, count, rows, columns, sorted(varying | {"lower"}), density=0.6)
    if batch.problem.num_nonzeros:
        assert_same_answers(together(batch, tolerance=1e-7), singly(batch))


@given(seed=st.integers(0, 10**6), rows=st.integers(1, 8), columns=st.integers(1, 8))
@settings(max_examples=25, deadline=None)
def test_coefficients_and_costs_at_random_may_leave_no_answer(seed, rows, columns):
    generator = np.random.default_rng(seed)
    shape = (3, rows * columns)
    base = Problem.from_arrays(
        np.ones(columns), np.ones((rows, columns)), -1.0, 1.0, lower=-1.0, upper=np.inf
    )
    batch = Batch(
        base,
        coefficients=generator.integers(-2, 3, shape).astype(float),
        cost=generator.integers(-1, 2, (3, columns)).astype(float),
        row_upper=generator.integers(-1, 4, (3, rows)).astype(float),
    )
    assert_same_answers(together(batch), singly(batch))


@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-9])
def test_what_is_called_optimal_passes_the_gate_of_single_solves(tolerance):
    batch = family(11, 30, 15, 25, ["cost", "row_upper"])
    options = make_options(tolerance=tolerance)
    for outcome in together(batch, tolerance=tolerance):
        if outcome.solution_status is SolutionStatus.OPTIMAL:
            checked = verify(outcome.problem, outcome, options)
            assert checked.solution_status is SolutionStatus.OPTIMAL
            assert checked.residuals.gap_relative == pytest.approx(
                outcome.residuals.gap_relative, abs=1e-13
            )


def test_a_wrong_claim_is_not_believed(monkeypatch):
    from solvers.simplex import batch as engine

    honest = engine.solve

    def liar(data, *rest, **more):
        answer = honest(data, *rest, **more)
        answer.x[1] = data.lower[0]
        answer.row_dual[2] = 0.0
        return answer

    monkeypatch.setattr(engine, "solve", liar)
    batch = boxed_family(3, 4, 6, 9, ["cost"])
    found = together(batch)
    assert sorted(found._parts[0].others) == [1, 2]
    assert [found[k].engine for k in range(4)] == ["simplex", "highs", "highs", "simplex"]
    assert_same_answers(found, singly(batch))


def test_infeasible_and_unbounded_members():
    found = together(infeasible_and_unbounded())
    names = [status.name for status in found.statuses]
    assert names == ["OPTIMAL", "INFEASIBLE", "UNBOUNDED", "INFEASIBLE"]
    assert found[1].engine == "simplex"
    assert found[1].dual_ray is not None
    assert np.isnan(found.objectives[[1, 3]]).all()
    assert np.isnan(found.x[1]).all()


def test_crossed_bounds_make_a_member_infeasible():
    batch = boxed_family(3, 4, 5, 7, ["lower", "upper"])
    lower = np.array(batch.lower)
    lower[2, 3] = batch.upper[2, 3] + 1.0
    for method in ("pdlp", "highs"):
        found = together(dataclasses.replace(batch, lower=lower), method=method)
        names = [status.name for status in found.statuses]
        assert names == ["OPTIMAL", "OPTIMAL", "INFEASIBLE", "OPTIMAL"]
        assert "lower bound" in found[2].message


def test_a_maximisation_keeps_its_sense():
    base = Problem.from_arrays([2.0, 1.0], [[1.0, 1.0]], -np.inf, [4.0], upper=3.0, maximize=True)
    batch = Batch.from_model_data(base, cost=[[2.0, 1.0], [1.0, 5.0]], offset=[10.0, 0.0])
    found = together(batch)
    np.testing.assert_allclose(found.objectives, [10 + 7, 16], rtol=1e-6)
    np.testing.assert_allclose(found.bounds, [10 + 7, 16], rtol=1e-5)
    np.testing.assert_allclose(found.row_dual, [[1.0], [1.0]], rtol=1e-5)
    np.testing.assert_allclose(found[1].row_dual, [1.0], rtol=1e-5)
    np.testing.assert_allclose(found.reduced_cost[0], [1.0, 0.0], atol=1e-5)


def test_arrays_and_outcomes_say_the_same():
    batch = boxed_family(5, 6, 4, 7, ["cost", "row_upper"])
    found = together(batch)
    assert found.x.shape == (6, 7)
    for k, outcome in enumerate(found):
        assert outcome.objective == found.objectives[k]
        np.testing.assert_array_equal(outcome.x, found.x[k])
        np.testing.assert_array_equal(outcome.row_dual, found.row_dual[k])
        np.testing.assert_allclose(outcome.row_activity, outcome.problem.matrix @ outcome.x)
        np.testing.assert_allclose(
            outcome.reduced_cost,
            outcome.problem.cost - outcome.problem.matrix.T @ outcome.row_dual,
            atol=1e-12,
        )
        assert outcome.statistics["iterations"] == found.iterations[k]
        assert outcome.bound <= outcome.objective + 1e-6
    assert found[-1].objective == found.objectives[5]
    assert len(found[1:3]) == 2
    with pytest.raises(IndexError, match="no number 6"):
        _ = found[6]


@pytest.mark.parametrize("method", ["pdlp", "highs"])
def test_nobody_and_one(method):
    base = boxed_family(5, 1, 4, 7, ["cost"])
    assert len(together(dataclasses.replace(base, cost=np.zeros((0, 7))), method=method)) == 0
    one = together(base, method=method)
    assert one.statuses == [SolutionStatus.OPTIMAL]
    assert one.x.shape == (1, 7)
    empty = gpu_bridge.solve_many([], method=method)
    assert len(empty) == 0
    assert empty.statuses == []
    assert empty.objectives.shape == (0,)
    assert empty.x.shape == (0, 0)


def test_awkward_rows_and_columns():
    """A free row, an empty row, an empty column, a fixed one, a free one, equations."""
    A = np.array([[1.0, 2, 0, 1, 1], [0, 0, 0, 0, 0], [1, -1, 0, 0, 2], [1, 1, 0, 1, -1]])
    base = Problem.from_arrays(
        [1.0, 1, -1, 0, 0.5],
        A,
        [4.0, -1.0, -np.inf, 2.0],
        [4.0, 1.0, np.inf, 8.0],
        lower=[0, 0, 0, 1.5, -np.inf],
        upper=[np.inf, 9, 7, 1.5, np.inf],
    )
    generator = np.random.default_rng(0)
    batch = Batch(base, cost=base.cost * generator.uniform(0.9, 1.1, (8, 5)))
    assert_same_answers(together(batch), singly(batch))


def test_an_empty_matrix():
    base = Problem.from_arrays([1.0, -1.0], np.zeros((1, 2)), -1.0, 1.0, upper=2.0)
    found = together(Batch(base, cost=[[1.0, -1.0], [-1.0, -1.0]]))
    np.testing.assert_allclose(found.objectives, [-2.0, -4.0])


def mixed() -> list[Problem]:
    """Two structures, an integer problem and one on its own, in turn."""
    one, other = boxed_family(1, 3, 4, 6, ["cost"]), boxed_family(2, 3, 5, 3, ["row_upper"])
    whole = Problem.from_arrays([-1.0, -1.0], [[2.0, 3.0]], -np.inf, [7.0], integrality=True)
    alone = Problem.from_arrays([1.0], [[1.0]], [2.0], [3.0])
    found = []
    for k in range(3):
        found += [one.member(k), other.member(k)]
    return [*found[:3], whole, *found[3:], alone]


@pytest.mark.parametrize("method", ["auto", "pdlp"])
def test_structures_may_be_mixed(method):
    problems = mixed() if method == "auto" else [p for p in mixed() if not p.is_mip]
    found = gpu_bridge.solve_many(problems, method=method, device="cpu", threads=1)
    assert_same_answers(found, [gpu_bridge.solve(problem) for problem in problems])
    assert [len(o.x) for o in found] == [p.num_columns for p in problems]
    with pytest.raises(ProblemError, match="differ in size"):
        _ = found.x


def test_one_of_another_structure_leaves_the_others_together():
    """Of one size, but with its entries elsewhere, or with a whole number."""
    like = [boxed_family(5, 9, 2, 3, ["cost"]).member(k) for k in range(9)]
    A = like[0].matrix
    whole = dataclasses.replace(like[0], integrality=np.array([True, False, False]))
    dense = np.ones((2, 3))
    dense[0, 0] = 0.0
    elsewhere = [np.roll(dense, shift) for shift in range(2)]
    others = [Problem.from_arrays(np.ones(3), B, 1.0, upper=5.0) for B in elsewhere]
    assert A.nnz == 6
    found = gpu_bridge.solve_many([others[0], *like, others[1]], **CPU)
    assert found.log.count("LPs together") == 3
    assert "9 LPs together" in found.log
    found = gpu_bridge.solve_many([whole, *like], method="pdlp", device="cpu", relax=True)
    assert "10 LPs together" in found.log


def test_large_members_get_the_device_to_themselves():
    rows, columns = 4, 80_000
    base = Problem.from_arrays(np.ones(columns), np.ones((rows, columns)), 1.0, upper=1.0)
    assert rows * columns > many_simplex.LARGEST_DICTIONARY
    found = gpu_bridge.solve_many(Batch(base, offset=[0.0, 1.0]), **CPU)
    assert "together" not in found.log
    np.testing.assert_allclose(found.objectives, [1.0, 2.0], rtol=1e-5)


@pytest.mark.parametrize("method", ["highs", "pdlp", "simplex", "auto"])
def test_a_batch_of_nobody_has_arrays_of_its_widths(method):
    batch = boxed_family(5, 3, 4, 7, ["cost"])
    nobody = dataclasses.replace(batch, cost=np.zeros((0, 7)))
    found = gpu_bridge.solve_many(nobody, method=method, device="cpu")
    assert found.x.shape == (0, 7)
    assert found.row_dual.shape == (0, 4)
    assert found.objectives.shape == (0,)


def test_relaxations_of_integer_problems():
    base = Problem.from_arrays([-1.0, -1.0], [[2.0, 2.0]], -np.inf, [7.0], integrality=True)
    batch = Batch(base, row_upper=[[7.0], [5.0]])
    np.testing.assert_allclose(together(batch, relax=True).objectives, [-3.5, -2.5], rtol=1e-6)
    np.testing.assert_allclose(together(batch, method="auto").objectives, [-3.0, -2.0])
    listed = gpu_bridge.solve_many([batch.member(0), batch.member(1)], relax=True, **CPU)
    np.testing.assert_allclose(listed.objectives, [-3.5, -2.5], rtol=1e-6)


def test_small_problems_share_the_cores():
    batch = boxed_family(5, 20, 4, 7, ["cost"])
    problems = [batch.member(k) for k in range(20)]
    found = gpu_bridge.solve_many(problems, method="highs")
    assert_same_answers(found, singly(batch), 1e-9)
    assert {o.engine for o in found} == {"highs"}


def test_first_order_methods_are_not_for_small_problems(monkeypatch):
    """Whether a dense matrix can hold them or not."""
    batch = boxed_family(5, 8, 4, 7, ["cost"])
    assert {o.engine for o in together(batch)} == {"simplex"}
    monkeypatch.setattr(many_simplex, "LARGEST_DICTIONARY", 27)
    found = together(batch)
    assert {o.engine for o in found} == {"highs"}
    assert_same_answers(found, singly(batch))


def test_files_may_be_given():
    path = DATA / "afiro.mps.gz"
    found = gpu_bridge.solve_many([path, path])
    np.testing.assert_allclose(found.objectives, [-464.7531428571429] * 2)
    with pytest.raises(ProblemError, match="int"):
        gpu_bridge.solve_many([3])


@pytest.mark.parametrize("method", ["pdlp", "highs"])
def test_without_time_every_member_says_so(method):
    found = together(boxed_family(5, 12, 4, 7, ["cost"]), method=method, time_limit=0.0)
    assert {o.stop_reason for o in found} == {StopReason.TIME_LIMIT}
    assert {o.solution_status for o in found} == {SolutionStatus.NOTHING}


def test_an_interruption_returns_what_is_there(monkeypatch):
    from solvers.simplex import batch as engine

    honest = engine.solve

    def interrupted(*arguments, **more):
        answer = honest(*arguments, **more)
        answer.ending[3:] = engine.Ending.NOT_REACHED
        signal.raise_signal(signal.SIGINT)
        return answer

    monkeypatch.setattr(engine, "solve", interrupted)
    found = together(boxed_family(5, 12, 4, 7, ["cost"]))
    assert [o.solution_status for o in found[:3]] == [SolutionStatus.OPTIMAL] * 3
    assert {o.stop_reason for o in found[3:]} == {StopReason.INTERRUPTED}


def test_the_iteration_limit_leaves_members_to_the_reference_engine():
    batch = boxed_family(5, 4, 20, 40, ["cost"])
    found = together(batch, iteration_limit=1)
    assert "4 of the LPs are left for the reference engine" in found.log


@pytest.mark.parametrize("count", [3, 20])
def test_members_solved_one_by_one_begin_at_the_start_too(count):
    """One after the other, and on all cores."""
    batch = boxed_family(7, count, 30, 60, ["cost"])
    near = batch.cost[0] + 1e-3 * (batch.cost - batch.cost[0])
    batch = dataclasses.replace(batch, cost=near)
    first = gpu_bridge.solve(batch.member(0), method="simplex")
    start = Start(basis=first.basis)
    options = {"method": "highs", "lp_algorithm": "simplex", "presolve": False}
    cold = gpu_bridge.solve_many(batch, **options)
    warm = gpu_bridge.solve_many(batch, start=start, **options)
    assert_same_answers(warm, list(cold))
    pivots = [
        sum(outcome.statistics["simplex_iterations"] for outcome in found) for found in (cold, warm)
    ]
    assert pivots[1] < 0.5 * pivots[0]


def test_the_log_tells_of_the_batch(tmp_path, capsys):
    path = tmp_path / "log.txt"
    found = together(boxed_family(5, 6, 4, 7, ["cost"]), log=True, log_file=str(path))
    assert "6 LPs together on cpu: 6 optimal" in found.log
    assert found.log.strip() in path.read_text()
    assert "6 LPs together" in capsys.readouterr().out


class Gpu:
    kind = "cuda"


@through(
    ("count", "options", "expected"),
    [
        (1000, {}, "auto"),
        (1000, {"device": "cuda"}, "cuda"),
        (10, {}, "cpu"),
        (10, {"device": "cuda"}, None),
        (3, {}, None),
        (1000, {"device": "cpu"}, "cpu"),
        (1000, {"method": "highs"}, None),
        (1000, {"crossover": "on"}, "auto"),
        (1000, {"lp_algorithm": "simplex"}, None),
        (1, {"method": "pdlp"}, "auto"),
        (0, {"method": "pdlp"}, None),
    ],
)
def test_who_is_solved_together(monkeypatch, count, options, expected):
    monkeypatch.setattr("solvers.core.device.find_device", lambda wanted: Gpu())
    problem = boxed_family(1, 1, 20, 30, ["cost"]).problem
    assert many_module._together_on(problem, count, make_options(options)) == expected


def test_models_too_large_for_a_cpu_are_solved_one_by_one(monkeypatch):
    problem = boxed_family(1, 1, 20, 30, ["cost"]).problem
    options = make_options({"device": "cpu"})
    monkeypatch.setattr("gpu_bridge.batch.simplex.LARGEST_ON_CPU", 600)
    assert many_module._together_on(problem, 10, options) == "cpu"
    monkeypatch.setattr("gpu_bridge.batch.simplex.LARGEST_ON_CPU", 599)
    assert many_module._together_on(problem, 10, options) is None


def test_noise_is_taken_off_rays():
    rays = many_simplex.cleaned(np.array([2.0, 1e-4, -1e-9]))
    np.testing.assert_array_equal(rays[0], [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(rays[-1], [1.0, 5e-5, -5e-10])
    assert many_simplex.cleaned(np.zeros(3)) == []
