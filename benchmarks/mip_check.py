"""The judge of mixed-integer points: reads the file for itself and shares nothing with a solver.

A point counts as feasible when every row and bound holds within an absolute tolerance of 1e-6 on
the model of the file, before any presolve, with its integer columns rounded to whole numbers and
its continuous columns as they are given. A point whose rounding breaks a row counts, too, if it
holds as given and its integer columns are within 1e-6 of whole numbers. With ``relative`` a
violation is measured against max(1, |side|).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benchmarks import linear_programs
from benchmarks.linear_programs import LinearProgram

FloatArray = npt.NDArray[np.float64]

TOLERANCE = 1e-6
"""Largest violation of a row, a bound or integrality."""


@dataclass(frozen=True, eq=False)
class MipModel:
    """A linear program with the names of its columns and which of them (n,) are integer."""

    lp: LinearProgram
    integer: npt.NDArray[np.bool_]
    names: tuple[str, ...]


@dataclass(frozen=True)
class Verdict:
    """Whether a point holds, its objective in the sense of the file, and its worst violation."""

    feasible: bool
    objective: float
    violation: float


def read(path: Path) -> MipModel:
    """Read an MPS or LP file.

    Raises
    ------
    ValueError
        HiGHS cannot read the file, or it holds more than linear parts and integer columns.
    """
    import highspy

    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    if highs.readModel(str(path)) == highspy.HighsStatus.kError:
        raise ValueError(f"HiGHS cannot read {path}.")
    if highs.getModel().hessian_.dim_ > 0:
        raise ValueError(f"{path} has a quadratic objective.")
    lp = highs.getLp()
    kinds = list(lp.integrality_)
    plain = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
    if any(kind not in plain for kind in kinds):
        raise ValueError(f"{path} has columns that are neither continuous nor integer.")
    integer = np.array([kind == plain[1] for kind in kinds] or [False] * lp.num_col_, dtype=bool)
    name = path.name.partition(".")[0]
    return MipModel(linear_programs.from_highs(lp, name), integer, tuple(lp.col_names_))


def check(model: MipModel, x: FloatArray | None, *, relative: bool = False) -> Verdict:
    """Judge a point x (n,); None, a wrong length or a value that is no number is no point."""
    size = model.lp.cost.size
    if x is None or x.shape != (size,) or not np.isfinite(x).all():
        return Verdict(False, np.nan, np.inf)
    rounded = np.where(model.integer, np.rint(x), x)
    violation = _violation(model.lp, rounded, relative)
    if violation > TOLERANCE:
        fractional = float(np.max(np.abs(x - rounded), initial=0.0))
        as_given = max(fractional, _violation(model.lp, x, relative))
        if as_given <= TOLERANCE:
            return Verdict(True, objective_at(model, x), as_given)
    return Verdict(violation <= TOLERANCE, objective_at(model, rounded), violation)


def objective_at(model: MipModel, x: FloatArray) -> float:
    """Return the objective of a point in the sense of the file."""
    return float(model.lp.sense * (model.lp.cost @ x + model.lp.offset))


def _violation(lp: LinearProgram, x: FloatArray, relative: bool) -> float:
    activity = lp.matrix @ x
    worst = 0.0
    for value, low, high in ((activity, lp.row_lower, lp.row_upper), (x, lp.lower, lp.upper)):
        for outside, side in ((low - value, low), (value - high, high)):
            finite = np.isfinite(side)
            size = np.maximum(1.0, np.abs(side[finite])) if relative else 1.0
            worst = max(worst, float(np.max(outside[finite] / size, initial=0.0)))
    return worst
