"""Settings every test shares, and which files come first."""

from __future__ import annotations

import gc
import signal

import pytest
from hypothesis import HealthCheck, settings

import solvers.native  # noqa: F401 (an editable installation builds here what has changed)

settings.register_profile(
    "fixed",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("fixed")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # a shell starts background jobs like this, and tests of Ctrl-C would wait for ever
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let files with slow tests come first.

    What takes long is not left for the end, when only one worker has something to do.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish() -> None:
    """Spare the garbage collector thousands of tests that stay."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
