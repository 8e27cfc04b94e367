"""The heuristic that the documentation adds works word for word: its file, its row and its test."""

from __future__ import annotations

import ast
import sys
from types import ModuleType
from typing import Any

import pytest

from solvers.mip.table import Row
from tests.docs.pages import BLOCK
from tests.locations import ROOT

FILE, ROW, TEST = (
    code
    for _, _, code in BLOCK.findall((ROOT / "docs" / "adding-a-heuristic.md").read_text("utf-8"))
)
MODULE = "solvers.mip.heuristics.simple_rounding"


@pytest.fixture
def names(monkeypatch) -> dict[str, Any]:
    """Return what the row and the test of the page define, with the file where it says."""
    module = ModuleType(MODULE)
    monkeypatch.setitem(sys.modules, MODULE, module)
    exec(FILE, vars(module))
    found: dict[str, Any] = {"Row": Row}
    *imports, row = ast.parse(ROW).body
    exec(compile(ast.Module(imports, []), "the row", "exec"), found)
    found["row"] = eval(ast.unparse(row), found)
    exec(TEST, found)
    return found


def test_the_row_is_one_of_the_table(names):
    assert isinstance(names["row"], Row)
    assert names["row"].name == "simple rounding"


def test_the_tests_of_the_page_pass(names):
    tests = [value for name, value in names.items() if name.startswith("test_")]
    assert len(tests) == 2
    for test in tests:
        test()
