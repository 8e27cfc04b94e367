"""Markers that Pyomo's and SciPy's own tests carry."""

from __future__ import annotations

import pytest


def pytest_configure(config: pytest.Config) -> None:
    for marker in (
        "solver(name): a test of one solver",
        "writer(name): a test of one format",
        "fail_slow(seconds): the longest that a test may take",
        "xfail_on_32bit(reason): a test that fails there",
        "xslow: a test that takes minutes",
    ):
        config.addinivalue_line("markers", marker)
