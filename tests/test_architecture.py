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
MODELLING_PACKAGES = {"pyomo", "pulp"}
SHARED = {
    *("concurrency", "device", "errors", "kernels", "linalg", "native", "options", "outcome"),
    *("problem", "progress", "rows"),
}
SHARED |= {"rays", "separation", "sparse", "vectors"}
MAY_USE = {"mip": {"highs", "pdlp"}}
"""Engines that may call other engines; all others share only the modules above."""


def engines() -> list[str]:
    folders = [path.parent.name for path in (ROOT / "solvers").glob("*/__init__.py")]
    return sorted(set(folders) - SHARED)


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


def modules_after(statement: str) -> set[str]:
    """Return the top-level modules that a fresh interpreter holds after a statement."""
    code = f"{statement}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return {name.partition(".")[0] for name in json.loads(done.stdout.splitlines()[-1])}


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


@pytest.mark.parametrize("path", sources("solvers"), ids=lambda path: str(path.relative_to(ROOT)))
def test_solvers_know_nothing_of_the_bridge_or_modelling_packages(path):
    tops = {name.partition(".")[0] for name in imported(path)}
    assert not tops & ({"gpu_bridge"} | MODELLING_PACKAGES)


def test_there_are_engines():
    assert {"highs", "pdlp"} <= set(engines())


@pytest.mark.parametrize("engine", engines())
def test_engines_share_only_the_common_modules(engine):
    allowed = SHARED | {engine} | MAY_USE.get(engine, set())
    for path in sources(f"solvers/{engine}"):
        ours = [name.split(".") for name in imported(path) if name.startswith("solvers.")]
        strange = {parts[1] for parts in ours} - allowed
        assert not strange, f"{path.relative_to(ROOT)} imports solvers.{strange.pop()}"


@pytest.mark.parametrize("module", sorted(SHARED))
def test_common_modules_know_no_engine(module):
    paths = [*(ROOT / "solvers").glob(f"{module}.py"), *(ROOT / "solvers" / module).rglob("*.py")]
    for path in paths:
        for name in imported(path):
            parts = name.split(".")
            assert parts[0] != "solvers" or parts[1] not in engines(), f"{path} imports {name}"


def test_importing_the_bridge_loads_no_engine_and_no_modelling_package():
    loaded = modules_after("import gpu_bridge")
    assert "gpu_bridge" in loaded
    assert not loaded & (ENGINE_LIBRARIES | MODELLING_PACKAGES | {"matplotlib", "scipy"})


@pytest.mark.parametrize(
    "packages", ["pyomo.environ", "pulp", "pyomo.environ, pyomo.contrib.solver.common.factory"]
)
def test_the_adapters_load_no_engine(packages):
    without = modules_after(f"import {packages}")
    added = modules_after(f"import {packages}, gpu_bridge") - without
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
