"""The three kernels of the paper: device code run on the host, against its twins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from solvers.kernels.family import Family
from solvers.papers.dense_lu.kernels.elimination import ELIMINATION
from tests.emulator import Emulated, needs_compiler

SIZES = (1, 2, 3, 31, 32, 33, 40)
Case = tuple[Family, str, list[Any]]


def cases(n: int) -> Iterator[Case]:
    """Give each kernel augmented matrices: any, with equal pivots, and with none or no numbers."""
    generator = np.random.default_rng(n)
    augmented = generator.standard_normal((n, n + 1)) * 2.0 ** generator.integers(-6, 7, (n, 1))
    augmented[generator.random(augmented.shape) < 0.2] = 0.0
    equal = augmented.copy()
    equal[:, 0] = np.where(np.arange(n) % 2, -2.0, 1.0)
    nothing = augmented.copy()
    nothing[:, n // 2] = 0.0
    nothing[:, 0] = np.nan
    for k in sorted({0, n // 2, n - 1}):
        for matrix in (augmented, equal, nothing):
            yield ELIMINATION, "find_pivot", [n, k, matrix.copy(), np.full(1, -7, np.int32)]
        yield ELIMINATION, "swap_rows", [n, k, n - 1, augmented.copy()]
        regular = augmented.copy()
        regular[k, k] = 3.0
        yield ELIMINATION, "eliminate", [n, k, regular]


def assert_equal_on(launch: Callable[[Family, str, list[Any]], list[Any]], case: Case) -> None:
    """Compare what the twin leaves with what ``launch`` returns of copies."""
    family, name, values = case
    there = launch(family, name, [v.copy() if isinstance(v, np.ndarray) else v for v in values])
    family[name](*values)
    for argument, ours, theirs in zip(family.kernels[name].arguments, values, there, strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-11, atol=1e-11, err_msg=argument.name)


@needs_compiler
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize("n", SIZES)
def test_kernels_equal_their_twins(n, backwards):
    device = Emulated(ELIMINATION, backwards=backwards)

    def launch(family, name, values):
        device[name](*values)
        return values

    for case in cases(n):
        assert_equal_on(launch, case)
