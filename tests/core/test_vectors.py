"""Figures of vectors are the same for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core import vectors


@pytest.mark.parametrize("small", [0, vectors.SMALL], ids=["compiled", "by NumPy"])
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], (np.inf, 0.0)),
        ([0.0, np.nan, -np.inf], (np.inf, 0.0)),
        ([0.0, -3.0, np.inf, 2.0], (2.0, 3.0)),
    ],
)
def test_sizes_are_of_what_is_finite_and_not_zero(
    values: list[float], expected: tuple[float, float], small: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "SMALL", small)
    for repeats in (1, 30_000):
        assert vectors.size_range(np.repeat(np.array(values, dtype=float), repeats)) == expected


@pytest.mark.parametrize("size", [0, 1, 255, 256, 257, 100_000])
def test_long_products_are_those_of_short_ones_on_any_number_of_threads(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = np.random.default_rng(size).standard_normal((2, 2 * size))
    expected = vectors.inner(a, b)
    monkeypatch.setattr(vectors, "BY_BLOCKS", 0)
    found = []
    for threads in (1, 3):
        monkeypatch.setattr(vectors, "threads_for", lambda work, most=0, threads=threads: threads)
        found.append((vectors.inner(a, b), vectors.inner(a[::2], b[::2])))
    assert found[0] == found[1]
    assert found[0] == pytest.approx((expected, a[::2] @ b[::2]), rel=1e-12, abs=1e-12)
