from __future__ import annotations

import itertools
import threading

import numpy as np

from solvers.mip.inference.probing import NoGoods, with_rows
from solvers.mip.inference.probing.prober import DomainProber, learned
from tests.mip.inference.probing.models import INF, feasible_points, model_of, random_model


def test_rows_cut_off_exactly_the_points_where_all_literals_are_true():
    nogoods = NoGoods()
    assert nogoods.add([1, 2])  # x_0 = 1 and x_1 = 0
    assert nogoods.add([4])  # x_2 = 0
    model = with_rows(model_of(np.zeros((1, 3)), -INF, 0), nogoods)
    points = {tuple(point) for point in feasible_points(model)}
    everything = itertools.product((0.0, 1.0), repeat=3)
    assert points == {p for p in everything if p[2] == 1 and (p[0], p[1]) != (1, 0)}
    assert model.num_rows == 3


def test_only_short_consistent_and_new_sets_are_kept():
    nogoods = NoGoods()
    assert not nogoods.add([])
    assert not nogoods.add([0, 1])
    assert not nogoods.add(range(0, 12, 2))
    assert nogoods.add([0, 3, 5])
    assert not nogoods.add([5, 3, 0])
    assert not nogoods.add([0, 3, 5, 7])
    assert nogoods.add([3, 5])
    assert nogoods.literals() == ((3, 5),)
    assert nogoods.version == 2


def test_a_full_store_takes_only_replacements():
    nogoods = NoGoods(capacity=1)
    assert nogoods.add([0, 3])
    assert not nogoods.add([5, 7])
    assert nogoods.add([3])
    assert nogoods.literals() == ((3,),)


def test_an_empty_store_leaves_the_model_alone():
    model = model_of([[1, 1]], 1, 1)
    assert with_rows(model, NoGoods()) is model


def test_threads_may_add_at_the_same_time():
    nogoods = NoGoods(capacity=10_000)

    def add(first):
        for at in range(200):
            nogoods.add([2 * at, 2 * (first + 1000)])

    threads = [threading.Thread(target=add, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(nogoods) == len(set(nogoods.literals())) == 800


def test_a_failed_dive_teaches_the_decisions_that_matter():
    # x_1 + x_3 <= 1 among decisions that do no harm
    model = model_of([[0, 1, 0, 1, 0]], -INF, 1)
    decisions = [1, 3, 4, 7, 9]
    assert learned(model, DomainProber(model), decisions) == (3, 7)
    assert learned(model, DomainProber(model), [1, 3, 4]) is None


def test_too_many_decisions_that_matter_teach_nothing():
    model = model_of(np.ones((1, 8)), -INF, 6)
    assert learned(model, DomainProber(model), [2 * j + 1 for j in range(8)]) is None


def test_what_is_learned_loses_no_point():
    taught = 0
    for seed in range(150):
        model = random_model(seed)
        rng = np.random.default_rng(seed)
        binary = np.flatnonzero(model.is_binary)
        decisions = 2 * binary + rng.integers(0, 2, binary.size)
        prober = DomainProber(model)
        if not prober.tighten(np.zeros(0, dtype=np.int32), np.zeros(0), np.zeros(0)):
            continue
        found = learned(model, prober, [int(literal) for literal in decisions])
        if found is None:
            continue
        taught += 1
        literals = np.array(found)
        points = feasible_points(model)
        true = points[:, literals >> 1] == (literals & 1)
        assert not true.all(axis=1).any()
    assert taught > 5
