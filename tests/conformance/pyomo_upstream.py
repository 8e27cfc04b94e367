"""Pyomo's own solver tests, imported from the installed package and pointed at our solver.

Neither the tests nor copies of them are in this repository. The module for the new interface
makes its test methods from lists of solvers while it is imported, so it is executed here with
those lists replaced; the modules for the old interface ask a registry, which is filled first.
"""

from __future__ import annotations

import ast
import importlib
import sys
import unittest
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import pyomo.environ  # noqa: F401 - the tests expect all of Pyomo
from parameterized import parameterized

import gpu_bridge  # noqa: F401 - registers the solver
from gpu_bridge.adapters.pyomo import GpuHeur
from tests.conformance.pyomo_baselines import write_baselines

NEW_TESTS = "pyomo.contrib.solver.tests.solvers.test_solvers"
NEW_LISTS = frozenset({"all_solvers", "mip_solvers", "dual_solvers", "sos_solvers"})
OLD_TESTS = ("test_writers", "test_pickle", "test_no_solution_behavior")
OLD_CAPABILITIES = frozenset({"linear", "integer", "sos1", "sos2"})


class _OnlyOurs(ast.NodeTransformer):
    """Replace ``some_solvers = [...]`` by our solver or, beyond its capabilities, by nothing."""

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        name = node.targets[0].id if isinstance(node.targets[0], ast.Name) else ""
        if name.endswith("_solvers"):
            ours = "[('gpuheur', GpuHeur)]" if name in NEW_LISTS else "[]"
            node.value = ast.parse(ours, mode="eval").body
        return node


def new_interface_tests() -> ModuleType:
    """Return upstream's module of tests for API version 2, over our solver only."""
    spec = importlib.util.find_spec(NEW_TESTS)
    assert spec is not None
    assert spec.origin is not None
    tree = _OnlyOurs().visit(ast.parse(Path(spec.origin).read_text(encoding="utf-8")))
    module = ModuleType("pyomo_new_interface_tests")
    module.__file__ = spec.origin
    module.__dict__["GpuHeur"] = GpuHeur
    sys.modules[module.__name__] = module
    with mock.patch.object(parameterized, "expand", classmethod(_expand_or_skip)):
        exec(compile(ast.fix_missing_locations(tree), spec.origin, "exec"), module.__dict__)
    return module


_expand = parameterized.expand.__func__


def _expand_or_skip(cls: Any, input: Any, *args: Any, **more: Any) -> Any:
    """Expand over the solvers that are ours; a list without any becomes a skipped test."""
    if isinstance(input, list):
        input = [entry for entry in input if entry[0] == "gpuheur"]
    return _expand(cls, input, *args, **{**more, "skip_on_empty": True})


def old_interface_tests(folder: Path, suffixes: list[str]) -> dict[str, type[unittest.TestCase]]:
    """Return upstream's tests for the old interface by name, over our solver only.

    Parameters
    ----------
    folder : Path
        Where the expected solutions are written.
    suffixes : list of str
        Suffixes to ask for and to compare.
    """
    import pyomo.solvers.tests.models.base as base
    import pyomo.solvers.tests.solvers as registry

    base.thisDir = str(folder)
    importlib.import_module("pyomo.solvers.tests.models")
    write_baselines(folder, base.all_models())
    case = registry.initialize(
        name="gpuheur", io="", capabilities=set(OLD_CAPABILITIES), import_suffixes=suffixes
    )
    assert case.available
    case.export_suffixes, case.io_options, case.options = [], {}, {}
    registry._test_solver_cases.clear()
    registry._test_solver_cases["gpuheur", ""] = case
    return dict(_old_classes(folder))


def _old_classes(folder: Path) -> Iterator[tuple[str, type[unittest.TestCase]]]:
    for part in OLD_TESTS:
        module = importlib.import_module(f"pyomo.solvers.tests.checks.{part}")
        module.thisDir = str(folder)
        for name, item in vars(module).items():
            is_test = isinstance(item, type) and issubclass(item, unittest.TestCase)
            if is_test and not name.endswith("_kernel"):  # models of pyomo.kernel
                title = f"Test_{part.removeprefix('test_')}_{name.removeprefix('Test_')}"
                yield title, type(title, (item,), {"__module__": __name__})


def count_tests(classes: dict[str, Any]) -> int:
    """Return the number of test methods that are not marked as skipped."""
    methods = [
        getattr(item, name)
        for item in classes.values()
        for name in unittest.defaultTestLoader.getTestCaseNames(item)
    ]
    return sum(not getattr(method, "__unittest_skip__", False) for method in methods)
