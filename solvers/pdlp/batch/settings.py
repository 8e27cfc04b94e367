"""The constants of the batched engine, each with its meaning.

Where they differ from ``solvers.pdlp.settings`` that is because these LPs are small: a check
costs a few iterations instead of many, and a small linear system costs next to nothing. Figures
are mean iterations on random LPs of 50 rows and 100 columns at 1e-6.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from solvers.problem import FloatArray


@dataclass(frozen=True)
class Settings:
    """What steers a batched solve beside the caller's options."""

    # Scaling
    geometric_spread: float = 1e6
    """Largest over smallest magnitude of the coefficients from which the geometric passes are
    made: they spoil what is well scaled (350 iterations without them, 464 with)."""
    ruiz_passes: int = 4
    """Passes by the root of the greatest magnitude (10: the same iterations)."""

    # Running
    iteration_limit: int = 10_000
    """Iterations after which an LP is left to another engine."""
    check_interval: int = 40
    """Iterations between two checks (64: a third more iterations, 24: as many but more checks)."""
    seconds_unwatched: float = 0.25
    """About how long a launch may take where there is a time limit to keep."""


@dataclass(frozen=True)
class Parameters:
    """What the kernel reads, in this order, from its array of parameters."""

    tolerance: float
    """Relative tolerance on the three errors."""
    norm: float
    """||A||_2 of the scaled matrix; 0 lets the kernel scale each matrix and find its norm."""
    step_fraction: float = 0.998
    """Step size as a part of 1 / ||A||."""
    norm_margin: float = 1.05
    """Factor on the norm that few power iterations find, and on one that proves too small."""
    sufficient_decrease: float = 0.2
    """Restart when the fixed-point metric has fallen to this part."""
    necessary_decrease: float = 0.5
    """Restart when it has fallen to this part and begins to grow again."""
    artificial_share: float = 0.36
    """Restart when this part of all iterations has passed since the last restart."""
    proportional: float = 0.8
    """Of the controller of the primal weight, as the next two. With 0.99 the weight of one LP in
    some thousands went to and fro for ever; the mean iterations are the same from 0.6 on."""
    integral: float = 0.01
    integral_memory: float = 0.3
    vertex_from: float = 0.1
    """Largest relative error from which a basis that stands still is tried (half the
    iterations, and a vertex as the answer, where the optimum is one and not degenerate)."""
    smallest_pivot: float = 1e-9
    """Pivots below this, in the scaled matrix, make a basis singular."""
    ray_leftover: float = 1e-9
    """Part of its largest entry by which a dual ray may violate what it has to obey."""
    ray_margin: float = 1e-6
    """What a ray must prove beyond rounding, relative to the magnitudes it is made of."""
    ray_from: float = 200.0
    """Iterations before the first look for a ray."""
    primal_ray_leftover: float = 1e-6
    """The same for a primal ray, which is not proven but leaves the LP to another engine."""

    def as_array(self) -> FloatArray:
        """Return the parameters as the kernel takes them."""
        return np.array([getattr(self, item.name) for item in fields(self)], dtype=np.float64)


DEFAULT = Settings()
