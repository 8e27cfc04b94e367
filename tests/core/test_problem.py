"""A Problem refuses what cannot be used, and says what and where."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from solvers.core.errors import CrossedBoundsError, ProblemError
from solvers.core.problem import Problem, side_sizes
from solvers.core.vectors import SMALL
from tests.cases import through


def small(**changes: object) -> Problem:
    data: dict[str, object] = {
        "cost": [1.0, 2.0],
        "matrix": [[1.0, 1.0], [1.0, -1.0]],
        "row_lower": [1.0, -np.inf],
        "row_upper": [np.inf, 3.0],
        "column_names": ["x", "y"],
        "row_names": ["demand", "balance"],
    }
    data.update(changes)
    return Problem.from_arrays(**data)  # type: ignore[arg-type]


def test_sizes_and_labels() -> None:
    problem = small()
    assert (problem.num_rows, problem.num_columns, problem.num_nonzeros) == (2, 2, 4)
    assert (problem.row_label(1), problem.column_label(0)) == ("balance", "x")
    assert not problem.is_mip


def test_names_are_made_up_when_absent() -> None:
    problem = small(column_names=None, row_names=None)
    assert (problem.row_label(1), problem.column_label(0)) == ("r1", "c0")


def test_duplicate_entries_are_summed_and_zeros_dropped() -> None:
    matrix = sp.coo_array(([1.0, 2.0, 5.0, -5.0], ([0, 0, 1, 1], [0, 0, 1, 1])), shape=(2, 2))
    problem = small(matrix=matrix)
    assert problem.matrix.nnz == 1
    assert problem.matrix[0, 0] == 3.0


def test_indices_are_32_bit_and_csc_is_cached() -> None:
    problem = small(matrix=sp.csr_array(np.eye(2)))
    assert problem.matrix.indices.dtype == np.int32
    assert problem.matrix.indptr.dtype == np.int32
    assert problem.matrix_csc is problem.matrix_csc


def test_arrays_are_copies_and_read_only() -> None:
    cost = np.array([1.0, 2.0])
    problem = small(cost=cost)
    cost[0] = 99.0
    assert problem.cost[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        problem.cost[0] = 3.0
    with pytest.raises(ValueError, match="read-only"):
        problem.matrix.data[0] = 3.0


def test_maximisation_is_turned_round_once() -> None:
    problem = small(maximize=True, offset=10.0)
    assert problem.maximize
    assert problem.cost.tolist() == [-1.0, -2.0]
    assert problem.offset == -10.0


def test_1e20_means_infinite() -> None:
    problem = small(lower=[-1e20, -1e30], upper=[1e20, 1e19])
    assert problem.lower.tolist() == [-np.inf, -np.inf]
    assert problem.upper.tolist() == [np.inf, 1e19]


@through(
    ("changes", "words"),
    [
        ({"cost": [np.nan, 1.0]}, ["'x'", "nan"]),
        ({"cost": [1.0, np.inf]}, ["'y'", "inf"]),
        ({"matrix": [[1.0, np.nan], [0.0, 1.0]]}, ["'y'", "'demand'", "nan"]),
        ({"matrix": [[1.0, 1.0], [-np.inf, 1.0]]}, ["'x'", "'balance'", "-inf"]),
        ({"row_lower": [np.nan, 0.0]}, ["'demand'", "NaN", "lower"]),
        ({"upper": [1.0, np.nan]}, ["'y'", "NaN", "upper"]),
        ({"offset": np.inf}, ["constant", "inf"]),
        ({"row_lower": [1.0]}, ["shape", "row_lower"]),
        ({"lower": [1.0, 2.0, 3.0]}, ["shape", "lower"]),
        ({"matrix": [[1.0], [1.0]]}, ["2 x 1"]),
        ({"integrality": [0, 2]}, ["integrality"]),
        ({"column_names": ["x"]}, ["1 column names", "2 columns"]),
        ({"cost": ["a", "b"]}, ["array of numbers"]),
    ],
)
def test_bad_data_is_named(changes: dict[str, object], words: list[str]) -> None:
    with pytest.raises(ProblemError) as caught:
        small(**changes)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"lower": [2.0, 0.0], "upper": [1.0, 1.0]},
        {"lower": [np.inf, 0.0]},
        {"upper": [-np.inf, 1.0]},
        {"lower": [1e20, 0.0]},
    ],
)
def test_crossed_column_bounds_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(CrossedBoundsError, match="'x'"):
        small(**changes)


def test_crossed_rows_are_refused_with_both_sides() -> None:
    with pytest.raises(CrossedBoundsError, match=r"lower bound 4 of row 'balance'.*upper bound 3"):
        small(row_lower=[1.0, 4.0], row_upper=[2.0, 3.0])


def test_bounds_crossed_by_rounding_are_closed() -> None:
    problem = small(lower=[1.0 + 1e-9, 0.0], upper=[1.0, 1.0])
    assert problem.lower[0] == problem.upper[0] == pytest.approx(1.0, abs=1e-9)


def test_empty_problems_are_fine() -> None:
    no_columns = Problem.from_arrays([], sp.csr_array((2, 0)), [0.0, -1.0], [1.0, 1.0])
    assert (no_columns.num_rows, no_columns.num_columns) == (2, 0)
    no_rows = Problem.from_arrays([1.0])
    assert (no_rows.num_rows, no_rows.num_columns) == (0, 1)


def test_relaxation_drops_integrality_only() -> None:
    problem = small(integrality=True)
    assert problem.is_mip
    relaxed = problem.relaxation()
    assert not relaxed.is_mip
    assert np.array_equal(problem.cost, relaxed.cost)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"matrix": 5}, "matrix must have rows and columns"),
        ({"matrix": [1.0, 1.0]}, "matrix must have rows and columns"),
        ({"maximize": "no"}, "'maximize' must be True or False; 'no' was given"),
        ({"offset": "ten"}, "'offset' is not an array of numbers"),
        ({"cost": [10**400, 1]}, "'cost' is not an array of numbers"),
        ({"upper": "many"}, "is not an array of numbers"),
        ({"integrality": [True]}, r"'integrality' has shape \(1,\); it must be \(2,\)"),
    ],
)
def test_data_of_the_wrong_kind_are_named(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(ProblemError, match=sentence):
        small(**changes)


@through(
    ("arguments", "sentence"),
    [
        ({"matrix": [[1, 2], [3]]}, "constraint matrix cannot be read"),
        ({"matrix": [[1j, 2]]}, "cannot be read: some entries are complex"),
        ({"matrix": [[1, None]]}, "is nan"),
        ({"matrix": "ab"}, "constraint matrix cannot be read"),
        ({"lower": [1j, 0]}, "'lower' is not an array of numbers: some are complex"),
        ({"maximize": np.array([True, False])}, "'maximize' must be True or False"),
        ({"column_names": 5}, "'column_names' must be a list of texts; a int"),
        ({"column_names": (name for name in "ab")}, "'column_names' must be a list of texts"),
    ],
)
def test_arguments_of_a_wrong_type_are_named(arguments, sentence):
    with pytest.raises(ProblemError, match=sentence):
        Problem.from_arrays([1.0, 2.0], **arguments)


def test_another_objective_shares_everything_else() -> None:
    problem = Problem.from_arrays([1.0, 2.0], [[1.0, 1.0]], 1.0, integrality=True, offset=3.0)
    by_column = problem.matrix_csc
    other = problem.with_cost(np.zeros(2))
    assert (other.cost.tolist(), other.offset) == ([0.0, 0.0], 0.0)
    assert (problem.cost.tolist(), problem.offset) == ([1.0, 2.0], 3.0)
    assert other.is_mip
    assert other.matrix is problem.matrix
    assert other.matrix_csc is by_column
    assert other.row_lower is problem.row_lower
    assert not other.cost.flags.writeable


def test_canonical_arrays_are_taken_over_and_their_bounds_settled() -> None:
    checked = Problem.from_arrays([1.0, 2.0], [[1.0, 0.0], [2.0, 3.0]], -1e20, 4.0)
    lower, upper = np.array([0.0, 1.0 + 1e-12]), np.array([1e20, 1.0])
    made = Problem.from_canonical(
        cost=np.array([1.0, 2.0]),
        matrix=checked.matrix,
        row_lower=np.full(2, -1e20),
        row_upper=np.full(2, 4.0),
        lower=lower,
        upper=upper,
        integrality=np.zeros(2, dtype=bool),
    )
    assert made.matrix is checked.matrix
    assert made.lower is lower
    assert made.row_lower.tolist() == [-np.inf, -np.inf]
    assert made.upper[0] == np.inf
    assert made.lower[1] == made.upper[1]
    assert not upper.flags.writeable
    assert made.matrix_csc.toarray().tolist() == [[1.0, 0.0], [2.0, 3.0]]


@pytest.mark.parametrize("field", ["cost", "row_upper", "lower"])
def test_bad_numbers_are_found_in_arrays_that_are_taken_over(field: str) -> None:
    fields = {name: np.zeros(1) for name in ("cost", "row_lower", "row_upper", "lower", "upper")}
    fields[field] = np.array([np.nan])
    with pytest.raises(ProblemError):
        Problem.from_canonical(
            **fields, matrix=sp.csr_array([[1.0]]), integrality=np.zeros(1, dtype=bool)
        )


@pytest.mark.parametrize("size", [7, SMALL + 1])
def test_sizes_of_sides_are_those_of_the_larger_finite_one(size: int) -> None:
    low = np.resize([-3.0, -np.inf, 2.0, -np.inf, -0.0], size)
    high = np.resize([1.0, 4.0, np.inf, np.inf, 0.0], size)
    expected = np.resize([3.0, 4.0, 2.0, 0.0, 0.0], size)
    found = side_sizes(low, high)
    assert np.array_equal(found, expected)
    assert not np.signbit(found).any()
