"""What a run of the constants' benchmark solves, and what of it is compared.

A mixed-integer model is solved by heuristics alone, in work that every run repeats. For a constant
of one heuristic, that heuristic has all the turns (``mip_changed.turns_of``): beside a dozen others
it would have few in such a run.
"""

from __future__ import annotations

import argparse
import hashlib
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.mip_changed import turns_of
from benchmarks.mip_measures import primal_gap

WALKERS = "solvers/mip/heuristics/local_search"

ENGINES = {
    "mip": "solvers/mip",
    "walkers": WALKERS,
    "pdlp": "solvers/pdlp",
    "knapsack": "solvers/knapsack",
}
"""Where the constants of each are; those of the walkers are not measured with the others."""

HEURISTICS = "solvers/mip/heuristics/"

SHIFT = 100.0
"""Iterations, states or nodes that are added before their logarithm is taken."""

LARGEST = 1_000_000
"""Largest weight of a drawn knapsack problem."""

SMALL_LARGEST, SMALL_CAPACITY, BATCH_ITEMS = 1_000, 100_000, 50
"""Largest weight, and capacity, of problems with small weights, and items of those of a batch."""

START_TOLERANCE = 1e-2
"""Tolerance of the solve whose point is another's start."""

FRACTIONS = 600
"""Denominator of a drawn knapsack problem's numbers that are fractions."""

KNAPSACK_SECONDS = 60.0
"""Limit of a knapsack problem, which only constants that do not go well reach."""

Result = tuple[str, float]
"""What is compared, as a text, and how good it is: less is better."""


def group_of(engine: str, file: str) -> str:
    """Return the heuristic whose constant is in a file; nothing for what all heuristics share."""
    if engine != "mip" or not file.startswith(HEURISTICS):
        return ""
    return file.removeprefix(HEURISTICS).partition("/")[0].partition(".")[0]


def files_of(arguments: argparse.Namespace) -> list[tuple[str, Path, float | None]]:
    """Return names, files and best known objectives of the models."""
    if arguments.engine == "knapsack":
        given = {name: arguments.folder / name for name in arguments.models}
        return [(name, p if p.is_file() else Path(name), None) for name, p in given.items()]
    if arguments.engine != "pdlp":
        from benchmarks.mip_sets import read_index

        known = {one.name: one for one in read_index(arguments.folder)}
        return [(name, known[name].path, known[name].best) for name in arguments.models]
    from benchmarks import lp_sets

    paths = {
        name: Path(name) for name in arguments.models if Path(name).is_file() or "-at-" in name
    }
    index = lp_sets.read_index(arguments.folder, ("lp", "mip", "infeasible", "unbounded"))
    known_paths = {one.name: one.path for one in index}
    return [(name, paths.get(name) or known_paths[name], None) for name in arguments.models]


def mixed_integer(
    path: Path, best: float | None, seed: int, group: str, arguments: argparse.Namespace
) -> Result:
    """Solve a model by heuristics alone, and compare points by their gap."""
    import gpu_bridge as gb
    from solvers.mip import heuristic_stage
    from solvers.mip.table import TABLE

    options: dict[str, Any] = {"device": "cpu", "explain": False, "seed": seed}
    if arguments.time_limit is None:
        alone = {"deterministic": True, "heuristics_only": True, "work_limit": arguments.work}
        options |= alone
    else:
        options |= {"time_limit": arguments.time_limit, "threads": 2}
    problem, start = gb.read(str(path)), None
    table = turns_of(group) if group else TABLE
    with mock.patch.object(heuristic_stage, "TABLE", table):
        if arguments.start:
            first = gb.solve(problem, **options)
            if first.x is not None:
                start = gb.Start(x=_in_part(first.x, problem.integrality))
        outcome = gb.solve(problem, start=start, **options)
    has_point = bool(np.isfinite(outcome.objective))
    x = np.asarray(outcome.x) if has_point else np.zeros(0)
    objective = outcome.objective if has_point else None
    return _digest([x]), primal_gap(objective, best, -1.0 if problem.maximize else 1.0)


def _in_part(x: Any, integers: Any) -> Any:
    """Return a point without its continuous columns, and without every other integer one."""
    part = np.array(x, dtype=np.float64)
    part[~np.asarray(integers, dtype=bool)] = np.nan
    part[1::2] = np.nan
    return part


def _digest(points: Sequence[Any]) -> str:
    whole = b"".join(np.ascontiguousarray(one).tobytes() for one in points)
    return hashlib.sha256(whole).hexdigest()[:12]


def walks(
    path: Path, best: float | None, seed: int, group: str, arguments: argparse.Namespace
) -> Result:
    """Let walkers of the CPU walk, then the twin of the one that a whole GPU drives."""
    import gpu_bridge as gb
    from solvers.core.device import cpu
    from solvers.mip.budget import Budget
    from solvers.mip.heuristics.local_search import fleet
    from solvers.mip.heuristics.local_search import run as walkers
    from solvers.mip.heuristics.local_search.fleet import Plan
    from solvers.mip.heuristics.local_search.grid_wide import GRID_KERNEL
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
        with mock.patch.object(walkers, "plan_for", plan):
            walkers.run_walkers(model, cpu(), submit, budget, seed, pool=pool)
        found = pool.points()
        points += [one.x for one in found]
        objective = min((one.objective for one in found), default=None)
        gaps.append(primal_gap(objective, best))
    return _digest(points), sum(gaps) / len(gaps)


def linear(
    path: Path, best: float | None, seed: int, group: str, arguments: argparse.Namespace
) -> Result:
    """Solve a linear program by PDLP on a CPU, and compare iterations by their logarithm.

    With ``--start`` it begins at what a solve to :data:`START_TOLERANCE` finds, each value half of
    it to half as much again.
    """
    import gpu_bridge as gb

    is_drawn = "-at-" in path.name
    problem = _family(path.name) if is_drawn else gb.read(str(path)).relaxation()
    options: dict[str, Any] = {
        "method": "pdlp",
        "device": "cpu",
        "threads": 1,
        "seed": seed,
        "iteration_limit": arguments.iteration_limit,
        "crossover": "off",
        "explain": False,
    }
    start = None
    if arguments.start:
        first = gb.solve(problem, tolerance=START_TOLERANCE, **options)
        rng = np.random.default_rng(seed)
        x, y = (np.asarray(one) for one in (first.x, first.row_dual))
        x, y = (one * rng.uniform(0.5, 1.5, one.size) for one in (x, y))
        start = gb.Start(x=x, row_dual=y)
    outcome = gb.solve(problem, start=start, tolerance=arguments.tolerance, **options)
    iterations = int(outcome.statistics.get("iterations", 0))
    return f"{iterations} {outcome.solution_status.name}", math.log(iterations + SHIFT)


def _family(name: str) -> Any:
    """Return the program ``FAMILY-at-NONZEROS``."""
    import gpu_bridge as gb
    from benchmarks.families import FAMILIES

    family, size = name.split("-at-")
    lp = FAMILIES[family].make(int(size), 0)
    return gb.Problem.from_arrays(
        lp.cost, lp.matrix, lp.row_lower, lp.row_upper, lower=lp.lower, upper=lp.upper
    )


def knapsack(
    path: Path, best: float | None, seed: int, group: str, arguments: argparse.Namespace
) -> Result:
    """Solve a drawn knapsack problem, and compare states or nodes by their logarithm.

    Its name is ``one-CLASS-ITEMS``, ``choice-KIND-CLASSES``, ``several-CLASS-ITEMS`` (``unlike``
    for knapsacks of unlike sizes) or ``rows-ROWS-ITEMS``, a class with ``_`` for a hyphen and ``+``
    for a space; ``small-KIND-ITEMS`` has small weights (``knapsack_tables.py``),
    ``many-CLASS-COUNT`` is a batch, and a file under FOLDER is read. ``fraction-CLASS-ITEMS`` is
    one knapsack with numbers of so many :data:`FRACTIONS`.
    """
    from benchmarks import knapsack as knapsack_files

    if path.suffix == ".gz":
        return _worked(_model_of(knapsack_files.read(path)))
    form, kind, size = path.name.split("-")
    if form == "many":
        return _batch(_class(kind), int(size), seed)
    return _worked(_drawn(form, kind, int(size), seed))


def _worked(problem: Any) -> Result:
    import gpu_bridge as gb

    outcome = gb.solve(
        problem,
        method="knapsack",
        device="cpu",
        threads=1,
        time_limit=KNAPSACK_SECONDS,
        explain=False,
    )
    work = sum(value for value in outcome.statistics.values() if isinstance(value, int))
    return f"{work}/{outcome.objective}", math.log(work + SHIFT)


def _batch(kind: str, count: int, seed: int) -> Result:
    from solvers.knapsack.batch import solve_many_knapsacks

    packed = solve_many_knapsacks(*batch_of(kind, count, seed), "cpu", threads=1)
    work = int(packed.states.sum())
    return f"{work}/{int(packed.profit.sum())}/{packed.alone}", math.log(work + SHIFT)


def batch_of(kind: str, count: int, seed: int) -> tuple[Any, Any, Any]:
    """Return profits and weights (count, n), and capacities (count,), of a drawn batch."""
    from benchmarks import knapsack_classes

    seeds = np.random.default_rng(seed).integers(1 << 30, size=count).tolist()
    drawn = [knapsack_classes.instance(kind, BATCH_ITEMS, SMALL_LARGEST, one) for one in seeds]
    profits, weights = np.stack([d.profit for d in drawn]), np.stack([d.weight for d in drawn])
    return profits, weights, np.array([d.capacity for d in drawn])


def _drawn(form: str, kind: str, size: int, seed: int) -> Any:
    from benchmarks import knapsack_classes, knapsack_multidimensional, knapsack_tables
    from benchmarks import knapsack_multiple as several
    from benchmarks import knapsack_multiple_choice as choice

    if form == "one":
        return _model_of(knapsack_classes.instance(_class(kind), size, LARGEST, seed))
    if form == "fraction":
        return _model_of(knapsack_classes.instance(_class(kind), size, LARGEST, seed), FRACTIONS)
    if form == "small":
        capacity = SMALL_CAPACITY + seed
        return _model_of(
            knapsack_tables.instance(_class(kind), size, SMALL_LARGEST, capacity, copies=0)
        )
    if form == "choice":
        return choice.model_of(choice.instance(kind, size, 10, LARGEST, seed))
    if form == "rows":
        drawn = knapsack_multidimensional.drawn(size, int(kind), 0.5, seed)
        return knapsack_multidimensional.as_model(drawn.problem)
    return several.as_model(several.drawn(_class(kind), size, 5, seed, form == "several"))


def _model_of(one: Any, denominator: int = 1) -> Any:
    from solvers.core.problem import Problem

    return Problem.from_arrays(
        one.profit / denominator,
        one.weight[None, :] / denominator,
        row_upper=[one.capacity / denominator],
        upper=one.copies.astype(np.float64),
        integrality=np.ones(one.num_items, dtype=bool),
        maximize=True,
    )


def _class(word: str) -> str:
    return word.replace("_", "-").replace("+", " ")


SOLVE: dict[str, Callable[[Path, float | None, int, str, argparse.Namespace], Result]] = {
    "mip": mixed_integer,
    "walkers": walks,
    "pdlp": linear,
    "knapsack": knapsack,
}
"""By engine: file, best known objective, seed and group to what is compared."""
