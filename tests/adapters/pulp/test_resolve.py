"""``lp.resolve()`` goes on from the last answer, and answers as a fresh solve does."""

from __future__ import annotations

import random
from typing import Any

import pulp
import pytest

from gpu_bridge import GPUHEUR
from gpu_bridge.pipeline import dispatch
from solvers.core.outcome import SolutionStatus, Start
from tests.adapters.pulp.models import pulp_3_only

pytestmark = [pulp_3_only, pytest.mark.filterwarnings("ignore:.*PuLP 4:DeprecationWarning")]


def make_model(category: str) -> pulp.LpProblem:
    """Return a small model with a maximum, as PuLP reads it before any change."""
    lp = pulp.LpProblem("again", pulp.LpMaximize)
    x = [pulp.LpVariable(f"x{j}", 0, 3, category) for j in range(4)]
    lp += pulp.lpSum((j + 1) * x[j] for j in range(4))
    lp += pulp.lpSum(x) <= 7, "all"
    lp += x[0] + 2 * x[3] <= 6, "two"
    return lp


def change(lp: pulp.LpProblem, draw: random.Random) -> None:
    """Change bounds, sides, coefficients or the number of rows and columns."""
    x = lp.variables()
    number = lp.numConstraints()
    kind = draw.randrange(6)
    if kind == 0:
        draw.choice(x).upBound = draw.choice((None, 0, 2, 5))
    elif kind == 1:
        draw.choice(list(lp.constraints.values())).changeRHS(draw.randint(-2, 8))
    elif kind == 2:
        lp += pulp.lpSum(draw.sample(x, 2)) <= draw.randint(0, 5), f"cut{number}_{draw.random()}"
    elif kind == 3 and number > 2:
        del lp.constraints[draw.choice(list(lp.constraints)[1:])]
    elif kind == 4:
        new = pulp.LpVariable(f"y{draw.random()}", -1, 2, x[0].cat)
        lp += new + draw.choice(x) <= 3, f"row{number}_{draw.random()}"
    else:
        lp.setObjective(pulp.lpSum(draw.randint(-2, 4) * one for one in x))


def answer(lp: pulp.LpProblem) -> tuple[str, float | None]:
    status = pulp.LpStatus[lp.status]
    return status, pulp.value(lp.objective) if status == "Optimal" else None


@pytest.mark.skipif(not hasattr(pulp, "HiGHS"), reason="PuLP has HiGHS from 2.8 on")
@pytest.mark.parametrize("category", ["Continuous", "Integer"])
@pytest.mark.parametrize("seed", range(3))
def test_any_change_counts(category: str, seed: int) -> None:
    draw = random.Random(seed)
    lp, mine = make_model(category), GPUHEUR(msg=False)
    lp.solve(mine)
    statuses = set()
    for _ in range(25):
        change(lp, draw)
        lp.resolve()
        found, kept = answer(lp), lp.solverModel
        lp.solve(pulp.HiGHS(msg=False))
        wanted = answer(lp)
        lp.solver, lp.solverModel, lp.resolveOK = mine, kept, True
        assert found[0] == wanted[0]
        assert found[1] == pytest.approx(wanted[1], abs=1e-6)
        statuses.add(found[0])
    assert "Optimal" in statuses


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[Start | None]:
    """The starts that solves were given, one after the other."""
    given: list[Start | None] = []
    honest = dispatch.solve

    def noting(*arguments: Any, **named: Any) -> Any:
        given.append(named["start"])
        return honest(*arguments, **named)

    monkeypatch.setattr(dispatch, "solve", noting)
    return given


def test_it_starts_from_the_last_basis(starts: list[Start | None]) -> None:
    lp, mine = make_model("Continuous"), GPUHEUR(msg=False)
    lp.solve(mine)
    lp += lp.variables()[1] <= 1, "cut"
    lp.resolve()
    assert starts[0] is None
    assert starts[1] is not None
    assert starts[1].basis is not None
    assert starts[1].basis.row_status.tolist()[2] == 1  # the row that is new is basic
    assert mine.outcome.solution_status is SolutionStatus.OPTIMAL


def test_a_mixed_integer_model_starts_from_the_last_point(starts: list[Start | None]) -> None:
    lp, mine = make_model("Integer"), GPUHEUR(msg=False)
    lp.solve(mine)
    point = [variable.varValue for variable in lp.variables()]
    lp.resolve()
    assert starts[1] is not None
    assert starts[1].x.tolist() == point
    lp.solve(mine)
    assert starts[2] is None


def test_a_linear_model_stays_in_highs(starts: list[Start | None]) -> None:
    lp, mine = make_model("Continuous"), GPUHEUR(msg=False)
    lp.solve(mine)
    first = lp.solverModel.live
    lp.constraints["all"].changeRHS(6)
    lp.resolve()
    assert lp.solverModel.live is first
    assert mine.outcome.statistics["simplex_iterations"] <= 2
