"""Bound propagation of 32 boxes side by side, against what the device copies in the same time.

    python -m benchmarks.mip_propagation                   # device='auto'
    python -m benchmarks.mip_propagation --device cpu --rows 2e4
    python -m benchmarks.mip_propagation --data FOLDER --names air04 gesa2

Synthetic models are square with ten entries in each row; ``binary`` ones have two bits for each
column and candidate in a batch, ``integer`` ones two numbers. A *pass* is the launch that sums
every row and tests it, with sides so wide that nothing is tightened; a *propagation* begins with
fixing one column in a hundred, in each lane others, and goes on until nothing changes, with all
that the host does for it. Times are medians; those of the batch are also given for each candidate.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

import gpu_bridge as gb
from benchmarks.kernels import copy_bandwidth, launcher
from benchmarks.record import Column, print_table, write_record
from solvers.core.device import Device, find_device
from solvers.core.problem import Problem
from solvers.kernels.family import Kernel
from solvers.mip.inference.propagation import ALL, BatchBoxes, DeviceModel
from solvers.mip.inference.propagation.kernels.batch import BATCH, LANES
from solvers.mip.model import MipModel

ROW_LENGTH = 10
REPEATS = 15
FIXED_SHARE = 0.01
"""Share of the columns that a propagation begins with fixing."""


def main() -> None:
    """Measure all models and record the table."""
    arguments = _arguments()
    device = find_device(arguments.device)
    with device.activate():
        copy = copy_bandwidth(device)
        device.release_memory()
        rows = []
        for name, model in models(arguments):
            rows.append({"model": name, **measure(device, copy, model, arguments.seed)})
            device.release_memory()
    print_table(
        f"Propagation on {device.name}, which copies at {copy / 1e9:.4g} GB/s",
        [Column(title, 3) for title in rows[0]],
        [list(row.values()) for row in rows],
    )
    content = {"copy GB/s": copy / 1e9, "row length": ROW_LENGTH, "rows": rows}
    write_record("mip-propagation", content, device=device, seed=arguments.seed)


def models(arguments: argparse.Namespace) -> Iterator[tuple[str, MipModel]]:
    """Yield the models that were asked for, with their names."""
    if arguments.data is not None:
        for path in sorted(Path(arguments.data).glob("*.mps*")):
            name = path.name.split(".mps")[0]
            if not arguments.names or name in arguments.names:
                yield name, MipModel.of(gb.read(str(path)))
        return
    for size in arguments.rows:
        for kind in ("binary", "integer"):
            yield f"{kind} {int(size)}", synthetic(int(size), kind, arguments.seed)


def synthetic(size: int, kind: str, seed: int) -> MipModel:
    """Return a square packing model with ten entries in each row.

    A column at its upper bound takes most of its rows' capacity, so that others come down.
    """
    random = np.random.default_rng(seed)
    columns = random.integers(0, size, (size, ROW_LENGTH))
    values = random.integers(2, 6, columns.shape).astype(float)
    matrix = sp.csr_array(
        (values.ravel(), columns.ravel(), np.arange(size + 1) * ROW_LENGTH), (size, size)
    )
    matrix.sum_duplicates()
    upper = 1.0 if kind == "binary" else 9.0
    largest = upper * matrix.max(axis=1).toarray().ravel()
    return MipModel.of(
        Problem.from_arrays(
            random.standard_normal(size),
            matrix,
            np.full(size, -np.inf),
            1.2 * largest,
            lower=np.zeros(size),
            upper=np.full(size, upper),
            integrality=np.ones(size, dtype=bool),
        )
    )


def measure(device: Device, copy: float, model: MipModel, seed: int) -> dict[str, Any]:
    """Time passes and propagations on one model; ``copy`` is in bytes per second."""
    device_model = DeviceModel.of(model, device)
    row: dict[str, Any] = {
        "rows": model.num_rows,
        "nonzeros": model.num_nonzeros,
        "binary": float(model.is_binary.mean()),
    }
    boxes = BatchBoxes(device_model)
    seconds, moved = batch_pass(device, boxes, model)
    row |= {"pass K=32 us": 1e6 * seconds, "us/candidate": 1e6 * seconds / LANES}
    row["of copy K=32"] = moved / seconds / copy
    seconds, rounds = batch_propagation(device, boxes, model, seed)
    row |= {"propagation K=32 us/candidate": 1e6 * seconds / LANES, "rounds K=32": rounds}
    return row


def widest(model: MipModel) -> tuple[Any, Any]:
    """Return bounds with which every column is fixed, so that a pass has nothing to tighten."""
    value = np.where(np.isfinite(model.lower), model.lower, np.minimum(model.upper, 0.0))
    return value, value


def batch_pass(device: Device, boxes: BatchBoxes, model: MipModel) -> tuple[float, int]:
    """Return the seconds and the bytes of a launch over all rows, for 32 boxes."""
    columns, rows = boxes.arguments()
    boxes.load(*widest(model))
    run_rows = launcher(device, BATCH, "batch_rows", (0, *rows))

    def before() -> None:
        boxes.wake()
        BATCH["batch_columns"](0, *columns)

    def after() -> None:  # an odd round clears the lists
        BATCH["batch_columns"](1, *columns)
        BATCH["batch_rows"](1, *rows)

    seconds = between(device, before, run_rows, after)
    return seconds, _bytes(BATCH.kernels["batch_rows"], (0, *rows))


def batch_propagation(
    device: Device, boxes: BatchBoxes, model: MipModel, seed: int
) -> tuple[float, int]:
    """Return the seconds of a propagation of 32 boxes after fixings, and its rounds."""
    random = np.random.default_rng(seed)
    drawn = [_fixings(model, random) for _ in range(LANES)]
    lane = np.repeat(np.arange(LANES), [columns.size for columns, _ in drawn])
    column = np.concatenate([columns for columns, _ in drawn])
    value = np.concatenate([values for _, values in drawn])
    rounds: list[int] = []

    def load() -> None:
        boxes.load(model.lower, model.upper, ALL)
        boxes.tighten(lane, column, value, value)

    def run() -> None:
        rounds.append(boxes.propagate().rounds)

    return between(device, load, run, lambda: None), rounds[-1]


def between(
    device: Device,
    before: Callable[[], Any],
    work: Callable[[], Any],
    after: Callable[[], Any],
) -> float:
    """Return the median seconds of ``work`` alone, where each time needs something around it."""
    found = []
    for _ in range(REPEATS + 1):
        before()
        if device.kind == "cuda":
            begin, end = device.xp.cuda.Event(), device.xp.cuda.Event()
            begin.record()
            work()
            end.record()
            end.synchronize()
            found.append(1e-3 * float(device.xp.cuda.get_elapsed_time(begin, end)))
        else:
            began = time.perf_counter()
            work()
            found.append(time.perf_counter() - began)
        after()
    return statistics.median(found[1:])


def _fixings(model: MipModel, random: np.random.Generator) -> tuple[Any, Any]:
    """Return columns to fix at their upper bounds, no two of them in one row."""
    able = np.flatnonzero(np.isfinite(model.upper) & (model.lower < model.upper))
    count = max(1, int(FIXED_SHARE * able.size))
    columns = random.choice(able, min(count, able.size), replace=False)
    chosen = model.problem.matrix_csc[:, columns]
    crowded = np.bincount(chosen.indices, minlength=model.num_rows) > 1
    alone = np.asarray(abs(chosen).sign().T @ crowded.astype(float)) == 0.0
    alone[0] = True
    return columns[alone], model.upper[columns[alone]]


def _bytes(kernel: Kernel, arguments: tuple[Any, ...]) -> int:
    return kernel.bytes_moved(kernel.by_name(arguments))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "cpu"))
    parser.add_argument("--rows", type=float, nargs="+", default=[2e4, 2e5, 1e6])
    parser.add_argument("--data", help="a folder of MPS files to use instead")
    parser.add_argument("--names", nargs="*", default=(), help="only these files of the folder")
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
