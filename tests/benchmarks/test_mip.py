"""The mixed-integer benchmark: its judge, its measures, and processes that end when they must."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from benchmarks import mip, mip_run
from benchmarks.mip_check import check, objective_at, read
from benchmarks.mip_measures import improvements, primal_gap, primal_integral, shifted_mean
from benchmarks.mip_rows import MipRow, common_models, summarise
from benchmarks.mip_run import Settings, prepare, run
from benchmarks.mip_sets import Entry, choose, family, quick
from benchmarks.peers import mip_cuopt, mip_localmip, mip_recorded
from benchmarks.peers.mip_names import NAMES, find
from benchmarks.peers.mip_solver import MipAnswer, MipTask, Recorder
from tests.cases import through
from tests.locations import MODELS
from tests.soon import soon

LP = """\\ max 3 a + 2 b - c with a, b integer and a row that c relaxes
Maximize
 obj: 3 a + 2 b - c + 10
Subject To
 row: 2 a + 2 b - c <= 5
 equal: c - d = 0.5
Bounds
 a <= 4
 b <= 4
 c <= 10
General
 a b
End
"""


@pytest.fixture
def small(tmp_path: Path) -> Entry:
    """Return a model in a file, worth 19: c pays for what a and b need beyond the row's side."""
    path = tmp_path / "small.lp"
    path.write_text(LP)
    return Entry("small", path, 6, 19.0, True)


def test_the_judge_reads_the_file_and_its_sense(small: Entry) -> None:
    model = read(small.path)
    assert model.names == ("a", "b", "c", "d")
    assert model.integer.tolist() == [True, True, False, False]
    assert objective_at(model, np.array([1.0, 1.0, 0.5, 0.0])) == pytest.approx(14.5)


@through(
    ("x", "feasible"),
    [
        ([2, 0, 0.5, 0], True),
        ([2 + 9e-7, 0, 0.5, 0], True),
        ([2.4, 0, 0.5, 0], True),  # rounded to 2, as everybody's points are
        ([2.6, 0, 0.5, 0], False),  # rounded to 3, which the row forbids
        ([2, 0, 0.5, 2e-6], False),
        ([-1, 0, 0.5, 0], False),
        ([2, 0, math.nan, 0], False),
        ([2, 0, 0.5], False),
    ],
)
def test_the_judge_checks_rows_bounds_and_integrality(
    small: Entry, x: list[float], feasible: bool
) -> None:
    assert check(read(small.path), np.array(x, dtype=float)).feasible is feasible


def test_a_point_may_hold_as_it_is_given_where_rounding_breaks_a_row(tmp_path: Path) -> None:
    path = tmp_path / "steep.lp"
    path.write_text(
        "Minimize\n obj: x\nSubject To\n row: 1000000 x + y = 3000000.5\n"
        "Bounds\n y <= 0.25\nGeneral\n x\nEnd\n"
    )
    model = read(path)
    assert check(model, np.array([3.0 + 2.5e-7, 0.25])).feasible
    assert not check(model, np.array([3.0 + 5e-6, 0.0])).feasible


def test_violations_are_absolute_unless_told_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "large.lp"
    path.write_text("Minimize\n obj: x\nSubject To\n row: x + y >= 1000000\nGeneral\n y\nEnd\n")
    model, x = read(path), np.array([1e6 - 0.5, 0.0])
    assert not check(model, x).feasible
    assert check(model, x, relative=True).feasible


@through(
    ("objective", "best", "sense", "gap"),
    [
        (110.0, 100.0, 1.0, 10.0 / 110.0),
        (100.0, 100.0, 1.0, 0.0),
        (90.0, 100.0, 1.0, 0.0),
        (90.0, 100.0, -1.0, 0.1),
        (0.0, 0.0, 1.0, 0.0),
        (5.0, 0.0, 1.0, 1.0),
        (5.0, -5.0, 1.0, 1.0),
        (-4.0, -5.0, 1.0, 0.2),
        (None, 3.0, 1.0, 1.0),
        (math.nan, 3.0, 1.0, 1.0),
    ],
)
def test_primal_gap(objective: float | None, best: float, sense: float, gap: float) -> None:
    assert primal_gap(objective, best, sense) == pytest.approx(gap)


def test_primal_integral_adds_up_the_gap_over_time() -> None:
    events = [(2.0, 200.0), (5.0, 100.0)]
    assert primal_integral(events, 100.0, 10.0) == pytest.approx(2.0 + 3.0 * 0.5)
    assert primal_integral(events, 100.0, 4.0) == pytest.approx(2.0 + 2.0 * 0.5)
    assert primal_integral([], 100.0, 4.0) == 4.0
    assert primal_integral([(0.0, 100.0)], 100.0, 4.0) == 0.0


def test_improvements_leave_out_what_is_none() -> None:
    events = [(1.0, 5.0), (2.0, 5.0), (3.0, 7.0), (4.0, 4.0), (5.0, math.inf)]
    assert improvements(events) == [(1.0, 5.0), (4.0, 4.0)]
    assert improvements(events[:4], -1.0) == [(1.0, 5.0), (3.0, 7.0)]


def test_shifted_mean() -> None:
    assert shifted_mean([0.0, 3.0]) == pytest.approx(1.0)
    assert math.isnan(shifted_mean([]))


def entries() -> list[Entry]:
    names = [f"{chr(97 + k // 10)}{chr(97 + k % 10)}-{k}" for k in range(100)]
    return [Entry(name, Path(name), 400 + 20 * k, 1.0, True) for k, name in enumerate(names)]


def test_the_quick_set_is_spread_over_sizes_and_families() -> None:
    chosen = quick(entries())
    assert len(chosen) == 30
    assert len({family(entry.name) for entry in chosen}) == 30
    sizes = [entry.nonzeros for entry in chosen]
    assert sizes == sorted(sizes)
    assert (sizes[0], sizes[-1]) == (500, 400 + 20 * 99)
    twins = [Entry("ab-1", Path(), 600, 1.0, True), Entry("ab-2", Path(), 700, 1.0, True)]
    assert [entry.name for entry in quick(twins)] == ["ab-2"]
    assert quick([replace(twins[0], best=None)]) == []


def test_sets_and_names_choose_models() -> None:
    known = [Entry(name, Path(), 1, None, False) for name in ("mipcc26-1", "one", "two")]
    assert [e.name for e in choose(known, "mipcc26", [], [])] == ["mipcc26-1"]
    assert [e.name for e in choose(known, "peers", [], ["two", "three"])] == ["two"]
    assert [e.name for e in choose(known, None, ["one"], [])] == ["one"]
    assert choose(known, "all", [], []) == known
    with pytest.raises(KeyError, match="three"):
        choose(known, None, ["three"], [])


def row(model: str, solver: str, integral: float, **more: object) -> MipRow:
    values = {"seed": 0, "limit": 10.0, "status": "time_limit", "feasible": True, "gap": integral}
    return MipRow(model=model, solver=solver, integral=integral, **{**values, **more})


def test_a_summary_means_over_seeds_first_and_over_common_models_only() -> None:
    rows = [
        row("m", "a", 0.1, first=1.0, seconds=10.25),
        row("m", "a", 0.3, seed=1, feasible=False, wrong="called infeasible"),
        row("m", "b", 0.4, first=3.0),
        row("n", "a", 0.0, first=0.0, status="optimal", proven=True),
        row("n", "b", 0.0, first=0.0),
        row("o", "a", 1.0),
        replace(row("m", "old", 0.0), integral=None, recorded=True),
    ]
    assert common_models(rows) == ["m", "n"]
    a, b, old = summarise(rows)
    assert (a.solver, a.models, a.runs, a.feasible, a.optimal) == ("a", 2, 3, 1.5, 1.0)
    assert a.gap == pytest.approx(0.1)
    assert a.integral == pytest.approx(0.1)
    assert a.integral_mean == pytest.approx(math.sqrt(3.0) - 1.0)
    assert a.first == pytest.approx(math.sqrt(6.5) - 1.0)  # the limit counts for the second seed
    assert (a.best, b.best, old.best) == (1.0, 0.5, None)
    assert (a.wrong, a.late) == (1, 0.25)
    assert old.integral is None


def test_rows_survive_a_record() -> None:
    first = row("m", "a", 0.5, events=((0.5, 3.0), (1.0, 2.0)), source="rounding")
    assert MipRow.from_record(json.loads(json.dumps(first.as_record()))) == first


def test_recorded_figures_of_peers_are_read() -> None:
    names = mip_recorded.instances()
    assert "markshare2" in names
    assert "mipcc26-31" in names
    senses = {"markshare2": 1.0, "csched008": 1.0}
    rows = mip_recorded.read_recorded(mip_recorded.DEFAULT, {"markshare2": 1.0}, senses)
    found = {(r.model, r.solver.partition(" ")[0]): r for r in rows}
    assert found["markshare2", "cuopt"].gap == pytest.approx(18.0 / 19.0)
    assert not found["csched008", "HiGHS"].feasible
    assert found["markshare2", "HiGHS"].first == 0.009
    assert all(r.recorded and r.limit == 20.0 for r in rows)


def test_every_solver_can_be_found_or_says_why_not() -> None:
    for name in NAMES:
        why = find(name).missing()
        assert why is None or len(why) > 10
    with pytest.raises(KeyError, match="known are"):
        find("none")


def test_the_recorder_writes_while_a_solve_runs(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path)
    recorder.begin()
    recorder.event(5.0, np.array([1.0, 2.0]), seconds=0.5)
    assert soon((tmp_path / "events.json").exists)
    assert json.loads((tmp_path / "events.json").read_text()) == [[0.5, 5.0]]
    recorder.end(MipAnswer("optimal", x=np.array([0.0, 1.0])), 1.5)
    assert np.load(tmp_path / "point.npy").tolist() == [0.0, 1.0]
    assert json.loads((tmp_path / "answer.json").read_text())["seconds"] == 1.5


def test_a_log_of_local_mip_is_read_with_the_time_before_its_clock() -> None:
    log = (
        "c [   0.5] obj*: 768   \nc [  1.25] obj*: 540.5   \n"
        "c [  3.00] local search is terminated by timeout.\n"
        "c [  3.00] local search is finished.\n"
    )
    assert mip_localmip.read_log(log, 3.5) == [(1.0, 768.0), (1.75, 540.5)]
    assert mip_localmip.read_log("", 3.5) == []


def test_points_of_local_mip_go_by_names() -> None:
    x = mip_localmip.in_order(["b", "a"], [2.0, 1.0], ["a", "b", "unused"])
    assert x is not None
    assert x.tolist() == [1.0, 2.0, 0.0]
    assert mip_localmip.in_order(["z"], [1.0], ["a"]) is None


SETTINGS = Settings(time_limit=5.0, threads=1, device="cpu", warm_up=0.5)


def test_highs_solves_and_is_judged(small: Entry, tmp_path: Path) -> None:
    found = run("highs", prepare(small, tmp_path / "files"), 0, SETTINGS, small.best)
    assert (found.status, found.feasible, found.proven, found.wrong) == ("optimal", True, True, "")
    assert found.objective == pytest.approx(best_of_small(small))
    assert found.bound == pytest.approx(found.objective)
    assert found.sense == -1.0
    assert found.solver.startswith("HiGHS 1.")
    assert found.first is not None
    assert found.integral is not None
    assert 0.0 <= found.integral < 0.5


def best_of_small(small: Entry) -> float:
    """Return the optimum by trying all integers and the least c for each."""
    best = -math.inf
    for a in range(5):
        for b in range(5):
            c = max(0.5, 2.0 * a + 2.0 * b - 5.0)
            if c <= 10.0:
                best = max(best, 3.0 * a + 2.0 * b - c + 10.0)
    assert best == small.best
    return best


def test_ours_solves_and_is_judged(small: Entry, tmp_path: Path) -> None:
    found = run("ours", prepare(small, tmp_path / "files"), 0, SETTINGS, small.best)
    assert found.feasible, found.detail
    assert found.objective == pytest.approx(best_of_small(small))
    assert found.warm_up is not None
    assert found.source


def test_local_mip_is_judged(tmp_path: Path) -> None:
    pytest.importorskip("localmip_py")
    entry = Entry("ran13x13", MODELS / "ran13x13.mps.gz", 1, 3252.0, True)
    settings = replace(SETTINGS, time_limit=0.5)
    found = run("localmip", prepare(entry, tmp_path), 0, settings, entry.best)
    assert found.feasible, found.detail
    assert found.events[0][1] >= found.objective >= 3252.0
    assert 0.0 < found.gap < 1.0


def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """Let runs start a program of the test instead of a solver."""
    script = tmp_path / "child.py"
    script.write_text(
        "import json, sys, time, numpy as np\nfrom pathlib import Path\n"
        "folder = Path(json.loads(Path(sys.argv[2]).read_text())['folder'])\n" + body
    )
    monkeypatch.setattr(mip_run, "CHILD", (sys.executable, str(script)))


def test_a_run_that_overstays_is_killed_and_keeps_what_it_wrote(
    small: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = (
        "np.save(folder / 'point.npy', np.array([2.0, 0.0, 0.5, 0.0]))\n"
        "(folder / 'events.json').write_text('[[0.01, 15.5]]')\n"
        "(folder / 'began').write_text('')\ntime.sleep(600)\n"
    )
    child(tmp_path, monkeypatch, body)
    monkeypatch.setattr(mip_run, "KILL_LOW", 0.1)
    settings = replace(SETTINGS, time_limit=0.1)
    found = run("highs", prepare(small, tmp_path / "files"), 0, settings, small.best)
    assert found.status == "killed"
    assert (found.feasible, found.objective) == (True, 15.5)
    assert found.seconds < 60.0


def test_a_crash_costs_one_run_and_says_why(
    small: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child(tmp_path, monkeypatch, "raise ValueError('no luck')\n")
    found = run("highs", prepare(small, tmp_path / "files"), 0, SETTINGS, small.best)
    assert (found.status, found.feasible, found.gap, found.integral) == ("crash", False, 1.0, 1.0)
    assert "no luck" in found.detail


def test_cuopt_is_called_by_its_python_package(monkeypatch: pytest.MonkeyPatch) -> None:
    here = Path()
    task = MipTask(here, here, here, here, 1.0, 1, 0)
    known = {"cuopt-cu12": "26.2"}

    def version(package: str) -> str:
        if package not in known:
            raise metadata.PackageNotFoundError(package)
        return known[package]

    monkeypatch.setattr(metadata, "version", version)
    assert mip_cuopt.CuOptMip().label(task) == "cuOpt 26.2"


@pytest.mark.parametrize(
    ("x", "events", "status", "feasible", "wrong"),
    [
        ([3.0, 0.0, 0.5, 0.0], [[0.1, 18.5]], "optimal", False, "without a feasible point"),
        ([2.0, 0.0, 0.5, 0.0], [[0.1, 99.0]], "time_limit", True, ""),  # told more than it has
        ([2.0, 0.0, 0.5, 0.0], [[0.1, 15.5]], "optimal", True, "called optimal, but is not"),
        ([2.0, 0.0, 0.5, 0.0], [[9.0, 15.5]], "time_limit", False, ""),  # too late
    ],
)
def test_claims_are_not_believed(
    small: Entry,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    x: list[float],
    events: list[list[float]],
    status: str,
    feasible: bool,
    wrong: str,
) -> None:
    body = (
        f"np.save(folder / 'point.npy', np.array({x}))\n"
        f"(folder / 'events.json').write_text('{json.dumps(events)}')\n"
        f"answer = {{'status': '{status}', 'seconds': 1.0}}\n"
        "(folder / 'answer.json').write_text(json.dumps(answer))\n"
    )
    child(tmp_path, monkeypatch, body)
    found = run("highs", prepare(small, tmp_path / "files"), 0, SETTINGS, small.best)
    assert found.feasible is feasible
    assert wrong in found.wrong
    assert bool(wrong) == bool(found.wrong)
    if feasible:
        assert found.objective == pytest.approx(15.5)


def test_the_command_runs_records_and_resumes(
    small: Entry,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "INSTANCES.csv").write_text(
        "name,file,kind,nonzeros,integers,best_objective,optimal_known\n"
        "small,small.lp,mip,6,2,,no\nother,other.mps,lp,6,0,1,yes\n"
    )
    out = tmp_path / "records"
    words = ["mip", str(tmp_path), "--set", "all", "--solvers", "highs", "--threads", "1"]
    words += ["--time-limit", "5", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", words)
    assert mip.main() == 0
    (path,) = out.glob("mip-all-5s-*.json")
    document = json.loads(path.read_text())
    assert document["best"] == {"small": pytest.approx(best_of_small(small))}
    assert document["summary"][0]["feasible"] == 1.0
    assert {"machine", "versions", "commit"} <= document.keys()
    (line,) = document["rows"]
    assert (line["gap"], line["name"], line["feasible"]) == (0.0, "highs", True)
    assert "HiGHS" in capsys.readouterr().out
    monkeypatch.setattr(mip, "run", lambda *_: pytest.fail("this run is done"))
    path.rename(tmp_path / "first.json")
    monkeypatch.setattr(sys, "argv", [*words, "--resume", str(tmp_path / "first.json")])
    assert mip.main() == 0
    monkeypatch.setattr(sys, "argv", [*words, "--stop-after", "1"])
    assert mip.main() == 0
    assert "The time is up" in capsys.readouterr().out
