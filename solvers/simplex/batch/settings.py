"""The constants of the batched simplex method, each with its meaning."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from solvers.core.problem import FloatArray


@dataclass(frozen=True)
class Parameters:
    """What the kernel reads, in this order, from its array of parameters."""

    tolerance: float = 1e-9
    """Primal and dual feasibility, the latter as a part of the geometric mean of the costs; two
    digits below HiGHS's 1e-7, which double precision bears where a basis has few hundred rows."""
    smallest_pivot: float = 1e-9
    """Entries up to this are not pivoted on."""
    wanted_pivot: float = 1e-6
    """Entries below this are pivoted on only in a dictionary that was just built."""
    accuracy: float = 1e-9
    """Part of the terms of a row by which the point may miss it before the dictionary is built
    anew."""
    stalled: float = 20.0
    """Steps of no length in a row after which a method perturbs."""
    check_every: float = 100.0
    """Pivots between two looks at the accuracy: a look costs about one pivot."""
    perturbation: float = 5e-7
    """Size of perturbations, as in HiGHS (Huangfu and Hall 2018, section 3.4): a part of the
    mean cost, or of a variable's value."""
    rounds: float = 30.0
    """Turns of the two methods after which an LP is left to another engine."""

    def as_array(self) -> FloatArray:
        """Return the parameters as the kernel takes them."""
        return np.array([getattr(self, item.name) for item in fields(self)], dtype=np.float64)


@dataclass(frozen=True)
class Settings:
    """What steers a batched solve beside the caller's options."""

    parameters: Parameters = Parameters()
    pivots_per_row_and_column: int = 20
    """Pivots and bound flips after which an LP is left to another engine, for each row and column
    it has; random dense LPs need about half of one."""
    fewest_pivots: int = 500
    """The same for an LP of next to no rows and columns."""
    seconds_unwatched: float = 0.25
    """About how long a launch may take where there is a time limit to keep."""

    def most_pivots(self, rows: int, columns: int) -> int:
        """Return the pivots and bound flips an LP of this size may take."""
        return self.fewest_pivots + self.pivots_per_row_and_column * (rows + columns)


DEFAULT = Settings()
