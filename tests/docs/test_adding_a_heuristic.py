"""The heuristic that the documentation adds works: its file, its row and its test."""

from __future__ import annotations

from typing import Any

import pytest

from solvers.mip.portfolio.table import Row
from tests.docs.pages import BLOCK
from tests.locations import ROOT

PAGE = ROOT / "docs" / "adding-a-heuristic.md"


@pytest.fixture(scope="module")
def names() -> dict[str, Any]:
    """Return what the code of the page defines."""
    file, row, test = [code for _, _, code in BLOCK.findall(PAGE.read_text("utf-8"))]
    found: dict[str, Any] = {"Row": Row}
    exec(file, found)
    found["row"] = eval(row, found)
    exec(test, found)
    return found


def test_the_row_is_one_of_the_table(names):
    assert isinstance(names["row"], Row)
    assert names["row"].name == "simple rounding"


@pytest.mark.parametrize(
    "test",
    [
        "test_columns_that_hinder_nobody_above_are_rounded_up",
        "test_where_rows_hinder_both_ways_it_declines",
    ],
)
def test_the_tests_of_the_page_pass(names, test):
    assert test in names
    names[test]()


def test_every_test_of_the_page_is_run(names):
    assert sum(name.startswith("test_") for name in names) == 2
