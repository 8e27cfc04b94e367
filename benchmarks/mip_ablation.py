"""What each mixed-integer heuristic is worth: the models again, with one of them left out.

    python -m benchmarks.mip_ablation FOLDER [--set wide] [--seeds 0 1] [--time-limit 20]
        [--without NAME ...] [--variants module.NAME=value ...] [--threads 2] [--at-once 1]
        [--resume RECORD] [--work W] [--heuristic FOLDER]

Each row of ``solvers/mip/table.py`` is left out in turn, then each kind; ``--without`` names some
of them, ``--without neighbourhoods`` stands for each neighbourhood of large-neighbourhood search,
and ``--variants`` adds constants with other values. FOLDER holds INSTANCES.csv (see
``mip_sets.py``). The program as it is runs with the seeds, and once more with as many others: what
differs between those two is the noise, and stands in a row of its own.

A figure is the mean over models and seeds of what a variant has more than the program as it is, of
the same model and seed: gap (0 to 1), primal integral (0 to 1), and the logarithm of the seconds to
the first point plus one. Beside it is half the width of a 90 % interval, by drawing models with
replacement. A heuristic is worth something where the interval does not reach zero, and the noise
hides it where it does. ``--resume`` takes the runs of earlier records and adds what is missing;
``--work`` and ``--heuristic`` are those of ``mip_variants.py``; by work, the first point counts in
millions of entries.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from benchmarks.mip_changed import NEIGHBOURHOOD
from benchmarks.mip_sets import SETS, choose, read_index
from benchmarks.mip_variants import Run, add_settings, parse, run_all, settings_of
from benchmarks.peers import mip_recorded
from benchmarks.record import Column, print_table, write_record

NOISE = "noise"
"""Row of the program as it is with other seeds."""

EACH_NEIGHBOURHOOD = "neighbourhoods"
"""Stands for all of them, one at a time."""

DRAWS = 2000
"""Samples of models for an interval."""

COVERED = 0.9
"""Part of the samples that an interval covers."""

MEASURES: dict[str, Callable[[Run], float]] = {
    "gap": lambda run: run.gap,
    "P/T": lambda run: run.integral,
    "log first": lambda run: math.log1p(run.first),
}


def main() -> int:
    """Run all variants, print what each is worth, and write a record."""
    arguments = parse(make_parser(), sys.argv[1:])
    peers = mip_recorded.instances(mip_recorded.DEFAULT)
    which = arguments.set or (None if arguments.instances else "wide")
    entries = choose(read_index(arguments.folder), which, arguments.instances, peers)
    variants = [*(f"-{name}" for name in _left_out(arguments.without)), *arguments.variants]
    seeds = arguments.seeds
    others = [max(seeds) + 1 + k for k in range(len(seeds))]
    settings = settings_of(arguments)
    runs = _earlier(arguments.resume)
    known = {(run.model, run.variant, run.seed) for run in runs}
    jobs = [
        (entry, variant, seed)
        for entry in entries
        for variant in ("", *variants)
        for seed in (*seeds, *([] if variant else others))
        if (entry.name, variant, seed) not in known
    ]
    try:
        run_all(jobs, settings, runs.append)
    finally:
        rows = [
            worth(NOISE, runs, seeds, others),
            *(worth(variant, runs, seeds, seeds) for variant in variants),
        ]
        content = {"rows": [vars(run) for run in runs], "worth": rows, "settings": vars(settings)}
        write_record(arguments.record, content)
    columns = [Column(name, 3) for name in rows[0]]
    print_table("Left out", columns, [list(row.values()) for row in rows])
    return 0


def _left_out(given: Sequence[str]) -> list[str]:
    return neighbourhoods() if list(given) == [EACH_NEIGHBOURHOOD] else list(given) or names()


def neighbourhoods() -> list[str]:
    """Return what each neighbourhood is left out by."""
    from solvers.mip.heuristics.large_neighbourhood.neighbourhoods import CATALOGUE

    return [NEIGHBOURHOOD + one.name for one in CATALOGUE]


def names() -> list[str]:
    """Return the heuristics of the table, then their kinds."""
    from solvers.mip.table import TABLE

    single = dict.fromkeys(row.name for row in TABLE)
    kinds = dict.fromkeys(f"kind:{row.kind.value}" for row in TABLE if row.kind)
    return [*single, *kinds]


def worth(
    variant: str, runs: Sequence[Run], seeds: Sequence[int], others: Sequence[int]
) -> dict[str, object]:
    """Return what a variant has more than the program as it is, and how sure that is.

    Parameters
    ----------
    variant : str
        :data:`NOISE` stands for the program as it is with the seeds ``others``.
    runs : sequence of Run
    seeds, others : sequences of int
        Seeds of the program as it is, and those of the variant, in pairs.
    """
    found = {(run.model, run.variant, run.seed): run for run in runs}
    name = "" if variant == NOISE else variant
    pairs: dict[str, list[tuple[Run, Run]]] = {}
    for model in dict.fromkeys(run.model for run in runs):
        for seed, other in zip(seeds, others, strict=True):
            before, after = found.get((model, "", seed)), found.get((model, name, other))
            if before is not None and after is not None:
                pairs.setdefault(model, []).append((before, after))
    row: dict[str, object] = {"left out": variant.removeprefix("-"), "models": len(pairs)}
    for title, measure in MEASURES.items():
        more = [
            float(np.mean([measure(after) - measure(before) for before, after in of_model]))
            for of_model in pairs.values()
        ]
        row[title], row[f"+- {title}"] = interval(more)
    return row


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean of values, and half the width of its interval by the bootstrap."""
    if not values:
        return math.nan, math.nan
    rng = np.random.default_rng(0)
    drawn = rng.choice(np.asarray(values), (DRAWS, len(values))).mean(axis=1)
    low, high = np.quantile(drawn, [(1.0 - COVERED) / 2.0, (1.0 + COVERED) / 2.0])
    return float(np.mean(values)), float(high - low) / 2.0


def _earlier(records: Sequence[Path]) -> list[Run]:
    return [Run(**row) for path in records for row in json.loads(path.read_text())["rows"]]


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", choices=SETS, help="by default wide, if there are no --instances")
    parser.add_argument("--instances", nargs="+", default=[])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    parser.add_argument("--without", nargs="+", default=[])
    parser.add_argument("--variants", nargs="+", type=str.strip, default=[])
    parser.add_argument("--record", default="mip-ablation", help="what the record is called")
    parser.add_argument("--resume", nargs="+", type=Path, default=[])
    add_settings(parser)
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
