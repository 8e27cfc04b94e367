"""The numbers that describe a model, against a hand-made one and brute force."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from gpu_bridge.report.statistics import coefficient_range, memory_needed, model_statistics
from solvers.core.problem import Problem

INF = np.inf


def test_every_kind_of_row_and_column_is_counted() -> None:
    problem = Problem.from_arrays(
        [0.0, -5.0, 2.0, 0.0, 0.0, 0.0],
        [
            [1, 0, 0, 0, 0, 0],
            [1, -8, 0, 0, 0, 0],
            [0, 0, 0.25, 4, 0, 0],
            [1, 1, 1, 1, 0, 0],
            [0, 0, 0, 0, 0, 0],
        ],
        [3, -INF, 1, -INF, -INF],
        [3, 50, 2, INF, 10],
        lower=[0, 0, -INF, 0, 4, 0],
        upper=[1, 9, INF, 7, 4, INF],
        integrality=[True, True, False, False, False, False],
        name="zoo",
    )
    s = model_statistics(problem)
    assert (s.name, s.maximize, s.rows, s.columns, s.nonzeros) == ("zoo", False, 5, 6, 9)
    assert s.row_kinds == {"equations": 1, "one-sided": 2, "ranged": 1, "free": 1, "empty": 1}
    kinds = {"continuous": 4, "binary": 1, "integer": 1}
    assert s.column_kinds == kinds | {"free": 1, "fixed": 1, "boxed": 3, "empty": 2}
    ranges = {"matrix": (0.25, 8.0), "cost": (2.0, 5.0), "bounds": (1.0, 9.0)}
    assert s.ranges == ranges | {"sides": (1.0, 50.0)}
    assert (s.row_length.shortest, s.row_length.median, s.row_length.longest) == (0, 2.0, 4)
    assert (s.column_length.shortest, s.column_length.longest) == (0, 3)
    assert s.density == 9 / 30


def test_an_empty_model_has_statistics_too() -> None:
    s = model_statistics(Problem.from_arrays([]))
    assert (s.rows, s.columns, s.nonzeros, s.density) == (0, 0, 0, 0.0)
    assert set(s.ranges.values()) == {None}
    assert (s.row_length.longest, s.column_length.longest) == (0, 0)


@given(st.lists(st.floats(allow_nan=False), max_size=8))
@settings(max_examples=50, derandomize=True, deadline=None)
def test_coefficient_range_against_brute_force(values: list[float]) -> None:
    sizes = [abs(value) for value in values if value != 0 and abs(value) != INF]
    expected = (min(sizes), max(sizes)) if sizes else None
    assert coefficient_range(np.array(values)) == expected


def test_memory_grows_with_the_matrix_and_lies_on_the_device_only_for_the_gpu() -> None:
    small = Problem.from_arrays(np.ones(10), np.ones((5, 10)), 1.0)
    large = Problem.from_arrays(np.ones(100), np.ones((50, 100)), 1.0)
    for low, high in zip(memory_needed(small), memory_needed(large), strict=True):
        assert low.engine == high.engine
        assert low.host_bytes < high.host_bytes
        assert (low.device_bytes > 0) == low.engine.endswith("cuda")
    device = memory_needed(large)[-1].device_bytes
    assert device >= 2 * large.num_nonzeros * 12, "A by rows and by columns, 12 bytes an entry"
