"""linopy and CVXPY know the solver whichever is imported first; each case is a fresh Python."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.locations import ROOT

KNOWN = {
    "linopy": "print('gpuheur' in linopy.available_solvers)",
    "cvxpy": "print('GPUHEUR' in cvxpy.installed_solvers())",
}
ORDERS = {
    "bridge first": "import gpu_bridge, {package}",
    "package first": "import {package}, gpu_bridge",
    "adapter alone": "import gpu_bridge.adapters.{package}, {package}",
    "asked before": "import {package}; {known}; import gpu_bridge",
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("package", KNOWN)
def test_known_in_any_order(package: str, order: str) -> None:
    pytest.importorskip(package)
    known = KNOWN[package]
    code = f"{ORDERS[order].format(package=package, known=known)}; {known}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "True"
