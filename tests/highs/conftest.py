"""Where HiGHS runs in these tests."""

from __future__ import annotations

import pytest

from solvers.highs import child


@pytest.fixture
def in_child(monkeypatch):
    """Make every model large enough for a child process."""
    for name in ("SMALL_LP", "SMALL_MIP", "SMALL_STUBBORN"):
        monkeypatch.setattr(child, name, -1)


@pytest.fixture
def in_thread(monkeypatch):
    """Make every model small enough for this process."""
    for name in ("SMALL_LP", "SMALL_MIP", "SMALL_STUBBORN"):
        monkeypatch.setattr(child, name, 10**9)
