"""The rules of docs/architecture.md that a machine can check: who imports whom, and when."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.locations import ROOT

ENGINE_LIBRARIES = {"cupy", "cupy_backends", "highspy"}
MODELLING_PACKAGES = {"cvxpy", "linopy", "ortools", "pulp", "pyomo"}
COMMON = {"core", "native", "kernels"}
MAY_IMPORT = {
    "core": {"native"},
    "native": {"core"},
    "kernels": {"core", "native"},
    "sparse": COMMON,
    "linalg": COMMON,
    "highs": {"core"},
    "presolve": {*COMMON, "highs"},
    "pdlp": {*COMMON, "sparse", "linalg"},
    "interior_point": COMMON,
    "simplex": COMMON,
    "knapsack": COMMON,
    "papers": {*COMMON, "knapsack"},
    "mip": {*COMMON, "linalg", "highs", "pdlp", "presolve"},
}
"""What each part of ``solvers`` may import, besides itself."""

ORDER = (
    *("interrupt", "option_names", "option_values", "option_translation", "options"),
    *("paths", "classify", "outcome"),
    *("solution_pool", "verify", "report", "files", "cluster", "pipeline", "batch"),
    *("api", "adapters", "warm_up", "cli", "__main__"),
)
"""The parts of ``gpu_bridge``, each of which imports only what comes before it."""

EXCEPT = {("outcome", "report")}
"""``Outcome.plot`` imports what draws when it is called."""


def sources(folder: str) -> list[Path]:
    found = sorted((ROOT / folder).rglob("*.py"))
    assert found, f"there is no source in {folder}"
    return found


def imported(path: Path) -> Iterator[str]:
    """Give the dotted name of every module a file imports anywhere, also inside functions."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) + 1 - node.level] if node.level else ()
            base = ".".join([*start, node.module or ""]).strip(".")
            yield from (f"{base}.{alias.name}" for alias in node.names)


def runtime_imports(path: Path) -> Iterator[str]:
    """Give what a file imports when it runs: not what only a type checker reads."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def import_graph() -> dict[str, set[str]]:
    """Return which of our modules each of them imports, also inside functions."""
    paths = {}
    for path in (*sources("solvers"), *sources("gpu_bridge")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        paths[".".join(parts).removesuffix(".__init__")] = path
    edges: dict[str, set[str]] = {}
    for module, path in paths.items():
        named = (
            name if name in paths else name.rpartition(".")[0] for name in runtime_imports(path)
        )
        edges[module] = {name for name in named if name in paths and name != module}
    return edges


def modules_after(*statements: str) -> list[set[str]]:
    """Return the top-level modules that a fresh interpreter holds after each statement."""
    tell = "print(json.dumps(sorted(sys.modules)))"
    code = "\n".join(["import json, sys", *(f"{one}\n{tell}" for one in statements)])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    held = map(json.loads, done.stdout.splitlines()[-len(statements) :])
    return [{name.partition(".")[0] for name in names} for names in held]


def test_no_source_compiles_loops_when_they_are_called():
    for path in (*sources("solvers"), *sources("gpu_bridge")):
        assert not {name.partition(".")[0] for name in imported(path)} & {"numba", "llvmlite"}, path


def test_the_walk_sees_imports_of_every_form(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "ROOT", tmp_path)
    (tmp_path / "solvers" / "pdlp").mkdir(parents=True)
    file = tmp_path / "solvers" / "pdlp" / "step.py"
    file.write_text(
        "import pulp as p\nfrom . import state\nfrom ..highs import solve\n"
        "def f():\n    from gpu_bridge.api import read\n"
    )
    assert list(imported(file)) == [
        "pulp",
        "solvers.pdlp.state",
        "solvers.highs.solve",
        "gpu_bridge.api.read",
    ]


def test_solvers_know_nothing_of_the_bridge_or_modelling_packages():
    for path in sources("solvers"):
        tops = {name.partition(".")[0] for name in imported(path)}
        assert not tops & ({"gpu_bridge"} | MODELLING_PACKAGES), path.relative_to(ROOT)


def part_of(name: str) -> str:
    return name.split(".")[1] if "." in name else ""


def test_every_part_has_a_place_in_the_order():
    folders = {path.parent.name for path in (ROOT / "solvers").glob("*/__init__.py")}
    assert folders == set(MAY_IMPORT)
    files = (ROOT / "gpu_bridge").glob("*.py")
    packages = (path.parent for path in (ROOT / "gpu_bridge").glob("*/__init__.py"))
    assert {path.stem for path in (*files, *packages)} - {"__init__"} == set(ORDER)


@pytest.mark.parametrize("part", MAY_IMPORT)
def test_engines_import_only_what_is_below_them(part):
    for path in sources(f"solvers/{part}"):
        ours = {part_of(name) for name in imported(path) if name.startswith("solvers.")}
        strange = ours - MAY_IMPORT[part] - {part}
        assert not strange, f"{path.relative_to(ROOT)} imports solvers.{strange.pop()}"


@pytest.mark.parametrize("part", ORDER)
def test_the_bridge_imports_downwards_only(part):
    below = {*ORDER[: ORDER.index(part) + 1]}
    files = [ROOT / "gpu_bridge" / f"{part}.py"]
    for path in files if files[0].exists() else sources(f"gpu_bridge/{part}"):
        ours = {part_of(name) for name in runtime_imports(path) if name.startswith("gpu_bridge.")}
        strange = {up for up in ours & {*ORDER} - below if (part, up) not in EXCEPT}
        assert not strange, f"{path.relative_to(ROOT)} imports gpu_bridge.{strange.pop()}"


def test_no_import_goes_round_in_a_circle():
    edges = import_graph()
    order: list[str] = []
    state: dict[str, bool] = {}

    def visit(module: str, way: tuple[str, ...]) -> None:
        assert state.get(module) is not False, " -> ".join((*way, module))
        if module not in state:
            state[module] = False
            for other in sorted(edges.get(module, ())):
                visit(other, (*way, module))
            state[module] = True
            order.append(module)

    for module in sorted(edges):
        visit(module, ())
    assert len(order) >= len(edges)


def test_importing_the_bridge_loads_no_engine_and_no_modelling_package():
    [loaded] = modules_after("import gpu_bridge")
    assert "gpu_bridge" in loaded
    assert not loaded & (ENGINE_LIBRARIES | MODELLING_PACKAGES | {"matplotlib", "scipy"})


@pytest.mark.parametrize(
    "packages",
    [
        *("pyomo.environ", "pulp", "pyomo.environ, pyomo.contrib.solver.common.factory"),
        *("linopy", "cvxpy"),
    ],
)
def test_the_adapters_load_no_engine(packages):
    pytest.importorskip(packages.partition(".")[0])
    without, loaded = modules_after(f"import {packages}", "import gpu_bridge")
    added = loaded - without
    assert "gpu_bridge" in added
    assert not added & (ENGINE_LIBRARIES | {"matplotlib"})


def test_public_names_are_all_there():
    import gpu_bridge

    for name in gpu_bridge.__all__:
        assert getattr(gpu_bridge, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = gpu_bridge.no_such_name


def test_only_the_command_line_prints():
    for path in [*sources("gpu_bridge"), *sources("solvers")]:
        if "cli" in path.parts or path.name == "progress.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            called = node.func if isinstance(node, ast.Call) else None
            assert not (isinstance(called, ast.Name) and called.id == "print"), (
                f"{path.relative_to(ROOT)}:{node.lineno} prints; use progress.log"
            )


@pytest.mark.parametrize("path", sorted((ROOT / "benchmarks").glob("*.py")), ids=lambda p: p.stem)
def test_every_benchmark_can_be_imported(path):
    assert importlib.import_module(f"benchmarks.{path.stem}").__doc__
