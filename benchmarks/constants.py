"""What each constant of an engine is worth: models with half and with twice of it.

    python -m benchmarks.constants mip FOLDER --models csched010 rout ... [--work 0.25]
    python -m benchmarks.constants walkers FOLDER --models csched010 rout ... [--work 0.02]
    python -m benchmarks.constants pdlp FOLDER --models adlittle grow7 ... [--tolerance 1e-6]
        [--only TEXT ...] [--seeds 1 2 3] [--at-once 2] [--stop-after 3600] [--resume RECORD ...]
        [--launcher ccache] [--page docs/mip-constants.md]

FOLDER holds INSTANCES.csv (see ``mip_sets.py`` and ``lp_sets.py``); a linear model may be a file as
well. Constants are found in the source (``constants_in_source.py``), and a copy of the program has
other values of them (``constants_changed.py``). Each value has a process of its own, which solves
the models one after the other: mixed-integer ones by heuristics alone, in work that every run
repeats, or for ``--time-limit`` seconds with branch and bound; linear ones by PDLP on a CPU. A
model is left out for a constant of Python that no function of its run speaks of.

A mixed-integer model differs where its point does, and by its gap; a linear one where the number of
iterations does, and by its logarithm. The program as it is runs with other seeds besides, which
says what that is to be compared with; PDLP on a CPU has no seed. ``--page`` writes the table into
a page, between its marks.
"""

from __future__ import annotations

import argparse
import dis
import hashlib
import json
import math
import multiprocessing
import multiprocessing.connection
import os
import re
import sys
import threading
import time
import types
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.constants_changed import COPY, FIXED, NATIVE, build, is_current, use_copy
from benchmarks.constants_in_source import ROOT, Constant, find
from benchmarks.halves import HALVES, half_of
from benchmarks.mip_measures import primal_gap
from benchmarks.record import Column, print_table, write_record

WALKERS = "solvers/mip/heuristics/local_search/gpu"

ENGINES = {"mip": "solvers/mip", "walkers": WALKERS, "pdlp": "solvers/pdlp"}
"""Where the constants of each are; those of the walkers are not measured with the others."""

FACTORS = (0.5, 2.0)

PATIENCE = 60.0
"""Seconds for each model after which a process is killed."""

SHIFT = 100.0
"""Iterations that are added before their logarithm is taken."""

MARKS = ("<!-- constants of {} -->\n", "<!-- end of the constants -->\n")
"""Between these a page has the table of an engine."""


@dataclass(frozen=True)
class Task:
    """One process: the program with one value of one constant, or as it is with a seed."""

    key: str
    factor: float
    seed: int
    models: tuple[str, ...]
    constant: Constant | None = None


@dataclass
class Found:
    """What came of it, for each model."""

    key: str
    factor: float
    seed: int
    results: dict[str, str] = field(default_factory=dict)
    """A digest of the point, or the iterations; the status where there is neither."""
    measures: dict[str, float] = field(default_factory=dict)
    """The gap, or the logarithm of the iterations."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Processor time."""
    names: dict[str, list[str]] = field(default_factory=dict)
    """What the functions of a run speak of and their folders, where that was asked for."""


def main() -> int:
    """Run all constants, print the table and write a record."""
    arguments = make_parser().parse_args()
    folder = ENGINES[arguments.engine]
    constants = [
        one
        for one in constants_of(arguments.engine)
        if not arguments.only or any(text in one.key for text in arguments.only)
    ]
    if not arguments.built:
        build(arguments.launcher)
    elif not is_current():
        raise SystemExit("The copy is not of this source: leave --built out.")
    models, seeds = tuple(arguments.models), (0, *arguments.seeds)
    stop_at = time.monotonic() + arguments.stop_after
    found = _earlier(arguments.resume, models)
    known = {(one.key, one.factor, one.seed) for one in found}
    plain = [
        Task("", 1.0, seed, (model,))
        for seed in seeds
        for model in models
        if ("", 1.0, seed) not in known
    ]
    found += _together(run(plain, arguments, arguments.at_once, stop_at), models)
    base = next(one for one in found if not one.key and one.seed == 0)
    tasks = [
        Task(one.key, factor, 0, reached(one, base, folder)[: arguments.most], one)
        for one in constants
        for factor in FACTORS
        if (one.key, factor, 0) not in known
    ]
    tasks = [one for one in tasks if one.models]
    print(f"{len(constants)} constants, {len(tasks)} processes", flush=True)
    found += run(tasks, arguments, arguments.at_once, stop_at)
    rows = [effect(one, found, folder) for one in constants]
    columns = [Column(name, 3) for name in rows[0]]
    print_table("Constants", columns, [list(row.values()) for row in rows])
    noise = [compare(base, one) for one in found if not one.key and one.seed]
    for changed, more in noise:
        print(f"another seed: {changed} of {len(models)} differ, {more}")
    content = {"rows": rows, "noise": noise, "found": [asdict(one) for one in found]}
    write_record(f"constants-{arguments.engine}", content)
    if arguments.page is not None:
        write_page(arguments.page, arguments.engine, rows)
    return 0


def _together(parts: Sequence[Found], models: Sequence[str]) -> list[Found]:
    """Return one result for each seed of the program as it is, its models in their order."""
    whole: dict[int, Found] = {}
    for part in sorted(parts, key=lambda part: models.index(next(iter(part.results)))):
        into = whole.setdefault(part.seed, Found("", 1.0, part.seed))
        for name in ("results", "measures", "seconds", "names"):
            getattr(into, name).update(getattr(part, name))
    return list(whole.values())


def constants_of(engine: str) -> list[Constant]:
    """Return the constants of an engine, by file and place."""
    found = find(ENGINES[engine])
    return found if engine != "mip" else [one for one in found if WALKERS not in one.file]


def run(
    tasks: Sequence[Task], arguments: argparse.Namespace, at_once: int, stop_at: float
) -> list[Found]:
    """Run tasks, each in a process that is forked from this one, and return what ended well."""
    import highspy  # noqa: F401  (what all of them import)
    import scipy.sparse.csgraph
    import scipy.sparse.linalg  # noqa: F401

    fork = multiprocessing.get_context("fork")
    waiting = list(tasks)
    running: dict[Any, tuple[Task, Any, float]] = {}
    found: list[Found] = []
    while running or (waiting and time.monotonic() < stop_at):
        while waiting and len(running) < at_once and time.monotonic() < stop_at:
            task = waiting.pop(0)
            here, there = fork.Pipe(duplex=False)
            process = fork.Process(target=_child, args=(task, arguments, there))
            process.start()
            there.close()
            running[here] = (task, process, time.monotonic())
        ready: list[Any] = multiprocessing.connection.wait(list(running), 1.0)
        for pipe in ready:
            task, process, began = running.pop(pipe)
            try:
                found.append(Found(**pipe.recv()))
                told = f"{time.monotonic() - began:.1f} s, {len(waiting)} left"
            except EOFError:
                told = "ended without a result"
            process.join()
            print(f"{task.key or 'as it is'} x {task.factor} seed {task.seed}: {told}", flush=True)
        for task, process, began in running.values():
            if time.monotonic() - began > PATIENCE * len(task.models):
                process.kill()
    return found


def _child(task: Task, arguments: argparse.Namespace, pipe: Any) -> None:
    """Solve the models of a task with the program of the copy, and tell of it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    use_copy(task.constant, task.factor)
    found = Found(task.key, task.factor, task.seed)
    watched = COPY / ENGINES[arguments.engine]
    solve = {"mip": _mixed_integer, "walkers": _walks, "pdlp": _linear}[arguments.engine]
    for name, path, best in _files(arguments):
        if name in task.models:
            entered: set[types.CodeType] = set()
            if not task.key and task.seed == 0:
                _watch(entered, str(watched))
            began = time.process_time()
            found.results[name], found.measures[name] = solve(path, best, task.seed, arguments)
            found.seconds[name] = time.process_time() - began
            sys.setprofile(None)
            threading.setprofile(None)
            words = {word for code in entered for word in code.co_names}
            folders = {os.path.dirname(code.co_filename) for code in entered}
            inside = {os.path.relpath(one, COPY) for one in folders}
            found.names[name] = sorted(words | inside)
    pipe.send(asdict(found))
    pipe.close()
    os._exit(0)


def _files(arguments: argparse.Namespace) -> list[tuple[str, Path, float | None]]:
    """Return names, files and best known objectives of the models."""
    if arguments.engine != "pdlp":
        from benchmarks.mip_sets import read_index

        return [(one.name, one.path, one.best) for one in read_index(arguments.folder)]
    from benchmarks import lp_sets

    paths = {name: Path(name) for name in arguments.models if Path(name).is_file()}
    known = {one.name: one.path for one in lp_sets.read_index(arguments.folder)}
    return [(name, paths.get(name) or known[name], None) for name in arguments.models]


def _mixed_integer(
    path: Path, best: float | None, seed: int, arguments: argparse.Namespace
) -> tuple[str, float]:
    import gpu_bridge as gb

    options: dict[str, Any] = {"device": "cpu", "explain": False, "seed": seed}
    if arguments.time_limit is None:
        alone = {"deterministic": True, "heuristics_only": True, "work_limit": arguments.work}
        options |= alone
    else:
        options |= {"time_limit": arguments.time_limit, "threads": 2}
    problem = gb.read(str(path))
    outcome = gb.solve(problem, **options)
    has_point = bool(np.isfinite(outcome.objective))
    x = np.asarray(outcome.x) if has_point else np.zeros(0)
    objective = outcome.objective if has_point else None
    return _digest([x]), primal_gap(objective, best, -1.0 if problem.maximize else 1.0)


def _digest(points: Sequence[Any]) -> str:
    whole = b"".join(np.ascontiguousarray(one).tobytes() for one in points)
    return hashlib.sha256(whole).hexdigest()[:12]


def _walks(
    path: Path, best: float | None, seed: int, arguments: argparse.Namespace
) -> tuple[str, float]:
    """Let the twins of the GPU's walkers walk, then that of the one whole-GPU walker."""
    import gpu_bridge as gb
    from solvers.core.device import cpu
    from solvers.mip.budget import Budget
    from solvers.mip.heuristics.local_search.gpu import fleet
    from solvers.mip.heuristics.local_search.gpu import run as walks
    from solvers.mip.heuristics.local_search.gpu.fleet import Plan
    from solvers.mip.heuristics.local_search.gpu.grid_wide import GRID_KERNEL
    from solvers.mip.model import MipModel, is_feasible
    from solvers.mip.solutions.incumbents import Found as Point
    from solvers.mip.solutions.incumbents import Pool

    problem = gb.read(str(path))
    model = MipModel.of(problem)
    gaps, points = [], []
    whole_gpu = Plan(GRID_KERNEL, (1,), 1, 0)
    for plan in (fleet.plan_for, lambda layout, device: whole_gpu):
        pool = Pool(32, model.integers)

        def submit(x: Any, source: str, pool: Any = pool) -> bool:
            return is_feasible(model, x) and pool.add(Point(x, model.objective_at(x), 0.0, source))

        budget = Budget(work=1e9 * arguments.work)
        with mock.patch.object(walks, "plan_for", plan):
            walks.run_walkers(model, cpu(), submit, budget, seed, pool=pool)
        found = pool.points()
        points += [one.x for one in found]
        objective = min((one.objective for one in found), default=None)
        gaps.append(primal_gap(objective, best))
    return _digest(points), sum(gaps) / len(gaps)


def _linear(
    path: Path, best: float | None, seed: int, arguments: argparse.Namespace
) -> tuple[str, float]:
    import gpu_bridge as gb

    outcome = gb.solve(
        gb.read(str(path)).relaxation(),
        method="pdlp",
        device="cpu",
        threads=1,
        tolerance=arguments.tolerance,
        iteration_limit=arguments.iteration_limit,
        crossover="off",
        explain=False,
    )
    iterations = int(outcome.statistics.get("iterations", 0))
    return f"{iterations} {outcome.solution_status.name}", math.log(iterations + SHIFT)


def _watch(entered: set[types.CodeType], folder: str) -> None:
    """Collect the functions of a folder that are called from now on."""

    def look(frame: types.FrameType, event: str, _: object) -> None:
        code = frame.f_code
        is_run = event == "call" and code.co_name != "<module>"
        if is_run and code.co_filename.startswith(folder):
            entered.add(code)

    threading.setprofile(look)
    sys.setprofile(look)


def reached(constant: Constant, base: Found, folder: str) -> tuple[str, ...]:
    """Return the models whose runs may depend on a constant."""
    files = [place[0] for place in constant.places]
    if constant.name in FIXED or any(one.endswith(".cu") for one in files):
        return ()
    word = constant.name.rpartition(".")[2]
    if any(one.endswith(NATIVE) for one in files) or constant.name in _read_at_import(folder):
        word = _folder_of(constant)
    return tuple(model for model, names in base.names.items() if word in names)


def _folder_of(constant: Constant) -> str:
    """Return the folder of the Python that calls what a constant is in."""
    folder = (ROOT / constant.file).parent
    while not any(one.stat().st_size for one in folder.glob("*.py")):
        folder = folder.parent
    return str(folder.relative_to(ROOT))


def _read_at_import(folder: str, known: dict[str, set[str]] = {}) -> set[str]:  # noqa: B006
    """Return the names that modules of a folder read while they are imported."""
    if folder not in known:
        known[folder] = set()
        for path in (ROOT / folder).rglob("*.py"):
            for code in _bodies(compile(path.read_text(), str(path), "exec")):
                loads = [one for one in dis.get_instructions(code) if one.opname == "LOAD_NAME"]
                known[folder] |= {str(one.argval) for one in loads}
    return known[folder]


def _bodies(code: types.CodeType) -> list[types.CodeType]:
    """Return the code of a module and of its classes, without functions."""
    inner = [one for one in code.co_consts if isinstance(one, types.CodeType)]
    classes = [one for one in inner if "__qualname__" in one.co_names]
    return [code, *(body for one in classes for body in _bodies(one))]


def effect(constant: Constant, found: Sequence[Found], folder: str) -> dict[str, Any]:
    """Return a row of the table: how many models differ, and by how much in the mean."""
    base = next(one for one in found if not one.key and one.seed == 0)
    models = len(reached(constant, base, folder))
    values = constant.value if isinstance(constant.value, tuple) else (constant.value,)
    shown = ", ".join(f"{one:g}" if isinstance(one, float) else f"{one}" for one in values)
    row: dict[str, Any] = {"constant": constant.key, "value": shown, "models": models}
    for factor, word in zip(FACTORS, ("half", "twice"), strict=True):
        own = [one for one in found if one.key == constant.key and one.factor == factor]
        row[word], row[f"{word}: more"] = compare(base, own[0]) if own else (None, "")
    return row


def compare(base: Found, other: Found) -> tuple[int, str]:
    """Return how many models differ, and the means of what is measured more, as a text.

    The mean is over all models, that of linear ones over each half.
    """
    changed = sum(base.results[name] != result for name, result in other.results.items())
    is_linear = any(" " in result for result in base.results.values())
    means = []
    for half in HALVES if is_linear else ("",):
        models = [name for name in base.results if half in ("", half_of(name))]
        more = sum(
            other.measures.get(name, base.measures[name]) - base.measures[name] for name in models
        )
        means.append(f"{more / max(1, len(models)):+.3f}")
    return changed, " ".join(means) if changed else ""


def write_page(page: Path, engine: str, rows: Sequence[dict[str, Any]]) -> None:
    """Write the table into a page of the documentation."""
    lines = ["| constant | value | models | half | twice |", "|---|---|---:|---|---|"]
    left = []
    for row in rows:
        name = f"`{row['constant'].partition('.')[2]}`"
        if row["half"] is None and row["twice"] is None:
            left.append(name)
            continue
        cells = [name, row["value"], str(row["models"])]
        for word in ("half", "twice"):
            changed, more = row[word], row[f"{word}: more"]
            cells.append("" if changed is None else f"{changed}: {more}" if changed else "0")
        lines.append(f"| {' | '.join(cells)} |")
    lines += ["", f"Not measured like that: {', '.join(left)}.", ""]
    text = page.read_text()
    begin = MARKS[0].format(engine)
    pattern = re.escape(begin) + ".*?" + re.escape(MARKS[1])
    table = begin + "\n".join(lines) + "\n" + MARKS[1]
    page.write_text(re.sub(pattern, lambda _: table, text, flags=re.DOTALL))


def _earlier(records: Sequence[Path], models: Sequence[str]) -> list[Found]:
    """Return what earlier records say of the models, each value once."""
    found: dict[tuple[str, float, int], Found] = {}
    for path in records:
        for row in json.loads(path.read_text())["found"]:
            for name in ("results", "measures", "seconds", "names"):
                row[name] = {key: row[name][key] for key in models if key in row[name]}
            one = Found(**row)
            found[one.key, one.factor, one.seed] = one
    return list(found.values())


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", nargs="+", required=True)
    parser.add_argument("--work", type=float, default=0.25, help="billions of entries of a model")
    parser.add_argument("--time-limit", type=float, help="seconds of a model, instead of work")
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--iteration-limit", type=int, default=20_000)
    parser.add_argument("--most", type=int, default=99, help="models for one constant")
    parser.add_argument("--only", nargs="+", default=[], help="parts of the constants' names")
    parser.add_argument("--seeds", nargs="*", type=int, default=[])
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--stop-after", type=float, default=math.inf, help="seconds for all")
    parser.add_argument("--resume", nargs="+", type=Path, default=[])
    parser.add_argument("--launcher", help="a cache for the compiler, such as ccache")
    parser.add_argument("--built", action="store_true", help="take the copy as it was built")
    parser.add_argument("--page", type=Path, help="page whose table is written")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
