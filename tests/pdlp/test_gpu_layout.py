"""Getting ready on a GPU: the layout, scaling and norm."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.problem import Problem
from solvers.core.progress import Progress
from solvers.pdlp import layout
from solvers.pdlp.layout import to_device
from solvers.pdlp.scaling import drawn_rows, spectral_norm
from solvers.pdlp.settings import DEFAULT
from solvers.pdlp.start import place
from solvers.sparse.shape import Plan
from tests.matrices import MATRICES
from tests.pdlp.matrices import PACKINGS, PLANS, PRETENDED_GPU, lay_out

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize("name", ["square 129", "empty rows", "long row", "large", "one column"])
@pytest.mark.parametrize("on_device_from", [0, layout.ON_DEVICE_FROM])
def test_the_layout_arrives_on_the_gpu(name, packing, on_device_from, gpu, monkeypatch):
    monkeypatch.setattr(layout, "ON_DEVICE_FROM", on_device_from)
    matrix = lay_out(MATRICES[name], PLANS["cpu"], packing).matrix
    problem = Problem.from_arrays(np.zeros(matrix.shape[1]), matrix, 0.0, 0.0)
    here = to_device(problem, PRETENDED_GPU, Plan(), 0)
    there = to_device(problem, gpu, Plan(), 0)
    assert np.array_equal(here.row_order, there.row_order)
    assert np.array_equal(here.column_order, there.column_order)
    for one, other in ((here.by_row, there.by_row), (here.by_column, there.by_column)):
        for array in ("meta", "indices", "values", "table", "splits", "tickets"):
            expected, found = getattr(one, array), gpu.to_host(getattr(other, array))
            assert expected.dtype == found.dtype, array
            assert np.array_equal(expected, found), array


@pytest.mark.parametrize("name", ["square 129", "empty rows", "long row", "large"])
def test_scaling_and_norm_are_those_of_the_host(name, gpu):
    problem = Problem.from_arrays(np.ones(MATRICES[name].shape[1]), MATRICES[name], 0.0, 1.0)
    found = []
    for device in (PRETENDED_GPU, gpu):
        there = place(problem, device, DEFAULT, Progress())
        q = drawn_rows(there.coefficients, device)
        norm = spectral_norm(there, DEFAULT, Progress(), q)
        found.append((there.row_scale(), there.column_scale(), norm))
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-8)
