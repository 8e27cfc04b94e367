"""Measure PDLP on one GPU and on several: an iteration, a whole solve, a message.

    python -m benchmarks.several_gpus NAME ... [--nonzeros 7e7 ...] [--seed 0]
        [--device cuda cuda:all ...] [--blocks 5] [--tolerance 1e-4] [--time-limit 60] [--links]
        [--cap GIB] [--log]

NAME is a family of ``benchmarks.families``. For each program and device a line tells what setting
it up took, the milliseconds of an iteration (blocks of 200, after three to warm up; none with
``--blocks 0``), what travels and the memory of each GPU. With ``--tolerance`` it tells of a whole
solve by ``method="pdlp"``, from the arrays to the verified answer, seconds of the clock and of all
cores, those of the loop, and the most memory that CuPy had on a GPU. ``--links`` tells the
microseconds of a message between two GPUs by its length. ``--cap`` lets no GPU give more memory
than that to CuPy, so that a model that does not fit can be had without a large one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import gpu_bridge
from benchmarks.families import FAMILIES
from benchmarks.record import Column, print_table, write_record
from solvers import pdlp
from solvers.core.device import Device
from solvers.core.options import EngineOptions
from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp.distributed.communication import Message
from solvers.pdlp.distributed.group import DeviceGroup
from solvers.pdlp.distributed.matrix import SharedMatrix
from solvers.pdlp.distributed.sides import Side
from solvers.pdlp.execution import iteration_blocks
from solvers.pdlp.loop_state import bytes_per_iteration
from solvers.pdlp.settings import DEFAULT

WARM_UP = 3
"""Blocks before those that are timed: one GPU tries its execution modes in them."""

MESSAGE_LENGTHS = (1, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
MESSAGES = 50

Row = dict[str, Any]


def main() -> None:
    """Measure what the command line asks for, print it and record it."""
    arguments = _arguments()
    rows: list[Row] = []
    if arguments.links:
        for row in message_times(_place("cuda:all", arguments.cap)):
            print(row, flush=True)
            rows.append(row)
    for name in arguments.name:
        for nonzeros in arguments.nonzeros:
            began = time.perf_counter()
            problem, label = make(name, nonzeros, arguments.seed)
            print(f"{label}: made in {time.perf_counter() - began:.1f} s", flush=True)
            for row in measure_all(problem, label, arguments):
                print(row, flush=True)
                rows.append(row)
    titles = list(dict.fromkeys(title for row in rows for title in row))
    cells = [[row.get(title) for title in titles] for row in rows]
    print_table("Several GPUs", [Column(title, 4) for title in titles], cells)
    write_record("several-gpus", {"rows": rows}, seed=arguments.seed)


def make(name: str, nonzeros: int, seed: int) -> tuple[Problem, str]:
    """Return a program of a family as a problem, and its name."""
    lp = FAMILIES[name].make(nonzeros, seed)
    columns = lp.matrix.shape[1]
    sides = (lp.row_lower, lp.row_upper, lp.lower, lp.upper)
    return Problem(lp.cost, lp.matrix, *sides, np.zeros(columns, bool)), lp.name


def measure_all(problem: Problem, label: str, arguments: argparse.Namespace) -> Iterator[Row]:
    """Yield a row for each device."""
    for wanted in arguments.device:
        device = _place(wanted, arguments.cap)
        row: Row = {"model": label, "nonzeros": problem.num_nonzeros}
        row |= {"rows": problem.num_rows, "columns": problem.num_columns, "device": wanted}
        row["gpus"] = len(_members(device))
        try:
            if arguments.blocks:
                row |= iteration(problem, device, arguments.blocks)
                device.release_memory()
            if arguments.tolerance is not None:
                row |= whole(problem, wanted, arguments)
                row["most memory GiB"] = max(_memory(device, "total_bytes")) / 2**30
        except Exception as error:
            if not device.is_out_of_memory(error):
                raise
            row["memory"] = "exhausted"
        device.release_memory()
        yield row


def iteration(problem: Problem, device: Device, blocks: int) -> Row:
    """Return what an iteration takes on a device, and setting it up."""
    options, progress = EngineOptions(tolerance=1e-10), Progress()
    with device.activate():
        began = time.perf_counter()
        state = pdlp.prepare(problem, options, device, progress)
        state.read_control()
        prepared = time.perf_counter() - began
        under_way = iteration_blocks(state, progress)
        length = DEFAULT.restart.check_interval
        for _ in range(WARM_UP):
            under_way.submit(length)
            under_way.take()
        began = time.perf_counter()
        for number in range(blocks):
            under_way.submit(length)
            if number:
                under_way.take()
        under_way.take()
        seconds = time.perf_counter() - began
        matrix = state.problem.coefficients.by_row
        bytes_moved = bytes_per_iteration(state)
        row: Row = {
            "prepare s": prepared,
            "iteration ms": 1e3 * seconds / (blocks * length),
            "GB": bytes_moved / 1e9,
            "GB/s": bytes_moved * blocks * length / seconds / 1e9,
            "memory GiB": max(_memory(device, "used_bytes")) / 2**30,
        }
        if isinstance(matrix, SharedMatrix):
            row["received rows"] = matrix.own.received
            row["received columns"] = matrix.other.received
            row["shared"] = [_shared(side) for side in (matrix.own, matrix.other)]
        return row


def _shared(side: Side) -> float:
    """Return the part of a side's elements that other devices read."""
    return 1.0 - sum(bounds[-1] - bounds[-2] for bounds in side.bounds) / side.size


def whole(problem: Problem, wanted: str, arguments: argparse.Namespace) -> Row:
    """Return what a whole solve takes, to the tolerance or until the time is up."""
    began, on_cores = time.perf_counter(), time.process_time()
    outcome = gpu_bridge.solve(
        problem,
        method="pdlp",
        device=wanted,
        tolerance=arguments.tolerance,
        time_limit=arguments.time_limit,
        log=arguments.log,
    )
    return {
        "tolerance": arguments.tolerance,
        "seconds": time.perf_counter() - began,
        "core seconds": time.process_time() - on_cores,
        "status": outcome.solution_status.name,
        "iterations": outcome.statistics.get("iterations"),
        "parts": outcome.statistics.get("parts"),
        "loop s": outcome.statistics.get("loop_seconds"),
        "objective": float(outcome.objective),
    }


def message_times(device: Device) -> Iterator[Row]:
    """Yield what messages between the first two GPUs take, one after the other, both ways."""
    if not isinstance(device, DeviceGroup):
        return
    with device.activate():
        for length in MESSAGE_LENGTHS:
            arrays = []
            for place in range(2):
                with device.on(place):
                    arrays.append((device.xp.zeros(length), device.xp.zeros(length)))
            messages = [Message(s, 1 - s, arrays[s][0], arrays[1 - s][1]) for s in range(2)]
            for count in (3, MESSAGES):
                device.synchronize()
                began = time.perf_counter()
                for _ in range(count):
                    device.links.fork()
                    device.links.exchange(messages)
                    device.links.join()
                device.synchronize()
            seconds = (time.perf_counter() - began) / MESSAGES
            rate = 8 * length / seconds / 1e9
            yield {"doubles": length, "microseconds": 1e6 * seconds, "GB/s each way": rate}


def _place(wanted: str, cap: float | None) -> Device:
    device = pdlp.find_place(wanted)
    if cap is not None:
        for member in _members(device):
            with member.xp.cuda.Device(member.index):
                member.xp.get_default_memory_pool().set_limit(size=int(cap * 2**30))
    return device


def _members(device: Device) -> tuple[Device, ...]:
    return device.members if isinstance(device, DeviceGroup) else (device,)


def _memory(device: Device, count: str) -> list[int]:
    """Return the bytes on each GPU of a place, by a count of CuPy's pool."""
    if device.kind == "cpu":
        return [0]
    found = []
    for member in _members(device):
        with member.xp.cuda.Device(member.index):
            found.append(int(getattr(member.xp.get_default_memory_pool(), count)()))
    return found


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("name", nargs="*", choices=[*FAMILIES, []], metavar="NAME")
    parser.add_argument("--nonzeros", type=_integer, nargs="+", default=[70_000_000])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", nargs="+", default=["cuda", "cuda:all"])
    parser.add_argument("--blocks", type=int, default=5)
    parser.add_argument("--tolerance", type=float)
    parser.add_argument("--time-limit", type=float, default=60.0)
    parser.add_argument("--cap", type=float, metavar="GIB")
    parser.add_argument("--links", action="store_true")
    parser.add_argument("--log", action="store_true")
    return parser.parse_args()


def _integer(text: str) -> int:
    return int(float(text))


if __name__ == "__main__":
    main()
