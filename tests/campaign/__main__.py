"""Random models of every kind, in every way, against the truth, for some minutes.

python -m tests.campaign --minutes 30 --seed 7 --processes 4
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console

from tests.campaign.beside import try_faults, try_leaks, try_limits
from tests.campaign.crew import Settings, Task, run_crew
from tests.campaign.generators import chosen_kinds
from tests.campaign.oracles import missing_oracles
from tests.campaign.tally import Tally

SEEDS_OF_A_CAMPAIGN = 1_000_000
"""Seeds apart that two campaigns begin, so that their models differ."""

TOLD_EVERY = 60.0
WIDTH = 180
"""Columns of the table in a file."""

ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main(words: Sequence[str] | None = None) -> int:
    """Run a campaign and return its exit status: 1 if anything is wrong."""
    given = _parse(words)
    kinds = chosen_kinds(name for name in given.kinds.split(",") if name)
    given.out.mkdir(parents=True, exist_ok=True)
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    for name in missing_oracles():
        console.print(f"{name} is not installed; going without it.")
    if given.processes > 1:
        for name in ONE_THREAD:  # the processes use all cores already
            os.environ.setdefault(name, "1")
    began = time.monotonic()
    settings = Settings(given.out.resolve(), given.device, given.ways)
    tasks = _tasks(kinds, given.seed, began + 60.0 * given.minutes, given.models)
    tally, told = Tally(), began
    with contextlib.suppress(KeyboardInterrupt):  # what was found so far is shown all the same
        for trial in run_crew(tasks, settings, given.processes):
            tally.take(trial)
            for finding in trial.findings:
                if finding.verdict.is_failure:
                    console.print(str(finding), markup=False, highlight=False, soft_wrap=True)
            if time.monotonic() - told > TOLD_EVERY:
                told, total = time.monotonic(), tally.total
                counts = f"{total.models} models, {total.solves} solves, {total.wrong} wrong"
                console.print(f"{told - began:.0f} s: {counts}")
    seconds = time.monotonic() - began
    tally.write(given.out / "campaign.json", seed=given.seed, seconds=round(seconds, 1))
    tally.show(console, f"seed {given.seed}, {given.device}, {seconds:.0f} s of wall time")
    beside_is_well = _try_beside(console, given)
    return 0 if beside_is_well and not tally.failures else 1


def _try_beside(console: Console, given: argparse.Namespace) -> bool:
    """Try what is asked for beside models, all of it, and return whether all went well."""
    went_well = []
    if given.faults:
        went_well.append(try_faults(console, given.faults, given.seed))
    if given.limits:
        went_well.append(try_limits(console, given.limits, given.seed))
    if given.leaks:
        went_well.append(try_leaks(console, given.leaks, given.seed, given.device))
    return all(went_well)


def _tasks(kinds: Sequence[str], seed: int, deadline: float, most: int | None) -> Iterator[Task]:
    """Yield a model of each kind in turn, with ever new seeds, until time is up."""
    rounds = itertools.count(seed * SEEDS_OF_A_CAMPAIGN)
    endless = ((kind, number) for number in rounds for kind in kinds)
    for task in itertools.islice(endless, most):
        if time.monotonic() > deadline:
            return
        yield task


def _parse(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="wall time")
    parser.add_argument("--seed", type=int, default=0, help="another number, other models")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--kinds", default="", help="names or beginnings of names, with commas")
    parser.add_argument("--models", type=int, default=None, help="stop after so many")
    parser.add_argument("--ways", type=int, default=3, help="solves of each model")
    parser.add_argument("--faults", type=float, default=0.0, help="seconds of faults afterwards")
    parser.add_argument("--limits", type=float, default=0.0, help="seconds of limits afterwards")
    parser.add_argument("--leaks", type=int, default=0, help="solves that nothing may grow with")
    parser.add_argument("--out", type=Path, default=Path("campaign-output"), help="for findings")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main())
