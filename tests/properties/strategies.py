"""Random small problems with integer data, so that ties, zeros and contradictions are common."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from solvers.core.problem import Problem


@st.composite
def problems(draw: st.DrawFn, *, binary: bool = False, most: int = 5) -> Problem:
    """Draw a problem with up to ``most`` columns and rows of every kind."""
    n = draw(st.integers(1, most))
    m = draw(st.integers(0, most))
    small = st.integers(-4, 4)
    A = np.array(draw(st.lists(small, min_size=m * n, max_size=m * n)), float).reshape(m, n)
    cost = draw(st.lists(small, min_size=n, max_size=n))
    row_lower, row_upper = _sides(draw, m)
    if binary:
        lower, upper = np.zeros(n), np.ones(n)
    else:
        lower, upper = _sides(draw, n)
    return Problem.from_arrays(
        cost,
        A,
        row_lower,
        row_upper,
        lower=lower,
        upper=upper,
        integrality=binary,
        offset=draw(small),
        maximize=draw(st.booleans()),
    )


def _sides(draw: st.DrawFn, size: int) -> tuple[np.ndarray, np.ndarray]:
    low = np.array(draw(st.lists(st.integers(-6, 4), min_size=size, max_size=size)), float)
    width = np.array(draw(st.lists(st.integers(0, 6), min_size=size, max_size=size)), float)
    high = low + width
    kinds = np.array(draw(st.lists(st.integers(0, 3), min_size=size, max_size=size)), int)
    low[(kinds == 1) | (kinds == 3)] = -np.inf
    high[(kinds == 2) | (kinds == 3)] = np.inf
    return low, high
