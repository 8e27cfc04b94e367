"""Every example runs as a user would run it, checks itself, and says what it promises."""

from __future__ import annotations

import re

import pytest

from tests.locations import ROOT
from tests.scripts import scripts

pytestmark = pytest.mark.slow

EXAMPLES = ROOT / "examples"
KEY_LINE = {
    "gallery.py": "gallery-price-scenarios.png drawn",
    "files_and_matrices.py": "The first-order engine with crossover agrees",
    "cvxpy/robust_fit.py": "Left out: [4, 21, 27]",
    "linopy/dispatch.py": "Electricity is worth",
    "ortools/assignment.py": "Together they walk",
    "papers/angiogenesis_imex.py": "All checks hold.",
    "papers/dense_lu.py": "Both solutions agree",
    "papers/knapsack_branch_and_bound.py": "15 of 15 instances are solved; all profits agree",
    "papers/simplex_variants.py": "15 of 15 solves end at the objective of HiGHS",
    "papers/sparse_formats.py": "All products agree with SciPy's",
    "pulp/cutting_stock.py": "no plan at all can cost less than 3,301.50",
    "pulp/facility_location.py": "3 ambulances: 38,300 people",
    "pulp/festival_programme.py": "The most even plan among the good ones is in the model now",
    "pulp/fuel_network.py": "A day's fuel costs 592,520 euros",
    "pulp/infeasible_diet.py": "There is no such menu:",
    "pulp/knapsack.py": "Within the volume it is worth 14757",
    "pulp/shift_scheduling.py": "A day costs 5,880.00 euros",
    "pulp/unit_commitment.py": "A day's heat costs 21,21",
    "pyomo/benders.py": "The cuts prove that no other choice costs less",
    "pyomo/cutting_stock.py": "Plan with 73 whole rolls",
    "pyomo/facility_location.py": "the best one 45,128",
    "pyomo/infeasible_rota.py": "There is no such rota:",
    "pyomo/job_shop.py": "All jobs are done after 55 hours",
    "pyomo/price_scenarios.py": "200 scenarios, sales of",
    "pyomo/project_portfolio.py": "  3000    2160",
    "pyomo/several_objectives.py": "2. worth 88: meter, pump, boiler",
    "pyomo/transport.py": "Cheapest plan: 9,260.00 euros",
    "pyomo/unit_commitment.py": "Schedule of cost 608,",
    "scipy/blending.py": "In whole bags of 500 kg they cost 4,590.00 euros",
}
"""What each example prints when its answer is right; the two MIPLIB loaders run in the demo."""


EXTRAS = ("cvxpy", "linopy", "ortools")
"""Folders with examples for packages that gpu-bridge does not install by itself."""


@pytest.fixture(scope="module")
def runner():
    with scripts() as made:
        yield made


def test_every_example_is_tested():
    scripts = {str(path.relative_to(EXAMPLES)) for path in EXAMPLES.rglob("*.py")}
    assert scripts == {*KEY_LINE, "demo.py", "miplib_in_pyomo.py", "miplib_in_pulp.py"}


@pytest.mark.parametrize("script", KEY_LINE)
def test_example(script, runner, tmp_path):
    if script.partition("/")[0] in EXTRAS:
        pytest.importorskip(script.partition("/")[0])
    assert KEY_LINE[script] in runner.run(EXAMPLES / script, (), tmp_path)


def test_demo(runner, tmp_path):
    given = ("--time-limit", "1", "--output", "pictures")
    output = runner.run(EXAMPLES / "demo.py", given, tmp_path)
    for name in ("aflow30a", "ran13x13", "rout"):
        picture = tmp_path / "pictures" / f"{name}.png"
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert f"{name}.png" in output


def snippets(page: str) -> list[str]:
    """Return the Python of a page that stands on its own, needing no model file."""
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.M | re.S)
    return [block for block in blocks if ".mps" not in block]


@pytest.mark.parametrize(
    ("page", "count", "answer"),
    [
        ("README.md", 3, r"16\.5"),
        ("docs/index.md", 3, r"16\.5"),
        ("docs/mip.md", 4, r"32(\.0)?\s*$"),
        ("docs/knapsack.md", 3, r"Engine +knapsack on cpu: (the model is )?a .*knapsack problem"),
        ("docs/lu.md", 1, r"e-1\d\s*$"),
        ("docs/sparse.md", 1, r"csr"),
        ("docs/scipy.md", 2, r"^$|-36\.0 \[.*-1\.5.*\]"),
    ],
)
def test_pages_run_as_printed(page, count, answer, runner, tmp_path):
    found = snippets(page)
    assert len(found) == count
    for number, block in enumerate(found):
        folder = tmp_path / str(number)
        folder.mkdir()
        script = folder / "snippet.py"
        script.write_text(block, encoding="utf-8")
        output = runner.run(script, (), folder)
        assert re.search(answer, output), output
