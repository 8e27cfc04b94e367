"""What a whole call of PDLP takes on the families, part by part: seconds, and memory of the host.

    python -m benchmarks.pdlp_parts [--families NAME ...] [--nonzeros 4e6 ...] [--seed 0]
        [--tolerance 1e-4 ...] [--time-limit 6] [--iteration-limit COUNT] [--threads 0]
        [--device auto|cuda|cpu] [--stop-after SECONDS]

All in this process, one solve after the other, after a small one that loads what is needed. Memory
is right for the first one: the next ones find some of it in the process. Each part of ``PARTS`` has
the seconds that are its own, without those of parts within it; a GPU is waited for where a part
ends. ``memory`` is what the host held beside the program at the most, in multiples of the program's
size, by the part in which that was. ``mapped`` is how much of that, in bytes, came to be mapped of
files, devices and shared memory, which is what a GPU's driver and transfers take whatever the
program's size. Answers are checked by ``residuals.py`` on the program as it
was given.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any
from unittest import mock

from benchmarks import memory
from benchmarks.families import FAMILIES
from benchmarks.linear_programs import LinearProgram, small_example
from benchmarks.pdlp import to_row
from benchmarks.peers import Task
from benchmarks.peers.ours import Engine
from benchmarks.record import Column, print_table, write_record
from benchmarks.worker import Timed
from solvers.core.device import Device, find_device
from solvers.core.machine import WORTH_IT, give_back

ROUTE, LIGHT = "gpu_bridge.pipeline.routes.pdlp", "solvers.presolve.light"
PDLP = "solvers.pdlp"

PARTS: dict[str, tuple[tuple[str, str], ...]] = {
    "presolve": (("solvers.presolve", "apply"),),
    "its workspace": ((LIGHT, "begin"),),
    "its substitutions": ((LIGHT, "substitute"),),
    "its copy": ((LIGHT, "reduced_problem"),),
    "layout": tuple((f"{PDLP}.start", name) for name in ("to_device", "_as_they_are")),
    "scaling": tuple((f"{PDLP}.{name}", "find_scaling") for name in ("start", "scaling_trial")),
    "step size": ((f"{PDLP}.start", "spectral_norm"),),
    "set-up": (
        *((f"{PDLP}.scaling_trial", name) for name in ("place", "begin")),
        (f"{PDLP}.alternate_scalings", "prepare"),
    ),
    "trial": ((f"{PDLP}.scaling_trial", "_advance"),),
    "iterations": ((f"{PDLP}.alternate_scalings", "run"),),
    "judging": tuple(
        (f"{PDLP}.{name}", "on_original") for name in ("loop_state", "alternate_scalings")
    ),
    "way back": ((f"{LIGHT}.workspace", "Way.back"), (LIGHT, "completed")),
    "polishing": ((f"{PDLP}.repair", "repaired"), (f"{PDLP}.repair", "polish")),
    "verification": ((ROUTE, "verify"), ("gpu_bridge.pipeline.engines", "verify")),
}
"""What is timed, by module and name; what is left is ``REST``."""

REST = "rest"


@dataclass
class Part:
    """Seconds of a part's own, how often it was entered, and the peak of memory in it (bytes)."""

    seconds: float = 0.0
    times: int = 0
    peak: int = 0


@dataclass
class Watch:
    """Tells the parts of a call apart; they are in whichever thread solves, one at a time."""

    device: Device
    parts: dict[str, Part] = field(default_factory=lambda: {REST: Part()})

    def __post_init__(self) -> None:
        self._inside, self._since = [REST], 0.0
        self._before, self._mapped, self.mapped = memory.restart_peak(), 0, 0

    @contextlib.contextmanager
    def whole(self) -> Iterator[None]:
        """Watch one call."""
        with contextlib.ExitStack() as patches:
            for part, places in PARTS.items():
                for module, name in places:
                    patches.enter_context(self._patched(part, module, name))
            self._before, self._since = memory.restart_peak(), time.perf_counter()
            self._mapped = 0 if self._before is None else memory.mapped()
            yield
            self._turn()

    def peak_of(self, part: Part) -> int | None:
        """Return the bytes beside what was held at the beginning; None if nobody tells."""
        return None if self._before is None else max(0, part.peak - self._before)

    def _patched(self, part: str, module: str, name: str) -> Any:
        place: Any = importlib.import_module(module)
        *owners, last = name.split(".")
        for owner in owners:
            place = getattr(place, owner)
        original = getattr(place, last)

        def watched(*arguments: Any, **named: Any) -> Any:
            self._turn()
            self._inside.append(part)
            self.parts.setdefault(part, Part()).times += 1
            try:
                return original(*arguments, **named)
            finally:
                self.device.synchronize()
                self._turn()
                self._inside.pop()

        return mock.patch.object(place, last, watched)

    def _turn(self) -> None:
        """Give the part that ends here, or is left for one within it, its time and its peak."""
        here, now = self.parts[self._inside[-1]], time.perf_counter()
        here.seconds += now - self._since
        if self._before is not None:
            here.peak = max(here.peak, memory.peak())
            memory.restart_peak()
            self.mapped = max(self.mapped, memory.mapped() - self._mapped)
        self._since = time.perf_counter()


def measure(lp: LinearProgram, task: Task, device: Device) -> dict[str, Any]:
    """Solve a program, check the answer, and return both with the parts of the call."""
    solver = Engine(device.kind, "pdlp")
    model = solver.prepare(lp, task)
    gc.collect()
    give_back(WORTH_IT)  # or else what an earlier solve has left would serve this one
    watch = Watch(device)
    with watch.whole():
        answer = solver.solve(model, task)
    seconds = sum(part.seconds for part in watch.parts.values())
    row = to_row(lp, solver, task.tolerance, Timed(answer, seconds)).as_record()
    parts = {
        name: asdict(part) | {"memory": _in_models(watch.peak_of(part), lp)}
        for name, part in watch.parts.items()
    }
    known = [part["memory"] for part in parts.values() if part["memory"] is not None]
    most = max(known, default=None)
    return row | {"memory": most, "mapped": watch.mapped, "parts": parts}


def _in_models(size: int | None, lp: LinearProgram) -> float | None:
    return None if size is None else size / lp.nbytes


def rows_of(arguments: argparse.Namespace, device: Device) -> Iterator[dict[str, Any]]:
    """Yield a row for each family, size and tolerance until the time is up."""
    deadline = time.monotonic() + arguments.stop_after
    for name in arguments.families or FAMILIES:
        for nonzeros in arguments.nonzeros:
            if time.monotonic() > deadline:
                print(f"Time is up; stopped before {name} of {nonzeros:.2g} nonzeros.")
                return
            lp = FAMILIES[name].make(int(nonzeros), arguments.seed)
            for tolerance in arguments.tolerance:
                task = Task(
                    tolerance,
                    arguments.time_limit,
                    threads=arguments.threads,
                    iteration_limit=arguments.iteration_limit,
                )
                yield measure(lp, task, device)


def line(row: dict[str, Any]) -> str:
    """Return what one solve came to, with the parts that took a hundredth of a second."""
    parts = "  ".join(
        f"{name} {part['seconds']:.2f}"
        + (f" ({part['memory']:.2f})" if part["memory"] is not None else "")
        for name, part in row["parts"].items()
        if part["seconds"] >= 0.01 or (part["memory"] or 0.0) >= row["memory"]
    )
    verdict = (
        "verified" if row["verified"] else "NOT verified" if row["status"] == "optimal" else ""
    )
    mapped = f" with {row['mapped'] / 2**20:.0f} MiB mapped" if row["mapped"] >= 2**20 else ""
    peak = "" if row["memory"] is None else f"{row['memory']:.2f} models{mapped}"
    return (
        f"{row['model']:30s} {row['nonzeros']} {row['tolerance']:.0e} {row['status']} {verdict} "
        f"{row['seconds']:.2f} s, {row['iterations']} iterations, {peak}: {parts}"
    )


def main() -> None:
    """Measure what the command line asks for, print it and record it."""
    arguments = _arguments()
    device, rows = find_device(arguments.device), []
    measure(small_example(), Task(1e-4, 10.0, threads=arguments.threads), device)
    try:
        for row in rows_of(arguments, device):
            print(line(row), flush=True)
            rows.append(row)
    except KeyboardInterrupt:
        print("Interrupted; what was measured so far is recorded.")
    totals = [
        [name, sum(row["parts"].get(name, {}).get("seconds", 0.0) for row in rows)]
        for name in (REST, *PARTS)
    ]
    print_table("Parts of all solves", [Column("part"), Column("seconds", 3)], totals)
    content = {
        "nonzeros": arguments.nonzeros,
        "tolerance": arguments.tolerance,
        "time limit": arguments.time_limit,
        "threads": arguments.threads,
        "rows": rows,
    }
    write_record("pdlp-parts", content, device=device, seed=arguments.seed)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--families", nargs="+", choices=FAMILIES, metavar="NAME")
    parser.add_argument("--nonzeros", type=float, nargs="+", default=[4e6])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tolerance", type=float, nargs="+", default=[1e-4])
    parser.add_argument("--time-limit", type=float, default=6.0)
    parser.add_argument("--iteration-limit", type=int)
    parser.add_argument("--threads", type=int, default=0, help="0 for all cores")
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "cpu"))
    parser.add_argument("--stop-after", type=float, default=float("inf"), metavar="SECONDS")
    return parser.parse_args()


if __name__ == "__main__":
    main()
