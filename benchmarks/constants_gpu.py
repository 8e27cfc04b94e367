"""Half and twice of constants that only a GPU shows: what runs take, and what they find.

    python -m benchmarks.constants_gpu FOLDER [--parts pdlp lists batch walkers] [--device cuda]
        [--models rout mad ...] [--files a.in.gz ...] [--seconds 0.3] [--besides NAME ...]
        [--stop-after 200]

All is measured in one process: a constant gets another value in its module, and in those that
import it, for one run. ``pdlp`` has the microseconds of an iteration on generated programs of three
sizes, ``lists`` the seconds of knapsack problems with long lists of states (``--files``), ``batch``
those of 20,000 knapsack problems, ``walkers`` the mean gap of models (``--models``, of FOLDER's
INSTANCES.csv) after ``--seconds`` each. A cell is the mean logarithm of what is measured more, or
the gap that is more; beside it stands the same of runs without a change. Constants of kernels are
fixed when these are compiled, and are not measured.
"""

from __future__ import annotations

import argparse
import functools
import math
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.constants import FACTORS
from benchmarks.constants_in_source import Constant, find
from benchmarks.constants_page import WORDS
from benchmarks.mip_measures import primal_gap
from benchmarks.record import Column, print_table, write_record
from solvers.core.device import Device, find_device

SIZES = (20_000, 300_000, 1_000_000)
"""Nonzeros of the generated programs."""

FAMILY = "energy"

BATCH, BATCH_CLASSES = 20_000, ("uncorrelated", "strongly")

REPEATS = 3
"""Runs without a change, and of a program or a batch with one."""

WALKERS = "solvers/mip/heuristics/local_search/"

PARTS: dict[str, tuple[str, ...]] = {
    "pdlp": ("solvers/pdlp/settings.py", "solvers/pdlp/execution/on_gpu.py"),
    "lists": (
        "solvers/knapsack/dp/gpu_lists/list_search.py",
        "solvers/knapsack/dp/gpu_lists/memory.py",
    ),
    "batch": ("solvers/knapsack/batch/problems.py", "solvers/knapsack/batch/solve.py"),
    "walkers": tuple(WALKERS + name for name in ("fleet", "grid_wide", "run", "restarts")),
}
"""Beginnings of the files whose constants each part measures."""

EXECUTION = "ExecutionSettings."
"""The settings that a GPU reads; other settings are the same on all devices."""

Measure = Callable[[], list[float]]
"""Runs a part and returns what is measured of each of its problems."""


def main() -> None:
    """Measure all parts, print the tables and write a record."""
    arguments = _arguments()
    device = find_device(arguments.device)
    stop_at = time.monotonic() + arguments.stop_after
    rows: list[dict[str, Any]] = []
    for number, part in enumerate(arguments.parts):
        left = stop_at - time.monotonic()
        part_until = time.monotonic() + left / (len(arguments.parts) - number)
        measure = MAKERS[part](device, arguments)
        measure()  # compiles
        plain = [measure() for _ in range(REPEATS)]
        base = [statistics.median(values) for values in zip(*plain, strict=True)]
        noise = max(abs(_more(values, base)) for values in plain)
        print(f"{part}: {', '.join(f'{value:.4g}' for value in base)}; noise {noise:.3f}")
        for constant in _constants(part, arguments.besides):
            if time.monotonic() > part_until:
                print(f"Time is up before {constant.key}.")
                break
            row: dict[str, Any] = {"part": part, "constant": constant.key, "noise": noise}
            row["value"] = str(constant.value)
            for factor, word in zip(FACTORS, WORDS, strict=True):
                row[word] = _changed(constant, factor, measure, base)
            rows.append(row)
            print(*row.values(), flush=True)
    titles = [Column(title, 3) for title in ("part", "constant", "noise", "value", *WORDS)]
    print_table(f"Constants on {device.name}", titles, [list(row.values()) for row in rows])
    write_record("constants-gpu", {"rows": rows}, device=device)


def _constants(part: str, besides: Sequence[str]) -> list[Constant]:
    folder = PARTS[part][0].rpartition("/")[0]
    own = [
        one
        for one in find(folder)
        if one.file.startswith(PARTS[part]) and len(one.places) == 1 and one.name not in besides
    ]
    settings = PARTS["pdlp"][0]
    return [one for one in own if one.file != settings or one.name.startswith(EXECUTION)]


def _changed(
    constant: Constant, factor: float, measure: Measure, base: Sequence[float]
) -> float | str:
    try:
        with changed(constant, factor):
            return round(_more(measure(), base), 4)
    except Exception as error:  # a value that does not go is a result, too
        return f"{type(error).__name__}: {error}"[:60]


def _more(values: Sequence[float], base: Sequence[float]) -> float:
    """Return the mean of what is more: logarithms of times, gaps as they are (negative)."""
    return float(np.mean([value - first for value, first in zip(values, base, strict=True)]))


@contextmanager
def changed(constant: Constant, factor: float) -> Iterator[None]:
    """Give a constant another value in its module and in those that import it."""
    name, value = constant.name, constant.times(factor)
    if name.startswith(EXECUTION):
        from solvers.pdlp import settings

        field = name.removeprefix(EXECUTION)
        with _put([settings], "DEFAULT", settings.DEFAULT.changed(execution={field: value})):
            yield
        return
    old = getattr(sys.modules[_module(constant.file)], name)
    others = {one.file for one in _all_constants() if one.name == name} - {constant.file}
    strangers = {_module(file) for file in others}  # that have one of this name and value, too
    users = [
        one
        for key, one in sys.modules.items()
        if key.startswith("solvers.") and key not in strangers and vars(one).get(name) is old
    ]
    with _put(users, name, value):
        yield


@functools.cache
def _all_constants() -> list[Constant]:
    return find("solvers")


def _module(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@contextmanager
def _put(modules: Sequence[Any], name: str, value: object) -> Iterator[None]:
    old = getattr(modules[0], name)
    try:
        for module in modules:
            setattr(module, name, value)
        yield
    finally:
        for module in modules:
            setattr(module, name, old)


def of_pdlp(device: Device, arguments: argparse.Namespace) -> Measure:
    """Return what measures the logarithm of an iteration's microseconds."""
    from benchmarks.family_rates import iteration_seconds, reduced
    from solvers.core.options import EngineOptions
    from solvers.core.progress import Progress
    from solvers.pdlp import settings
    from solvers.pdlp.start import prepare

    programs = [reduced(FAMILY, size, 0) for size in arguments.sizes]

    def measure() -> list[float]:
        found = []
        for program in programs:
            own = settings.DEFAULT.changed(step={"power_iterations": 0})
            with device.activate():
                state = prepare(program, EngineOptions(), device, Progress(), settings=own)
                state.write_control(primal_tolerance=-1.0)
                found.append(math.log(1e6 * iteration_seconds(device, state)))
        return found

    return measure


def of_lists(device: Device, arguments: argparse.Namespace) -> Measure:
    """Return what measures the logarithm of seconds for problems with long lists."""
    from benchmarks.knapsack import read
    from solvers.knapsack import Knapsack, solve_knapsack

    problems = [read(path) for path in arguments.files]

    def seconds(problem: Knapsack) -> float:
        return _seconds(lambda: solve_knapsack(problem, device=device.kind))

    return lambda: [seconds(one) for one in problems]


def of_batch(device: Device, arguments: argparse.Namespace) -> Measure:
    """Return what measures the logarithm of seconds for a batch."""
    from benchmarks.constants_runs import batch_of
    from solvers.knapsack.batch import solve_many_knapsacks

    batches = [batch_of(kind, arguments.count, 0) for kind in BATCH_CLASSES]

    def seconds(profits: Any, weights: Any, capacities: Any) -> float:
        def solve() -> object:
            return solve_many_knapsacks(profits, weights, capacities, device)

        return statistics.median(_seconds(solve) for _ in range(REPEATS))

    return lambda: [seconds(*batch) for batch in batches]


def of_walkers(device: Device, arguments: argparse.Namespace) -> Measure:
    """Return what measures the gap after some time."""
    import gpu_bridge as gb
    from benchmarks.mip_sets import read_index
    from solvers.mip.budget import Budget
    from solvers.mip.heuristics.local_search.run import run_walkers
    from solvers.mip.model import MipModel, is_feasible
    from solvers.mip.solutions.incumbents import Found, Pool

    index = {one.name: one for one in read_index(arguments.folder)}
    models = []
    for name in arguments.models:
        problem = gb.read(str(index[name].path))
        best = index[name].best
        assert best is not None, name
        models.append((MipModel.of(problem), -best if problem.maximize else best))
    seeds = iter(range(1_000_000))

    def gap(model: MipModel, best: float) -> float:
        pool = Pool(32, model.integers)

        def submit(x: Any, source: str) -> bool:
            return is_feasible(model, x) and pool.add(Found(x, model.objective_at(x), 0.0, source))

        budget = Budget(arguments.seconds)
        run_walkers(model, device, submit, budget, next(seeds), pool=pool)
        objective = min((one.objective for one in pool.points()), default=None)
        return primal_gap(objective, best)

    return lambda: [gap(*one) for one in models]


MAKERS: dict[str, Callable[[Device, argparse.Namespace], Measure]] = {
    "pdlp": of_pdlp,
    "lists": of_lists,
    "batch": of_batch,
    "walkers": of_walkers,
}
"""By part: what measures it."""


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return math.log(time.perf_counter() - began)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--parts", nargs="+", default=list(PARTS), choices=PARTS)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--models", nargs="+", default=[])
    parser.add_argument("--files", nargs="+", type=Path, default=[])
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--count", type=int, default=BATCH, help="problems of a batch")
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--besides", nargs="+", default=[], help="constants to leave out")
    parser.add_argument("--stop-after", type=float, default=math.inf, help="seconds for all parts")
    arguments = parser.parse_args()
    for part, option in (("lists", "files"), ("walkers", "models")):
        if part in arguments.parts and not getattr(arguments, option):
            parser.error(f"{part} need --{option}")
    return arguments


if __name__ == "__main__":
    main()
