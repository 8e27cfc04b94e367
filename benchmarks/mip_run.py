"""One run: a child process with a hard end, its points judged here."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.mip_check import MipModel, check, read
from benchmarks.mip_child import BEGAN, LABEL
from benchmarks.mip_measures import improvements, primal_gap, primal_integral
from benchmarks.mip_rows import MipRow
from benchmarks.mip_sets import Entry
from benchmarks.peers.mip_solver import ANSWER, EVENTS, POINT, MipTask

CHILD = (sys.executable, "-m", "benchmarks.mip_child")
"""The program that runs one solver once."""

START_SECONDS = 180.0
"""How long loading, warming up and reading may take before the clock starts."""

KILL_SHARE, KILL_LOW = 0.25, 10.0
"""A process is killed this part of the limit after it, and no sooner than so many seconds."""

COLOUR = re.compile("\x1b\\[[0-9;]*m")
ERROR = re.compile(r"[\w.]*(Error|Exception)\b")

LATE = 0.5
"""Seconds beyond the limit up to which a point still counts, for those who hand it over late."""

OPTIMUM_ERROR = 2e-4
"""Relative distance from a proven optimum beyond which a claim of optimality is refuted: twice
the usual gap."""

BOUND_ERROR = 1e-5
"""How far a bound may be beyond the best known objective, relatively, before it is refuted."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A model of the index, read once: as judge and as files for the solvers."""

    entry: Entry
    model: MipModel
    plain: Path
    arrays: Path

    @property
    def sense(self) -> float:
        """-1 for a maximisation, 1 for a minimisation."""
        return self.model.lp.sense


@dataclass(frozen=True)
class Settings:
    """What all runs have in common."""

    time_limit: float
    threads: int
    device: str = "auto"
    relative: bool = False
    warm_up: float = 5.0


def prepare(entry: Entry, folder: Path) -> Prepared:
    """Read a model and write it the ways that solvers want it.

    Raises
    ------
    ValueError
        The file cannot be read.
    """
    model = read(entry.path)
    folder.mkdir(parents=True, exist_ok=True)
    plain, arrays = folder / "model.mps", folder / "model.npz"
    _write_plain(entry.path, plain)
    lp = model.lp
    np.savez(
        arrays,
        value=lp.matrix.data,
        column=lp.matrix.indices,
        start=lp.matrix.indptr,
        cost=lp.cost,
        offset=lp.offset,
        sense=lp.sense,
        row_lower=lp.row_lower,
        row_upper=lp.row_upper,
        lower=lp.lower,
        upper=lp.upper,
        integer=model.integer,
        names=np.array(model.names, dtype=np.str_),
    )
    return Prepared(entry, model, plain, arrays)


def run(
    solver: str, prepared: Prepared, seed: int, settings: Settings, best: float | None
) -> MipRow:
    """Run a solver once and judge what it leaves; ``best`` is the best known objective."""
    with tempfile.TemporaryDirectory(prefix="mip-") as name:
        folder = Path(name)
        task = MipTask(
            path=prepared.entry.path,
            plain=prepared.plain,
            arrays=prepared.arrays,
            folder=folder,
            time_limit=settings.time_limit,
            threads=settings.threads,
            seed=seed,
            device=settings.device,
            warm_up=settings.warm_up,
        )
        trouble, seconds = _run_child(solver, task)
        return _judge(solver, prepared, task, settings, best, trouble, seconds)


def _run_child(solver: str, task: MipTask) -> tuple[str, float]:
    """Return what went wrong, empty if nothing did, and the seconds since the clock started."""
    file = task.folder / "task.json"
    file.write_text(json.dumps(asdict(task), default=str))
    command = [*CHILD, solver, str(file)]
    with (task.folder / "errors.txt").open("wb") as errors:
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True
        )
        try:
            return _wait(process, task)
        finally:
            _end_group(process)


def _wait(process: subprocess.Popen[bytes], task: MipTask) -> tuple[str, float]:
    launched = time.perf_counter()
    began: float | None = None
    patience = task.time_limit + max(KILL_LOW, KILL_SHARE * task.time_limit)
    while True:
        try:
            code = process.wait(timeout=0.02 if began is None else 0.05)
            break
        except subprocess.TimeoutExpired:
            now = time.perf_counter()
            if began is None and (task.folder / BEGAN).exists():
                began = now
            if began is None and now - launched > START_SECONDS:
                return "did not start", 0.0
            if began is not None and now - began > patience:
                return "killed", now - began
    seconds = 0.0 if began is None else time.perf_counter() - began
    if code == 0:
        return "", seconds
    words = _last_words((task.folder / "errors.txt").read_text(errors="replace"))
    return f"crash, exit {code}: {words}", seconds


def _last_words(text: str) -> str:
    """Return the line that names the error, or the last one, without colours."""
    lines = [COLOUR.sub("", line).strip() for line in text.strip().splitlines()]
    naming = [line for line in lines if ERROR.match(line)]
    return (naming or lines or ["no output"])[-1][:160]


def _end_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and whatever it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _judge(
    solver: str,
    prepared: Prepared,
    task: MipTask,
    settings: Settings,
    best: float | None,
    trouble: str,
    seconds: float,
) -> MipRow:
    claims = _load_json(task.folder / ANSWER, {})
    label = task.folder / LABEL
    point = task.folder / POINT
    sense, limit = prepared.sense, settings.time_limit
    x = np.load(point) if point.exists() else None
    verdict = check(prepared.model, x, relative=settings.relative)
    told = [(float(t), float(f)) for t, f in _load_json(task.folder / EVENTS, [])]
    found = improvements(told, sense) if verdict.feasible else []
    # no event may be better than the point that was checked
    events = [
        (t, f if sense * f > sense * verdict.objective else verdict.objective)
        for t, f in found
        if t <= limit + LATE
    ]
    feasible = bool(events)
    objective = events[-1][1] if feasible else None
    status = str(claims.get("status", "")) or trouble.partition(",")[0] or "failed"
    bound = claims.get("bound")
    detail = "; ".join(word for word in (trouble, str(claims.get("detail", ""))) if word)
    if x is not None and not verdict.feasible:
        detail = f"point violates by {verdict.violation:.1e}; {detail}".rstrip("; ")
    return MipRow(
        model=prepared.entry.name,
        solver=label.read_text() if label.exists() else solver,
        seed=task.seed,
        limit=limit,
        sense=sense,
        status=status,
        feasible=feasible,
        objective=objective,
        bound=bound,
        gap=primal_gap(objective, best, sense),
        integral=primal_integral(events, best, limit, sense) / limit,
        first=events[0][0] if feasible else None,
        seconds=float(claims.get("seconds", seconds)),
        proven=status == "optimal" and feasible,
        wrong=_refuted(prepared, status, objective, bound),
        violation=verdict.violation if x is not None else None,
        warm_up=claims.get("warm_up"),
        events=tuple(events),
        source=str(claims.get("source", "")),
        detail=detail,
        name=solver,
    )


def _refuted(prepared: Prepared, status: str, objective: float | None, bound: float | None) -> str:
    """Say which claim the best known objective refutes; empty if none."""
    best, sense = prepared.entry.best, prepared.sense
    if best is None:
        return ""
    size = max(abs(best), 1.0)
    if status in ("infeasible", "unbounded"):
        return f"called {status}"
    if status == "optimal" and objective is None:
        return "called optimal without a feasible point"
    if (
        status == "optimal"
        and objective is not None
        and sense * (objective - best) > OPTIMUM_ERROR * size
    ):
        return "called optimal, but is not"
    if bound is not None and sense * (bound - best) > BOUND_ERROR * size:
        return "the bound is beyond the best known objective"
    return ""


def _load_json(path: Path, default: Any) -> Any:
    return json.loads(path.read_text()) if path.exists() else default


def _write_plain(source: Path, target: Path) -> None:
    """Write a model as an uncompressed MPS file, the very file where it is one."""
    import gzip

    import highspy

    if source.name.endswith(".mps.gz"):
        with gzip.open(source, "rb") as packed, target.open("wb") as file:
            shutil.copyfileobj(packed, file)
    elif source.suffix == ".mps":
        shutil.copyfile(source, target)
    else:
        highs = highspy.Highs()
        highs.setOptionValue("output_flag", False)
        highs.readModel(str(source))
        highs.writeModel(str(target))
