"""Rounds on the CPU: what is kept holds, what is carried is consistent, and bits repeat."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from solvers.mip.heuristics.local_search.grid_wide import tree_nodes
from solvers.mip.heuristics.local_search.kernels.grid_walk import (
    CHUNK,
    MOVE,
    Control,
    Mode,
)
from solvers.mip.heuristics.local_search.kernels.walk import NONE, TOLERANCE, Field
from solvers.mip.heuristics.local_search.layout import Layout
from solvers.mip.model import is_feasible
from solvers.native.mip_heuristics_local_search_grid_walk import turn_rows
from tests.cases import through
from tests.mip.heuristics.local_search.cases import INF, model_of
from tests.mip.heuristics.local_search.grid_wide.cases import (
    CASES,
    Whole,
    covering,
    huge_row,
    start_grid_wide,
)
from tests.mip.heuristics.local_search.test_run import optimum

CARRIED = ("records", "values", "cells", "kept", "tree", "claims", "control")


def matrix_of(layout: Layout) -> tuple[np.ndarray, ...]:
    return layout.by_row.row, layout.by_row.indices, layout.by_row.data


def violated_rows(layout: Layout, slack: np.ndarray) -> np.ndarray:
    width = np.full(layout.rows, INF)
    width[layout.inequalities :] = layout.arrays["ranges"][: layout.rows - layout.inequalities]
    return np.maximum(-slack, slack - width) > TOLERANCE


def assert_consistent(whole: Whole, *, tolerance: float = 0.0) -> None:
    """Slack, tree, count and objective are what the values say."""
    layout, record = whole.layout, whole.record
    rows, columns, entries = matrix_of(layout)
    values, cells = whole.host("values")[0::2], whole.host("cells")
    activity = np.bincount(rows, entries * values[columns], layout.rows)
    slack = cells[0 : 2 * layout.rows : 2]
    assert np.allclose(slack, layout.arrays["sides"] - activity, rtol=0.0, atol=tolerance)
    violated = violated_rows(layout, slack)
    bits = np.unpackbits(whole.host("tree").view(np.uint8), bitorder="little")
    assert np.array_equal(bits[: layout.rows].astype(bool), violated)
    assert record[Field.VIOLATED] == violated.sum()
    objective = float(layout.arrays["costs"] @ values)
    assert record[Field.OBJECTIVE] == pytest.approx(objective, rel=1e-12, abs=1e-9)
    low, high = layout.arrays["bounds"][0::2], layout.arrays["bounds"][1::2]
    assert np.all((low <= values) & (values <= high))
    whole_ones = values[: layout.integers]
    assert np.array_equal(whole_ones, np.round(whole_ones))


def assert_kept_holds(whole: Whole, model: object) -> None:
    kept = model.rounded(whole.kept())  # type: ignore[attr-defined]
    assert is_feasible(model, kept)  # type: ignore[arg-type]
    cost = model.cost  # type: ignore[attr-defined]
    assert whole.record[Field.BEST] == pytest.approx(float(cost @ kept), rel=1e-9, abs=1e-7)


@pytest.mark.parametrize("name", CASES)
def test_what_is_carried_stays_consistent_and_what_is_kept_holds(name):
    model = CASES[name]()
    layout = Layout.of(model, wide=True)
    whole = start_grid_wide(layout, teams=9)
    for steps in (0, 1, 60, 120):
        whole.walk(steps)
        assert_consistent(whole, tolerance=0.0 if layout.is_exact else 1e-9)
        if whole.record[Field.BEST] < NONE:
            assert_kept_holds(whole, model)
    assert whole.record[Field.MOVES] > 0


@pytest.mark.parametrize(
    ("name", "rounds"), [("covering", 6000), ("partition", 3000), ("single", 100), ("no rows", 30)]
)
def test_small_optima_are_reached(name, rounds):
    model = CASES[name]()
    whole = start_grid_wide(Layout.of(model, wide=True), teams=12)
    whole.walk(rounds)
    assert_kept_holds(whole, model)
    assert whole.record[Field.BEST] == pytest.approx(optimum(model))


def test_a_walk_without_an_objective_ends_at_its_first_point():
    whole = start_grid_wide(Layout.of(CASES["no objective"](), wide=True), teams=9)
    whole.walk(5000)
    assert whole.record[Field.VIOLATED] == 0.0
    assert whole.record[Field.STEP] < 5000
    assert whole.host("control")[Control.DONE] == 1


def test_the_same_seed_walks_the_same_way():
    layout = Layout.of(CASES["mixed"](), wide=True)
    walks = [start_grid_wide(layout, teams=9) for _ in range(2)]
    for whole in walks:
        whole.walk(150)
    for name in CARRIED:
        assert np.array_equal(walks[0].host(name), walks[1].host(name)), name


def test_moves_of_a_round_share_no_row_and_are_worth_what_their_scores_said():
    layout = Layout.of(covering(2000, 1500, 6), wide=True)
    whole = start_grid_wide(layout, teams=200, share=0.0)
    whole.walk(0)
    rows, columns, _ = matrix_of(layout)
    for _ in range(6):
        before = whole.host("values")[0::2].copy()
        violated = whole.record[Field.VIOLATED]
        weights = whole.host("cells")[1::2].copy()
        whole.walk(1)
        moves = whole.host("moves").reshape(-1, MOVE)
        changed = np.flatnonzero(whole.host("values")[0::2] != before)
        touched = rows[np.isin(columns, changed)]
        assert changed.size > 5
        assert np.unique(touched).size == touched.size
        winners = [int(np.flatnonzero(moves[:, 0] == j)[0]) for j in changed]
        gained = float(moves[winners, 2].sum())
        assert weights.max() == 1.0
        assert gained == violated - whole.record[Field.VIOLATED]


def test_a_violated_row_without_a_good_move_gains_weight():
    """x = 1 breaks the second row as much as it mends the first."""
    model = model_of([0.0, 1.0], [[1.0, 0.0], [1.0, 0.0], [1.0, 1.0]], [1, -INF, -INF], [INF, 0, 9])
    whole = start_grid_wide(Layout.of(model, wide=True), teams=4, share=0.0)
    whole.walk(1)
    assert whole.record[Field.MOVES] == 0.0
    assert sorted(whole.host("cells")[1::2]) == [1.0, 1.0, 2.0]
    whole.walk(1)
    assert whole.record[Field.MOVES] == 1.0


def test_a_column_of_many_chunks_moves_alone():
    layout = Layout.of(CASES["long line"](), wide=True)
    whole = start_grid_wide(layout, teams=40, share=0.0)
    whole.walk(1)
    assert whole.record[Field.MOVES] == 1.0
    assert whole.record[Field.VIOLATED] == 0.0
    assert whole.record[Field.VISITED] > 2 * CHUNK
    assert_consistent(whole)


def test_a_row_of_a_hundred_thousand_entries_is_walked_on():
    model = huge_row()
    layout = Layout.of(model, wide=True)
    whole = start_grid_wide(layout, teams=64, share=0.0)
    need = -whole.layout.arrays["sides"].min()
    whole.walk(400)
    assert_consistent(whole)
    assert whole.record[Field.MOVES] > 20 * 400
    left = np.abs(whole.host("cells")[0::2]).max()
    assert left < 0.75 * need


def test_moves_together_take_from_a_shared_row_about_what_there_is():
    """Ten thousand columns would each like to take one of the three hundred that are left."""
    size = 10_000
    model = model_of(-np.ones(size), np.ones((1, size)), -INF, 300.0)
    whole = start_grid_wide(Layout.of(model, wide=True), teams=600, share=0.0)
    worst = 0.0
    for _ in range(40):
        whole.walk(1)
        worst = min(worst, float(whole.host("cells")[0]))
        assert_consistent(whole)
    assert worst > -30.0
    assert whole.record[Field.BEST] <= -295.0
    assert whole.record[Field.STEP] == 40.0


def test_stamps_and_claims_start_anew_before_their_bits_are_used_up():
    whole = start_grid_wide(Layout.of(CASES["covering"](), wide=True), teams=9)
    whole.walk(20)
    whole.set_record(Field.STEP, whole.record[Field.ORIGIN] + 1e6 - 10.0)
    whole.walk(30)
    assert whole.record[Field.ORIGIN] > 9e5
    clocks = whole.host("claims").view(np.uint64) >> np.uint64(44)
    assert clocks.max() <= 30
    assert_consistent(whole)


def test_a_refresh_repairs_what_has_drifted():
    layout = Layout.of(CASES["long lines"](), wide=True)
    whole = start_grid_wide(layout, teams=9)
    whole.walk(40)
    whole.state.cells[0::2] += 0.5
    whole.set_record(Field.REFRESH, 1.0)
    whole.walk(0)
    assert_consistent(whole, tolerance=1e-9)


def test_a_known_objective_is_what_has_to_be_beaten():
    model = CASES["covering"]()
    whole = start_grid_wide(Layout.of(model, wide=True), teams=9)
    best = optimum(model)
    for field, value in ((Field.LIMIT, best), (Field.TARGET, best - 1.0)):
        whole.set_record(field, value)
    whole.walk(2000)
    assert whole.record[Field.KEPT] == 0.0


def test_modes_alternate_once_there_is_a_point():
    whole = start_grid_wide(Layout.of(CASES["wide covering"](), wide=True), teams=60)
    seen = set()
    for _ in range(120):
        whole.walk(4)
        seen.add(int(whole.host("control")[Control.MODE]))
    assert seen == set(map(int, Mode))
    assert whole.record[Field.BEST] < NONE


@through("rows", [1, 31, 32, 33, 1024, 1025, 32_768, 32_769, 40_000])
def test_the_tree_finds_each_violated_row(rows):
    rng = np.random.default_rng(rows)
    nodes, inside = np.zeros(tree_nodes(rows), np.int32), np.zeros(rows, np.bool_)
    violated = np.zeros(rows, np.int32)
    for _ in range(3):
        changed = rng.integers(0, rows, min(2 * rows, 500)).astype(np.int32)
        count = turn_rows(nodes, rows, changed, violated)
        inside ^= np.bincount(changed, minlength=rows) % 2 == 1
        assert np.array_equal(violated[:count], np.flatnonzero(inside))


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), teams=st.integers(1, 40))
@example(seed=176, teams=2)  # ends a launch with a point that the next round was to copy
def test_any_walk_stays_consistent(seed, teams):
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(0, 12), rng.integers(1, 15)
    matrix = rng.integers(-4, 5, (rows, columns)) * (rng.random((rows, columns)) < 0.5)
    inside = rng.integers(-2, 3, columns)
    activity = matrix @ inside
    lower = np.where(rng.random(rows) < 0.4, -INF, activity - rng.integers(0, 3, rows))
    upper = np.where(rng.random(rows) < 0.4, INF, activity + rng.integers(0, 3, rows))
    low = np.where(rng.random(columns) < 0.2, -INF, -2.0)
    high = np.where(rng.random(columns) < 0.2, INF, 2.0)
    model = model_of(rng.integers(-3, 4, columns), matrix.astype(float), lower, upper, low, high)
    whole = start_grid_wide(Layout.of(model, wide=True), teams=teams)
    whole.walk(25)
    assert_consistent(whole)
    if whole.record[Field.BEST] < NONE:
        assert_kept_holds(whole, model)
