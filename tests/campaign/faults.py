"""Faults done to solves: interruptions, kills, full disks, limits on memory, closed streams.

    python -m tests.campaign.faults --seconds 600 --seed 3

Each trial is a process of its own that solves by one of the doors, and one thing done to it at
random times. Whatever that is, there is an answer, an honest status or the one exception that is
documented for it, soon after the limit; nothing is printed that speaks of our code; the next solve
of that process works; and no process and no file is left.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tests.campaign.injuries import (
    End,
    FullFolder,
    FullLog,
    Injury,
    Interrupt,
    Kill,
    KillChildren,
    LittleMemory,
    NoMoreFiles,
    Output,
    can_mount,
)
from tests.campaign.patient import Patient, Plan

CLOSED = (
    "<&-",
    ">&-",
    "2>&-",
    ">&- 2>&-",
    "<&- >&- 2>&-",
    "> /dev/full",
    "> /dev/full 2> /dev/full",
)

LATENESS = 2.0
"""Seconds after a limit, at most, of an answer on a machine that nobody else uses."""


@dataclass(frozen=True)
class Fault:
    """A trial: what was done to what, and whether it ended as it should."""

    kind: str
    description: str
    ok: bool
    detail: str


def run(seconds: float, seed: int) -> list[Fault]:
    """Return the faults of so many seconds."""
    return [fault for fault, _ in trials(seconds, seed)]


def trials(seconds: float, seed: int) -> Iterator[tuple[Fault, int]]:
    """Yield each fault, and how often something was done to the process."""
    deadline = time.monotonic() + seconds
    number = 0
    while time.monotonic() < deadline:
        rng = np.random.default_rng([seed, number])
        kind = KINDS[number % len(KINDS)]
        plan = _plan(rng)
        if kind == "memory":  # a door in the victim is too late for a limit
            plan = replace(plan, door="command")
        yield try_one(kind, plan, INJURIES[kind](rng, plan.limit))
        number += 1


def try_one(
    kind: str, plan: Plan, injury: Injury, lateness: float | None = None
) -> tuple[Fault, int]:
    """Do one thing to one process; return how it ended, and how often it was done.

    ``lateness`` is how many seconds after a limit the answer may come; by itself it is what a
    machine that nobody else uses is to keep, and more as others use this one.
    """
    if lateness is None:
        lateness = LATENESS * max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
    patient = Patient(plan, injury, lateness)
    complaints = patient.treat()
    fault = Fault(
        kind,
        f"{plan} {injury}".rstrip(),
        not complaints,
        "; ".join(complaints) or patient.told,
    )
    return fault, injury.delivered


def _plan(rng: np.random.Generator) -> Plan:
    model = str(rng.choice(["lp", "mip", "mip"]))
    methods = ["auto", "highs", "simplex", "pdlp"] if model == "lp" else ["auto", "highs", "mip"]
    doors = ["by_arrays", "by_pyomo", "by_old_pyomo", "by_pulp", "command"]
    return Plan(
        door=str(rng.choice(doors)),
        model=model,
        method=str(rng.choice(methods)),
        limit=round(float(rng.uniform(0.5, 3.0)), 2),
        seed=int(rng.integers(5)),
    )


def _times(rng: np.random.Generator, limit: float, most: int) -> list[float]:
    """Return one or more times within a limit, which solves may not come to."""
    count = 1 if rng.random() < 0.5 else int(rng.integers(1, most + 1))
    return [float(one) for one in limit * rng.random(count) ** 2]


def _kill_children(rng: np.random.Generator, limit: float) -> Injury:
    times = _times(rng, limit, 4)
    if rng.random() < 0.3:  # again and again
        times = [float(one) for one in np.arange(0.0, limit, rng.uniform(0.05, 0.3))]
    return KillChildren(times, rng)


def _full_folder(rng: np.random.Generator, limit: float) -> Injury:
    if can_mount() and rng.random() < 0.6:
        return FullFolder(int(rng.choice([0, 4, 64])))
    return FullFolder(None) if rng.random() < 0.3 else NoMoreFiles(_times(rng, limit, 1), rng)


def _little_memory(rng: np.random.Generator, limit: float) -> Injury:
    return LittleMemory(str(rng.choice(["v", "v", "d"])), int(rng.integers(100, 1200)))


INJURIES: dict[str, Callable[[np.random.Generator, float], Injury]] = {
    "interruption": lambda rng, limit: Interrupt(_times(rng, limit, 3), rng),
    "killed children": _kill_children,
    "terminated": lambda rng, limit: End(_times(rng, limit, 1), rng),
    "killed": lambda rng, limit: Kill(_times(rng, limit, 1), rng),
    "full disk": _full_folder,
    "output": lambda rng, limit: Output(str(rng.choice(CLOSED))),
    "full log": lambda rng, limit: FullLog(),
    "memory": _little_memory,
}

KINDS = (
    *("interruption", "killed children", "interruption", "full disk", "interruption", "killed"),
    *("interruption", "killed children", "output", "interruption", "memory", "killed children"),
    *("interruption", "terminated", "full log"),
)
"""In which order: what happens most is tried most."""


def main(words: Sequence[str] | None = None) -> int:
    """Run for some seconds, print what went wrong and a table; return 1 if anything did."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign.faults")
    parser.add_argument("--seconds", type=float, default=60.0, help="wall time")
    parser.add_argument("--seed", type=int, default=0, help="another number, other faults")
    given = parser.parse_args(words)
    made: Counter[str] = Counter()
    done: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for fault, delivered in trials(given.seconds, given.seed):
        made[fault.kind] += 1
        done[fault.kind] += delivered
        wrong[fault.kind] += not fault.ok
        if not fault.ok or os.environ.get("VERBOSE"):
            print(f"{fault.kind}: {fault.description}: {fault.detail}", flush=True)
    for kind in made:
        print(f"{kind:16} {made[kind]:5} trials {done[kind]:5} times {wrong[kind]:5} wrong")
    return int(sum(wrong.values()) > 0)


if __name__ == "__main__":
    sys.exit(main())
