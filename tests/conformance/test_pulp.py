"""PuLP's own generic solver tests, imported from the installed package, against GPUHEUR.

Those of PuLP 3 branch on the solver's name: for a name they do not know they skip the checks on
duals, slacks, time limits, sequential solves, warm starts and log files. They are therefore run
under our own name and under two known ones, always with our class. Those of PuLP 4 have a table
instead, which leaves out as much, and which is filled in here.
"""

from __future__ import annotations

import unittest
from importlib.util import find_spec
from pathlib import Path

import pulp
import pytest
from pulp.tests.bin_packing_problem import create_bin_packing_problem

from gpu_bridge.adapters.pulp import GPUHEUR

PULP_4 = find_spec("pulp.tests.solver_common") is not None
if PULP_4:
    from pulp.tests import solver_common as upstream
else:
    from pulp.tests import test_pulp as upstream

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

FEWEST_TESTS = 32 if PULP_4 else 78

# Asks that no solution be found within a second, which a good heuristic rightly fails;
# adapters/pulp/test_results.py has the status of a limit without a point.
LEFT_OUT = "test_time_limit_no_solution"


def _small_bin_packing(bins: int, seed: int) -> pulp.LpProblem:
    """Return the upstream model at a size whose solve does not hang on the machine's speed."""
    return create_bin_packing_problem(bins=min(bins, 8), seed=seed)


def run_as(name: str) -> type[GPUHEUR]:
    """Return our class under the name of a solver that the upstream tests know."""
    return type("GPUHEUR", (GPUHEUR,), {"name": name})


class _Upstream(upstream.BaseSolverTest.PuLPTest):  # type: ignore[misc]
    """The upstream tests, each in a folder of its own and with our class in PuLP's list."""

    __test__ = False

    @pytest.fixture(autouse=True)
    def _surroundings(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(
            upstream, "create_bin_packing_problem", _small_bin_packing, raising=False
        )
        ours = self.solveInst
        others = [solver for solver in pulp.apis._all_solvers if solver.name != ours.name]
        monkeypatch.setattr(pulp.apis, "_all_solvers", [*others, ours])


setattr(_Upstream, LEFT_OUT, None)
if PULP_4:
    from pulp.tests import test_solve_stats

    setting = upstream.PulpTestConfig
    _Upstream.pulp_test_overrides = {
        "test_dual_variables_reduced_costs": setting(skip=False),
        "test_initial_value": setting(warm_start=True),
        "test_logPath": setting(skip=False, check_log_path=True),
        "test_repeated_name": upstream.ALLOW_REPEATED_VAR_NAMES,
        "test_sequential_solve": setting(skip=False),
    }

    class TestStatistics(test_solve_stats.SolveStatsTest):  # type: ignore[misc]
        """The tests of what ``solve`` returns, which take PuLP's default solver."""

        @pytest.fixture(autouse=True)
        def _ours(self, monkeypatch: pytest.MonkeyPatch) -> None:
            monkeypatch.setattr(pulp.apis, "LpSolverDefault", GPUHEUR(msg=False))


if find_spec("pulp.tests.test_column_wise") is not None:  # from PuLP 4.2 on
    from pulp.tests import test_column_wise

    class TestColumnWise(test_column_wise.ColumnWiseSolveTest):  # type: ignore[misc]
        """The tests of models that grow between solves, which take any solver there is."""

        @pytest.fixture(autouse=True)
        def _ours(self, monkeypatch: pytest.MonkeyPatch) -> None:
            monkeypatch.setattr(test_column_wise, "_lp_solver", lambda: GPUHEUR(msg=False))


class TestUnderOurName(_Upstream):
    __test__ = True
    solveInst = GPUHEUR  # noqa: N815


class TestAsHighs(_Upstream):
    __test__ = True
    solveInst = run_as("HiGHS")  # noqa: N815


class TestAsGurobi(_Upstream):
    __test__ = True
    solveInst = run_as("GUROBI")  # noqa: N815


def test_the_upstream_tests_are_all_there() -> None:
    loader = unittest.TestLoader()
    theirs = set(loader.getTestCaseNames(upstream.BaseSolverTest.PuLPTest))
    assert len(theirs) >= FEWEST_TESTS
    for case in (TestUnderOurName, TestAsHighs, TestAsGurobi):
        assert theirs - set(loader.getTestCaseNames(case)) <= {LEFT_OUT}
