"""What each constant of an engine is worth: models with half and with twice of it.

    python -m benchmarks.constants mip FOLDER --models csched010 rout ... [--work 0.05]
    python -m benchmarks.constants walkers FOLDER --models csched010 rout ... [--work 0.002]
    python -m benchmarks.constants pdlp FOLDER --models adlittle grow7 ... [--tolerance 1e-6]
    python -m benchmarks.constants knapsack FOLDER --models one-circle-200 choice-weakly-100 ...
        [--only TEXT ...] [--besides TEXT ...] [--given KEY=VALUE ...] [--start] [--most 4]
        [--seeds 1 2] [--at-once 2] [--stop-after 3600] [--runs FILE] [--launcher ccache]
        [--table NAME] [--page PAGE]

FOLDER holds INSTANCES.csv (see ``mip_sets.py`` and ``lp_sets.py``); a linear model may be a file as
well. Constants are found in the source (``constants_in_source.py``), and a copy of the program has
other values of them (``constants_changed.py``). Each value has a process of its own, which solves
the models one after the other (``constants_runs.py``), the first ``--most`` of those whose runs
enter a function that names it: mixed-integer ones by heuristics alone, in work that every run
repeats, or for ``--time-limit`` seconds with branch and bound; linear ones by PDLP on a CPU.
``--heuristic`` names one that has the turns where it is not the constant's own. Knapsack problems
are drawn. ``--given`` has constants that differ in all runs, such as a size from which on something
is done: then smaller models show what constants of that are worth.

A mixed-integer model differs where its point does, and by its gap; a linear one where the number of
iterations does, and by its logarithm; a knapsack problem by its states or nodes. The program as it
is runs with other seeds besides, which says what that is to be compared with. ``--runs`` names a
file that is given every process's result as it comes, and from which a run goes on that was ended.
``--page`` writes the table into a page, between the marks of ``--table`` (``constants_page.py``).
"""

from __future__ import annotations

import argparse
import ast
import dis
import json
import math
import multiprocessing
import multiprocessing.connection
import os
import sys
import threading
import time
import types
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.constants_changed import COPY, FIXED, FOLDERS, NATIVE, build, is_current, use_copy
from benchmarks.constants_in_source import ROOT, Constant, Value, find
from benchmarks.constants_page import WORDS, write_page
from benchmarks.constants_runs import ENGINES, SOLVE, WALKERS, files_of, group_of
from benchmarks.halves import HALVES, half_of
from benchmarks.record import Column, print_table, write_record

FACTORS = (0.5, 2.0)

PATIENCE = 600.0
"""Seconds for each model after which a process is taken for one that hangs, and killed."""

GRACE = 10.0
"""Seconds that processes have when the time for all is up."""


@dataclass(frozen=True)
class Task:
    """One process: the program with one value of one constant, or as it is with a seed."""

    key: str
    factor: float
    seed: int
    group: str
    models: tuple[str, ...]
    constant: Constant | None = None

    @property
    def name(self) -> tuple[str, float, int, str]:
        """What no other task is called."""
        return self.key, self.factor, self.seed, self.group


@dataclass
class Found:
    """What came of it, for each model."""

    key: str
    factor: float
    seed: int
    group: str
    results: dict[str, str] = field(default_factory=dict)
    """A digest of the point, or the iterations; the status where there is neither."""
    measures: dict[str, float] = field(default_factory=dict)
    """The gap, or the logarithm of the iterations."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Processor time."""
    names: dict[str, list[str]] = field(default_factory=dict)
    """Constants that the functions of a run name and their folders, where that was asked for."""

    @property
    def name(self) -> tuple[str, float, int, str]:
        """That of its task."""
        return self.key, self.factor, self.seed, self.group


def main() -> int:
    """Run all constants, print the table and write a record."""
    arguments = make_parser().parse_args()
    constants = [one for one in constants_of(arguments.engine) if _is_wanted(one, arguments)]
    if not arguments.built:
        build(arguments.launcher)
    elif not is_current():
        raise SystemExit("The copy is not of this source: leave --built out.")
    stop_at = time.monotonic() + arguments.stop_after
    found = _earlier(arguments)
    groups = dict.fromkeys(_group(one, arguments) for one in constants)
    plain = [
        Task("", 1.0, seed, group, tuple(arguments.models))
        for group in groups
        for seed in (0, *arguments.seeds)
    ]
    found += run(_missing(plain, found), arguments, stop_at)
    begun = {one.group for one in found if one.name[:3] == ("", 1.0, 0)}
    late = [one.key for one in constants if _group(one, arguments) not in begun]
    for key in late:
        print(f"There was no time for {key}.")
    constants = [one for one in constants if one.key not in late]
    if not constants:
        raise SystemExit("There is no constant to measure.")
    tasks = list(_tasks(constants, found, arguments))
    print(f"{len(constants)} constants, {len(tasks)} processes", flush=True)
    found += run(_missing(tasks, found), arguments, stop_at)
    rows = [effect(one, found, arguments) for one in constants]
    columns = [Column(name, 3) for name in rows[0]]
    print_table("Constants", columns, [list(row.values()) for row in rows])
    noise = list(_noise(found))
    print(*noise, sep="\n")
    table = arguments.table or arguments.engine
    content = {"table": table, "command": _command(sys.argv[1:]), "rows": rows, "noise": noise}
    write_record(f"constants-{table}", content)
    if arguments.page is not None:
        write_page(arguments.page, content)
    return 0


def _is_wanted(constant: Constant, arguments: argparse.Namespace) -> bool:
    wanted = not arguments.only or any(text in constant.key for text in arguments.only)
    return wanted and not any(text in constant.key for text in arguments.besides)


def _command(given: Sequence[str]) -> str:
    """Return the command line without what says where things are on this machine."""
    engine, _, *rest = given
    kept, skip = [], False
    for word in rest:
        if word.startswith("--"):
            skip = word in ("--runs", "--built", "--launcher", "--stop-after", "--at-once")
        kept += [] if skip else [word]
    return " ".join(["python -m benchmarks.constants", engine, "FOLDER", *kept])


def constants_of(engine: str) -> list[Constant]:
    """Return the constants of an engine, by file and place."""
    found = find(ENGINES[engine])
    return found if engine != "mip" else [one for one in found if WALKERS not in one.file]


def _tasks(
    constants: Sequence[Constant], found: Sequence[Found], arguments: argparse.Namespace
) -> Iterator[Task]:
    """Yield those of half and twice of each constant that is reached."""
    for constant in constants:
        base = _base(found, _group(constant, arguments))
        models = reached(constant, base, arguments)
        values = {repr(constant.times(1.0))}
        for factor in FACTORS if models else ():
            if repr(constant.times(factor)) not in values:
                yield Task(constant.key, factor, 0, base.group, models, constant)


def _group(constant: Constant, arguments: argparse.Namespace) -> str:
    return arguments.heuristic or group_of(arguments.engine, constant.file)


def _base(found: Iterable[Found], group: str) -> Found:
    return next(one for one in found if one.name == ("", 1.0, 0, group))


def _missing(tasks: Sequence[Task], found: Sequence[Found]) -> list[Task]:
    known = {one.name for one in found}
    return [one for one in tasks if one.name not in known]


def run(tasks: Sequence[Task], arguments: argparse.Namespace, stop_at: float) -> list[Found]:
    """Run tasks, each in a process that is forked from this one, and return what ended well."""
    import highspy  # noqa: F401  (what all of them import)
    import scipy.sparse.csgraph
    import scipy.sparse.linalg  # noqa: F401

    fork = multiprocessing.get_context("fork")
    waiting = list(tasks)
    running: dict[Any, tuple[Task, Any, float]] = {}
    found: list[Found] = []
    while running or (waiting and time.monotonic() < stop_at):
        while waiting and len(running) < arguments.at_once and time.monotonic() < stop_at:
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
                _keep(found[-1], arguments)
                told = f"{time.monotonic() - began:.1f} s, {len(waiting)} left"
            except EOFError:
                told = "ended without a result"
            process.join()
            print(*task.name, told, flush=True)
        for task, process, began in running.values():
            latest = min(began + PATIENCE * len(task.models), stop_at + GRACE)
            if time.monotonic() > latest:
                process.kill()
    return found


def _keep(found: Found, arguments: argparse.Namespace) -> None:
    if arguments.runs is not None:
        with arguments.runs.open("a") as file:
            file.write(json.dumps(asdict(found)) + "\n")


def _earlier(arguments: argparse.Namespace) -> list[Found]:
    """Return what the file of runs holds."""
    if arguments.runs is None or not arguments.runs.exists():
        return []
    found = [Found(**json.loads(line)) for line in arguments.runs.read_text().splitlines()]
    for one in found:
        for name in ("results", "measures", "seconds", "names"):
            kept = getattr(one, name)
            setattr(one, name, {key: kept[key] for key in arguments.models if key in kept})
    return found


def _child(task: Task, arguments: argparse.Namespace, pipe: Any) -> None:
    """Solve the models of a task with the program of the copy, and tell of it."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    constants = constants_of(arguments.engine)
    own = [] if task.constant is None else [(task.constant, task.constant.times(task.factor))]
    use_copy([*_given(constants, arguments), *own])
    found = Found(*task.name)
    watched = COPY / ENGINES[arguments.engine]
    known = {one.name.rpartition(".")[2] for one in constants}
    for name, path, best in files_of(arguments):
        if name in task.models:
            entered: set[types.CodeType] = set()
            if not task.key and task.seed == 0:
                _watch(entered, str(watched))
            began = time.process_time()
            solve = SOLVE[arguments.engine]
            result = solve(path, best, task.seed, task.group, arguments)
            found.results[name], found.measures[name] = result
            found.seconds[name] = round(time.process_time() - began, 3)
            sys.setprofile(None)
            threading.setprofile(None)
            words = {word for code in entered for word in code.co_names}
            folders = {os.path.dirname(code.co_filename) for code in entered}
            inside = {os.path.relpath(one, COPY) for one in folders}
            found.names[name] = sorted(words & known | inside)
    pipe.send(asdict(found))
    pipe.close()
    os._exit(0)


def _given(
    constants: Sequence[Constant], arguments: argparse.Namespace
) -> list[tuple[Constant, Value]]:
    """Return the constants that have another value in all runs."""
    told = dict(text.split("=") for text in arguments.given)
    known = {one.key: one for one in constants}
    return [(known[key], ast.literal_eval(value)) for key, value in told.items()]


def _watch(entered: set[types.CodeType], folder: str) -> None:
    """Collect the functions of a folder that are called from now on."""

    def look(frame: types.FrameType, event: str, _: object) -> None:
        code = frame.f_code
        is_run = event == "call" and code.co_name != "<module>"
        if is_run and code.co_filename.startswith(folder):
            entered.add(code)

    threading.setprofile(look)
    sys.setprofile(look)


def reached(constant: Constant, base: Found, arguments: argparse.Namespace) -> tuple[str, ...]:
    """Return the models whose runs may depend on a constant, as many as are asked for."""
    files = [place[0] for place in constant.places]
    is_native = any(one.endswith(NATIVE) for one in files)
    if is_native and not files[0].startswith(FOLDERS):
        return ()
    is_fixed = is_native and constant.name in FIXED
    if is_fixed or any(one.endswith(".cu") for one in files):
        return ()
    word = constant.name.rpartition(".")[2]
    folder = ENGINES[arguments.engine]
    if is_native or constant.name in _read_at_import(folder):
        word = _folder_of(constant)
    models = [model for model in arguments.models if word in base.names[model]]
    return tuple(models[: arguments.most])


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


def effect(
    constant: Constant, found: Sequence[Found], arguments: argparse.Namespace
) -> dict[str, Any]:
    """Return a row of the table: how many models differ, and by how much in the mean."""
    base = _base(found, _group(constant, arguments))
    values = constant.value if isinstance(constant.value, tuple) else (constant.value,)
    shown = ", ".join(f"{one:g}" if isinstance(one, float) else f"{one}" for one in values)
    models = len(reached(constant, base, arguments))
    row: dict[str, Any] = {"constant": constant.key, "value": shown, "models": models}
    for factor, word in zip(FACTORS, WORDS, strict=True):
        own = [one for one in found if (one.key, one.factor) == (constant.key, factor)]
        row[word], row[f"{word}: more"] = compare(base, own[0]) if own else (None, "")
    return row


def compare(base: Found, other: Found) -> tuple[int, str]:
    """Return how many models differ, and the means of what is measured more, as a text.

    The mean is over the models of ``other``, that of linear ones over those of each half.
    """
    changed = sum(base.results[name] != result for name, result in other.results.items())
    is_linear = any(" " in result for result in base.results.values())
    means = []
    for half in HALVES if is_linear else ("",):
        models = [name for name in other.results if half in ("", half_of(name))]
        more = sum(other.measures[name] - base.measures[name] for name in models)
        means.append(f"{more / max(1, len(models)):+.3f}")
    return changed, " ".join(means) if changed else ""


def _noise(found: Sequence[Found]) -> Iterator[dict[str, Any]]:
    """Yield what other seeds change, for each heuristic."""
    for one in found:
        if not one.key and one.seed:
            changed, more = compare(_base(found, one.group), one)
            models = len(one.results)
            yield {"group": one.group, "changed": changed, "models": models, "more": more}


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", nargs="+", required=True)
    parser.add_argument("--work", type=float, default=0.25, help="billions of entries of a model")
    parser.add_argument("--time-limit", type=float, help="seconds of a model, instead of work")
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--start", action="store_true", help="begin at part of a point")
    parser.add_argument("--iteration-limit", type=int, default=20_000)
    parser.add_argument("--most", type=int, default=99, help="models for one constant")
    parser.add_argument("--only", nargs="+", default=[], help="parts of the constants' names")
    parser.add_argument("--besides", nargs="+", default=[], help="parts of names to leave out")
    parser.add_argument("--given", nargs="+", default=[], help="KEY=VALUE of constants in all runs")
    parser.add_argument("--heuristic", default="", help="folder of the one that has all turns")
    parser.add_argument("--seeds", nargs="*", type=int, default=[])
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--stop-after", type=float, default=math.inf, help="seconds for all")
    parser.add_argument("--runs", type=Path, help="file that keeps results, to go on from")
    parser.add_argument("--launcher", help="a cache for the compiler, such as ccache")
    parser.add_argument("--built", action="store_true", help="take the copy as it was built")
    parser.add_argument("--table", help="name of the table, by default the engine's")
    parser.add_argument("--page", type=Path, help="page whose table is written")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
