"""What is decided on a GPU between blocks, beside the twins."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from solvers.pdlp.kernels.decide import DECISIONS
from tests.pdlp.checks import Figures, control_of, spread, sums_of
from tests.pdlp.on_gpu import (
    assert_equal_twin,
)

pytestmark = pytest.mark.gpu


FIGURES = {
    "nothing special": Figures(),
    "sufficient decrease": Figures(square=0.01),
    "a longer dual way": Figures(square=0.01, primal_distance=0.25, dual_distance=9.0),
    "no distance": Figures(square=0.01, primal_distance=0.0, dual_distance=9.0),
    "far apart": Figures(square=0.01, primal=1e-9, dual=1e3),
    "primal residual zero": Figures(square=0.01, primal=0.0),
    "negative metric": Figures(square=-0.5),
    "feasible": Figures(primal=1e-5),
    "optimal": Figures(1e-5, 1e-5, 1e-5),
    "broken": Figures(primal=np.nan),
    "infinite": Figures(dual=np.inf),
}


@pytest.mark.parametrize("slots", [1, 7, 5000])
@pytest.mark.parametrize("has_restarted", [False, True])
@pytest.mark.parametrize("figures", FIGURES)
def test_decide_equals_its_twin(figures, has_restarted, slots, gpu):
    control = control_of(
        best_error=np.inf, best_objective=np.inf, best_imbalance=np.inf,
        iterations_since_restart=0.0 if has_restarted else 600.0,
    )  # fmt: skip
    rows, columns = sums_of(FIGURES[figures], control)

    def arguments(control: np.ndarray) -> tuple[Any, ...]:
        parts = spread(rows, slots, 1), spread(columns, slots + 3, 2)
        return slots, parts[0], slots + 3, parts[1], 200, control

    assert_equal_twin(DECISIONS, "decide", arguments, (control.copy(), control.copy()), gpu)


@pytest.mark.parametrize("flags", range(8))
@pytest.mark.parametrize(("columns", "rows"), [(1, 5000), (300_000, 3), (0, 0)])
def test_settle_equals_its_twin(columns, rows, flags, gpu):
    control = control_of(restart=flags & 1, keep_best=flags & 2, keep_feasible=flags & 4)

    def arguments(seed: int) -> tuple[Any, ...]:
        generator = np.random.default_rng(seed)
        of_columns = [generator.standard_normal(columns) for _ in range(5)]
        of_rows = [generator.standard_normal(rows) for _ in range(4)]
        return columns, *of_columns, rows, *of_rows, control.copy()

    assert_equal_twin(DECISIONS, "settle", arguments, (1, 1), gpu, 0.0)
