"""CVXPY's standard linear and mixed-integer problems, which check values and multipliers."""

from __future__ import annotations

import pytest

pytest.importorskip("cvxpy")

from cvxpy.tests.solver_test_helpers import StandardTestLPs

from gpu_bridge.adapters.cvxpy import GPUHEUR

NEEDS_ANOTHER_PACKAGE = "test_lp_7"  # asks SDPA about its arithmetic
PROBLEMS = sorted(name for name in vars(StandardTestLPs) if name.startswith("test_"))


def test_there_are_as_many_as_ever():
    assert len(PROBLEMS) >= 15


@pytest.mark.parametrize("name", [name for name in PROBLEMS if name != NEEDS_ANOTHER_PACKAGE])
@pytest.mark.parametrize("solver", ["GPUHEUR", GPUHEUR()], ids=["name", "object"])
def test_standard_problem(name, solver):
    getattr(StandardTestLPs, name)(solver)
