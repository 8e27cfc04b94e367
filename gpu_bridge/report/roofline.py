"""How fast products with a model's matrix could be on a device, and how fast they are.

A solve by a first-order method is little more than products with A and A'. The report holds, for
every way to store either of them, the bytes that a product moves, the time that these bytes take
at the device's bandwidth (the roofline model, :mod:`solvers.papers.sparse_formats.roofline`), and
the time that was measured.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpu_bridge.report.log_text import byte_size, labelled
from solvers.core.device import Device
from solvers.core.errors import ProblemError
from solvers.core.problem import Problem
from solvers.papers.sparse_formats.choose import Candidate, library_seconds, survey
from solvers.papers.sparse_formats.convert import from_scipy, transposed
from solvers.papers.sparse_formats.machine import Machine, measure_machine
from solvers.papers.sparse_formats.statistics import MatrixStatistics, matrix_statistics

TITLE = ("", "Format", "Moves", "Flop/B", "Predicted", "Achieved", "Of roofline", "Limited by")
WIDTHS = (4, 36, 11, 8, 11, 11, 13, 0)


@dataclass(frozen=True)
class MatrixReport:
    """One matrix: its figures, every candidate timed, and the vendor's product if there is one."""

    name: str
    figures: MatrixStatistics
    candidates: tuple[Candidate, ...]
    library_seconds: float | None


@dataclass(frozen=True)
class RooflineReport:
    """A machine's roofs, and the products with A and A' of a model below them."""

    model: str
    machine: Machine
    matrices: tuple[MatrixReport, ...]


def roofline_report(problem: Problem, device: Device) -> RooflineReport:
    """Time the products with a problem's matrix and its transpose in every format.

    Raises
    ------
    ProblemError
        The matrix has no entries.
    """
    if not problem.matrix.nnz:
        raise ProblemError("The model's matrix has no entries, so there is no product to time.")
    with device.activate():
        machine = measure_machine(device)
        matrix = from_scipy(problem.matrix, device)
        reports = []
        for name, held in (("A", matrix), ("A'", transposed(matrix))):
            figures, timed = matrix_statistics(held), survey(held, device, machine)
            reports.append(MatrixReport(name, figures, timed, library_seconds(device, held)))
    return RooflineReport(problem.name, machine, tuple(reports))


def roofline_lines(report: RooflineReport) -> list[str]:
    """Return the report as lines of text."""
    lines = [labelled("Roofline", _machine_text(report.machine))]
    lines += [labelled("", _matrix_text(matrix)) for matrix in report.matrices]
    lines += ["", _row(TITLE)]
    for matrix in report.matrices:
        lines += [_row(_cells(matrix.name, candidate)) for candidate in matrix.candidates]
        if matrix.library_seconds is not None:
            time = _microseconds(matrix.library_seconds)
            lines.append(_row((matrix.name, "cuSPARSE, called plainly", "", "", "", time, "", "")))
    return lines


def _machine_text(machine: Machine) -> str:
    return (
        f"{machine.name} reads {machine.memory_bandwidth / 1e9:.4g} GB/s from memory and "
        f"{machine.cache_bandwidth / 1e9:.4g} GB/s from its cache "
        f"({byte_size(machine.cache_bytes)}); a call takes "
        f"{_microseconds(machine.launch_seconds)}"
    )


def _matrix_text(matrix: MatrixReport) -> str:
    figures = matrix.figures
    distinct = (
        "" if figures.distinct_values is None else (f", {figures.distinct_values} distinct values")
    )
    return (
        f"{matrix.name}: rows of {figures.shortest} to {figures.longest} nonzeros, "
        f"{figures.mean:.3g} on average{distinct}; padding {100 * figures.ell_padding:.0f}% in "
        f"ELL and {100 * figures.sell_padding:.0f}% in SELL; gathers of "
        f"{figures.row_sectors:.2f} sectors per nonzero"
    )


def _cells(name: str, candidate: Candidate) -> tuple[str, ...]:
    share = candidate.roofline_share
    return (
        name,
        candidate.label,
        byte_size(candidate.traffic.bytes),
        f"{candidate.traffic.intensity:.3f}",
        _microseconds(candidate.prediction.seconds),
        "" if candidate.seconds is None else _microseconds(candidate.seconds),
        "" if share is None else f"{100 * share:.0f}%",
        candidate.prediction.limit,
    )


def _row(cells: tuple[str, ...]) -> str:
    texts = [
        f"{cell:<{width}}" if place in (0, 1, 7) else f"{cell:>{width}}  "
        for place, (cell, width) in enumerate(zip(cells, WIDTHS, strict=True))
    ]
    return "".join(texts).rstrip()


def _microseconds(seconds: float) -> str:
    return f"{1e6 * seconds:.4g} us"
