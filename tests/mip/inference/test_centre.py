"""The analytic centre that dives lean on, and where they do without it."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.problem import FloatArray, Problem
from solvers.mip.budget import Budget
from solvers.mip.heuristics.fix_and_propagate import heuristic
from solvers.mip.heuristics.fix_and_propagate.heuristic import TURNS_AT_CENTRE, GuidedDive
from solvers.mip.heuristics.fix_and_propagate.strategy import LP_GUIDED
from solvers.mip.inference import relaxation
from solvers.mip.inference.relaxation import analytic_centre, root_relaxation
from solvers.mip.model import MipModel
from tests.mip.context_of import Taking, context_of


def choice() -> MipModel:
    """Return a model in which one of three binaries is 1, the last at the least cost."""
    problem = Problem.from_arrays(
        [3, 2, 1], [[1, 1, 1]], [1], [1], upper=[1, 1, 1], integrality=[True] * 3
    )
    return MipModel.of(problem)


def test_it_lies_in_the_middle_of_what_the_rows_allow() -> None:
    found = analytic_centre(choice(), Budget())
    assert found == pytest.approx([1 / 3] * 3, abs=0.02)


def test_there_is_none_where_it_costs_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    assert analytic_centre(choice(), Budget(stop=lambda: True)) is None
    monkeypatch.setattr(relaxation, "MOST_FILL", 0.0)
    assert analytic_centre(choice(), Budget()) is None


def test_guided_dives_follow_it_by_turns_until_there_is_a_point(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    followed: list[FloatArray] = []
    monkeypatch.setattr(heuristic, "_dive", lambda *given: followed.append(given[-1]))
    model = choice()
    context = context_of(model)
    context.relaxation = root_relaxation(model, Budget())
    turn = Taking(GuidedDive, context)
    seeds = range(0, TURNS_AT_CENTRE * len(LP_GUIDED), len(LP_GUIDED))
    for seed in seeds:
        turn.run(Budget(), seed)
    vertex = context.relaxation.x
    assert [np.allclose(point, vertex) for point in followed] == [False, *[True] * (len(seeds) - 1)]
    assert context.submit(np.array([1.0, 0.0, 0.0]), "test")
    turn.run(Budget(), 0)
    assert followed[-1] == pytest.approx(vertex)
