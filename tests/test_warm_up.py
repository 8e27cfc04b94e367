"""Compiling ahead of time: every part comes to its end."""

from __future__ import annotations

import numba
import pytest

from gpu_bridge import warm_up

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("part", warm_up._PARTS)
def test_every_part_comes_to_its_end(part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By one thread, whose loops other tests need too: those for several would take minutes."""
    monkeypatch.setattr(numba.config, "NUMBA_NUM_THREADS", 1)
    warm_up._compile(part, "cpu")
