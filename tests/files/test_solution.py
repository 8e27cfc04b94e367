from __future__ import annotations

import dataclasses
import json
import os
from pathlib import Path

import numpy as np
import pytest

import gpu_bridge as gb
from gpu_bridge.files import (
    check_writable,
    read_problem,
    read_solution,
    write_json,
    write_solution,
)
from solvers.core.errors import FileFormatError
from solvers.core.outcome import Event, PoolSolution, SolutionStatus
from solvers.core.problem import Problem
from tests.cases import through
from tests.files.texts import BASE, LP, write


@pytest.fixture
def linear(tmp_path: Path) -> gb.Outcome:
    return gb.solve(write(tmp_path, BASE))


@pytest.fixture
def mixed(tmp_path: Path) -> gb.Outcome:
    return gb.solve(write(tmp_path, LP, "model.lp"))


def test_a_sol_file_is_what_miplib_reads(tmp_path: Path, linear: gb.Outcome) -> None:
    path = tmp_path / "out.sol"
    write_solution(linear, path)
    first, *lines = path.read_text().splitlines()
    word, objective = first.split()
    assert word == "=obj="
    assert float(objective) == pytest.approx(3.0)
    values = {name: float(value) for name, value in (line.split() for line in lines)}
    assert values == pytest.approx({"X": 1.0, "Y": -1.0, "Z": 6.0})


def test_integers_are_written_as_such(tmp_path: Path, mixed: gb.Outcome) -> None:
    write_solution(mixed, tmp_path / "out.sol")
    assert "y 3" in (tmp_path / "out.sol").read_text().splitlines()


def test_integers_are_written_as_they_are(tmp_path: Path, mixed: gb.Outcome) -> None:
    assert mixed.problem is not None
    assert mixed.x is not None
    x = np.where(mixed.problem.integrality, 2.4e-9, mixed.x)  # times a big-M that is not nothing
    path = tmp_path / "mixed.sol"
    write_solution(dataclasses.replace(mixed, x=x), path)
    np.testing.assert_array_equal(read_solution(path, mixed.problem), x)


@pytest.mark.parametrize(
    ("cost", "row_lower", "line"), [(1.0, 3.0, "=infeas="), (-1.0, 0.0, "=unbd=")]
)
def test_a_sol_file_without_a_point_says_why(
    tmp_path: Path, cost: float, row_lower: float, line: str
) -> None:
    upper = 2.0 if row_lower else np.inf
    outcome = gb.solve(Problem.from_arrays([cost], [[1.0]], [row_lower], upper=upper))
    write_solution(outcome, tmp_path / "out.sol")
    assert (tmp_path / "out.sol").read_text() == line + "\n"


def test_json_has_everything_by_name(tmp_path: Path, linear: gb.Outcome) -> None:
    path = tmp_path / "out.json"
    write_solution(linear, path)
    record = json.loads(path.read_text(), parse_constant=lambda word: pytest.fail(word))
    assert record["model"] == "TEST"
    assert (record["sense"], record["status"]) == ("minimize", "optimal")
    assert record["stop_reason"] == "converged"
    assert record["objective"] == pytest.approx(3.0)
    assert record["bound"] == pytest.approx(3.0)
    assert record["x"] == pytest.approx({"X": 1.0, "Y": -1.0, "Z": 6.0})
    assert record["row_activity"] == pytest.approx({"LIM1": 0.0, "LIM2": 1.0, "MYEQN": 7.0})
    assert record["row_dual"] == pytest.approx({"LIM1": 0.0, "LIM2": 1.0, "MYEQN": -1.0})
    assert record["reduced_cost"] == pytest.approx({"X": 0.0, "Y": 1.0, "Z": 0.0})
    assert set(record["basis"]["columns"]) == {"X", "Y", "Z"}
    assert record["basis"]["columns"]["Y"] == "lower"
    assert record["residuals"]["primal"] == pytest.approx(0.0, abs=1e-9)
    assert record["residuals"]["integrality"] is None or record["residuals"]["integrality"] == 0.0
    assert record["seconds"] > 0
    assert record["log"] == linear.log
    assert len(record["history"]) == len(linear.history)


def test_what_is_not_finite_is_null(tmp_path: Path, linear: gb.Outcome) -> None:
    outcome = dataclasses.replace(
        linear,
        bound=-np.inf,
        objective=np.nan,
        statistics={"count": np.int64(3), "share": np.float64(np.inf)},
        history=(Event(0.5, np.nan, -np.inf, "test"),),
        pool=(PoolSolution(linear.x, 3.0, 0.1, "test"),),
    )
    write_json(outcome, tmp_path / "out")
    record = json.loads((tmp_path / "out").read_text())
    assert record["bound"] is record["objective"] is record["gap"] is None
    assert record["statistics"] == {"count": 3, "share": None}
    assert record["history"] == [
        {"seconds": 0.5, "incumbent": None, "bound": None, "source": "test"}
    ]
    assert record["pool"][0]["x"] == record["x"]


def test_a_conflict_is_written_by_name(tmp_path: Path) -> None:
    problem = Problem.from_arrays(
        [1, 1], [[1, 1], [1, 1]], [3, -np.inf], [np.inf, 2], row_names=["low", "high"]
    )
    write_solution(gb.solve(problem), tmp_path / "out.json")
    conflict = json.loads((tmp_path / "out.json").read_text())["conflict"]
    assert conflict["constraints"] == ["low", "high"]
    assert len(conflict["lines"]) >= 2


def test_crossed_bounds_are_written_too(tmp_path: Path) -> None:
    text = BASE.replace("UP BND       Y                  1.0", "UP BND       Y -3.0")
    write_solution(gb.solve(write(tmp_path, text)), tmp_path / "out.json")
    record = json.loads((tmp_path / "out.json").read_text())
    assert (record["status"], record["x"]) == ("infeasible", None)
    assert "'Y'" in record["conflict"]["lines"][0]


def test_repeated_names_stay_apart(tmp_path: Path) -> None:
    problem = Problem.from_arrays([1, 2], lower=[1, 2], column_names=["x", "x"])
    write_solution(gb.solve(problem), tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text())["x"] == {"x": 1.0, "x#1": 2.0}


@pytest.mark.parametrize("name", ["out.sol", "out.json"])
def test_values_come_back(tmp_path: Path, mixed: gb.Outcome, name: str) -> None:
    write_solution(mixed, tmp_path / name)
    np.testing.assert_array_equal(read_solution(tmp_path / name, mixed.problem), mixed.x)


@pytest.mark.parametrize("name", ["out.sol", "out.json"])
def test_values_of_odd_names_come_back(tmp_path: Path, name: str) -> None:
    names = ["#1", "=x=", "a b", "objective value:", "x'\"\\y", "\u00e9"]
    problem = Problem.from_arrays(np.ones(6), lower=np.arange(1.0, 7.0), column_names=names)
    write_solution(gb.solve(problem), tmp_path / name)
    np.testing.assert_array_equal(read_solution(tmp_path / name, problem), np.arange(1.0, 7.0))


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("in.json", '{"x": [1, 2]}', "must map names to values; it is a list"),
        ("in.json", '{"x": 5}', "it is a int"),
        ("in.json", "[1]", "not a solution file in JSON"),
        ("in.json", '{"x": {"X": [1]}}', "the value of 'X' is"),
        ("in.sol", "garbage", "'garbage', which is no variable"),
        ("in.sol", "X", "the value of 'X' is ''"),
    ],
)
def test_what_holds_no_values_is_refused(
    tmp_path: Path, name: str, text: str, sentence: str
) -> None:
    problem = read_problem(write(tmp_path, BASE))
    with pytest.raises(FileFormatError, match=sentence):
        read_solution(write(tmp_path, text, name), problem)


def test_other_writers_and_missing_zeros_are_read(tmp_path: Path) -> None:
    problem = read_problem(write(tmp_path, BASE))
    text = (
        "# Solution for model TEST\nsolution status: optimal\nobjective value:   3\n"
        "\nX\t1.5 \t(obj:1)\n Z   -2e0\n"
    )
    np.testing.assert_array_equal(
        read_solution(write(tmp_path, text, "in.sol"), problem), [1.5, 0, -2]
    )


@through(
    ("name", "text"),
    [
        ("in.sol", "=obj= 1\nW 3\n"),
        ("in.sol", "X three\n"),
        ("in.sol", "X\n"),
        ("in.sol", "=infeas=\n"),
        ("in.sol", ""),
        ("in.sol", b"\xff\xfe\x00"),
        ("in.json", "{"),
        ("in.json", "[]"),
        ("in.json", '{"x": {"W": 1}}'),
        ("in.json", '{"x": {"X": "a"}}'),
        ("in.json", '{"x": null}'),
    ],
)
def test_a_file_that_is_no_solution(tmp_path: Path, name: str, text: str | bytes) -> None:
    problem = read_problem(write(tmp_path, BASE))
    with pytest.raises(FileFormatError, match=r"in\.(sol|json)"):
        read_solution(write(tmp_path, text, name), problem)


def test_a_missing_solution_file(tmp_path: Path) -> None:
    problem = read_problem(write(tmp_path, BASE))
    with pytest.raises(FileFormatError, match="cannot be read"):
        read_solution(tmp_path / "missing.sol", problem)


def test_paths_that_cannot_be_written(tmp_path: Path, linear: gb.Outcome) -> None:
    for path in (tmp_path, tmp_path / "no" / "folder.sol"):
        with pytest.raises(FileFormatError, match=tmp_path.name):
            check_writable(path)
        with pytest.raises(FileFormatError, match=tmp_path.name):
            write_solution(linear, path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o500)
    with pytest.raises(FileFormatError, match="permission"):
        check_writable(folder / "out.sol")


def test_checking_changes_nothing(tmp_path: Path, linear: gb.Outcome) -> None:
    path = tmp_path / "out.sol"
    check_writable(path)
    assert not path.exists()
    path.write_text("before")
    check_writable(path)
    assert path.read_text() == "before"


def test_a_failed_write_leaves_the_file_as_it_was(tmp_path: Path, linear: gb.Outcome) -> None:
    path = tmp_path / "out.sol"
    path.write_text("before")
    broken = dataclasses.replace(linear, x=np.zeros(2))  # fewer values than names
    with pytest.raises(ValueError, match="zip"):
        write_solution(broken, path)
    assert path.read_text() == "before"
    assert linear.solution_status is SolutionStatus.OPTIMAL
    assert not list(tmp_path.glob(".out*"))
