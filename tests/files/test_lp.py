from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import gpu_bridge as gb
from gpu_bridge.files import read_problem
from solvers.core.errors import FileFormatError, UnsupportedModelError
from tests.cases import through
from tests.files.texts import LP, write

INF = np.inf


def test_every_part_arrives(tmp_path: Path) -> None:
    problem = read_problem(write(tmp_path, LP, "model.lp"))
    assert problem.maximize
    assert problem.offset == -5.0
    assert problem.column_names == ["x", "y", "z"]
    assert problem.row_names == ["c1", "c2", "c3"]
    np.testing.assert_array_equal(problem.cost, [-3, -2, 4])
    np.testing.assert_array_equal(problem.matrix.toarray(), [[1, 1, 1], [1, -2, 0], [1, 3, 1]])
    np.testing.assert_array_equal(problem.row_lower, [-INF, -2, 4])
    np.testing.assert_array_equal(problem.row_upper, [10, INF, 4])
    np.testing.assert_array_equal(problem.lower, [0, -1, -INF])
    np.testing.assert_array_equal(problem.upper, [4, 3, INF])
    np.testing.assert_array_equal(problem.integrality, [False, True, False])


def test_packed(tmp_path: Path) -> None:
    path = write(tmp_path, gzip.compress(LP.encode()), "model.lp.gz")
    # z = 4 - x - 3y: the objective is 7x + 14y - 11, with x <= 4 and y <= 3
    assert gb.solve(path).objective == pytest.approx(59.0)


@through(
    ("old", "new", "shown"),
    [
        ("3 x + 2 y", "3 * x + 2 y", "line 3"),
        ("3 x + 2 y", "3 x + 2 y + x", "'x' appears 2 times"),
        ("3 x + 2 y", "3 4 x + 2 y", "line 3"),
        ("3 x + 2 y", "3 x 2 y", "line 3"),
        ("3 x + 2 y", "3 5x + 2 y", "line 3"),
        ("x + y + z <= 10", "x + y + z + 3 <= 10", "line 5"),
        ("x + y + z <= 10", "1 <= x + y + z >= 10", "line 5"),
        ("x + y + z <= 10", "x <= 3 y <= 10", "line 5"),
        ("x + y + z <= 10", "3 <= x y <= 10", "line 5"),
        ("x + y + z <= 10", "x + y <= 10 x - z <= 4", "line 5"),
        ("x + y + z <= 10", "x + y <= 10 - z", "line 5"),
        ("x + y + z <= 10", "1,5 x + y <= 10", "line 5"),
        ("x - 2 y >= -2", "x - 2 y >= 1.5.5", "line 6"),
        ("   + z = 4", "   + z", "line 7"),
        ("Subject To", "", "Subject To"),
        ("End\n", "", "End"),
    ],
)
def test_text_that_would_be_misread_is_shown(
    tmp_path: Path, old: str, new: str, shown: str
) -> None:
    assert old in LP
    with pytest.raises(FileFormatError, match=shown):
        read_problem(write(tmp_path, LP.replace(old, new), "model.lp"))


def test_a_model_may_have_no_constraints(tmp_path: Path) -> None:
    text = "min\n\nobj:\n\n-1.0 x0\n\n\nbounds\n\n+2.0 <=  x0 <= 5\nend\n"
    problem = read_problem(write(tmp_path, text, "model.lp"))
    assert (problem.num_rows, problem.cost.tolist()) == (0, [-1.0])
    assert (problem.lower.tolist(), problem.upper.tolist()) == ([2.0], [5.0])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("- 4 z + 5", "- 4 z + 5 + [ x ^ 2 ] / 2"),
        ("x + y + z <= 10", "x + y + [ z ^ 2 ] <= 10"),
        ("c3: x", "c4: y = 1 -> x >= 2\n c3: x"),
        ("General\n y", "Semi-Continuous\n x"),
        ("General\n y", "SOS\n s: S1:: x:1 y:2"),
        ("End", "General Constraints\n g: x = MAX ( y , z )\nEnd"),
        ("Bounds", "Lazy Constraints\n l: x >= 1\nBounds"),
    ],
)
def test_parts_that_are_not_linear_are_refused(tmp_path: Path, old: str, new: str) -> None:
    assert old in LP
    with pytest.raises(UnsupportedModelError):
        read_problem(write(tmp_path, LP.replace(old, new), "model.lp"))


def test_signs_labels_and_lines_are_free(tmp_path: Path) -> None:
    text = """minimize
- x(1,2) - - 2.5e0y
st
 -x(1,2)-y>=-4
 label: + x(1,2)
  + y
  <= 3 \\ the end
\\ between
 x(1,2) = 1
bounds
 y >= -inf
end
"""
    problem = read_problem(write(tmp_path, text, "model.lp"))
    np.testing.assert_array_equal(problem.cost, [-1, 2.5])
    np.testing.assert_array_equal(problem.matrix.toarray(), [[-1, -1], [1, 1], [1, 0]])
    np.testing.assert_array_equal(problem.row_lower, [-4, -INF, 1])
    np.testing.assert_array_equal(problem.row_upper, [INF, 3, 1])


def test_a_model_without_objective(tmp_path: Path) -> None:
    text = "Minimize\n obj:\nSubject To\n c: x + y >= 2\nEnd\n"
    assert gb.solve(write(tmp_path, text, "model.lp")).objective == 0.0


def test_what_highs_writes(tmp_path: Path) -> None:
    import highspy

    highs = highspy.Highs()
    highs.setOptionValue("output_flag", False)
    highs.readModel(str(write(tmp_path, LP, "model.lp")))
    highs.addRow(1.0, 2.0, 0, [], [])
    highs.writeModel(str(tmp_path / "again.lp"))
    assert "semi" in (tmp_path / "again.lp").read_text()  # an empty section
    first, again = read_problem(tmp_path / "model.lp"), read_problem(tmp_path / "again.lp")
    np.testing.assert_array_equal(again.cost, first.cost)
    np.testing.assert_array_equal(again.integrality, first.integrality)
    np.testing.assert_array_equal(again.lower, first.lower)
    np.testing.assert_array_equal(again.matrix.toarray()[:3], first.matrix.toarray())
    np.testing.assert_array_equal(again.row_lower[3:], [1, -INF])  # the range in two rows


@through(
    ("row", "coefficients", "sides"),
    [
        ("-3 <= 2 x + y <= 5", [2, 1], (-3, 5)),
        ("r: 0 <= 3 x + y <= 5", [3, 1], (0, 5)),  # HiGHS reads 0 <= 3 and x + y <= 5
        ("r: 5 >= 3 x + y >= 0.5", [3, 1], (0.5, 5)),
        ("r: - inf <= 3 x\n + y <= 2e0", [3, 1], (-INF, 2)),
        ("r: -4 < - x + 1e-3 y < +infinity", [-1, 1e-3], (-4, INF)),
        ("r: 3 <= x - 2 y", [1, -2], (3, INF)),
        ("3 >= x - 2 y", [1, -2], (-INF, 3)),
        ("r: 3 = x - 2 y", [1, -2], (3, 3)),
    ],
)
def test_numbers_may_stand_on_the_left(
    tmp_path: Path, row: str, coefficients: list[float], sides: tuple[float, float]
) -> None:
    rows = f" first: x >= 1\n {row}\n last: x + y <= 9 more: 2 <= y\n"
    text = f"Minimize\n x\nSubject To\n{rows}Bounds\n x free\nEnd\n"
    problem = read_problem(write(tmp_path, text, "model.lp"))
    np.testing.assert_array_equal(problem.matrix.toarray(), [[1, 0], coefficients, [1, 1], [0, 1]])
    np.testing.assert_array_equal(problem.row_lower, [1, sides[0], -INF, 2])
    np.testing.assert_array_equal(problem.row_upper, [INF, sides[1], 9, INF])
    assert problem.lower[0] == -INF
    assert problem.row_names is not None
    assert list(problem.row_names[2:]) == ["last", "more"]


def test_sides_that_cross_are_infeasible(tmp_path: Path) -> None:
    text = "Minimize\n x\nSubject To\n r: 5 <= x + y <= 3\nEnd\n"
    outcome = gb.solve(write(tmp_path, text, "model.lp"))
    assert outcome.solution_status is gb.SolutionStatus.INFEASIBLE
    assert "'r'" in outcome.message


def test_exponents_are_no_names(tmp_path: Path) -> None:
    text = "Minimize\n 1e-05 x + 2.5E-6 y - 1e-7 e + 1e-3\nSubject To\n x + y + e >= 1\nEnd\n"
    problem = read_problem(write(tmp_path, text, "model.lp"))
    np.testing.assert_array_equal(problem.cost, [1e-5, 2.5e-6, -1e-7])
    assert problem.offset == 1e-3


@through(
    ("bounds", "expected"),
    [("", (0, 1)), ("x <= 7", (0, 1)), ("x free", (0, 1)), ("x = 0", (0, 0)), ("x >= 1", (1, 1))],
)
def test_binary_variables_are_binary_whatever_their_bounds(
    tmp_path: Path, bounds: str, expected: tuple[float, float]
) -> None:
    sections = f"Bounds\n {bounds}\n y <= 9\nBinaries\n x\nGenerals\n y\nEnd\n"
    text = f"Maximize\n x + y\nSubject To\n 3 x + y <= 10\n{sections}"
    problem = read_problem(write(tmp_path, text, "model.lp"))
    assert (problem.lower[0], problem.upper[0]) == expected
    assert problem.upper[1] == 9
    assert problem.integrality.all()


def test_a_binary_variable_above_one_has_crossed_bounds(tmp_path: Path) -> None:
    text = "Minimize\n x\nSubject To\n x + y >= 1\nBounds\n x >= 2\nBinary\n x\nEnd\n"
    with pytest.raises(gb.CrossedBoundsError, match="'x'"):
        read_problem(write(tmp_path, text, "model.lp"))
