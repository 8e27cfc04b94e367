"""The pipeline answers every problem of the table rightly, whichever engine is asked."""

from __future__ import annotations

import io
import signal
import threading
from dataclasses import replace

import numpy as np
import pytest

import gpu_bridge
import solvers.core.outcome
from gpu_bridge.classify import ProblemKind, classify
from gpu_bridge.options import METHODS, Options, make_options, option_table
from gpu_bridge.pipeline import brief, registry
from gpu_bridge.pipeline.registry import ENGINES, choose
from gpu_bridge.pipeline.routes import Choice
from solvers import presolve
from solvers.core.errors import DeviceError, FileFormatError, OptionError, ProblemError
from solvers.core.outcome import SolutionStatus, Start, StopReason
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from tests.cases import through
from tests.locations import DATA
from tests.problems import INTEGER, LINEAR, Case
from tests.soon import soon

WAYS = [
    {"method": "auto"},
    {"method": "highs", "presolve": False},
    {"method": "highs", "lp_algorithm": "ipm"},
    {"method": "pdlp", "device": "cpu"},
    {"method": "pdlp", "device": "cpu", "presolve": False},
    {"method": "ipm"},
    {"method": "ipm", "presolve": False},
    {"method": "simplex", "device": "cpu"},
    {"method": "simplex", "device": "cpu", "presolve": False},
    {"method": "simplex", "simplex_variant": "dense", "device": "cpu", "presolve": False},
]
INTEGER_WAYS = [
    {"method": "auto"},
    {"method": "auto", "presolve": False},
    {"method": "highs"},
    {"method": "mip"},
    {"method": "mip", "presolve": False},
    {"method": "mip", "threads": 1},
    {"method": "mip", "deterministic": True, "work_limit": 0.01},
]
KNAPSACKS = [case for case in INTEGER if classify(case.problem).kind is ProblemKind.KNAPSACK]


def test_every_method_of_the_option_table_has_an_engine() -> None:
    assert set(METHODS) == {"auto", *ENGINES}


def test_the_options_of_engines_are_options() -> None:
    names = {row.name for row in option_table()}
    assert all(engine.options <= names for engine in ENGINES.values())


def test_what_an_engine_does_not_read_is_said() -> None:
    case = LINEAR[0]
    told = gpu_bridge.solve(case.problem, method="ipm", node_limit=7, crossover="off").log
    assert "node_limit changes nothing there" in told
    assert "crossover changes" not in told


def test_every_engine_is_in_the_table_of_ways() -> None:
    assert {str(way["method"]) for way in WAYS + INTEGER_WAYS} | {"knapsack"} == set(METHODS)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())))
@through("case", LINEAR)
def test_linear(case: Case, way: dict[str, object]) -> None:
    check(case, gpu_bridge.solve(case.problem, **way))


@pytest.mark.parametrize("way", INTEGER_WAYS, ids=lambda way: "-".join(map(str, way.values())))
@through("case", INTEGER)
def test_integer(case: Case, way: dict[str, object]) -> None:
    check(case, gpu_bridge.solve(case.problem, device="cpu", **way))


def check(case: Case, outcome: gpu_bridge.Outcome) -> None:
    assert outcome.solution_status is case.status, outcome.log
    assert outcome.stop_reason is StopReason.CONVERGED
    if case.status is not SolutionStatus.OPTIMAL:
        assert outcome.x is None
        assert np.isnan(outcome.objective)
        return
    assert outcome.objective == pytest.approx(case.objective, abs=1e-8, rel=1e-8)
    assert outcome.bound == pytest.approx(case.objective, abs=1e-5, rel=1e-4)
    assert outcome.x is not None
    assert outcome.row_activity is not None
    if not case.problem.is_mip:
        assert_kkt(case.problem, outcome)


def assert_kkt(problem: Problem, outcome: gpu_bridge.Outcome, tolerance: float = 1e-6) -> None:
    """Check stationarity, signs and complementarity, turned back to the minimised sense."""
    assert outcome.x is not None
    assert outcome.row_dual is not None
    assert outcome.reduced_cost is not None
    sign = -1.0 if problem.maximize else 1.0
    y, z = sign * outcome.row_dual, sign * outcome.reduced_cost
    assert problem.cost - problem.matrix.T @ y == pytest.approx(z, abs=tolerance)
    activity = problem.matrix @ outcome.x
    for multiplier, value, low, high in (
        (y, activity, problem.row_lower, problem.row_upper),
        (z, outcome.x, problem.lower, problem.upper),
    ):
        at_low = np.abs(value - low) <= tolerance * (1 + np.abs(low))
        at_high = np.abs(value - high) <= tolerance * (1 + np.abs(high))
        assert (at_low | (multiplier <= tolerance)).all()
        assert (at_high | (multiplier >= -tolerance)).all()


def test_relax_solves_the_relaxation() -> None:
    problem = Problem.from_arrays([1.0], [[2.0]], [3.0], integrality=True)
    assert gpu_bridge.solve(problem, relax=True).objective == pytest.approx(1.5)


def test_time_limit_zero_stops_at_once() -> None:
    for case in (LINEAR[0], INTEGER[0]):
        outcome = gpu_bridge.solve(case.problem, time_limit=0)
        assert outcome.solution_status is SolutionStatus.NOTHING
        assert outcome.stop_reason is StopReason.TIME_LIMIT


def test_the_clock_runs_while_the_model_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    real = registry.choose

    def choose_slowly(problem: Problem, options: Options) -> Choice:
        threading.Event().wait(0.1)
        return real(problem, options)

    monkeypatch.setattr(registry, "choose", choose_slowly)
    outcome = gpu_bridge.solve(INTEGER[0].problem, method="mip", time_limit=0.05)
    assert outcome.stop_reason is StopReason.TIME_LIMIT
    assert outcome.seconds >= 0.1


def test_pdlp_refuses_integers() -> None:
    with pytest.raises(OptionError, match=r"pdlp.*relax=True"):
        gpu_bridge.solve(INTEGER[0].problem, method="pdlp")


@pytest.mark.parametrize("presolve", [True, False])
def test_pdlp_without_crossover_keeps_its_tolerance(presolve: bool) -> None:
    path = DATA / "adlittle.mps.gz"
    outcome = gpu_bridge.solve(
        path, method="pdlp", device="cpu", crossover="off", presolve=presolve
    )
    assert outcome.solution_status is SolutionStatus.OPTIMAL
    assert outcome.engine == "pdlp"
    assert outcome.basis is None
    worst = outcome.residuals
    assert max(worst.primal_relative, worst.dual_relative, worst.gap_relative) <= 1e-6
    assert outcome.objective == pytest.approx(225494.963162, rel=1e-5)


def test_a_postsolved_point_that_misses_is_polished(monkeypatch: pytest.MonkeyPatch) -> None:
    # Presolve's way back is made to lose digits, as it does on some models.
    real = presolve.apply

    def sloppy(problem: Problem, progress: Progress, kind: str, threads: int) -> presolve.Reduction:
        reduction = real(problem, progress, kind, threads)

        def undo(outcome: solvers.core.outcome.Outcome) -> solvers.core.outcome.Outcome:
            back = reduction.undo(outcome)
            assert back.x is not None
            return replace(back, x=back.x * (1 + 1e-3))

        return replace(reduction, undo=undo)

    monkeypatch.setattr(presolve, "apply", sloppy)
    path = DATA / "adlittle.mps.gz"
    outcome = gpu_bridge.solve(path, method="pdlp", device="cpu", crossover="off")
    assert "on the original model" in outcome.log
    assert (outcome.solution_status, outcome.engine) == (SolutionStatus.OPTIMAL, "pdlp")


def test_a_gpu_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(wanted: str) -> None:
        raise DeviceError("There is no CUDA device.")

    monkeypatch.setattr("gpu_bridge.pipeline.registry.look_for", none)
    with pytest.raises(DeviceError, match="CUDA"):
        gpu_bridge.solve(LINEAR[0].problem, device="cuda")


def test_the_log_says_what_was_picked_and_why() -> None:
    stream = io.StringIO()
    outcome = gpu_bridge.solve(LINEAR[0].problem, streams=[stream])
    assert "highs on cpu: a small model" in stream.getvalue()
    assert stream.getvalue() == outcome.log


def test_log_file(tmp_path: object) -> None:
    path = f"{tmp_path}/solve.log"
    outcome = gpu_bridge.solve(LINEAR[0].problem, log_file=path)
    with open(path, encoding="utf-8") as file:
        assert file.read() == outcome.log
    with pytest.raises(FileFormatError, match="There is no folder"):
        gpu_bridge.solve(LINEAR[0].problem, log_file=f"{tmp_path}/none/solve.log")


def test_what_is_not_a_model_is_refused() -> None:
    with pytest.raises(ProblemError, match="list"):
        gpu_bridge.solve([1, 2])  # type: ignore[arg-type]


def test_a_start_of_the_wrong_shape_is_refused() -> None:
    with pytest.raises(OptionError, match=r"\(3,\).*\(2,\)"):
        gpu_bridge.solve(LINEAR[0].problem, start=Start(x=np.zeros(3)))


@pytest.mark.parametrize("method", ["auto", "highs"])
def test_explanation_can_be_left_out(method: str) -> None:
    case = next(case for case in LINEAR if case.name == "infeasible")
    assert gpu_bridge.solve(case.problem, method=method).conflict is not None
    assert gpu_bridge.solve(case.problem, method=method, explain=False).conflict is None


def test_solve_many_keeps_the_order() -> None:
    outcomes = gpu_bridge.solve_many([case.problem for case in LINEAR[:3]])
    assert [outcome.objective for outcome in outcomes] == pytest.approx([9.0, 12.0, 2.0])


@pytest.mark.parametrize("most", [brief.MOST, 0], ids=["at once", "by engines"])
def test_many_solves_in_as_many_threads(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(brief, "MOST", most)
    results: dict[str, float] = {}

    def work(case: Case) -> None:
        results[case.name] = gpu_bridge.solve(case.problem).objective

    cases = [case for case in LINEAR + INTEGER if case.status is SolutionStatus.OPTIMAL]
    threads = [threading.Thread(target=work, args=(case,)) for case in cases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == pytest.approx({case.name: case.objective for case in cases}, abs=1e-7)


@pytest.mark.parametrize("case", KNAPSACKS, ids=str)
def test_knapsack_problems(case: Case) -> None:
    outcome = gpu_bridge.solve(case.problem, method="knapsack", device="cpu")
    assert outcome.engine == "knapsack"
    check(case, outcome)


def test_choose_names_its_reason() -> None:
    choice = choose(KNAPSACKS[0].problem, make_options())
    assert choice.method == "knapsack"
    assert "knapsack problem of" in choice.reason
    other = next(case for case in INTEGER if case not in KNAPSACKS and case.problem.num_rows > 1)
    choice = choose(other.problem, make_options())
    assert choice.method == "mip"
    assert "heuristics beside branch and bound" in choice.reason


@pytest.mark.parametrize("lp_algorithm", ["ipm", "pdlp"])
def test_a_second_opinion_is_by_another_algorithm(
    monkeypatch: pytest.MonkeyPatch, lp_algorithm: str
) -> None:
    from solvers import highs

    real, asked = highs.solve, []

    def give_up(
        problem: Problem, options: Options, *more: object, **names: object
    ) -> solvers.core.outcome.Outcome:
        asked.append(options.lp_algorithm)
        if options.lp_algorithm == lp_algorithm:
            return solvers.core.outcome.Outcome(
                SolutionStatus.NOTHING,
                StopReason.NUMERICAL_TROUBLE,
                engine="highs",
                message="The reference engine was struck by lightning.",
            )
        return real(problem, options, *more, **names)  # type: ignore[arg-type]

    monkeypatch.setattr(highs, "solve", give_up)
    problem = LINEAR[0].problem
    outcome = gpu_bridge.solve(problem, method="highs", lp_algorithm=lp_algorithm)
    assert asked == [lp_algorithm, "auto"]
    assert "struck by lightning. Asking for a second opinion." in outcome.log
    assert outcome.objective == pytest.approx(LINEAR[0].objective)
    many = gpu_bridge.solve_many([problem] * 8, method="highs", lp_algorithm=lp_algorithm)
    assert many.objectives == pytest.approx([LINEAR[0].objective] * 8)


def test_an_engine_that_gives_up_early_gets_a_second_opinion(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def give_up(*_: object, **__: object) -> solvers.core.outcome.Outcome:
        return solvers.core.outcome.Outcome(
            SolutionStatus.NOTHING, StopReason.TIME_LIMIT, engine="pdlp"
        )

    monkeypatch.setattr("solvers.pdlp.solve", give_up)
    outcome = gpu_bridge.solve(
        LINEAR[0].problem, method="pdlp", device="cpu", presolve=False, time_limit=60
    )
    assert "second opinion" in outcome.log
    assert (outcome.solution_status, outcome.engine) == (SolutionStatus.OPTIMAL, "highs")


def test_a_shortfall_at_the_time_limit_is_a_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    def come_short(
        problem: Problem, options: object, progress: Progress, *_: object
    ) -> solvers.core.outcome.Outcome:
        progress.time_limit = 0.0  # as if all the time had been used
        return solvers.core.outcome.Outcome(
            SolutionStatus.OPTIMAL, StopReason.CONVERGED, x=np.array([3.0, 1.5]), engine="highs"
        )

    monkeypatch.setattr("solvers.highs.solve", come_short)
    outcome = gpu_bridge.solve(LINEAR[0].problem, method="highs", time_limit=60)
    assert outcome.solution_status is SolutionStatus.FEASIBLE
    assert outcome.stop_reason is StopReason.TIME_LIMIT


@pytest.fixture
def hard_problem() -> Problem:
    """Return a market-split problem, hopeless to prove within the test's patience."""
    generator = np.random.default_rng(5)
    A = generator.integers(0, 100, size=(6, 60)).astype(float)
    return Problem.from_arrays(
        np.ones(60), A, A.sum(axis=1) // 2, A.sum(axis=1) // 2, upper=1.0, integrality=True
    )


@pytest.mark.parametrize("seconds", [0.0, 0.5])
def test_ctrl_c_returns_what_there_is(seconds: float, hard_problem: Problem) -> None:
    """The signal comes to another thread, and so does not wake the one that waits."""
    before = signal.getsignal(signal.SIGINT)

    def press() -> None:
        assert soon(lambda: signal.getsignal(signal.SIGINT) is not before)
        threading.Event().wait(seconds)
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)

    pressing = threading.Thread(target=press)
    pressing.start()
    outcome = gpu_bridge.solve(hard_problem, time_limit=600)
    pressing.join()
    assert outcome.stop_reason is StopReason.INTERRUPTED
    assert outcome.solution_status in (SolutionStatus.NOTHING, SolutionStatus.FEASIBLE)
    assert signal.getsignal(signal.SIGINT) is before


def test_time_limit_on_a_hard_model(hard_problem: Problem) -> None:
    for limit in (0.5, 2.5, 12.5, 60.0):  # until the machine is quick enough to find a bound
        outcome = gpu_bridge.solve(hard_problem, time_limit=limit)
        assert outcome.stop_reason is StopReason.TIME_LIMIT
        if np.isfinite(outcome.bound):
            break
    assert np.isfinite(outcome.bound)
