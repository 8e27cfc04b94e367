"""The rules of docs/architecture.md that a machine can check: who imports whom, and when."""

from __future__ import annotations

import ast
import graphlib
import importlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.locations import ROOT
from tests.sources import WINGS, Import, imports, sources, text_of, tree_of

ENGINE_LIBRARIES = {"cupy", "cupy_backends", "highspy"}
MODELLING_PACKAGES = {"cvxpy", "linopy", "ortools", "pulp", "pyomo"}
COMPILERS = {"numba", "llvmlite"}
COMMON = {"core", "native", "kernels"}
MAY_IMPORT = {
    "core": {"native"},
    "native": {"core"},
    "kernels": {"core", "native"},
    "sparse": COMMON,
    "highs": {"core"},
    "presolve": {*COMMON, "highs"},
    "pdlp": {*COMMON, "sparse"},
    "interior_point": COMMON,
    "simplex": COMMON,
    "knapsack": COMMON,
    "papers": {*COMMON, "knapsack", "simplex"},
    "mip": {*COMMON, "sparse", "highs", "interior_point", "pdlp", "presolve"},
}
"""What each part of ``solvers`` may import and include, besides itself."""

ORDER = (
    *("interrupt", "option_names", "option_values"),
    *("option_translation", "options"),
    *("paths", "lazy", "classify", "outcome"),
    *("solution_pool", "verify", "report", "files", "cluster", "pipeline", "batch"),
    *("api", "adapters", "cli", "__main__"),
)
"""The parts of ``gpu_bridge``, each of which imports only what comes before it."""

PLACE = {part: number for number, part in enumerate(ORDER)}

MIP_ORDER = (
    *("model", "budget", "inference", "reducer", "solutions", "submip", "portfolio"),
    *("heuristics", "table", "context", "heuristic_stage", "proof_stage"),
    *("presolve_stage", "solve", "__init__"),
)
"""The parts of ``solvers/mip``, likewise."""

MIP_PLACE = {part: number for number, part in enumerate(MIP_ORDER)}

EXCEPT = {("outcome", "report"), ("native", "core")}
"""``Outcome.plot`` imports what draws when it is called, and ``native`` the errors that it raises;
all else in ``core`` may use compiled loops."""

LONGEST = 500
"""Lines of a file."""


def imports_of(root: Path, *wings: str) -> Iterator[Import]:
    for path in sources(*wings, root=root):
        yield from imports(path, root)


def part_of(name: str) -> str:
    """Return the part of its wing that a dotted name is in: ``pdlp`` of ``solvers.pdlp.loop``."""
    return name.split(".")[1] if "." in name else ""


def what_solvers_must_not_know(root: Path) -> Iterator[str]:
    for one in imports_of(root, "solvers"):
        if one.name.partition(".")[0] in {"gpu_bridge"} | MODELLING_PACKAGES:
            yield f"{one.place} imports {one.name}"


def loops_compiled_when_called(root: Path) -> Iterator[str]:
    for one in imports_of(root, *WINGS):
        if one.name.partition(".")[0] in COMPILERS:
            yield f"{one.place} imports {one.name}"


def engines_that_look_up(root: Path) -> Iterator[str]:
    for one in imports_of(root, "solvers"):
        part, other = one.path.parts[1], part_of(one.name)
        if one.name.startswith("solvers.") and other not in {part} | MAY_IMPORT.get(part, set()):
            yield f"{one.place} imports solvers.{other}"


def parts_of_the_bridge_that_look_up(root: Path) -> Iterator[str]:
    for one in imports_of(root, "gpu_bridge"):
        part, other = Path(one.path.parts[1]).stem, part_of(one.name)
        if not (one.name.startswith("gpu_bridge.") and one.when_run and other in PLACE):
            continue
        if PLACE[other] > PLACE.get(part, len(PLACE)) and (part, other) not in EXCEPT:
            yield f"{one.place} imports gpu_bridge.{other}"


def parts_of_the_mip_engine_that_look_up(root: Path) -> Iterator[str]:
    for one in imports_of(root, "solvers/mip"):
        part, other = Path(one.path.parts[2]).stem, one.name.split(".")[2:3]
        if not (one.name.startswith("solvers.mip.") and one.when_run and other[0] in MIP_PLACE):
            continue
        if MIP_PLACE[other[0]] > MIP_PLACE[part]:
            yield f"{one.place} imports solvers.mip.{other[0]}"


def import_graph(root: Path, *, types: bool = False) -> dict[str, set[str]]:
    """Return which of our modules each of them imports when it runs, also inside functions.

    With ``types`` those count, too, that it imports for its annotations alone; the face of a
    package only hands these on.
    """
    names = {
        path: ".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__")
        for path in sources(*WINGS, root=root, suffixes=(".py",))
    }
    known = {*names.values()}
    edges: dict[str, set[str]] = {}
    for path, module in names.items():
        typed = types and path.name != "__init__.py"
        found = (one.name for one in imports(path, root) if typed or one.when_run)
        named = (name if name in known else name.rpartition(".")[0] for name in found)
        edges[module] = {name for name in named if name in known and name != module}
    return edges


def circles(root: Path) -> Iterator[str]:
    """Modules that know each other in a circle, be it by their types alone."""
    edges = import_graph(root, types=True)
    for module, others in edges.items():
        others -= {one for one in others if (part_of(module), part_of(one)) in EXCEPT}
    finished: dict[str, bool] = {}

    def visit(module: str, way: tuple[str, ...]) -> Iterator[str]:
        if finished.get(module) is False:
            yield " -> ".join((*way[way.index(module) :], module))
        if module not in finished:
            finished[module] = False
            for other in sorted(edges[module]):
                yield from visit(other, (*way, module))
            finished[module] = True

    for module in sorted(edges):
        yield from visit(module, ())


def folders_in_circles(root: Path) -> Iterator[str]:
    """Within each folder its files and folders import each other in one direction only."""
    edges = import_graph(root)
    folders = {
        ".".join(name.split(".")[:n]) for name in edges for n in range(1, name.count(".") + 1)
    }
    for folder in sorted(folders):
        depth = folder.count(".") + 1
        parts: dict[str, set[str]] = {}
        for module, others in edges.items():
            for other in others:
                if module.startswith(f"{folder}.") and other.startswith(f"{folder}."):
                    part, of = module.split(".")[depth], other.split(".")[depth]
                    if part != of and (part, of) not in EXCEPT:
                        parts.setdefault(part, set()).add(of)
        try:
            graphlib.TopologicalSorter(parts).prepare()
        except graphlib.CycleError as error:
            yield f"{folder}: {' -> '.join(reversed(error.args[1]))}"


def long_files(root: Path) -> Iterator[str]:
    for path in sources(*WINGS, "tests", "benchmarks", "examples", root=root):
        lines = text_of(path).count("\n")
        if lines > LONGEST:
            yield f"{path.relative_to(root)} has {lines} lines"


def prints_outside_the_command_line(root: Path) -> Iterator[str]:
    for path in sources(*WINGS, root=root, suffixes=(".py",)):
        if "cli" in path.parts or path.name == "progress.py":
            continue
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print":
                yield f"{path.relative_to(root)}:{node.lineno} prints; use progress.log"


Rule = Callable[[Path], Iterator[str]]
BROKEN: dict[Rule, dict[str, dict[str, str]]] = {
    what_solvers_must_not_know: {
        "imports gpu_bridge.api.read": {
            "solvers/a.py": "def f():\n    from gpu_bridge.api import read"
        },
        "imports pulp": {"solvers/pdlp/a.py": "import pulp as p"},
    },
    loops_compiled_when_called: {
        "imports numba.njit": {"gpu_bridge/a.py": "from numba import njit"},
    },
    engines_that_look_up: {
        "pdlp/a.py:1 imports solvers.highs": {"solvers/pdlp/a.py": "from ..highs import solve"},
        "pdlp/a.py:2 imports solvers.mip": {
            "solvers/pdlp/a.py": "if X:\n  import solvers.mip.solve"
        },
        "imports solvers.knapsack": {
            "solvers/simplex/a.cpp": '// a loop\n#include "knapsack/efficiency.h"',
            "solvers/knapsack/efficiency.h": "",
        },
        "new/a.py:1 imports solvers.core": {"solvers/new/a.py": "import solvers.core.problem"},
    },
    parts_of_the_bridge_that_look_up: {
        "report/a.py:1 imports gpu_bridge.api": {"gpu_bridge/report/a.py": "from ..api import f"},
        "options.py:2 imports gpu_bridge.cli": {
            "gpu_bridge/options.py": "def f():\n    from gpu_bridge import cli"
        },
    },
    parts_of_the_mip_engine_that_look_up: {
        "solutions/a.py:2 imports solvers.mip.heuristics": {
            "solvers/mip/solutions/a.py": "def f():\n  from solvers.mip.heuristics.b import g"
        },
        "inference/a.py:1 imports solvers.mip.portfolio": {
            "solvers/mip/inference/a.py": "from ..portfolio.b import f"
        },
    },
    circles: {
        "solvers.a -> solvers.b -> solvers.c -> solvers.a": {
            "solvers/a.py": "from solvers.b import f",
            "solvers/b.py": "def f():\n    import solvers.c",
            "solvers/c.py": "from . import a",
        },
        "solvers.c -> solvers.d -> solvers.c": {
            "solvers/c.py": "from solvers.d import f",
            "solvers/d.py": "import typing\nif typing.TYPE_CHECKING:\n    from solvers.c import g",
        },
        "solvers.a -> solvers.b -> solvers.a": {
            "solvers/__init__.py": "",
            "solvers/a/__init__.py": "from solvers.b import f",
            "solvers/b.py": "from .a import g",
        },
    },
    folders_in_circles: {
        "solvers.x: b -> c -> b": {
            "solvers/x/b/one.py": "from solvers.x.c.two import f",
            "solvers/x/c/two.py": "",
            "solvers/x/c/three.py": "from solvers.x.b.four import g",
            "solvers/x/b/four.py": "",
        },
    },
    long_files: {
        f"tests/a.py has {LONGEST + 1} lines": {"tests/a.py": "\n" * (LONGEST + 1)},
        f"solvers/a.cuh has {LONGEST + 1} lines": {"solvers/a.cuh": "\n" * (LONGEST + 1)},
    },
    prints_outside_the_command_line: {
        "solvers/pdlp/a.py:2 prints": {"solvers/pdlp/a.py": "def f():\n    print(1)"},
    },
}
"""Each rule, with files that break it and what it says of them."""

KEPT = {
    "solvers/pdlp/loop.py": "import numpy\nfrom . import step\nimport solvers.sparse.slices",
    "solvers/pdlp/step.py": "",
    "solvers/pdlp/__init__.py": (
        "import typing\nif typing.TYPE_CHECKING:\n    from solvers.pdlp.loop import Loop"
    ),
    "solvers/pdlp/step.cu": '#include "step.cuh"\n#include <cuda.h>\n#include "native/threads.h"',
    "solvers/pdlp/step.cuh": "\n" * LONGEST,
    "gpu_bridge/cli/show.py": "from gpu_bridge.report import lines\nprint(lines)",
    "gpu_bridge/outcome.py": (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from gpu_bridge.cli import show\n"
        "def f():\n    import gpu_bridge.report"
    ),
}
"""Files that break no rule."""


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("rule", BROKEN, ids=lambda rule: rule.__name__)
def test_the_house_keeps_its_rules(rule, tmp_path):
    assert list(rule(ROOT)) == []
    assert list(rule(written(tmp_path / "kept", KEPT))) == []
    for number, (complaint, files) in enumerate(BROKEN[rule].items()):
        [said] = rule(written(tmp_path / str(number), files))
        assert complaint in said


def test_every_part_has_a_place_in_the_order():
    folders = {path.parent.name for path in (ROOT / "solvers").glob("*/__init__.py")}
    assert folders == set(MAY_IMPORT)
    files = (ROOT / "gpu_bridge").glob("*.py")
    packages = (path.parent for path in (ROOT / "gpu_bridge").glob("*/__init__.py"))
    assert {path.stem for path in (*files, *packages)} - {"__init__"} == set(ORDER)
    files = (ROOT / "solvers/mip").glob("*.py")
    packages = (path.parent for path in (ROOT / "solvers/mip").glob("*/__init__.py"))
    assert {path.stem for path in (*files, *packages)} == set(MIP_ORDER)


def modules_after(*statements: str) -> list[set[str]]:
    """Return the top-level modules that a fresh interpreter holds after each statement."""
    tell = "print(json.dumps(sorted(sys.modules)))"
    code = "\n".join(["import json, sys", *(f"{one}\n{tell}" for one in statements)])
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    held = map(json.loads, done.stdout.splitlines()[-len(statements) :])
    return [{name.partition(".")[0] for name in names} for names in held]


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


def test_every_benchmark_can_be_imported():
    for path in sorted((ROOT / "benchmarks").glob("*.py")):
        assert importlib.import_module(f"benchmarks.{path.stem}").__doc__, path.name
