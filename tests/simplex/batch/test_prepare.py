"""What is done once for all LPs of a batch."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from solvers.simplex.batch.prepare import full_scales
from solvers.simplex.state import geometric_scales


@pytest.mark.parametrize("spread", [0.1, 6.0])
@pytest.mark.parametrize("shape", [(1, 1), (7, 3), (4, 11)], ids=str)
def test_scales_of_full_matrices_are_those_of_all_others(shape, spread):
    size = np.exp(spread * np.random.default_rng(0).standard_normal(shape))
    for ours, theirs in zip(full_scales(size), geometric_scales(sp.csr_array(size)), strict=True):
        np.testing.assert_array_equal(ours, theirs)
