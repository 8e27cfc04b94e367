"""PDLP with other settings in the engine itself: iterations and processor time on both halves.

    python -m benchmarks.pdlp_settings FOLDER [--variants "" restart.check_interval=100 seed=1 ...]
        [--sets families lp relaxations] [--half choosing] [--tolerance 1e-4 1e-6]
        [--max-nonzeros 40000] [--nonzeros 30000] [--family-seeds 0 1] [--iteration-limit 20000]
        [--stop-after 3600] [--resume RECORD ...]

A variant is a list, separated by commas, of ``group.field=value``, fields of
``solvers.pdlp.settings.Settings``, and of ``module.NAME=value``, constants of modules of
``solvers.pdlp``. An empty one is the engine as it is, and ``seed=1`` is that with another start of
the power iteration, which says how large the noise is. FOLDER holds INSTANCES.csv (see
``lp_sets.py``); families are those of ``benchmarks.families``; infeasible programs, and unbounded
ones, are solved where that is proven. Every model is reduced by the light
presolve and solved on one thread of a CPU, by all variants one after the other. Errors are measured
against the norms of the model before presolve. A model that is not solved within the limit counts
at the limit.

For each set, half and tolerance a line says the models solved, the shifted geometric mean of
iterations (100) and of processor seconds (0.1), and by how much the mean logarithm of iterations is
larger than that of the first variant, with half the width of a 90 % interval by drawing models.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import json
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks import lp_sets
from benchmarks.families import FAMILIES
from benchmarks.halves import HALVES, half_of
from benchmarks.linear_programs import LinearProgram
from benchmarks.mip_ablation import interval
from benchmarks.record import Column, print_table, write_record
from solvers import pdlp, presolve
from solvers.core.device import cpu
from solvers.core.errors import GpuBridgeError
from solvers.core.options import EngineOptions
from solvers.core.outcome import SolutionStatus
from solvers.core.problem import Problem
from solvers.core.progress import Progress

SHIFT = 100.0
"""Iterations that are added before their logarithm is taken."""

SHORT = 0.1
"""Seconds that are added before theirs is."""

SETS = ("families", "lp", "relaxations", "infeasible")

SOLVED = (SolutionStatus.OPTIMAL, SolutionStatus.INFEASIBLE, SolutionStatus.UNBOUNDED)


def main() -> None:
    """Run the variants, print the table and write a record."""
    arguments = _arguments()
    stop_at = time.monotonic() + arguments.stop_after
    rows = [row for path in arguments.resume for row in json.loads(path.read_text())["rows"]]
    known = {(row["model"], row["variant"], row["tolerance"]) for row in rows}
    try:
        for group, name, whole in models(arguments):
            wanted = [
                (variant, tolerance)
                for tolerance in arguments.tolerance
                for variant in arguments.variants
                if (name, variant, tolerance) not in known
            ]
            if time.monotonic() > stop_at:
                break
            for variant, tolerance, found in solve_all(whole, wanted, arguments.iteration_limit):
                row = {"set": group, "model": name, "half": half_of(name), "variant": variant}
                rows.append({**row, "tolerance": tolerance, **found})
                print(rows[-1], flush=True)
    except KeyboardInterrupt:
        print("Interrupted; what was measured so far is recorded.")
    totals = list(summary(rows, arguments.variants))
    columns = [Column(title, 4) for title in totals[0]]
    print_table("PDLP's settings", columns, [list(one.values()) for one in totals])
    places = ("folder", "resume")
    options = {key: value for key, value in vars(arguments).items() if key not in places}
    write_record(
        "pdlp-settings", {"options": options, "totals": totals, "rows": rows}, device=cpu()
    )


def settings_of(variant: str, constants: ExitStack) -> tuple[pdlp.Settings, int]:
    """Return the settings that a variant names, and the seed; modules are patched in a stack."""
    settings, seed = pdlp.DEFAULT, 0
    for part in filter(None, variant.split(",")):
        name, _, text = part.partition("=")
        group, _, field = name.rpartition(".")
        if name == "seed":
            seed = int(text)
            continue
        if field.isupper():
            module = importlib.import_module(f"solvers.pdlp.{group}")
            constants.enter_context(mock.patch.object(module, field, float(text)))
            continue
        old = getattr(settings, group)
        kind = type(getattr(old, field))
        changed = dataclasses.replace(old, **{field: kind(float(text))})
        settings = dataclasses.replace(settings, **{group: changed})
    return settings, seed


def models(arguments: argparse.Namespace) -> Iterator[tuple[str, str, Problem]]:
    """Yield set, name and program of each model, set after set in turn, smallest first."""
    import gpu_bridge

    halves = HALVES if arguments.half is None else (arguments.half,)
    waiting: list[list[tuple[str, str, Any]]] = []
    if "families" in arguments.sets:
        names = [name for name in FAMILIES if half_of(name) in halves]
        seeds = arguments.family_seeds
        waiting.append([("families", f"{name}-{seed}", name) for seed in seeds for name in names])
    index = lp_sets.read_index(arguments.folder, ("lp", "mip", "infeasible", "unbounded"))
    kinds = {"lp": "lp", "mip": "relaxations"}
    for group in SETS[1:]:
        found = [
            (group, entry.name, entry.path)
            for entry in sorted(index, key=lambda entry: entry.nonzeros)
            if group in arguments.sets
            and kinds.get(entry.kind, "infeasible") == group
            and half_of(entry.name) in halves
            and arguments.min_nonzeros <= entry.nonzeros <= arguments.max_nonzeros
        ]
        every = max(1, len(found) // arguments.most)
        waiting.append(found[::every])
    while any(waiting):
        for part in filter(None, waiting):
            group, name, place = part.pop(0)
            if group == "families":
                seed = int(name.rpartition("-")[2])
                yield group, name, _problem(FAMILIES[place].make(arguments.nonzeros, seed))
                continue
            try:
                yield group, name, gpu_bridge.read(place).relaxation()
            except GpuBridgeError as error:
                print(f"{name}: {error}")


def _problem(lp: LinearProgram) -> Problem:
    return Problem.from_arrays(
        *(lp.cost, lp.matrix, lp.row_lower, lp.row_upper), lower=lp.lower, upper=lp.upper
    )


def solve_all(
    whole: Problem, wanted: Sequence[tuple[str, float]], limit: int
) -> Iterator[tuple[str, float, dict[str, Any]]]:
    """Yield what comes of a program with each variant and tolerance; nothing of a trivial one."""
    reduction = presolve.apply(whole, Progress(), "light") if wanted else None
    if reduction is None or reduction.settled is not None:
        return
    if reduction.problem.num_nonzeros == 0:
        return
    norms = pdlp.Norms.of(whole)
    options = EngineOptions(device="cpu", threads=1, iteration_limit=limit)
    for variant, tolerance in wanted:
        began = time.process_time()
        with ExitStack() as constants:
            settings, seed = settings_of(variant, constants)
            own = dataclasses.replace(options, tolerance=tolerance, seed=seed)
            program = reduction.problem
            outcome = pdlp.solve(program, own, Progress(), settings=settings, norms=norms)
        solved = outcome.solution_status in SOLVED
        iterations = int(outcome.statistics.get("iterations", limit)) if solved else limit
        seconds = time.process_time() - began
        yield (
            variant,
            tolerance,
            {"iterations": iterations, "solved": solved, "seconds": round(seconds, 3)},
        )


def summary(rows: Sequence[dict[str, Any]], variants: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the lines of the table, over the models that all variants were tried on."""
    found = {(one["model"], one["variant"], one["tolerance"]): one for one in rows}
    parts = dict.fromkeys((one["tolerance"], one["set"], one["half"]) for one in rows)
    for tolerance, group, half in sorted(parts):
        names = dict.fromkeys(
            one["model"] for one in rows if (one["set"], one["half"]) == (group, half)
        )
        names = {
            name: None
            for name in names
            if all((name, variant, tolerance) in found for variant in variants)
        }
        for variant in variants if names else ():
            own = [found[name, variant, tolerance] for name in names]
            base = [found[name, variants[0], tolerance] for name in names]
            more, width = interval(
                [_log(one) - _log(first) for one, first in zip(own, base, strict=True)]
            )
            yield {
                "tolerance": tolerance,
                "set": group,
                "half": half,
                "variant": variant or "as it is",
                "models": len(own),
                "solved": sum(one["solved"] for one in own),
                "iterations": _mean([one["iterations"] for one in own], SHIFT),
                "seconds": _mean([one["seconds"] for one in own], SHORT),
                "more": more,
                "+-": width,
            }


def _log(row: dict[str, Any]) -> float:
    return math.log(row["iterations"] + SHIFT)


def _mean(values: Sequence[float], shift: float) -> float:
    return float(np.exp(np.log(np.asarray(values) + shift).mean()) - shift)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--variants", nargs="+", default=["", "seed=1"])
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--half", choices=HALVES, help="of the models; see halves.py")
    parser.add_argument("--tolerance", type=float, nargs="+", default=[1e-4])
    parser.add_argument("--iteration-limit", type=int, default=20_000)
    parser.add_argument("--min-nonzeros", type=int, default=500)
    parser.add_argument("--max-nonzeros", type=int, default=40_000)
    parser.add_argument("--most", type=int, default=40, help="models of a set, about")
    parser.add_argument("--nonzeros", type=int, default=30_000, help="of each family's program")
    parser.add_argument("--family-seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--stop-after", type=float, default=math.inf, help="seconds for all")
    parser.add_argument("--resume", nargs="+", type=Path, default=[])
    return parser.parse_args()


if __name__ == "__main__":
    main()
