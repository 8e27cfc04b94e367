"""The smaller problem and the way back."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.core.lp_answer import judge
from solvers.pdlp.shrinking.part import Kept, leave_out
from tests.pdlp.shrinking.wide_lps import mixed


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_a_part_says_of_its_points_what_the_whole_says(seed: int) -> None:
    generator = np.random.default_rng(seed)
    problem = mixed(seed, rows=6, columns=20)
    kept = Kept(generator.random(20) < 0.4, generator.random(6) < 0.6)
    x = np.clip(generator.standard_normal(20), problem.lower, problem.upper)
    part = leave_out(problem, kept, x)
    inner_x = np.clip(
        generator.standard_normal(part.columns.size), part.problem.lower, part.problem.upper
    )
    inner_y = generator.standard_normal(part.rows.size)
    inside = judge(part.problem, inner_x, inner_y)
    whole = judge(problem, part.point(inner_x), part.duals(inside.row_dual))
    assert np.array_equal(whole.x[~kept.columns], x[~kept.columns])
    assert not whole.row_dual[~kept.rows].any()
    np.testing.assert_allclose(whole.reduced_cost[kept.columns], inside.reduced_cost, atol=1e-12)
    np.testing.assert_allclose(
        whole.statistics.primal_objective, inside.statistics.primal_objective, atol=1e-12
    )
    sides = (problem.row_lower, part.problem.row_lower, problem.row_upper, part.problem.row_upper)
    for of_whole, of_part in (sides[:2], sides[2:]):
        room = (of_whole - whole.row_activity)[kept.rows]
        finite = np.isfinite(room)
        np.testing.assert_allclose(
            room[finite], (of_part - inside.row_activity)[finite], atol=1e-12
        )
        assert np.array_equal(finite, np.isfinite(of_part))


def test_a_direction_is_zero_where_columns_are_left_out() -> None:
    problem = mixed(3, rows=4, columns=10)
    kept = Kept(np.arange(10) % 2 == 0, np.ones(4, dtype=bool))
    part = leave_out(problem, kept, np.clip(np.ones(10), problem.lower, problem.upper))
    assert np.array_equal(part.direction(np.ones(5)), np.where(kept.columns, 1.0, 0.0))
