"""Local-MIP on the CPU, one search in one thread (``pip install localmip``)."""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module, metadata, util
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.mip_solver import MipAnswer, MipSolver, MipTask, Recorder

IMPROVEMENT = re.compile(r"^c \[\s*([\d.]+)\] obj\*: (\S+)", re.MULTILINE)
END = re.compile(r"^c \[\s*([\d.]+)\] local search is finished", re.MULTILINE)


class LocalMip(MipSolver):
    """With its defaults; its log tells when each point was found."""

    def label(self, task: MipTask) -> str:
        """Name and version."""
        return f"Local-MIP {metadata.version('localmip')}"

    def missing(self) -> str | None:
        """Say whether the package is installed."""
        return None if util.find_spec("localmip_py") else "the package localmip is not installed"

    def warm_up(self, task: MipTask) -> None:
        """Do nothing: there is nothing to compile."""

    def load(self, task: MipTask) -> tuple[Any, list[str]]:
        """Name the uncompressed file, which it reads when it runs, and the columns in order."""
        solver = import_module("localmip_py").LocalMIP()
        with _output_to(task.folder / "settings.txt"):
            solver.set_model_file(str(task.plain))
            solver.set_time_limit(float(task.time_limit))
            solver.set_random_seed(task.seed + 1)
            solver.set_log_obj(True)
        with np.load(task.arrays) as arrays:
            names = [str(name) for name in arrays["names"]]
        return solver, names

    def solve(self, model: tuple[Any, list[str]], task: MipTask, recorder: Recorder) -> MipAnswer:
        """Run to the limit and read the log; reading the file counts, as its clock has it."""
        solver, names = model
        log = task.folder / "localmip.txt"
        with _output_to(log):
            solver.run()
        total = recorder.seconds
        x = None
        if solver.is_feasible():
            manager = solver.get_model_manager()
            theirs = [manager.var(j).name for j in range(manager.var_num)]
            x = in_order(theirs, solver.get_solution(), names)
        for seconds, objective in read_log(log.read_text(errors="replace"), total):
            recorder.event(objective, seconds=seconds)
        return MipAnswer(status="time_limit", x=x)


def in_order(
    theirs: Sequence[str], values: Sequence[float], names: Sequence[str]
) -> np.ndarray | None:
    """Return values by their names in the order of ``names``; None if a name is not known.

    Columns that the solver dropped, as those in no row and without cost, are zero.
    """
    position = {name: j for j, name in enumerate(names)}
    x = np.zeros(len(names))
    for name, value in zip(theirs, values, strict=True):
        if name not in position:
            return None
        x[position[name]] = value
    return x


def read_log(text: str, total: float) -> list[tuple[float, float]]:
    """Return seconds and objectives of the improvements in a log.

    Its clock starts after the model was read; ``total`` are the seconds of the whole run.
    """
    ends = END.findall(text)
    ahead = max(0.0, total - float(ends[-1])) if ends else 0.0
    return [(float(at) + ahead, float(value)) for at, value in IMPROVEMENT.findall(text)]


@contextmanager
def _output_to(path: Path) -> Iterator[None]:
    """Send what this process writes to its standard output, from C++ too, to a file."""
    library = ctypes.CDLL(None)
    before = os.dup(1)
    with path.open("wb") as file:
        os.dup2(file.fileno(), 1)
        try:
            yield
        finally:
            library.fflush(None)
            os.dup2(before, 1)
            os.close(before)
