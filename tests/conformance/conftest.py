"""Markers that Pyomo's own tests carry."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    for marker in ("solver(name): a test of one solver", "writer(name): a test of one format"):
        config.addinivalue_line("markers", marker)
