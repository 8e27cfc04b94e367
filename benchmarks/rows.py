"""One solver's result on one model, and what many of them come to."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

SHIFT = 1.0
"""Seconds added to each time in the shifted geometric mean."""


@dataclass(frozen=True)
class Row:
    """What one run came to; None where there is nothing to say.

    ``seconds`` is wall time from a model in memory to a point in memory, presolve and transfers
    included; ``microseconds`` the time of one iteration; ``primal``, ``dual`` and ``gap`` the
    relative residuals by ``residuals.py``, on the program of the file; ``host_peak`` the memory
    that the solver took on its way beyond what program and libraries hold, in multiples of the
    program's size.
    """

    model: str
    solver: str
    tolerance: float
    status: str
    seconds: float
    iterations: int | None = None
    microseconds: float | None = None
    primal: float | None = None
    dual: float | None = None
    gap: float | None = None
    objective: float | None = None
    objective_error: float | None = None
    nonzeros: int | None = None
    host_peak: float | None = None
    detail: str = ""
    recorded: bool = False

    @property
    def solved(self) -> bool:
        """Whether the solver calls its answer optimal."""
        return self.status == "optimal"

    @property
    def verified(self) -> bool | None:
        """Whether an answer called optimal is so within the tolerance; None if unknown."""
        residuals = (self.primal, self.dual, self.gap)
        if not self.solved:
            return False
        if any(value is None for value in residuals):
            return None
        return all(value is not None and value <= self.tolerance for value in residuals)

    def as_record(self) -> dict[str, Any]:
        """Return the fields and the verdict, for a record."""
        return {**asdict(self), "verified": self.verified}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Row:
        """Read what :meth:`as_record` wrote; unknown fields are ignored."""
        names = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in record.items() if name in names})


@dataclass(frozen=True)
class Summary:
    """One solver at one tolerance over the models of a set.

    ``mean`` is the shifted geometric mean of the seconds with what was not called optimal
    counted at the limit; ``honest_mean`` counts there also what was called so wrongly, and is
    None where answers could not be checked.
    """

    solver: str
    tolerance: float
    models: int
    solved: int
    verified: int | None
    mean: float
    honest_mean: float | None
    microseconds: float | None


def summarise(rows: Iterable[Row], models: Sequence[str], limit: float) -> list[Summary]:
    """Return the summaries by tolerance and mean; a model without a row counts as not solved."""
    groups: dict[tuple[float, str], dict[str, Row]] = {}
    for row in rows:
        if row.model in models:
            groups.setdefault((row.tolerance, row.solver), {})[row.model] = row
    found = [
        _summary(solver, tolerance, [by_model.get(model) for model in models], limit)
        for (tolerance, solver), by_model in groups.items()
    ]
    return sorted(found, key=lambda summary: (-summary.tolerance, summary.mean))


def shifted_geometric_mean(seconds: Sequence[float], shift: float = SHIFT) -> float:
    """Return exp(mean(log(seconds + shift))) - shift; NaN for nothing."""
    if not seconds:
        return math.nan
    return math.exp(sum(math.log(value + shift) for value in seconds) / len(seconds)) - shift


def relative_error(objective: float | None, optimum: float | None) -> float | None:
    """Return |objective - optimum| / max(1, |optimum|), or None without either."""
    if objective is None or optimum is None:
        return None
    return abs(objective - optimum) / max(1.0, abs(optimum))


def _summary(solver: str, tolerance: float, rows: list[Row | None], limit: float) -> Summary:
    solved = [row for row in rows if row is not None and row.solved]
    checked = all(row.verified is not None for row in solved)
    verified = [row for row in solved if row.verified]
    iterations = [row.microseconds for row in rows if row and row.microseconds]
    return Summary(
        solver=solver,
        tolerance=tolerance,
        models=len(rows),
        solved=len(solved),
        verified=len(verified) if checked else None,
        mean=_mean(solved, len(rows), limit),
        honest_mean=_mean(verified, len(rows), limit) if checked else None,
        microseconds=sorted(iterations)[len(iterations) // 2] if iterations else None,
    )


def _mean(good: list[Row], models: int, limit: float) -> float:
    seconds = [min(row.seconds, limit) for row in good]
    return shifted_geometric_mean(seconds + [limit] * (models - len(good)))
