"""One solver on one mixed-integer model in a process of its own, started by ``mip_run.py``.

    python -m benchmarks.mip_child SOLVER TASK.json

What it finds goes to the task's folder as it comes, and the file ``began`` appears when the clock
starts, so that whoever waits knows when the time is up.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from benchmarks.peers.mip_names import find
from benchmarks.peers.mip_solver import MipAnswer, MipTask, Recorder

BEGAN = "began"
LABEL = "label"


def main(name: str, path: Path) -> None:
    """Load, warm up, solve, and write what came out."""
    fields = json.loads(path.read_text())
    paths = {key: Path(fields[key]) for key in ("path", "plain", "arrays", "folder")}
    task = MipTask(**{**fields, **paths})
    solver = find(name)
    (task.folder / LABEL).write_text(solver.label(task))
    began = time.perf_counter()
    if task.warm_up > 0.0:
        solver.warm_up(task)
    warm_up = time.perf_counter() - began
    model = solver.load(task)
    recorder = Recorder(task.folder)
    (task.folder / BEGAN).write_text("")
    recorder.begin()
    try:
        answer = solver.solve(model, task, recorder)
    except Exception as error:  # whatever a foreign solver raises is its result
        answer = MipAnswer("failed", detail=f"{type(error).__name__}: {error}")
    recorder.end(answer, recorder.seconds, warm_up=warm_up)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
