"""The table of the simplex benchmark, and a whole run of it."""

from __future__ import annotations

import csv
import json
import sys
from functools import partial

import pytest

from benchmarks import record, simplex, simplex_plot, simplex_rows
from benchmarks.simplex_rows import SUMMARY, Run, append, load, summarise
from tests.locations import DATA


def run(model="m", solver="a", status="optimal", solved=1, seconds=1.0, error=0.0, repeats=1):
    return Run(model, solver, 3, 4, 5, status, repeats, solved, seconds, 1.0, 1.0, 10, 0.5, error)


def test_all_shares_have_one_denominator():
    runs = [
        run("good"),
        run("paper only", error=1e-7),
        run("wrong", error=1e-3),
        run("late", status="time_limit", solved=0, error=None),
        run("trouble", status="numerical_trouble", solved=0, error=None),
    ]
    (row,) = summarise(runs, limit=100.0)
    found = dict(zip(SUMMARY, row, strict=True))
    assert found["models"] == 5
    assert found["solved %"] == 60.0
    assert found["correct % (1e-6)"] == 40.0
    assert found["correct % (1e-9)"] == 20.0
    assert found["timeout %"] == 20.0
    assert found["crash %"] == 20.0
    assert found["geometric mean s"] == pytest.approx(100.0 ** (2 / 5))
    assert found["iterations/s"] == pytest.approx(20.0)


def test_one_unsolved_repeat_counts_as_unsolved():
    assert not run(repeats=20, solved=19).solved
    assert run(repeats=20, solved=20).solved


def test_the_mean_is_over_models_that_every_solver_was_given():
    runs = [run("m", "a", seconds=4.0), run("n", "a", seconds=9.0), run("m", "b", seconds=2.0)]
    table = {row[0]: dict(zip(SUMMARY, row, strict=True)) for row in summarise(runs, limit=10.0)}
    assert table["a"]["geometric mean s"] == pytest.approx(4.0)
    assert table["b"]["geometric mean s"] == pytest.approx(2.0)
    assert {row["common"] for row in table.values()} == {1}


@pytest.mark.parametrize(("size", "name"), [(1000, "small"), (10_000, "medium"), (10_001, "large")])
def test_models_are_grouped_as_in_the_paper(size, name):
    one = Run("m", "a", size, 4, 5, "optimal", 1, 1, 1.0, 1.0, 1.0, 1, None, 0.0)
    assert one.size_class == name


def test_rows_survive_a_file(tmp_path):
    rows = tmp_path / "rows.jsonl"
    assert load(rows) == []
    for one in (run(), run("n", error=None)):
        append(rows, one)
    assert load(rows) == [run(), run("n", error=None)]


def test_a_run_goes_on_where_it_stopped(tmp_path, monkeypatch):
    with (tmp_path / "INSTANCES.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "file", "kind", "nonzeros", "best_objective", "optimal_known"])
        writer.writerow(["afiro", "netlib/afiro.mps.gz", "lp", 83, -464.75, "yes"])
    (tmp_path / "netlib").symlink_to(DATA)
    rows = tmp_path / "rows.jsonl"
    append(rows, run("afiro", "graphs", seconds=77.0))
    results = tmp_path / "results"
    elsewhere = partial(record.write_record, folder=results)
    monkeypatch.setattr(simplex, "write_record", elsewhere)
    arguments = ["simplex", str(tmp_path), "--solvers", "graphs", "highs", "--device", "cpu"]
    arguments += ["--rows-file", str(rows), "--sample", "afiro", "--sample-repeats", "2"]
    monkeypatch.setattr(sys, "argv", arguments)
    simplex.main()
    (path,) = results.glob("simplex-*.json")
    found = {row["solver"]: row for row in json.loads(path.read_text())["rows"]}
    assert found["graphs"]["seconds"] == 77.0
    assert found["highs"]["solved_repeats"] == 2
    assert found["highs"]["error"] <= simplex_rows.ACCURACY
    assert len(load(rows)) == 2
    figure = tmp_path / "figure.png"
    monkeypatch.setattr(sys, "argv", ["simplex_plot", str(path), str(figure)])
    simplex_plot.main()
    assert figure.read_bytes().startswith(b"\x89PNG")


def test_a_figure_groups_models_by_size_and_shows_what_was_not_solved(tmp_path):
    large = Run("l", "cpu", 9, 20_000, 5, "time_limit", 1, 0, 240.0, 240.0, 240.0, 10, None, None)
    runs = [run("m"), run("m", "highs"), run("n", "highs", seconds=0.5), large]
    assert simplex_plot._models(runs, "small") == ["n", "m"]
    assert simplex_plot._models(runs, "medium") == []
    simplex_plot.draw([r for r in runs if r.solver != "a"], 240.0, tmp_path / "figure.png")
    assert (tmp_path / "figure.png").stat().st_size > 1000
