"""The solver is found whichever package is imported first; each case runs in a fresh Python."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

OLD = "import pyomo.environ as pyo; solver = pyo.SolverFactory(name)"
NEW = "from pyomo.contrib.solver.common.factory import SolverFactory; solver = SolverFactory(name)"
ORDERS = {
    "bridge first": f"import gpu_bridge; {OLD}",
    "pyomo first": f"import pyomo.environ, gpu_bridge; {OLD}",
    "adapter alone": f"from gpu_bridge.adapters.pyomo import GpuHeur; {OLD}",
    "adapter after pyomo": f"import pyomo.environ, gpu_bridge.adapters.pyomo; {OLD}",
    "new factory, no environ": f"import gpu_bridge; {NEW}",
    "new factory first": f"{NEW.split(';')[0]}; import gpu_bridge; {NEW}",
    "half of pyomo first": f"import pyomo.core, gpu_bridge; {OLD}",
}


installed = pytest.mark.skipif(
    not entry_points(group="pyomo.command", name="gpu_bridge"),
    reason="gpu-bridge is on the path only, and entry points come with an installation",
)


def run(code: str, folder: Path | None = None) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=folder,
        # no executable may stand in for the solver; an editable installation looks for its tools
        env={**os.environ, "PATH": str(Path(sys.executable).parent)},
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("order", ORDERS)
def test_found_in_any_order(order: str) -> None:
    expected = "LegacyGpuHeur" if "pyo.Sol" in ORDERS[order] else "GpuHeur"
    names = "for name in ('gpuheur', 'gpuheur_v2'):"
    found = run(f"{names} {ORDERS[order]}; print(type(solver).__name__, solver.name)")
    assert found.splitlines() == 2 * [f"{expected} gpuheur"]


def test_nothing_heavy_is_imported_before_a_solve() -> None:
    heavy = ("numpy", "scipy", "highspy", "cupy")
    code = f"import sys, gpu_bridge, pyomo.environ; print([m for m in {heavy} if m in sys.modules])"
    assert run(code) == "[]"


def test_importing_the_bridge_imports_no_modelling_package() -> None:
    code = "import sys, gpu_bridge; print([m for m in ('pyomo', 'pulp') if m in sys.modules])"
    assert run(code) == "[]"


def test_a_module_that_was_waited_for_keeps_its_own_loader() -> None:
    code = (
        "import gpu_bridge, pulp; "
        "print(type(pulp.__loader__).__name__, pulp.__loader__ is pulp.__spec__.loader)"
    )
    assert run(code) == "SourceFileLoader True"


def test_a_package_that_fails_at_first_is_waited_for_again(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "pulp.py").write_text("raise ImportError('broken')")
    code = (
        "import sys, gpu_bridge\n"
        f"sys.path.insert(0, {str(tmp_path / 'broken')!r})\n"
        "try:\n    import pulp\n"
        "except ImportError as error:\n    print(error)\n"
        "del sys.path[0]\n"
        "import pulp\n"
        "print('GPUHEUR' in pulp.listSolvers())"
    )
    assert run(code).split() == ["broken", "True"]


def test_registering_twice_changes_nothing() -> None:
    from pyomo.contrib.solver.common.factory import SolverFactory

    from gpu_bridge.adapters.pyomo import register
    from gpu_bridge.adapters.registration import install_hooks

    before = SolverFactory._cls["gpuheur"]
    install_hooks()
    register()
    assert SolverFactory._cls["gpuheur"] is before


@installed
def test_command_line_of_pyomo_knows_the_solver(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(
        "from pyomo.environ import *\n"
        "model = ConcreteModel()\n"
        "model.x = Var(bounds=(0, 4))\n"
        "model.y = Var(domain=Integers, bounds=(0, 3))\n"
        "model.profit = Objective(expr=3 * model.x + 2 * model.y, sense=maximize)\n"
        "model.limit = Constraint(expr=model.x + model.y <= 5.5)\n"
    )
    code = (
        "from pyomo.scripting.pyomo_main import main; "
        "main(['solve', '--solver=gpuheur', '--solver-options=threads=1 rel_gap=1e-9', "
        "'--results-format=json', 'model.py'])"
    )
    output = run(code, tmp_path)
    assert "Function Value: 14.5" in output
    assert '"Value": 3.5' in (tmp_path / "results.json").read_text()


@installed
def test_no_console_script_bears_the_solver_name() -> None:
    """Pyomo would take an executable of that name for an AMPL solver."""
    assert not [entry for entry in entry_points(group="console_scripts") if entry.name == "gpuheur"]
    assert "gpu_bridge" in {entry.name for entry in entry_points(group="pyomo.command")}


def test_an_adapter_that_does_not_fit_warns_and_lets_the_package_in() -> None:
    code = (
        "import sys, warnings; sys.modules['gpu_bridge.adapters.pulp'] = None\n"
        "import gpu_bridge\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    import pulp\n"
        "print(any('does not fit the installed pulp' in str(w.message) for w in caught))"
    )
    assert run(code) == "True"
