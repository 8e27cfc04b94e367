"""A slice of the campaign with fixed seeds; and its generators, doors, shrinking and processes."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import gpu_bridge as gb
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from tests.campaign import __main__ as campaign
from tests.campaign import crew, leaks
from tests.campaign.beside import try_faults, try_limits
from tests.campaign.claims import Claim
from tests.campaign.crew import Settings, run_crew
from tests.campaign.doors import DOORS, fits
from tests.campaign.generators import KINDS, chosen_kinds, make_model
from tests.campaign.shrink import shrink
from tests.campaign.trial import Examiner, Trial
from tests.campaign.verdicts import Verdict
from tests.campaign.ways import Way
from tests.campaign.written import lp_text, mps_text
from tests.cases import through

SLICE_SEED = 11
ARRAYS = ("cost", "row_lower", "row_upper", "lower", "upper", "integrality")


def assert_same(first: Problem, second: Problem) -> None:
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    np.testing.assert_array_equal(first.matrix.toarray(), second.matrix.toarray())
    assert (first.offset, first.maximize) == (second.offset, second.maximize)


@through("kind", KINDS)
def test_models_follow_from_kind_and_seed(kind: str) -> None:
    assert_same(make_model(kind, 5), make_model(kind, 5))
    seen = {mps_text(make_model(kind, seed)) for seed in range(5)}
    assert len(seen) > 1


def test_kinds_are_chosen_by_how_they_begin() -> None:
    assert chosen_kinds([]) == list(KINDS)
    assert chosen_kinds(["knapsack_row", "lp_w"]) == ["lp_wide", "knapsack_row", "knapsack_rows"]
    with pytest.raises(ValueError, match="There is no kind 'nonsense'"):
        chosen_kinds(["nonsense"])


@pytest.mark.parametrize("kind", ["lp_empty_parts", "mip_mixed", "hostile_duplicates"])
@pytest.mark.parametrize("suffix", ["mps", "lp"])
def test_files_hold_the_same_model(kind: str, suffix: str, tmp_path: Path) -> None:
    for seed in range(5):
        problem = make_model(kind, seed)
        path = tmp_path / f"model.{suffix}"
        text = mps_text(problem) if suffix == "mps" else lp_text(problem)
        path.write_text(text, encoding="utf-8")
        read = gb.read(path)
        place = [list(read.column_names or ()).index(f"c{j}") for j in range(problem.num_columns)]
        again = replace(
            read,
            matrix=read.matrix[:, place],
            **{n: getattr(read, n)[place] for n in ("cost", "lower", "upper", "integrality")},
        )
        if again.num_rows == problem.num_rows:
            assert_same(problem, again)
        else:  # rows without sides are left out, and rows with two are written twice
            assert again.offset == problem.offset
            np.testing.assert_array_equal(again.cost, problem.cost)


@pytest.mark.parametrize("door", DOORS)
def test_every_door_brings_back_the_answer(door: str, tmp_path: Path) -> None:
    for kind in ("lp_decimal", "mip_sets"):
        problem = make_model(kind, 3)
        assert fits(door, problem)
        expected = gb.solve(problem, device="cpu")
        answers = Way(door, {"device": "cpu", "threads": 1}).solve(problem, tmp_path)
        told = answers[0][1]
        assert told.status is expected.solution_status
        sign = -1.0 if problem.maximize else 1.0
        if told.status.has_point:
            value = problem.objective_at(np.asarray(told.x))
            assert value == pytest.approx(sign * expected.objective)


@pytest.mark.parametrize("first", range(0, len(KINDS), 10))
def test_a_slice_of_the_campaign_finds_nothing_wrong(first: int, tmp_path: Path) -> None:
    examiner = Examiner(tmp_path, tmp_path, "cpu", 1, lambda text: None)
    for kind in list(KINDS)[first : first + 10]:
        trial = examiner.try_model(kind, SLICE_SEED)
        assert trial.solves >= 1
        assert not [str(found) for found in trial.findings if found.verdict.is_failure]


def test_shrinking_keeps_what_matters_and_nothing_else() -> None:
    problem = make_model("lp_wide", 4)

    def stays(smaller: Problem) -> bool:
        return bool((np.abs(smaller.matrix.data) >= 7).any() and smaller.num_rows)

    small = shrink(problem, stays, 60.0)
    assert stays(small)
    assert (small.num_rows, small.num_columns, small.num_nonzeros) == (1, 1, 1)
    assert not small.cost.any()
    assert small.offset == 0.0


def lying(problem: Problem, options: Any, folder: Path) -> list[tuple[Problem, Claim]]:
    """Call what has an entry of at least 3 infeasible."""
    if (problem.matrix.data >= 3).any():
        return [(problem, Claim(SolutionStatus.INFEASIBLE))]
    return DOORS["by_mps"](problem, options, folder)


def test_a_wrong_answer_is_shrunk_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DOORS, "by_arrays", lying)
    examiner = Examiner(tmp_path, tmp_path, "cpu", 10, lambda text: None)
    trial = examiner.try_model("lp_degenerate", 0)
    wrong = [found for found in trial.findings if found.verdict is Verdict.STATUS]
    assert wrong
    kept = gb.read(tmp_path / wrong[0].file)
    assert kept.num_rows <= 1  # none if its side was dropped
    assert kept.num_columns == 1
    assert "INFEASIBLE" in (tmp_path / wrong[0].file).with_suffix(".json").read_text()


def test_an_exception_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: Any) -> Any:
        raise RuntimeError("out of order")

    for door in DOORS:
        monkeypatch.setitem(DOORS, door, failing)
    trial = Examiner(tmp_path, tmp_path, "cpu", 1, lambda text: None).try_model("lp_sparse", 0)
    assert [found.verdict for found in trial.findings] == [Verdict.EXCEPTION]
    assert "out of order" in trial.findings[0].detail


def doomed(pipe: Any, settings: Settings) -> None:
    """Die at the first kind, hang at the second, and be done at once with others."""
    os.setsid()
    while True:
        try:
            kind, seed = pipe.recv()
        except EOFError:
            return
        pipe.send("solving")
        if kind == "lp_sparse":
            os.kill(os.getpid(), signal.SIGKILL)
        if kind == "lp_decimal":
            signal.pause()
        pipe.send(Trial(kind, seed, 1))


def test_processes_that_die_or_hang_are_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crew, "work", doomed)
    tasks = [("lp_sparse", 1), ("mip_sets", 2), ("lp_decimal", 3), ("mip_sets", 4)]
    trials = list(run_crew(iter(tasks), Settings(tmp_path, hung_seconds=1.0), 1))
    assert [(trial.kind, trial.seed) for trial in trials] == tasks
    verdicts = [[found.verdict for found in trial.findings] for trial in trials]
    assert verdicts == [[Verdict.DIED], [], [Verdict.HUNG], []]
    assert gb.read(tmp_path / trials[0].findings[0].file).num_columns


def test_the_command_counts_and_tells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--models=2", "--kinds=lp_degenerate", "--ways=1", f"--out={tmp_path}"]
    assert campaign.main(words) == 0
    told = capsys.readouterr().out
    assert "lp_degenerate" in told
    assert '"models": 2' in (tmp_path / "campaign.json").read_text()


def test_nothing_grows_with_solves() -> None:
    growth = leaks.measure(60, 0, kinds=["lp_degenerate", "mip_sets", "knapsack_row"])
    assert set(growth.leaks) <= {"bytes"}  # of so few solves memory says nothing


def test_leaks_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[Any] = []
    really_held = leaks.held_now

    def leaking(problem: Problem, options: Any, folder: Path) -> list[tuple[Problem, Claim]]:
        held.append(open(os.devnull))  # noqa: SIM115
        return []

    def held_now(folder: Path) -> leaks.Held:
        # the system may take pages back from a process at any time, so their number is given here
        found = really_held(folder)
        assert found.bytes > 0.0
        return replace(found, bytes=1e6 * len(held))

    monkeypatch.setattr(leaks, "held_now", held_now)
    for door in DOORS:
        monkeypatch.setitem(DOORS, door, leaking)
    try:
        assert leaks.measure(60, 0, kinds=["lp_degenerate"]).leaks == ["bytes", "files"]
    finally:
        for file in held:
            file.close()


def test_what_is_tried_beside_models_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    fault = SimpleNamespace(kind="kill", description="of a child", ok=False, detail="no answer")
    late = {"instance": "p0033", "method": "auto", "door": "arrays", "limit": 1.0, "seconds": 4.5}
    tried = {
        "faults": SimpleNamespace(run=lambda seconds, seed: [fault]),
        "limits": SimpleNamespace(run=lambda seconds, seed: [SimpleNamespace(late=3.5, **late)]),
    }
    for name, module in tried.items():
        monkeypatch.setattr(f"tests.campaign.{name}", module, raising=False)
    console = Console(width=120, record=True)
    assert not try_faults(console, 1.0, 0)
    assert not try_limits(console, 1.0, 0)
    told = console.export_text()
    assert "kill: of a child: no answer" in told
    assert "worst 3.50 s late" in told
    assert "p0033" in told
