"""Made-up families: the size asked for, the same for a seed, and an optimum that HiGHS finds."""

import numpy as np

from benchmarks.families import FAMILIES
from benchmarks.peers import Task
from benchmarks.peers.highs import Simplex
from benchmarks.residuals import measure
from tests.cases import through

SMALL = 3_000
"""Nonzeros of a program that HiGHS solves in well under a second."""


def arrays_of(lp):
    matrix = (lp.matrix.data, lp.matrix.indices, lp.matrix.indptr)
    return (lp.cost, lp.lower, lp.upper, lp.row_lower, lp.row_upper, *matrix)


@through("name", FAMILIES)
@through("seed", [0, 1])
def test_there_is_an_optimum(name, seed):
    lp = FAMILIES[name].make(SMALL, seed)
    solver, task = Simplex(), Task(1e-7, 60.0)
    answer = solver.solve(solver.prepare(lp, task), task)
    assert answer.status == "optimal"
    assert measure(lp, answer.x, answer.y).worst <= 1e-6


@through("name", FAMILIES)
def test_a_seed_makes_one_program(name):
    first, again, other = (FAMILIES[name].make(SMALL, seed) for seed in (3, 3, 4))
    assert all(map(np.array_equal, arrays_of(first), arrays_of(again)))
    assert not all(map(np.array_equal, arrays_of(first), arrays_of(other)))


@through("name", FAMILIES)
@through("nonzeros", [30_000, 300_000])
def test_the_size_is_near_the_one_asked_for(name, nonzeros):
    lp = FAMILIES[name].make(nonzeros, 0)
    assert 0.5 * nonzeros <= lp.nonzeros <= 1.5 * nonzeros


@through("name", FAMILIES)
def test_matrices_are_canonical(name):
    matrix = FAMILIES[name].make(SMALL, 0).matrix
    assert np.all(matrix.data != 0.0)
    columns = matrix.indices.astype(np.int64)
    within = np.ones(matrix.nnz, dtype=bool)
    within[matrix.indptr[:-1][np.diff(matrix.indptr) > 0]] = False
    assert np.all(np.diff(columns)[within[1:]] > 0)
    assert not np.any(np.diff(matrix.indptr) == 0)
