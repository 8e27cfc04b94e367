"""linopy and CVXPY know the solver whichever is imported first; each case is a fresh Python."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.locations import ROOT

KNOWN = {
    "linopy": "print('gpuheur' in linopy.available_solvers)",
    "cvxpy": "print('GPUHEUR' in cvxpy.installed_solvers())",
}
ORDERS = {
    "bridge first": "import gpu_bridge, {packages}",
    "packages first": "import {packages}, gpu_bridge",
    "adapters alone": "import {adapters}, {packages}",
    "asked before": "import {packages}; {known}; import gpu_bridge",
}


@pytest.mark.parametrize("order", ORDERS)
def test_known_in_any_order(order: str) -> None:
    there = [package for package in KNOWN if find_spec(package)]
    if not there:
        pytest.skip("linopy and CVXPY are extras, and neither is installed to register with")
    known = "; ".join(KNOWN[package] for package in there)
    imports = ORDERS[order].format(
        packages=", ".join(there),
        adapters=", ".join(f"gpu_bridge.adapters.{package}" for package in there),
        known=known,
    )
    code = f"{imports}; {known}"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-len(there) :] == ["True"] * len(there)
