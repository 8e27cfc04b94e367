"""The notebooks run from top to bottom in a plain interpreter, and say what they show."""

from __future__ import annotations

import json
import re

import pytest

from tests.locations import ROOT

NOTEBOOKS = ROOT / "examples" / "notebooks"
NUMBERS = re.compile(r"profit .*|joy .*|wood at .*|one more hour .*")
"""Lines of the output that no machine, clock or engine changes."""


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook(path, capsys):
    notebook = json.loads(path.read_text("utf-8"))
    space: dict[str, object] = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            code = "".join(cell["source"])
            assert "assert" in code or "import" in code or "print" in code
            exec(compile(code, f"{path.name}, {cell['id']}", "exec"), space)
            shown = "".join(line for output in cell["outputs"] for line in output["text"])
            assert NUMBERS.findall(capsys.readouterr().out) == NUMBERS.findall(shown)


def test_both_packages_have_a_notebook_that_the_first_page_names():
    first_page = (ROOT / "docs" / "index.md").read_text("utf-8")
    names = {path.name for path in NOTEBOOKS.glob("*.ipynb")}
    assert {"pyomo.ipynb", "pulp.ipynb"} <= names
    assert all(f"examples/notebooks/{name}" in first_page for name in names)
