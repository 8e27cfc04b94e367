"""Commands and what they print, with every exit code of an answer."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from gpu_bridge.cli import main
from gpu_bridge.cli.exit_codes import SENTENCES, ExitCode, exit_code_help
from gpu_bridge.options import option_table
from tests.cli.commands import (
    CROSSED,
    INFEASIBLE,
    KNAPSACK,
    LINEAR,
    UNBOUNDED,
    Run,
    hard_model,
)


def test_optimal_linear_program(run: Run, model: Callable[..., Path]) -> None:
    answer = run("solve", model(LINEAR), "--quiet")
    assert answer.code == ExitCode.OPTIMAL == 0
    assert answer.value("Status").startswith("optimal")
    assert float(answer.value("Objective")) == pytest.approx(2.5)
    assert answer.err == ""
    assert "gpu-bridge" not in answer.out, "no log"


def test_log_shows_model_engine_and_result_once(run: Run, model: Callable[..., Path]) -> None:
    answer = run("solve", model(KNAPSACK), "--threads", 1)
    assert answer.code == 0
    assert "maximize" in answer.value("Model")
    assert answer.value("Columns") == "3 (3 binary)"
    assert float(answer.value("Objective")) == 9.0
    assert answer.out.count("\nStatus ") == 1


def test_feasible_without_proof(run: Run, model: Callable[..., Path]) -> None:
    words = ["--method", "highs", "--node-limit", 1, "--threads", 1, "--quiet"]
    answer = run("solve", model(hard_model(150)), *words)
    assert answer.code == ExitCode.FEASIBLE == 1
    assert answer.value("Status").startswith("feasible")
    assert float(answer.value("Objective")) > 0.0


def test_infeasible_prints_the_explanation_by_name(run: Run, model: Callable[..., Path]) -> None:
    for flags in (["--quiet"], []):
        answer = run("solve", model(INFEASIBLE), *flags)
        assert answer.code == ExitCode.INFEASIBLE == 2
        assert answer.value("Status").startswith("infeasible")
        assert "at_least" in answer.out
        assert "at_most" in answer.out
        assert not re.search(r"^Objective    ", answer.out, re.MULTILINE)


def test_bounds_that_cross_are_infeasible_not_a_mistake(
    run: Run, model: Callable[..., Path]
) -> None:
    for flags in (["--quiet"], []):
        answer = run("solve", model(CROSSED), *flags)
        assert answer.code == 2
        assert answer.value("Status").startswith("infeasible")
        assert answer.out.count("variable 'x' is above") == 1
    assert run("info", model(CROSSED)).code == 2


def test_unbounded(run: Run, model: Callable[..., Path]) -> None:
    answer = run("solve", model(UNBOUNDED), "--quiet")
    assert answer.code == ExitCode.UNBOUNDED == 3
    assert answer.value("Status").startswith("unbounded")


def test_time_limit_of_zero_finds_nothing(run: Run, model: Callable[..., Path]) -> None:
    answer = run("solve", model(LINEAR), "--time-limit", 0)
    assert answer.code == ExitCode.NOTHING == 4
    assert answer.value("Status").startswith("nothing")
    assert answer.value("Stopped") == "the time limit was reached"


def test_options_by_flag_and_by_name_reach_the_solve(run: Run, model: Callable[..., Path]) -> None:
    answer = run(
        "solve",
        model(KNAPSACK),
        "--relax",
        "--no-presolve",
        "--option",
        "seed=7",
        "--option",
        "rel-gap=0.5",
    )
    assert answer.code == 0
    changed = set(answer.value("Options").split(", "))
    assert changed == {"relax=True", "presolve=False", "seed=7", "rel_gap=0.5"}
    assert float(answer.value("Objective")) > 9.0, "the relaxation is worth more"


def test_info_describes_the_model_and_the_engine(run: Run, model: Callable[..., Path]) -> None:
    answer = run("info", model(KNAPSACK))
    assert answer.code == 0
    assert answer.value("Rows") == "2 (2 one-sided)"
    assert answer.value("Columns") == "3 (3 binary)"
    assert answer.value("Per row") == "3 to 3 nonzeros, half of them at most 3"
    assert "matrix [1e+00, 4e+00]" in answer.value("Ranges")
    assert "knapsack problem of 3 items and 2 rows" in answer.value("Structure")
    assert answer.value("Engine").startswith("highs on cpu: a small model")
    assert answer.value("Otherwise").startswith("knapsack on cpu: ")
    assert "for highs" in answer.value("Memory")
    assert "pdlp" not in answer.out, "it takes linear programs only"


def test_info_of_the_relaxation(run: Run, model: Callable[..., Path]) -> None:
    answer = run("info", model(KNAPSACK), "--relax", "--method", "pdlp", "--device", "cpu")
    assert answer.value("Columns") == "3 (3 continuous)"
    assert answer.value("Engine").startswith("pdlp on cpu")
    assert re.search(r"about .*B and .*B on the GPU for pdlp on cuda", answer.out)


def test_devices_lists_the_cpu(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    answer = run("devices")
    assert answer.code == 0
    assert answer.out.startswith("cpu ")
    assert "No NVIDIA GPU is visible" in answer.out


def test_options_shows_the_whole_table(run: Run) -> None:
    answer = run("options")
    assert answer.code == 0
    for row in option_table():
        assert f"\n{row.name} " in f"\n{answer.out}"


def test_version_names_this_package_and_highs(run: Run) -> None:
    answer = run("--version")
    assert answer.code == 0
    assert re.fullmatch(r"gpu-bridge \d\S*, HiGHS \d\S*, Python \d\S*\n", answer.out)


def test_help_documents_exit_codes_and_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", "--help"]) == 0
    text = capsys.readouterr().out
    assert exit_code_help() in text
    for row in option_table():
        if row.name != "log":
            assert f"--{row.name.replace('_', '-')}" in text


def test_every_exit_code_has_a_sentence() -> None:
    assert set(SENTENCES) == set(ExitCode)


def test_warm_up_says_that_it_is_not_needed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["warm-up"]) == ExitCode.OPTIMAL
    assert "Nothing is compiled" in capsys.readouterr().out
