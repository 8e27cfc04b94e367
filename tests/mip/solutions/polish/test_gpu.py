from __future__ import annotations

import numpy as np
import pytest

from solvers.mip.model import is_feasible
from solvers.mip.solutions.polish import Polisher, PolishStatus
from tests.mip.solutions.polish.test_polisher import balance_model, random_model

pytestmark = pytest.mark.gpu


def test_pdlp_on_the_gpu_gives_what_simplex_gives():
    models = [balance_model(), *(random_model(seed, 4, 12, slack=8) for seed in range(6))]
    compared = 0
    for model in models:
        rng = np.random.default_rng(0)
        points = [model.rounded(rng.uniform(model.lower, model.upper)) for _ in range(4)]
        with (
            Polisher(model) as simplex,
            Polisher(model, device="cuda", largest_for_simplex=0) as first_order,
        ):
            for x in points:
                expected, polished = simplex.polish(x), first_order.polish(x)
                if polished.x is not None:
                    assert is_feasible(model, polished.x)
                    assert expected.status.has_point
                if polished.status is PolishStatus.OPTIMAL:
                    compared += 1
                    assert polished.objective == pytest.approx(expected.objective, abs=1e-4)
    assert compared >= 3
