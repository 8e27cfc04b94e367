"""The files that a solve writes and reads: solutions, pools, records, pictures."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from gpu_bridge.cli.exit_codes import ExitCode
from gpu_bridge.options import Options, make_options
from gpu_bridge.outcome import Outcome, PoolSolution, SolutionStatus, StopReason
from solvers.core.problem import Problem
from tests.cli.commands import (
    INFEASIBLE,
    KNAPSACK,
    Run,
    complaint,
)


def test_outputs_hold_the_answer(run: Run, model: Callable[..., Path], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    solution, everything, picture, log = (
        tmp_path / name for name in ("a.sol", "a.json", "a.png", "a.log")
    )
    answer = run(
        "solve",
        model(KNAPSACK),
        "--solution",
        solution,
        "--json",
        everything,
        "--plot",
        picture,
        "--log-file",
        log,
    )
    assert answer.code == 0
    assert str(solution) in answer.value("Written")
    assert "=obj= 9" in solution.read_text()
    assert json.loads(everything.read_text())["objective"] == 9.0
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert log.read_text() in answer.out


def test_without_a_point_the_files_say_why(
    run: Run, model: Callable[..., Path], tmp_path: Path
) -> None:
    solution, everything = tmp_path / "a.sol", tmp_path / "a.json"
    answer = run("solve", model(INFEASIBLE), "--solution", solution, "--json", everything)
    assert answer.code == 2
    assert solution.read_text() == "=infeas=\n"
    record = json.loads(everything.read_text())
    assert record["status"] == "infeasible"
    assert record["objective"] is None


def test_start_from_a_solution_file(run: Run, model: Callable[..., Path], tmp_path: Path) -> None:
    path, solution = model(KNAPSACK), tmp_path / "a.sol"
    assert run("solve", path, "--solution", solution, "--quiet").code == 0
    answer = run("solve", path, "--start", solution, "--quiet")
    assert answer.code == 0
    assert float(answer.value("Objective")) == 9.0
    missing = run("solve", path, "--start", tmp_path / "none.sol")
    assert missing.code == 65
    assert "none.sol" in complaint(missing)


def with_pool(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let solves of KNAPSACK return a pool of three points; note the size that was asked for."""
    sizes: list[int] = []

    def solve(problem: Problem, options: Options, **more: object) -> Outcome:
        sizes.append(options.pool_size)
        facts = [([1.0, 1.0, 0.0], 9.0), ([1.0, 0.0, 1.0], 8.0), ([0.0, 1.0, 1.0], 7.0)]
        points = [PoolSolution(np.array(x), worth, 0.1, "walk") for x, worth in facts]
        return Outcome(
            SolutionStatus.FEASIBLE,
            StopReason.TIME_LIMIT,
            objective=9.0,
            x=points[0].x,
            problem=problem,
            pool=tuple(points[: options.pool_size]),
        )

    monkeypatch.setattr("gpu_bridge.pipeline.dispatch.solve", solve)
    return sizes


def test_a_pool_is_written_beside_the_solution(
    run: Run, model: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = with_pool(monkeypatch)
    path, solution = model(KNAPSACK), tmp_path / "a.sol"
    answer = run("solve", path, "--solution", solution, "--pool", "5")
    assert answer.code == ExitCode.FEASIBLE
    assert sizes == [5]
    files = [solution, tmp_path / "a-2.sol", tmp_path / "a-3.sol"]
    assert answer.value("Written") == ", ".join(map(str, files))
    assert ["=obj= 9" in files[0].read_text(), "=obj= 8" in files[1].read_text()] == [True, True]
    assert files[2].read_text() == "=obj= 7.0\na 0\nb 1\nc 1\n"
    assert not (tmp_path / "a-4.sol").exists()


def test_no_more_points_are_written_than_asked_for(
    run: Run, model: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = with_pool(monkeypatch)
    solution = tmp_path / "a.sol"
    run("solve", model(KNAPSACK), "--solution", solution)
    assert not (tmp_path / "a-2.sol").exists()
    run("solve", model(KNAPSACK), "--solution", solution, "--pool", "2", "--pool-size", "7")
    assert (tmp_path / "a-2.sol").exists()
    assert not (tmp_path / "a-3.sol").exists()
    assert sizes == [make_options().pool_size, 7]


def test_json_has_the_pool_with_times_and_sources(
    run: Run, model: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_pool(monkeypatch)
    everything = tmp_path / "a.json"
    run("solve", model(KNAPSACK), "--json", everything)
    pool = json.loads(everything.read_text())["pool"]
    assert [entry["objective"] for entry in pool] == [9.0, 8.0, 7.0]
    assert pool[1] == {
        "objective": 8.0,
        "seconds": 0.1,
        "source": "walk",
        "x": {"a": 1.0, "b": 0.0, "c": 1.0},
    }
