"""Constants are found in the source, have a reason beside them, and stand on a page of measures."""

from __future__ import annotations

import fnmatch
import json
import re
import sys

import pytest

from benchmarks import constants
from benchmarks.constants_in_source import NATIVE, ROOT, Constant, find
from benchmarks.constants_page import lines_of, write_page
from benchmarks.constants_unmeasured import ENGINES, MARKS, REASONS, measured, unexplained
from benchmarks.constants_unmeasured import lines_of as lines_of_reasons


@pytest.mark.parametrize("engine", ["mip", "pdlp", "knapsack"])
def test_every_constant_of_an_engine_stands_on_its_page(engine):
    page = (ROOT / "docs" / f"{engine}-constants.md").read_text()
    told = set(re.findall(r"`([\w.]+)`", page))
    missing = {one.key for one in find(f"solvers/{engine}")} - {f"{engine}.{name}" for name in told}
    assert not missing, "measure them: python -m benchmarks.constants"


@pytest.mark.parametrize("engine", ENGINES)
def test_every_constant_is_measured_or_says_why_not(engine):
    left = unexplained(find(f"solvers/{engine}"), measured())
    assert not left, "measure them, or see constants_unmeasured.py; what is measured has no reason"


def test_reasons_are_for_constants_that_exist():
    known = measured()
    keys = [one.key for engine in ENGINES for one in find(f"solvers/{engine}")]
    there = [key for key in keys if key not in known]
    patterns = [pattern for patterns in REASONS.values() for pattern in patterns]
    assert not [pattern for pattern in patterns if not fnmatch.filter(there, pattern)]


@pytest.mark.parametrize("engine", ENGINES)
def test_pages_tell_the_reasons(engine):
    page = (ROOT / "docs" / f"{engine}-constants.md").read_text()
    told = page.partition(MARKS[0])[2].partition(MARKS[1])[0]
    assert told.split() == " ".join(lines_of_reasons(engine, measured())).split()


def test_what_is_neither_measured_nor_explained_is_found():
    one = Constant("NEW", 3, "", (("solvers/mip/new.py", 0, 1),))
    assert unexplained([one], set()) == ["mip.new.NEW"]
    assert unexplained([one], {"mip.new.NEW"}) == []


@pytest.mark.parametrize("engine", ENGINES)
def test_constants_of_an_engine_have_a_reason(engine):
    without = [one.key for one in find(f"solvers/{engine}") if not one.reason]
    assert not without, "a constant wants a text with its unit and why it is what it is"


@pytest.mark.parametrize("folder", ["solvers/mip", "solvers/pdlp"])
def test_places_are_those_of_the_values(folder):
    constants = find(folder)
    assert constants
    for constant in constants:
        for file, begin, end in constant.places:
            text = (ROOT / file).read_bytes()[begin:end].decode()
            plain = text.replace("'", "") if file.endswith(NATIVE) else text
            assert eval(plain, {}) == constant.value, f"{file}: {text}"


def test_numbers_of_both_languages_are_one_constant():
    tolerance = [one for one in find("solvers/mip") if one.name == "FEASIBILITY_TOLERANCE"]
    assert [len(one.places) for one in tolerance] == [2]


@pytest.mark.parametrize(
    ("value", "factor", "expected"),
    [(3, 0.5, 1), (1, 0.5, 1), (0.3, 2.0, 0.6), ((1, 4.0), 2.0, (2, 8.0))],
)
def test_an_integer_stays_one(value, factor, expected):
    assert Constant("A", value, "", (("a.py", 0, 1),)).times(factor) == expected


RECORDS = {
    record["table"]: path
    for path in sorted((ROOT / "benchmarks" / "results").glob("constants-*.json"))
    if "table" in (record := json.loads(path.read_text()))  # not so of those from a GPU
}
"""The latest record of each table."""

PAGES = ("mip-constants.md", "pdlp-constants.md", "knapsack-constants.md")


@pytest.mark.parametrize("page", PAGES)
def test_tables_are_what_their_records_say(page):
    text = (ROOT / "docs" / page).read_text()
    tables = re.findall(r"<!-- constants of ([\w-]+) -->\n(.*?)<!-- end", text, re.DOTALL)
    assert tables
    for name, written in tables:
        lines = lines_of(json.loads(RECORDS[name].read_text()))
        assert set(written.splitlines()) <= set(lines), "python -m benchmarks.constants_page"


@pytest.mark.parametrize("engine", ["mip", "pdlp", "knapsack"])
def test_records_know_constants_by_where_they_stand_now(engine):
    page = (ROOT / "docs" / f"{engine}-constants.md").read_text()
    there = {one.key for one in find(f"solvers/{engine}")}
    tables = re.findall(r"<!-- constants of ([\w-]+) -->", page)
    rows = [row for table in tables for row in json.loads(RECORDS[table].read_text())["rows"]]
    assert rows
    assert {row["constant"] for row in rows} <= there


def test_a_table_has_rows_for_what_changes_and_lists_for_the_rest(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "before\n<!-- constants of pdlp -->\nold\n<!-- end of the constants -->\nafter\n"
    )
    rows = [
        {"constant": "pdlp.a.MOVES", "value": "1", "models": 3, "half": 2, "twice": 0},
        {"constant": "pdlp.a.STAYS", "value": "2", "models": 3, "half": 0, "twice": 0},
        {"constant": "pdlp.a.ONE_FAILS", "value": "5", "models": 3, "half": None, "twice": 0},
        {"constant": "pdlp.a.UNKNOWN", "value": "3", "models": 0, "half": None, "twice": None},
        {"constant": "pdlp.a.FAILS", "value": "4", "models": 3, "half": None, "twice": None},
    ]
    rows = [{**row, "half: more": "+0.5", "twice: more": ""} for row in rows]
    noise = [{"group": "", "changed": 1, "models": 3, "more": "-0.1"}]
    record = {"table": "pdlp", "command": "python -m x", "rows": rows, "noise": noise}
    write_page(page, record)
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text
    assert "| `a.MOVES` | 1 | 3 | 2: +0.5 | 0 |" in text
    assert "| `a.ONE_FAILS` | 5 | 3 |  | 0 |" in text
    assert "empty cell ends in an error" in text
    assert "beside each: `a.STAYS` (3)." in text
    assert "names these: `a.UNKNOWN`." in text
    assert "not run: `a.FAILS`." in text
    assert "* Another seed: 1 of 3 differ, -0.1." in text


def test_a_page_without_a_place_for_a_table_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("nothing\n")
    with pytest.raises(SystemExit, match="no place for the table pdlp"):
        write_page(page, {"table": "pdlp", "rows": []})


def test_a_run_without_time_says_so(monkeypatch, tmp_path, capsys):
    given = [
        "constants",
        "pdlp",
        str(tmp_path),
        "--models",
        "afiro",
        "--only",
        "restarts.",
        "start.SMALL",
    ]
    monkeypatch.setattr(sys, "argv", given)
    monkeypatch.setattr(constants, "build", lambda launcher: None)
    monkeypatch.setattr(constants, "run", lambda tasks, arguments, stop_at: [])
    with pytest.raises(SystemExit, match="no constant to measure"):
        constants.main()
    assert capsys.readouterr().out == "There was no time for pdlp.start.SMALL.\n"
