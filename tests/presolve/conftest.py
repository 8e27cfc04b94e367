"""Whatever these tests reduce: problems that are taken over unseen are what they have to be."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from solvers.core.problem import Problem


@pytest.fixture(autouse=True, scope="module")
def arrays_are_canonical() -> Iterator[None]:
    """Compare every problem made by ``from_canonical`` with what all checks make of its arrays."""
    honest = Problem.from_canonical

    def compared(**fields) -> Problem:
        checked = {name: value for name, value in fields.items() if name != "columns"}
        expected = Problem(**checked)  # which copies
        made = honest(**fields)
        for name in ("cost", "row_lower", "row_upper", "lower", "upper", "integrality"):
            assert_same(getattr(made, name), getattr(expected, name))
        assert type(made.matrix) is type(expected.matrix)
        assert type(made.matrix_csc) is type(expected.matrix_csc)
        for matrix, other in (
            (made.matrix, expected.matrix),
            (made.matrix_csc, expected.matrix_csc),
        ):
            assert matrix.shape == other.shape
            for name in ("data", "indices", "indptr"):
                assert_same(getattr(matrix, name), getattr(other, name))
        return made

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Problem, "from_canonical", compared)
        yield


def assert_same(made: np.ndarray, expected: np.ndarray) -> None:
    """Assert that arrays have the same bits and type, and that both are read-only."""
    assert made.dtype == expected.dtype
    assert made.tobytes() == expected.tobytes()
    assert made.flags.c_contiguous
