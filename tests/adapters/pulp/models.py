"""PuLP models for tests, built and solved in ways that PuLP 3 and PuLP 4 both understand."""

from __future__ import annotations

from typing import Any

import pulp
import pytest

from gpu_bridge.adapters.pulp import GPUHEUR
from solvers.core.outcome import SolutionStatus
from tests.adapters.pulp.writing import PULP_4, in_our_words, model_of, rows_of

__all__ = ["PULP_4", "in_our_words", "model_of", "rows_of"]

pulp_3_only = pytest.mark.skipif(PULP_4, reason="about models of PuLP 3")
pulp_4_only = pytest.mark.skipif(not PULP_4, reason="about models of PuLP 4")


def solve(lp: pulp.LpProblem, mine: GPUHEUR | None = None, **options: Any) -> SolutionStatus:
    """Solve a model and return what PuLP says of it, in our words."""
    return in_our_words(lp, lp.solve(solver() if mine is None else mine, **options))


def solver(**options: Any) -> GPUHEUR:
    """Return our solver, silent."""
    return GPUHEUR(**{"msg": False, **options})


def small(sense: int = pulp.LpMinimize) -> pulp.LpProblem:
    """Return a linear model with a row of every sense, all tight or slack by whole numbers.

    min x + 4y + 9z with x + y <= 5, x + z >= 10, -y + z = 7, x <= 4, -1 <= y <= 1, z >= 0:
    optimal at (4, -1, 6), worth 54. Maximised with its signs turned round it is worth -54.
    """
    sign = -1 if sense == pulp.LpMaximize else 1
    lp = pulp.LpProblem("small", sense)
    x = lp.add_variable("x", 0, 4)
    y = lp.add_variable("y", -1, 1)
    z = lp.add_variable("z", 0)
    lp += sign * (x + 4 * y + 9 * z)
    lp += x + y <= 5, "c1"
    lp += x + z >= 10, "c2"
    lp += -y + z == 7, "c3"
    return lp


def values(lp: pulp.LpProblem) -> dict[str, float | None]:
    """Return the values of all variables by name."""
    return {variable.name: variable.varValue for variable in lp.variables()}
