"""Settings every test shares, and which worker runs what where there are several."""

from __future__ import annotations

import gc
import os
import signal
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import solvers.native  # noqa: F401 (an editable installation builds here what has changed)

ENGINES = ("mip", "knapsack", "simplex", "kernels", "highs", "pdlp", "sparse", "linalg", "many")
"""Folders that one worker runs each, those that take longest first."""

# Processes that tests start find everything built.
os.environ["SKBUILD_EDITABLE_SKIP"] = "1"

# Numba colours the text of errors that nobody sees, which takes a twentieth of its time.
os.environ.setdefault("NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING", "1")

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


def piece_of(nodeid: str) -> str:
    """Return what one worker runs as a whole: the folder of an engine, or a file."""
    file = nodeid.partition("::")[0]
    folders = file.split("/")[1:-1]
    return folders[0] if folders and folders[0] in ENGINES else file


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let engines come first, then files with slow tests, then the others.

    Most of the time goes into compiling loops, which are kept on disk. Two workers in the folder
    of one engine would compile the same ones at once, and whole solves need those of all engines.
    What takes long is not left for the end, when only one worker has something to do.
    """
    slow = {piece_of(item.nodeid) for item in items if item.get_closest_marker("slow")}

    def rank(item: pytest.Item) -> tuple[int, bool]:
        piece = piece_of(item.nodeid)
        return ENGINES.index(piece) if piece in ENGINES else len(ENGINES), piece not in slow

    items.sort(key=rank)


def pytest_collection_finish() -> None:
    """Spare the garbage collector thousands of tests that stay: it takes a tenth of a compiler."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Hand out pieces in the order of the collection, where whole scopes are asked for."""
    if config.getoption("dist") != "loadscope":
        return None
    from xdist.scheduler.loadscope import LoadScopeScheduling

    class ByPiece(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return piece_of(nodeid)

    config.option.loadscopereorder = False
    return ByPiece(config, log)
