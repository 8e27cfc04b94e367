"""Which rows are groups, and what can be exchanged between them."""

from __future__ import annotations

import numpy as np

from solvers.mip.heuristics.annealing.groups import find_choices
from tests.mip.heuristics.annealing.squares import placing
from tests.mip.inference.domain.models import INF, model_of


def test_places_and_numbers_are_groups_and_values():
    groups = find_choices(placing(5, 2, seed=0))
    assert groups.start.tolist() == [0, 5, 10, 15, 20, 25]
    assert sorted(groups.column.tolist()) == list(range(25))
    assert groups.table.shape == (5, 5)
    for g in range(5):
        for j in groups.column[groups.start[g] : groups.start[g + 1]].tolist():
            assert groups.group[j] == g
            assert groups.table[g, groups.value[j]] == j
    assert np.flatnonzero(groups.is_kept).size == 5


def has_none(model):
    """Whether each binary is a choice for itself."""
    choices = find_choices(model)
    return choices.count == np.count_nonzero(model.lower < model.upper) and not (
        choices.is_kept.any()
    )


def rows_of_two(count, **more):
    """Pairs of binaries of which one is 1, without anything across."""
    matrix = np.kron(np.eye(count), np.ones(2))
    return model_of(
        np.zeros(2 * count), matrix, 1.0, 1.0, lower=0.0, upper=1.0, integrality=True, **more
    )


def test_groups_need_nothing_across():
    groups = find_choices(rows_of_two(6))
    assert groups.table.shape == (6, 1)
    assert (groups.value == -1).all()


def test_a_few_groups_are_none():
    assert has_none(rows_of_two(3))


def test_fixed_columns_count_as_what_they_are():
    matrix = np.hstack([np.kron(np.eye(6), np.ones(2)), np.ones((6, 1))])
    lower, upper = np.zeros(13), np.ones(13)
    lower[12] = upper[12] = 1.0
    model = model_of(np.zeros(13), matrix, 2.0, 2.0, lower=lower, upper=upper, integrality=True)
    groups = find_choices(model)
    assert groups.group[12] == -1
    other = model_of(np.zeros(13), matrix, 1.0, 1.0, lower=lower, upper=upper, integrality=True)
    assert has_none(other)  # with the fixed column that is no binary left at 1


def test_rows_with_other_coefficients_or_sides_are_no_groups():
    matrix = np.kron(np.eye(6), [1.0, 2.0])
    for low, high in ((1.0, 1.0), (-INF, 1.0), (2.0, 2.0)):
        model = model_of(np.zeros(12), matrix, low, high, lower=0.0, upper=1.0, integrality=True)
        assert has_none(model)
