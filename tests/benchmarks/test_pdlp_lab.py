"""The plain copy of PDLP for experiments runs on the engine's kernels, to the same end."""

from __future__ import annotations

import math

import pytest

from benchmarks.pdlp_lab import Lab, Recipe
from tests.pdlp.lps import random_lp


@pytest.mark.parametrize("recipe", [Recipe(), Recipe(weight_rule="hpr", check_interval=64)])
def test_a_small_program_is_solved(recipe):
    found = Lab(random_lp(3, rows=20, columns=30), recipe).solve((1e-3, 1e-6), 20_000)
    assert found.solved == {1e-3: True, 1e-6: True}
    assert 0 < found.iterations[1e-3] <= found.iterations[1e-6] < 20_000
    assert math.isfinite(found.seconds)
