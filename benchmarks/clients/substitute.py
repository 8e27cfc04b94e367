"""Puts one solver in the place of those that a project asks for; nothing else of it is changed.

Runs inside the project's own environment, as a pytest plugin (``-p substitute``) or as a program,
``python substitute.py script.py``. ``CLIENT_SOLVER`` is ``ours``, ``highs`` or ``cbc``;
``CLIENT_TESTS`` has the names of the tests to run as JSON, none for all. How each test ended goes
to the file ``CLIENT_REPORT``, and the objective after each of its solves, so that another optimum
can be told from another objective.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PYOMO_NAMES = {"ours": "gpuheur", "highs": "appsi_highs", "cbc": "cbc"}
PULP_NAMES = {"ours": "GPUHEUR", "highs": "HiGHS", "cbc": "PULP_CBC_CMD"}
LINOPY_NAMES = {"ours": "gpuheur", "highs": "highs", "cbc": "cbc"}
IN_PYOMO_AND_LINOPY = frozenset(
    {"cbc", "glpk", "gurobi", "gurobi_direct", "cplex", "highs", "appsi_highs"}
)
PERSISTENT = frozenset({"gurobi_persistent", "cplex_persistent", "xpress_persistent"})
IN_PULP = ("PULP_CBC_CMD", "COIN_CMD", "GLPK_CMD", "GLPK", "GUROBI", "GUROBI_CMD", "HiGHS")
"""Names by which projects ask for a solver of linear and mixed-integer models."""

WHOLE = "whole"
"""Stands for the test where a program is run."""

_objectives: dict[str, list[float | None]] = {}
_ended: dict[str, str] = {}
_running = [WHOLE]


def substitute(solver: str) -> None:
    """Let each modelling package that is installed give ``solver`` for those of other names."""
    if solver == "ours":
        import gpu_bridge  # noqa: F401  # registers itself with the packages
    if find_spec("pyomo") is not None:
        _in_pyomo(PYOMO_NAMES[solver])
    if find_spec("pulp") is not None:
        _in_pulp(PULP_NAMES[solver])
    if find_spec("linopy") is not None:
        _in_linopy(LINOPY_NAMES[solver])


def _in_pyomo(name: str) -> None:
    import pyomo.environ as pyo

    factory = type(pyo.SolverFactory)
    make = factory.__call__

    def objective(model: Any) -> float | None:
        for found in model.component_data_objects(ctype=pyo.Objective, active=True):
            value: float | None = pyo.value(found, exception=False)
            return value
        return None

    def call(self: Any, wanted: Any = None, **more: Any) -> Any:
        if wanted in IN_PYOMO_AND_LINOPY:
            for program in ("executable", "solver_io"):
                more.pop(program, None)
            wanted = name
        elif wanted in PERSISTENT and name == "gpuheur":
            wanted = "gpuheur_persistent"
        solver = make(self, wanted, **more)
        if wanted in (name, "gpuheur_persistent"):
            solve = solver.solve

            def solved(*arguments: Any, **keywords: Any) -> Any:
                results = solve(*arguments, **keywords)
                model = arguments[0] if arguments else getattr(solver, "_pyomo_model", None)
                if model is not None:
                    _note(objective(model))
                return results

            solver.solve = solved
        return solver

    factory.__call__ = call


def _in_pulp(name: str) -> None:
    import pulp

    kind = next(known for known in pulp.apis._all_solvers if known.name == name)
    for asked in IN_PULP:
        for module in (pulp, pulp.apis):
            if hasattr(module, asked):
                setattr(module, asked, kind)
    for module in (pulp, pulp.apis, pulp.pulp):
        if hasattr(module, "LpSolverDefault"):
            module.LpSolverDefault = kind(msg=False)
    get, solve = pulp.getSolver, pulp.LpProblem.solve

    def get_solver(wanted: str, *positional: Any, **more: Any) -> Any:
        return get(name if wanted in IN_PULP else wanted, *positional, **more)

    def solved(self: Any, *arguments: Any, **keywords: Any) -> Any:
        status = solve(self, *arguments, **keywords)
        _note(None if self.objective is None else pulp.value(self.objective))
        return status

    pulp.getSolver = pulp.apis.getSolver = get_solver
    pulp.LpProblem.solve = solved


def _in_linopy(name: str) -> None:
    import linopy
    import linopy.solvers

    solve = linopy.Model.solve

    def solved(self: Any, solver_name: str | None = None, *arguments: Any, **keywords: Any) -> Any:
        if solver_name is None or solver_name in IN_PYOMO_AND_LINOPY:
            solver_name = name
        answer = solve(self, solver_name, *arguments, **keywords)
        value = self.objective.value
        _note(None if value is None else float(value))
        return answer

    linopy.Model.solve = solved
    for known in ("available_solvers", "licensed_solvers"):
        for module in (linopy, linopy.solvers):
            if hasattr(module, known):
                setattr(module, known, [name])


def _note(objective: float | None) -> None:
    _objectives.setdefault(_running[0], []).append(objective)


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    """Leave out what is not among the tests asked for."""
    wanted = set(json.loads(os.environ.get("CLIENT_TESTS", "[]")))
    if wanted:
        config.hook.pytest_deselected(items=[each for each in items if each.nodeid not in wanted])
        items[:] = [each for each in items if each.nodeid in wanted]


def pytest_collectreport(report: Any) -> None:
    """Note a file that cannot be read: some solve a model while they are imported."""
    if report.failed:
        _ended[report.nodeid] = "failed"
        write_report()


def pytest_runtest_setup(item: Any) -> None:
    """Let what is solved from now on belong to this test."""
    _running[0] = item.nodeid


def pytest_runtest_logreport(report: Any) -> None:
    """Note how a test ended; its setting up and clearing away may fail, too."""
    if report.failed or report.when == "call" or report.skipped:
        if _ended.get(report.nodeid) != "failed":
            _ended[report.nodeid] = report.outcome
        write_report()


def write_report() -> None:
    """Write what is known so far, so that it is not lost with a run that takes too long."""
    target = os.environ.get("CLIENT_REPORT")
    if target:
        Path(target).write_text(json.dumps({"ended": _ended, "objectives": _objectives}))


substitute(os.environ["CLIENT_SOLVER"])

if __name__ == "__main__":
    sys.argv = sys.argv[1:]
    script = Path(sys.argv[0]).resolve()
    sys.path[0] = str(script.parent)
    try:
        if (script.parent / "__init__.py").exists():  # it may import its neighbours relatively
            sys.path.insert(0, str(script.parents[1]))
            name = f"{script.parent.name}.{script.stem}"
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(sys.argv[0], run_name="__main__")
    finally:
        write_report()
