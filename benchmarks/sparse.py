"""Products y = Ax in every format, beside cuSPARSE and SciPy and below the roofline.

    python -m benchmarks.sparse [--data DATA] [--instances peers] [--nonzeros 1e5 1e6 1e7]
                                [--device auto|cuda|cpu] [--seed 0] [--stop-after SECONDS]

Matrices are those of models in the folder ``DATA`` (a set of ``benchmarks.lp_sets`` or names of its
index) and made-up ones: ``random`` (8 entries a row, anywhere), ``banded`` (8 near the diagonal),
``one dense row`` of 100 thousand entries among rows of 4, and ``power law`` (row lengths with a
heavy tail).
Each stands as A and as A'.

``graph`` is a launch's share of a graph of many, the way an engine runs them, ``plain`` a launch
from Python; both are medians of repeats after a warm-up, by events on a GPU. cuSPARSE is timed
preprocessed and recorded into a graph, with the faster of its two CSR algorithms, and plainly
through CuPy. On a CPU ``plain`` is all there is. The share of the roofline is the predicted least
time over the one measured.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks import lp_sets
from benchmarks.cusparse import ALGORITHMS, CusparseError, product_call
from benchmarks.linear_programs import read
from benchmarks.record import Column, print_table, write_record
from solvers.core.device import Device, cpu, find_device
from solvers.core.errors import EngineError
from solvers.papers.sparse_formats.formats import CSR, build, from_scipy, prepared, transposed
from solvers.papers.sparse_formats.machine import Machine, measure_machine, seconds_per_call
from solvers.papers.sparse_formats.roofline import (
    Candidate,
    candidates,
    library_seconds,
    matrix_statistics,
)

ROW_LENGTH = 8
DENSE_ROW = 100_000
TAIL = 1.6
"""Exponent of the power law of row lengths."""

SHOWN = (
    *("nonzeros", "best", "graph us", "plain us", "of roofline", "csr us"),
    *("cusparse us", "cupy us", "scipy us", "of the best"),
)

Row = dict[str, Any]


def main() -> None:
    """Measure every matrix, print a line for each, and record all candidates."""
    arguments = _arguments()
    device = find_device(arguments.device)
    with device.activate():
        machine = measure_machine(device)
        rows = []
        for name, matrix in until(arguments.stop_after, matrices(arguments, device)):
            rows.append(measure(device, machine, name, matrix))
            row = rows[-1]
            print(f"{name}: {row['best']} {row['graph us']:.4g} us", flush=True)
    title = (
        f"Products on {device.name}: {machine.memory_bandwidth / 1e9:.4g} GB/s from memory, "
        f"{machine.cache_bandwidth / 1e9:.4g} GB/s from cache"
    )
    names = ("matrix", *SHOWN)
    print_table(title, [Column(name) for name in names], [[r[k] for k in names] for r in rows])
    print_summary(rows)
    content = {"machine model": vars(machine), "rows": rows}
    write_record("sparse", content, device=device, seed=arguments.seed)


def until(seconds: float, named: Iterator[tuple[str, CSR]]) -> Iterator[tuple[str, CSR]]:
    """Pass matrices on until so many seconds have gone."""
    deadline = time.monotonic() + seconds
    for name, matrix in named:
        if time.monotonic() > deadline:
            print(f"Time is up; stopped before {name}.")
            return
        yield name, matrix


def measure(device: Device, machine: Machine, name: str, matrix: CSR) -> Row:
    """Time every way to hold one matrix, and what others make of it."""
    figures = matrix_statistics(matrix)
    timed = [
        row
        for candidate in candidates(figures, machine)
        if (row := time_candidate(device, matrix, candidate)) is not None
    ]
    best = min(timed, key=lambda row: row["graph us"])
    plain = next(row for row in timed if row["label"] == "csr")
    library, reason = cusparse_seconds(device, matrix)
    theirs = math.inf if library is None else 1e6 * library
    cupy = library_seconds(device, matrix)
    return {
        "matrix": name,
        "nonzeros": figures.nonzeros,
        "best": best["label"],
        "graph us": best["graph us"],
        "plain us": best["plain us"],
        "of roofline": best["of roofline"],
        "csr us": plain["graph us"],
        "cusparse us": None if library is None else theirs,
        "cupy us": None if cupy is None else 1e6 * cupy,
        "scipy us": 1e6 * scipy_seconds(device, matrix),
        "of the best": best["graph us"] / min(best["graph us"], theirs),
        "cusparse failed": reason,
        "figures": vars(figures),
        "candidates": timed,
    }


def time_candidate(device: Device, matrix: CSR, candidate: Candidate) -> Row | None:
    """Return a candidate's times, or None where the matrix cannot be held so."""
    try:
        held = build(matrix, candidate.format)
    except EngineError:
        return None
    xp = device.xp
    vector, product = xp.ones(matrix.columns), xp.empty(matrix.rows)
    work = prepared(held, vector, product)
    graph = seconds_per_call(device, work)
    plain = graph if device.kind == "cpu" else seconds_per_call(device, work, graph=False)
    return {
        "label": held.format,
        "bytes": candidate.traffic.bytes,
        "intensity": candidate.traffic.intensity,
        "limit": candidate.prediction.limit,
        "predicted us": 1e6 * candidate.prediction.seconds,
        "graph us": 1e6 * graph,
        "plain us": 1e6 * plain,
        "of roofline": candidate.prediction.seconds / graph,
        "GB/s": candidate.traffic.bytes / graph / 1e9,
    }


def cusparse_seconds(device: Device, matrix: CSR) -> tuple[float | None, str]:
    """Return the time of cuSPARSE's faster algorithm, or None and why there is none."""
    if device.kind == "cpu" or not matrix.nonzeros:
        return None, "no GPU or no entries"
    xp = device.xp
    vector, product = xp.ones(matrix.columns), xp.empty(matrix.rows)
    try:
        calls = [product_call(matrix, vector, product, name) for name in ALGORITHMS]
        return min(seconds_per_call(device, call) for call in calls), ""
    except (CusparseError, OSError, xp.cuda.runtime.CUDARuntimeError) as error:
        return None, str(error)


def scipy_seconds(device: Device, matrix: CSR) -> float:
    """Return the time of SciPy's product on the host."""
    arrays = (matrix.values, matrix.indices, matrix.starts)
    shape = matrix.rows, matrix.columns
    host = sp.csr_array(tuple(device.to_host(array) for array in arrays), shape=shape)
    vector = np.ones(matrix.columns)
    return seconds_per_call(cpu(), lambda: host @ vector)


def matrices(arguments: argparse.Namespace, device: Device) -> Iterator[tuple[str, CSR]]:
    """Give every matrix and its transpose, one at a time."""
    for name, matrix in _on_host(arguments):
        held = from_scipy(matrix, device)
        yield name, held
        yield f"{name}'", transposed(held)


def _on_host(arguments: argparse.Namespace) -> Iterator[tuple[str, sp.csr_array]]:
    for nonzeros in arguments.nonzeros:
        for pattern, make in PATTERNS.items():
            generator = np.random.default_rng(arguments.seed)
            yield f"{pattern} {nonzeros:.0e}", make(int(nonzeros), generator)
    if arguments.data:
        entries = lp_sets.read_index(arguments.data)
        for entry in lp_sets.choose(entries, arguments.instances):
            yield entry.name, read(entry.path).matrix


def random_matrix(nonzeros: int, generator: np.random.Generator) -> sp.csr_array:
    """Return a square matrix with entries anywhere."""
    rows = max(1, nonzeros // ROW_LENGTH)
    return _from_lengths(np.full(rows, ROW_LENGTH), rows, generator)


def banded_matrix(nonzeros: int, generator: np.random.Generator) -> sp.csr_array:
    """Return a square matrix with entries near the diagonal."""
    rows = max(8 * ROW_LENGTH, nonzeros // ROW_LENGTH)
    near = generator.integers(-4 * ROW_LENGTH, 4 * ROW_LENGTH, (rows, ROW_LENGTH))
    columns = np.sort((np.arange(rows)[:, None] + near) % rows, axis=1)
    return _compressed(np.full(rows, ROW_LENGTH), columns.ravel(), rows, generator)


def dense_row_matrix(nonzeros: int, generator: np.random.Generator) -> sp.csr_array:
    """Return short rows with one long one among them."""
    rows = max(1, nonzeros // 4)
    lengths = np.full(rows, 4)
    lengths[rows // 2] = DENSE_ROW
    return _from_lengths(lengths, max(DENSE_ROW, rows), generator)


def power_law_matrix(nonzeros: int, generator: np.random.Generator) -> sp.csr_array:
    """Return rows whose lengths have a heavy tail."""
    rows = max(1, nonzeros // ROW_LENGTH)
    lengths = np.minimum(generator.zipf(TAIL, rows), max(1, rows // 4))
    lengths = np.maximum(1, lengths * nonzeros // max(1, int(lengths.sum())))
    return _from_lengths(lengths, rows, generator)


PATTERNS = {
    "random": random_matrix,
    "banded": banded_matrix,
    "one dense row": dense_row_matrix,
    "power law": power_law_matrix,
}


def _from_lengths(
    lengths: np.ndarray[Any, Any], columns: int, generator: np.random.Generator
) -> sp.csr_array:
    indices = generator.integers(0, columns, int(lengths.sum()))
    return _compressed(lengths, indices, columns, generator)


def _compressed(
    lengths: np.ndarray[Any, Any],
    indices: np.ndarray[Any, Any],
    columns: int,
    generator: np.random.Generator,
) -> sp.csr_array:
    starts = np.concatenate([[0], np.cumsum(lengths)])
    values = generator.uniform(0.5, 1.5, indices.size)
    matrix = sp.csr_array((values, indices, starts), shape=(lengths.size, columns))
    matrix.sort_indices()
    return matrix


def print_summary(rows: list[Row]) -> None:
    """Print how far the best of ours is from the best of all, in the mean and at worst."""
    compared = [row for row in rows if row["cusparse us"] is not None]
    if compared:
        logs = [math.log(row["graph us"] / row["cusparse us"]) for row in compared]
        worst = max(compared, key=lambda row: float(row["of the best"]))
        print(
            f"ours / cuSPARSE: {math.exp(sum(logs) / len(logs)):.3f} in the geometric mean over "
            f"{len(compared)} matrices; {worst['of the best']:.3f} times the best of both at "
            f"worst ({worst['matrix']})"
        )


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, help="folder with models and INSTANCES.csv")
    parser.add_argument("--instances", nargs="*", default=["peers"], help="sets or names")
    parser.add_argument("--nonzeros", type=float, nargs="*", default=[1e5, 1e6, 1e7])
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "cpu"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--stop-after", type=float, default=math.inf, metavar="SECONDS")
    return parser.parse_args()


if __name__ == "__main__":
    main()
