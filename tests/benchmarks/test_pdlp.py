"""Rows, summaries, sets, recorded figures, costs of iterations, pictures, and a whole run."""

import csv
import json
import math
import sys

import pytest

from benchmarks import lp_sets, pdlp, per_iteration, plots, plots_lp
from benchmarks.linear_programs import banded
from benchmarks.peers import Answer, Task, hprlp, recorded
from benchmarks.rows import Row, relative_error, shifted_geometric_mean, summarise
from benchmarks.worker import Timed
from tests.locations import DATA


def row(solver="a", model="m", seconds=1.0, residual=1e-9, status="optimal", tolerance=1e-8):
    residuals = dict.fromkeys(("primal", "dual", "gap"), residual)
    return Row(model, solver, tolerance, status, seconds, **residuals)


def test_an_answer_is_verified_at_the_tolerance_asked_for():
    assert row(residual=1e-8).verified is True
    assert row(residual=1.01e-8).verified is False
    assert row(residual=None).verified is None
    assert row(status="time_limit").verified is False
    assert row(residual=float("nan")).verified is False


def test_rows_survive_a_record():
    one = row()
    assert Row.from_record(json.loads(json.dumps(one.as_record()))) == one


def test_the_shifted_geometric_mean():
    assert shifted_geometric_mean([3.0, 0.0]) == pytest.approx(1.0)
    assert shifted_geometric_mean([5.0, 5.0, 5.0]) == pytest.approx(5.0)
    assert math.isnan(shifted_geometric_mean([]))


def test_what_is_unsolved_or_missing_counts_at_the_limit():
    rows = [row("a", "m", 3.0), row("b", "m", 3.0, residual=1.0), row("b", "n", 3.0)]
    a, b = sorted(summarise(rows, ["m", "n"], limit=15.0), key=lambda one: one.solver)
    assert (a.solved, a.verified, a.models) == (1, 1, 2)
    assert a.mean == a.honest_mean == pytest.approx(7.0)
    assert (b.solved, b.verified) == (2, 1)
    assert b.mean == pytest.approx(3.0)
    assert b.honest_mean == pytest.approx(7.0)


def test_what_cannot_be_checked_is_not_called_verified():
    (one,) = summarise([row(residual=None)], ["m"], limit=15.0)
    assert one.solved == 1
    assert one.verified is None
    assert one.honest_mean is None


def test_errors_are_relative_to_large_optima_only():
    assert relative_error(1.5, 1.0) == 0.5
    assert relative_error(0.001, 0.0) == 0.001
    assert relative_error(101.0, 100.0) == pytest.approx(0.01)
    assert relative_error(None, 1.0) is relative_error(1.0, None) is None


def write_index(folder, names):
    header = ["name", "file", "kind", "nonzeros", "integers", "best_objective", "optimal_known"]
    with (folder / "INSTANCES.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, header)
        writer.writeheader()
        for name, kind, nonzeros, best in names:
            path = "netlib/" + name + ".mps.gz"
            writer.writerow(
                dict(zip(header, [name, path, kind, nonzeros, 0, best, "yes"], strict=True))
            )


def test_sets_choose_by_name_kind_and_size(tmp_path):
    models = [("big", "mip", 50_000, 7), ("afiro", "lp", 83, -464.75)]
    write_index(tmp_path, [*models, ("knap", "kp", 9, 1), ("tiny", "mip", 10, 7)])
    entries = lp_sets.read_index(tmp_path)
    assert {entry.name for entry in entries} == {"big", "afiro", "tiny"}
    assert [entry.name for entry in lp_sets.choose(entries, ["relaxations", "netlib"])] == [
        "afiro",
        "big",
    ]
    assert [entry.name for entry in lp_sets.choose(entries, ["tiny", "small"])] == ["tiny", "afiro"]
    optima = {entry.name: entry.optimum for entry in entries}
    assert optima == {"big": None, "afiro": -464.75, "tiny": None}
    with pytest.raises(KeyError, match="no set or model 'nothing'"):
        lp_sets.choose(entries, ["nothing"])
    with pytest.raises(KeyError, match="kind that was read"):
        lp_sets.choose(entries, ["infeasible"])


def test_recorded_figures_cover_the_set_of_peers():
    rows = recorded.read_recorded(recorded.DEFAULT, {"nug08": 203.5})
    assert {one.model for one in rows} == set(lp_sets.PEERS)
    assert all(one.recorded for one in rows)
    nug = next(one for one in rows if one.model == "nug08" and one.tolerance == 1e-8)
    assert nug.solved
    assert nug.objective_error < 1e-6
    lost = [one for one in rows if one.model == "greenbea" and one.solver.startswith("cuPDLPx")]
    assert {one.status for one in lost} == {"time_limit"}


def test_the_output_of_hpr_lp_is_read():
    text = (
        "Reading time: 0.10 seconds\n=== Solution Summary ===\nStatus: OPTIMAL\n"
        "Iterations: 4200\nPrimal Objective: -12.50000000\nPrimal Residual: 1.00e-09\n"
        "Total Time: 0.30 seconds\nPresolve Time: 0.10 seconds\nSetup Time: 0.15 seconds\n"
        "Solve Time: 0.20000 seconds\n"
    )
    answer = hprlp.read_output(text)
    assert (answer.status, answer.iterations, answer.objective) == ("optimal", 4200, -12.5)
    assert answer.loop_seconds == 0.2
    assert answer.seconds == pytest.approx(0.45)
    assert hprlp.read_output("Segmentation fault").status == "failed"


def test_the_difference_of_two_runs_is_free_of_set_up():
    calls = []

    def solve(task: Task) -> Timed:
        calls.append(task.iteration_limit)
        return Timed(
            Answer("iteration_limit", iterations=task.iteration_limit), 5.0 + 2e-5 * calls[-1]
        )

    found = per_iteration.measure(solve, banded(800), threads=1)
    assert found.seconds == pytest.approx(2e-5)
    assert (calls[-1] - calls[-2]) * 2e-5 >= per_iteration.LONG_ENOUGH
    cost = per_iteration.to_cost("x", banded(800), found, bandwidth=1e9, cache=0)
    assert cost.bytes == per_iteration.plain_bytes(100, 100, cost.nonzeros)
    assert cost.share == pytest.approx(cost.bytes / 1e9 / 2e-5)
    assert not cost.in_cache


def test_a_solver_that_converges_at_once_gives_no_cost():
    def solve(task: Task) -> Timed:
        return Timed(Answer("optimal", iterations=10), 1.0)

    assert per_iteration.measure(solve, banded(800), threads=1) is None


def test_a_profile_counts_honest_answers_only():
    rows = [row("a", "m", 1.0), row("b", "m", 4.0), row("a", "n", 1.0, residual=1.0)]
    rows += [row("b", "n", 2.0)]
    models = ["m", "n"]
    assert list(plots_lp.profile(rows, "a", models, 15.0)) == [1.0]
    assert list(plots_lp.profile(rows, "b", models, 15.0)) == [1.0, 4.0]
    assert plots_lp.profile(rows, "c", models, 15.0) is None


def record(folder, name, kind, time, device=None, **content):
    machine = {"kind": kind, "device": device or f"a {kind}"}
    document = {"benchmark": name, "time": time, "machine": machine, "commit": "abc", **content}
    (folder / f"{name}-{kind}-{time}.json").write_text(json.dumps(document))


def test_pictures_and_page_are_made_from_records(tmp_path):
    results, docs = tmp_path / "results", tmp_path / "docs"
    results.mkdir()
    old, new = row("gpu-bridge pdlp", "m", 9.0), row("gpu-bridge pdlp", "m", 0.125)
    for time, one in (("2026-01-02", new), ("2026-01-01", old)):
        content = {"models": ["m"], "time limit": 15.0, "rows": [one.as_record()]}
        record(results, pdlp.NAME, "cpu", time, **content)
    cost = per_iteration.Cost("banded-80", 10, 10, 80, "gpu-bridge pdlp", 9, 5.0, 1e3, 0.5, False)
    content = {"copy bytes per second": 1e9, "cache bytes": 0, "rows": [vars(cost)]}
    record(results, per_iteration.NAME, "cuda", "2026-01-01", **content)
    peer, first, alone = row("peer", "m", 3.0), row("peer", "n", 4.0), row("peer", "q", 4.0)
    other = row("peer", "o", 5.0)
    runs = [("2026-01-01", 8.0, [old, peer, first, alone]), ("2026-01-02", 8.0, [new, peer])]
    for time, limit, rows in [*runs, ("2026-01-03", 6.0, [other])]:
        content = {"time limit": limit, "rows": [one.as_record() for one in rows]}
        record(results, "families", "cuda", time, **content)
    record(results, "pdlp-held-out", "cuda", "2026-01-01", **content | {"rows": [new.as_record()]})
    written = plots.draw_all(results, docs)
    assert all(path.stat().st_size > 0 for path in written)
    names = {path.name for path in written}
    assert {"pdlp-cpu-time-1e-08.png", "pdlp-cpu-profile.png"} <= names
    assert {"pdlp-cuda-iteration.png", "pdlp-cuda-time-1e-04.png"} <= names
    page = (docs / plots.PAGE).read_text()
    assert "| gpu-bridge pdlp | 1 of 1 | 1 | 0.125 |" in page
    assert "banded-80" in page
    families = "## Families, made on the spot: tolerance 1e-08, {}\n\n{}, each by all"
    assert families.format("8 s, a cuda", "3 programs") in page
    assert families.format("6 s, a cuda", "1 program") in page  # limits are not mixed
    assert "*Choosing* (2): gpu-bridge pdlp (1) 0.125 s; peer " in page  # of what it was given
    assert page.count("| m | choosing |  | 0.125 | 3 |") == 1  # of the newest run
    assert page.count("| n | reporting |") == 1  # of the run before, which alone had it
    assert "for reporting:" not in page  # ours alone stands beside nobody
    for name in names - {plots.PAGE}:
        assert f"(images/{name})" in page


def test_a_model_stands_with_the_gpu_of_its_newest_run(tmp_path):
    results, docs = tmp_path / "results", tmp_path / "docs"
    results.mkdir()
    for time, device, names in (("2026-01-01", "one", "mno"), ("2026-01-02", "other", "m")):
        rows = [row(solver, name, 3.0) for name in names for solver in ("gpu-bridge pdlp", "peer")]
        content = {"time limit": 8.0, "rows": [one.as_record() for one in rows]}
        record(results, "families", "cuda", time, device, **content)
    plots.draw_all(results, docs)
    page = (docs / plots.PAGE).read_text()
    assert "8 s, one\n\n2 programs, each" in page
    assert "8 s, other\n\n1 program, each" in page
    assert page.count("| m | choosing |") == 1


def test_a_whole_run_leaves_a_record(tmp_path, monkeypatch, capsys):
    (tmp_path / "netlib").symlink_to(DATA)
    write_index(tmp_path, [("afiro", "lp", 83, -464.753142857)])
    kept = {}
    monkeypatch.setattr(pdlp, "write_record", lambda name, content, **_: kept.update(content))
    command = ["pdlp", "--folder", str(tmp_path), "--set", "afiro", "--device", "cpu"]
    command += ["--solvers", "ours", "highs-simplex", "--time-limit", "20", "--tolerance", "1e-4"]
    monkeypatch.setattr(sys, "argv", command)
    pdlp.main()
    assert [one["solver"].split()[0] for one in kept["rows"]] == ["gpu-bridge", "HiGHS"]
    assert all(one["verified"] for one in kept["rows"])
    assert all(one["objective_error"] < 1e-3 for one in kept["rows"])
    assert "verified" in capsys.readouterr().out
