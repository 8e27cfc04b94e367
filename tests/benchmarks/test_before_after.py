"""The comparison of two checkouts, by records as their benchmarks write them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from benchmarks.before_after import Case, all_cases, compare, run

TIMES = Case("times", ("made_up", "--size", "3"), "rows", ("model", "size"), ("seconds",))
RATES = Case("rates", (), "speed", ("name",), ("moves",), is_rate=True)


def test_figures_are_found_in_lists_and_in_mappings_of_rows():
    rows = [{"model": "a", "size": 3, "seconds": 2.0}, {"model": "b", "size": 4, "seconds": None}]
    assert dict(TIMES.measured({"rows": rows})) == {"a 3: seconds": 2.0}
    assert dict(RATES.measured({"speed": {"x": {"moves": 5.0}}})) == {"x: moves": 5.0}


@pytest.mark.parametrize(("case", "expected"), [(TIMES, 2.0), (RATES, 0.5)])
def test_a_change_that_halves_times_or_doubles_rates_is_twice_as_fast(case, expected):
    before, after = {"a": [4.0, 6.0, 90.0], "old": [1.0]}, {"a": [3.0, 3.0, 0.1], "new": [1.0]}
    (row,) = compare(case, [before, after])
    assert row["figure"] == "a"
    assert row["times as fast"] == expected


def test_a_checkout_runs_its_own_benchmark_and_keeps_its_results(tmp_path):
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__init__.py").touch()
    (tmp_path / "benchmarks" / "record.py").write_text(
        "import json\n"
        "def write_record(content, *, folder='results'):\n"
        "    (folder / 'one.json').write_text(json.dumps({'commit': 'abc', **content}))\n"
    )
    (tmp_path / "benchmarks" / "made_up.py").write_text(
        "import sys\n"
        "from benchmarks.record import write_record\n"
        "row = {'model': 'm', 'size': int(sys.argv[2]), 'seconds': 0.5}\n"
        "write_record({'rows': [row]})\n"
    )
    commit, figures = run(TIMES, tmp_path, Path(sys.executable))
    assert (commit, figures) == ("abc", {"m 3: seconds": 0.5})
    assert not (tmp_path / "results").exists()


def test_every_case_is_a_benchmark_of_this_checkout():
    folder = Path(__file__).parent.parent.parent / "benchmarks"
    for case in all_cases(1.0, []):
        assert (folder / f"{case.command[0]}.py").is_file()
