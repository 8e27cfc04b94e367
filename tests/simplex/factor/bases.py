"""Bases for tests of the factorisation, and their matrices."""

from __future__ import annotations

from pathlib import Path

import highspy
import numpy as np
import scipy.sparse as sp

from gpu_bridge import read
from solvers.problem import Problem
from solvers.simplex.form import SlackForm, slack_form

DATA = Path(__file__).parents[2] / "data"


def form_of(matrix: object) -> SlackForm:
    """Return the slack form of a matrix, as it is."""
    columns = sp.csr_array(matrix)
    return slack_form(Problem.from_arrays(np.zeros(columns.shape[1]), columns), scaled=False)


def random_form(m: int, n: int, density: float, seed: int) -> SlackForm:
    rng = np.random.default_rng(seed)
    return form_of(sp.random(m, n, density, random_state=rng, data_rvs=rng.standard_normal))


def columns_of(form: SlackForm, variables: np.ndarray) -> sp.csc_array:
    """Return columns of [A -I]."""
    m, n = form.num_rows, form.num_structurals
    starts, indices, values = form.columns
    matrix = sp.csc_array((values, indices, starts), shape=(m, n))
    return sp.csc_array(sp.hstack([matrix, -sp.eye_array(m)], format="csc")[:, variables])


def random_basis(form: SlackForm, logicals: int, seed: int) -> np.ndarray:
    """Return a basis with so many logicals, in random order; it may be singular."""
    rng = np.random.default_rng(seed)
    m, n = form.num_rows, form.num_structurals
    chosen = np.concatenate([n + rng.permutation(m)[:logicals], rng.permutation(n)[: m - logicals]])
    return rng.permutation(chosen).astype(np.int64)


def optimal_basis(name: str) -> tuple[SlackForm, np.ndarray]:
    """Return a model of tests/data in slack form, and the basis that HiGHS ends with, shuffled."""
    path = DATA / f"{name}.mps.gz"
    solver = highspy.Highs()
    solver.silent()
    solver.setOptionValue("presolve", "off")
    solver.setOptionValue("threads", 1)
    solver.readModel(str(path))
    solver.run()
    found = solver.getBasis()
    basic = highspy.HighsBasisStatus.kBasic
    statuses = [*found.col_status, *found.row_status]
    variables = np.flatnonzero([status == basic for status in statuses])
    form = slack_form(read(path))
    return form, np.random.default_rng(0).permutation(variables).astype(np.int64)
