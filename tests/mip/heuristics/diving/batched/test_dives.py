"""Dives on the CPU's twins: points they find, what they keep to, and when they stop."""

from __future__ import annotations

import numpy as np

from solvers.core.device import cpu
from solvers.mip.heuristics.diving.batched import Root, run_dives
from solvers.mip.inference.cliques import find_cliques
from solvers.mip.inference.propagation import DeviceModel
from solvers.mip.inference.propagation.kernels.dive import Rule
from solvers.mip.model import is_feasible
from solvers.mip.portfolio.budget import Budget
from solvers.native.mip_inference_propagation_dive import value_of
from tests.cases import through
from tests.mip.inference.propagation.models import AWKWARD, INF, model_of, random_model


class Collect:
    """Takes points and says which is the best so far."""

    def __init__(self, model):
        self.model = model
        self.points = []

    def __call__(self, x, source):
        assert source.startswith("dives ")
        best = min((self.model.objective_at(y) for y in self.feasible), default=INF)
        self.points.append(x.copy())
        return is_feasible(self.model, x) and self.model.objective_at(x) < best

    @property
    def feasible(self):
        return [x for x in self.points if is_feasible(self.model, x)]


def dived(model, budget=None, seed=1, **more):
    submit = Collect(model)
    device_model = DeviceModel.of(model, cpu())
    return run_dives(device_model, model, submit, budget or Budget(), seed, **more), submit


def assignment(size):
    """Each of so many tasks to one of so many machines, at random costs."""
    random = np.random.default_rng(size)
    by_task = np.kron(np.eye(size), np.ones(size))
    by_machine = np.kron(np.ones(size), np.eye(size))
    return model_of(
        np.vstack([by_task, by_machine]), 1.0, 1.0, 0.0, 1.0, cost=random.random(size**2)
    )


@through("seed", range(8))
def test_finds_points_of_random_integer_models(seed):
    model, _ = random_model(seed, 12, 20)
    counts, submit = dived(model)
    assert counts.submitted == len(submit.points) > 0
    assert counts.improved >= 1
    assert len(submit.feasible) == len(submit.points), "propagation has checked every row"


def test_finds_assignments_along_every_order():
    model = assignment(7)
    counts, submit = dived(model, cliques=find_cliques(model))
    assert counts.batches >= 5
    assert counts.finished > 0
    assert len(submit.feasible) == len(submit.points) > 50


def test_integers_are_whole_and_continuous_columns_in_their_bounds():
    model, _ = random_model(3, 10, 24, mixed=True)
    _, submit = dived(model)
    assert submit.points
    for x in submit.points:
        assert np.isfinite(x).all()
        np.testing.assert_array_equal(x[model.integers], np.round(x[model.integers]))
        assert (x >= model.lower - 1e-6).all()
        assert (x <= model.upper + 1e-6).all()


def test_points_of_a_batch_differ_and_the_best_comes_first():
    model, _ = random_model(2, 6, 15)
    model = model_of(model.problem.matrix, -INF, INF, model.lower, model.upper, cost=model.cost)
    orders_seen = []

    def submit(x, source):
        orders_seen.append((source, x.tobytes(), model.objective_at(x)))
        return False

    run_dives(DeviceModel.of(model, cpu()), model, submit, Budget(), 0)
    for source in {name for name, _, _ in orders_seen}:
        of_batch = [(key, value) for name, key, value in orders_seen if name == source]
        assert len({key for key, _ in of_batch}) == len(of_batch)
        values = [value for _, value in of_batch]
        assert values == sorted(values)


def test_same_seed_gives_the_same_points_and_another_others():
    model = assignment(6)
    first, again, other = (dived(model, seed=seed) for seed in (4, 4, 5))
    assert first[0] == again[0]
    np.testing.assert_array_equal(first[1].points, again[1].points)
    assert len(first[1].points) != len(other[1].points) or not np.array_equal(
        first[1].points, other[1].points
    )


def test_reference_that_is_a_solution_is_found():
    model, x = random_model(11, 14, 30)
    _, submit = dived(model, reference=x)
    assert any(np.array_equal(point, x) for point in submit.points)


def test_spent_work_stops_the_dives():
    model = assignment(7)
    budget = Budget(work=2000.0)
    counts, submit = dived(model, budget)
    assert counts.batches <= 1
    assert not submit.points
    assert 2000.0 <= budget.work < 50_000.0


def test_box_restricts_the_points():
    model = assignment(5)
    upper = model.upper.copy()
    upper[[0, 6, 12]] = 0.0
    _, submit = dived(model, box=(model.lower, upper))
    assert submit.feasible
    assert all(x[[0, 6, 12]].sum() == 0.0 for x in submit.points)


def test_infeasible_root_is_reported_as_such():
    model = model_of([[1.0, 1.0]], 3.0, INF, 0.0, 1.0)
    counts, submit = dived(model)
    assert counts.is_root_empty
    assert not submit.points


def test_model_that_propagation_cannot_refute_gives_no_point():
    """Pairwise differing binaries on a triangle: every fixing leads to a contradiction."""
    matrix = [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]]
    counts, submit = dived(model_of(matrix, 1.0, 1.0, 0.0, 1.0))
    assert not counts.is_root_empty
    assert not submit.points
    assert counts.failed >= 32 * counts.batches


@through("name", AWKWARD)
def test_awkward_shapes_are_gone_through(name):
    model = AWKWARD[name]()
    counts, submit = dived(model, Budget(work=1e6))
    if name == "empty row that cannot hold":
        assert counts.is_root_empty
    elif model.integers.size == model.num_columns and counts.finished:
        assert len(submit.feasible) == len(submit.points)


def test_columns_without_a_value_come_first_in_later_orders():
    random = np.random.default_rng(0)
    model = assignment(6)
    root = Root(model, np.stack([model.lower, model.upper]))
    blame = np.zeros(model.num_columns, dtype=np.int64)
    blame[[30, 7]] = [5, 9]
    order = root.by_blame(blame, random)
    assert list(order[:2]) == [7, 30]
    np.testing.assert_array_equal(np.sort(order), np.arange(model.num_columns))


def test_dives_that_fail_are_followed_by_orders_that_learn():
    triangle = model_of([[1.0, 1, 0], [0, 1, 1], [1, 0, 1]], 1.0, 1.0, 0.0, 1.0)
    counts = run_dives(DeviceModel.of(triangle, cpu()), triangle, Collect(triangle), Budget(), 0)
    assert counts.batches > 4, "the orders known beforehand are four here"


def test_values_follow_the_rules():
    def value(rule, seed=1, noise=0.0, x=0.0, lower=-2.0, upper=5.0):
        return value_of(rule, seed, noise, 3, -1, 1, x, lower, upper)

    assert value(Rule.DOWN) == -2.0
    assert value(Rule.UP) == 5.0
    assert value(Rule.UP, upper=INF) == -2.0
    assert value(Rule.DOWN, lower=-INF) == 5.0
    assert value(Rule.UP, lower=-INF, upper=INF) == 0.0
    assert {value(Rule.RANDOM, seed) for seed in range(200)} == set(range(-2, 6))
    assert {value(Rule.REFERENCE, seed, x=2.5) for seed in range(50)} == {2.0, 3.0}
    assert {value(Rule.REFERENCE, seed, x=2.999) for seed in range(50)} == {3.0}
    assert {value(Rule.REFERENCE, seed, x=9.5) for seed in range(50)} == {5.0}
    drawn = [value(Rule.DOWN, seed, noise=0.3) for seed in range(400)]
    assert 0.6 < np.mean(np.array(drawn) == -2.0) < 0.85
