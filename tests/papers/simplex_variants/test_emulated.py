"""The device code itself, run on the host lane by lane, against its twins."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.papers.simplex_variants.basic_solution import basis_matrix
from solvers.papers.simplex_variants.device_pivots import Call
from solvers.papers.simplex_variants.kernels.layout import BLAND
from solvers.papers.simplex_variants.kernels.resident import RESIDENT
from tests.emulator import emulated, needs_compiler
from tests.papers.simplex_variants.stepping import CASES, KINDS, copied, prepared, step_both

pytestmark = needs_compiler


def emulate(call):
    emulated(call.family)[call.name](*call.values)


def by_twin(call):
    call.family[call.name](*call.values, threads=1)


@pytest.mark.parametrize("variant", KINDS)
@pytest.mark.parametrize("case", CASES)
def test_lanes_do_what_the_twins_do(case, variant):
    pivots = prepared(variant, case, cpu())
    step_both(pivots, copied(pivots, cpu()), emulate)


@pytest.mark.parametrize("variant", KINDS)
def test_lanes_follow_blands_rule_as_the_twins_do(variant):
    pivots = prepared(variant, "degenerate", cpu())
    pivots.space.control[BLAND] = 1.0
    step_both(pivots, copied(pivots, cpu()), emulate)


@pytest.mark.parametrize("case", ["random later", "tall", "degenerate"])
def test_lanes_write_the_basis_as_the_twin_does(case):
    pivots = prepared("graphs", case, cpu())
    s = pivots.space
    written = [np.zeros(s.size**2) for _ in range(2)]
    for transposed, run in zip(written, (emulate, by_twin), strict=True):
        values = (s.size, s.columns, s.starts, s.rows, s.values, s.basic, transposed)
        run(Call(RESIDENT, "basis_rows", values))
    expected = basis_matrix(pivots.form, pivots.basic()).toarray().T
    for transposed in written:
        assert np.array_equal(transposed.reshape(s.size, s.size), expected)
