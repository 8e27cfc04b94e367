"""Means over rows, by the twin and by the device code, and who takes them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from solvers.core.linear_algebra import SparseRows
from solvers.kernels.family import Family
from solvers.pdlp.distributed import sides
from solvers.pdlp.distributed.sides import neighbouring_places
from solvers.pdlp.kernels.average import AVERAGE
from tests.emulator import Emulated, emulated, needs_compiler
from tests.matrices import MATRICES
from tests.pdlp.matrices import PRETENDED_GPU

NAMES = ["square 31", "square 129", "wide", "one row", "empty rows", "long row", "large"]
GPU = replace(PRETENDED_GPU, memory_free=2**30)


def by_rows(name: str) -> tuple[SparseRows, SparseRows]:
    matrix = MATRICES[name]
    return SparseRows.of(matrix), SparseRows.of(matrix.tocsc())


def assert_averages(family: Family | Emulated, name: str, starts: type) -> None:
    matrix = by_rows(name)[0]
    values = np.random.default_rng(0).standard_normal(matrix.shape[1])
    mean = np.full(matrix.shape[0], 7.0)
    family["average"](mean.size, matrix.indptr.astype(starts), matrix.indices, values, mean)
    rows = [values[matrix[i][0]] for i in range(mean.size)]
    expected = [float(np.mean(row)) if row.size else 7.0 for row in rows]
    np.testing.assert_allclose(mean, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("starts", [np.int32, np.int64])
@pytest.mark.parametrize("name", NAMES)
def test_rows_with_entries_get_their_mean(name, starts):
    assert_averages(AVERAGE, name, starts)


@needs_compiler
@pytest.mark.parametrize("starts", [np.int32, np.int64])
@pytest.mark.parametrize("name", NAMES)
def test_device_code_gives_them_the_same(name, starts):
    assert_averages(emulated(AVERAGE), name, starts)


@pytest.mark.parametrize("name", NAMES)
def test_places_are_those_that_the_host_finds(name, monkeypatch):
    rows, columns = by_rows(name)
    here = neighbouring_places(rows, columns, GPU, 1)
    calls = []
    average = sides._average_there
    monkeypatch.setattr(sides, "ON_DEVICE_FROM", 0)
    monkeypatch.setattr(sides, "_average_there", lambda *given: calls.append(average(*given)))
    for one, other in zip(neighbouring_places(rows, columns, GPU, 1), here, strict=True):
        np.testing.assert_array_equal(one, other)
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("longest", "memory", "most"),
    [(99_999, 2**30, 10**9), (10**9, 2**20, 10**9), (10**9, 2**30, 9)],
)
def test_the_host_takes_long_rows_much_memory_and_many_entries(longest, memory, most, monkeypatch):
    rows, columns = by_rows("long row")
    monkeypatch.setattr(sides, "ON_DEVICE_FROM", 0)
    assert sides._averages(GPU, rows, columns)
    monkeypatch.setattr(sides, "LONGEST_ON_DEVICE", longest)
    monkeypatch.setattr(sides, "MOST_SHORT", most)
    assert not sides._averages(replace(GPU, memory_free=memory), rows, columns)


@pytest.mark.gpu
@pytest.mark.parametrize("name", NAMES)
def test_a_gpu_finds_the_same_places(name, gpu, monkeypatch):
    rows, columns = by_rows(name)
    monkeypatch.setattr(sides, "SWEEPS", 1)  # more leave rounding errors, which are stretched
    here = neighbouring_places(rows, columns, gpu, 1)
    monkeypatch.setattr(sides, "ON_DEVICE_FROM", 0)
    for one, other in zip(neighbouring_places(rows, columns, gpu, 1), here, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
