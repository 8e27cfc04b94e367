"""What tests of several files take."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gpu_bridge.pipeline import brief
from tests.pipeline.made_up_engines import Gates
from tests.soon import LONG


@pytest.fixture
def gates() -> Iterator[Gates]:
    made = Gates()
    yield made
    made.open_all()


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the reference engine end, however busy this machine is."""
    monkeypatch.setattr(brief, "SECONDS", LONG)
