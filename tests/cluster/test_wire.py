"""Problems and starts come back from plain data as they were."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from gpu_bridge.cluster.connection import pack, pack_start, unpack, unpack_start
from solvers.core.outcome import Basis, Start
from solvers.core.problem import Problem


@pytest.mark.parametrize("maximize", [False, True])
def test_a_problem_comes_back_without_its_names(maximize):
    problem = Problem.from_arrays(
        [1.0, -2.0, 0.0],
        [[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]],
        [1.0, -np.inf],
        [np.inf, 9.0],
        upper=[1.0, np.inf, 4.0],
        integrality=[True, False, True],
        offset=5.0,
        maximize=maximize,
        name="three",
        column_names=["a", "b", "c"],
    )
    sent = pickle.loads(pickle.dumps(pack(problem)))
    for array in (*sent["entries"], sent["lower"]):
        array.flags.writeable = False  # as Ray has them
    back = unpack(sent)
    for name in ("cost", "row_lower", "row_upper", "lower", "upper", "integrality"):
        np.testing.assert_array_equal(getattr(back, name), getattr(problem, name))
    np.testing.assert_array_equal(back.matrix.toarray(), problem.matrix.toarray())
    assert (back.offset, back.maximize, back.name) == (problem.offset, maximize, "three")
    assert back.column_names is None


def test_a_start_comes_back():
    basis = Basis(np.array([0, 1], np.int8), np.array([1], np.int8))
    start = unpack_start(pack_start(Start(np.array([1.0, np.nan]), None, basis)))
    assert start is not None
    assert start.row_dual is None
    np.testing.assert_array_equal(start.x, [1.0, np.nan])
    np.testing.assert_array_equal(start.basis.column_status, [0, 1])
    assert unpack_start(pack_start(None)) is None
