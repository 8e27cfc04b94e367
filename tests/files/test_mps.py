from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gpu_bridge as gb
from gpu_bridge.files import read_problem
from solvers.core.errors import FileFormatError, ProblemError
from tests.cases import through
from tests.files.texts import BASE, with_section, write
from tests.locations import DATA

INF = np.inf


def test_every_part_arrives(tmp_path: Path) -> None:
    problem = read_problem(write(tmp_path, BASE))
    assert problem.name == "TEST"
    assert problem.column_names == ["X", "Y", "Z"]
    assert problem.row_names == ["LIM1", "LIM2", "MYEQN"]
    np.testing.assert_array_equal(problem.matrix.toarray(), [[1, 1, 0], [1, 0, 0], [0, -1, 1]])
    np.testing.assert_array_equal(problem.cost, [1, 2, -1])
    np.testing.assert_array_equal(problem.row_lower, [-INF, 1, 7])
    np.testing.assert_array_equal(problem.row_upper, [4, INF, 7])
    np.testing.assert_array_equal(problem.lower, [0, -1, 0])
    np.testing.assert_array_equal(problem.upper, [4, 1, INF])
    assert not problem.is_mip
    assert not problem.maximize


def test_a_right_hand_side_of_the_objective_is_minus_its_constant(tmp_path: Path) -> None:
    path = write(tmp_path, BASE)
    assert read_problem(path).offset == 10.0
    assert gb.solve(path).objective == pytest.approx(3.0)


@through(
    "section",
    [
        "OBJSENSE\n    MAX",
        "OBJSENSE\n    MAXIMIZE",
        "OBJSENSE\n    MAXIMISE",
        "OBJSENSE MAX",
        "OBJSENSE MAXIMISE",
        "OBJSENSE: MAX",
        "OBJSENSE\n* a comment\n    max",
        "OBJSENSE\nOBJSENSE\n    MAX",
    ],
)
def test_every_spelling_of_a_maximisation(tmp_path: Path, section: str) -> None:
    path = write(tmp_path, BASE.replace("ROWS", section + "\nROWS"))
    problem = read_problem(path)
    assert problem.maximize
    np.testing.assert_array_equal(problem.cost, [-1, -2, 1])
    assert problem.offset == -10.0
    # the objective is x + y + 3 on x + y <= 4
    outcome = gb.solve(path)
    assert outcome.objective == pytest.approx(7.0)
    assert outcome.bound == pytest.approx(7.0)


@pytest.mark.parametrize("section", ["OBJSENSE\n    MIN", "OBJSENSE MINIMIZE"])
def test_a_stated_minimisation(tmp_path: Path, section: str) -> None:
    assert not read_problem(write(tmp_path, BASE.replace("ROWS", section + "\nROWS"))).maximize


def test_ranges_on_every_kind_of_row(tmp_path: Path) -> None:
    ranges = "RANGES\n    RNG       LIM1 2.5   LIM2 4.0\n    RNG       MYEQN -3.0"
    problem = read_problem(write(tmp_path, with_section(ranges)))
    np.testing.assert_array_equal(problem.row_lower, [1.5, 1, 4])
    np.testing.assert_array_equal(problem.row_upper, [4, 5, 7])


def test_a_negative_upper_bound_alone_opens_the_lower_one(tmp_path: Path) -> None:
    text = BASE.replace("UP BND       X                  4.0", "UP BND       X -4.0")
    assert read_problem(write(tmp_path, text)).lower[0] == -INF


@pytest.mark.parametrize("line", [" LO BND       X 0.0", " LO X 0.0"])
def test_a_stated_lower_bound_contradicts_a_negative_upper_one(tmp_path: Path, line: str) -> None:
    text = BASE.replace(
        " UP BND       X                  4.0", line + "\n UP BND       X                 -4.0"
    )
    outcome = gb.solve(write(tmp_path, text))
    assert outcome.solution_status is gb.SolutionStatus.INFEASIBLE
    assert "'X'" in str(outcome.conflict)


def test_integer_markers_have_implicit_bounds(tmp_path: Path) -> None:
    z = "    Z         COST              -1.0   MYEQN              1.0\n"
    start = "    M1        'MARKER'                 'INTORG'\n"
    end = "    M2        'MARKER'                 'INTEND'\n"
    problem = read_problem(write(tmp_path, BASE.replace(z, start + z + end)))
    np.testing.assert_array_equal(problem.integrality, [False, False, True])
    assert problem.upper[2] == 1.0


def test_further_free_rows_are_left_out(tmp_path: Path) -> None:
    text = BASE.replace(" G  LIM2", " G  LIM2\n N  OTHER").replace(
        "    X         LIM2               1.0",
        "    X         LIM2               1.0   OTHER              5.0",
    )
    problem = read_problem(write(tmp_path, text))
    assert problem.row_names == ["LIM1", "LIM2", "MYEQN"]
    np.testing.assert_array_equal(problem.cost, [1, 2, -1])
    with pytest.raises(FileFormatError, match="OTHER"):
        read_problem(write(tmp_path, text.replace("ROWS", "OBJNAME\n    OTHER\nROWS")))
    read_problem(write(tmp_path, text.replace("ROWS", "OBJNAME\n    COST\nROWS")))


@pytest.mark.parametrize("name", ["model.mps.gz", "MODEL.MPS", "a.b.Mps.gz"])
def test_packed_files_and_other_spellings_of_the_ending(tmp_path: Path, name: str) -> None:
    text = gzip.compress(BASE.encode()) if name.endswith(".gz") else BASE
    assert read_problem(write(tmp_path, text, name)).num_columns == 3


def test_windows_line_ends_and_sets_without_names(tmp_path: Path) -> None:
    text = BASE.replace("RHS       ", "").replace("BND       ", "").replace("\n", "\r\n")
    problem = read_problem(write(tmp_path, text))
    np.testing.assert_array_equal(problem.upper, [4, 1, INF])
    np.testing.assert_array_equal(problem.row_upper, [4, INF, 7])
    assert problem.offset == 10.0


def test_numbers_of_every_spelling(tmp_path: Path) -> None:
    text = BASE.replace("-1.0   MYEQN              1.0", "-.5E+1   MYEQN  +1.e0")
    problem = read_problem(write(tmp_path, text))
    assert problem.cost[2] == -5.0
    assert problem.matrix.toarray()[2, 2] == 1.0


@through("number", ["abc", "1,5", "1.0D+02", "1.2.3", "--1", "0x", "nan"])
@through("where", ["2.0   LIM1", "-1.0\n", "7.0   COST"])
def test_a_word_in_place_of_a_number_is_shown(tmp_path: Path, number: str, where: str) -> None:
    text = BASE.replace(where, where.replace(where.split()[0], number), 1)
    with pytest.raises(FileFormatError, match=r"line \d+, in section (COLUMNS|RHS)"):
        read_problem(write(tmp_path, text))


def test_small_and_large_coefficients_are_kept(tmp_path: Path) -> None:
    text = BASE.replace("Y         MYEQN             -1.0", "Y         MYEQN             2e-12")
    text = text.replace("X         LIM2               1.0", "X         LIM2              1e+17")
    A = read_problem(write(tmp_path, text)).matrix.toarray()
    assert A[2, 1] == 2e-12
    assert A[1, 0] == 1e17


@pytest.mark.parametrize("number", ["inf", "-inf"])
def test_coefficients_that_are_not_finite_are_named(tmp_path: Path, number: str) -> None:
    text = BASE.replace("2.0   LIM1               1.0", f"2.0   LIM1               {number}")
    with pytest.raises(ProblemError, match=r"'Y' in row 'LIM1'"):
        read_problem(write(tmp_path, text))


def test_entries_that_would_be_lost_are_refused(tmp_path: Path) -> None:
    unknown = BASE.replace("2.0   LIM1", "2.0   NOSUCH")
    with pytest.raises(FileFormatError, match="NOSUCH"):
        read_problem(write(tmp_path, unknown))
    twice = BASE.replace("X         LIM2               1.0", "X         LIM1               1.0")
    with pytest.raises(FileFormatError, match="LIM1"):
        read_problem(write(tmp_path, twice))


@through(
    ("old", "new"),
    [
        ("    X         LIM2               1.0", "    X"),
        ("    X         LIM2               1.0", "    X         LIM2"),
        ("    X         LIM2               1.0", "    X         LIM2   1.0   MYEQN"),
        ("RHS       MYEQN              7.0   COST             -10.0", "RHS       MYEQN"),
        ("UP BND       X                  4.0", "UP BND       X"),
        ("UP BND       X                  4.0", "UP BND       X          abc"),
        ("UP BND       X                  4.0", "UP BND       Q          4.0"),
        ("UP BND       X                  4.0", "XX BND       X          4.0"),
        (" E  MYEQN", " Q  MYEQN"),
        (" E  MYEQN", " E  LIM1"),
    ],
)
def test_a_line_that_says_too_little_is_refused(tmp_path: Path, old: str, new: str) -> None:
    assert old in BASE
    with pytest.raises(FileFormatError):
        read_problem(write(tmp_path, BASE.replace(old, new)))


@through(
    ("old", "new", "named"),
    [
        ("    Z         COST", "    Z         NOSUCH", "NOSUCH"),  # HiGHS would assume blanks
        (" E  MYEQN", " E  E  MYEQN", "there is no row"),  # and then might never end
        ("RHS       LIM1               4.0   LIM2", "RHS LIM1 4.0   NOSUCH", "NOSUCH"),
        (" G  LIM2", " G  LIM2\n G  LIM1", "LIM1"),
        ("    Z         COST", "    X         COST", '"X"'),
        ("NAME          TEST", "NAME          TEST\n OBJSENSE\n    MAX", "line 2.*OBJSENSE"),
        (" G  LIM2", " G  LIM2\n G", "line 6, in section ROWS"),
        (" UP BND       X                  4.0", " BV BND", "''"),
        (" UP BND       X                  4.0", " FR BND       Q", "'Q'"),
    ],
)
def test_a_name_or_a_line_in_the_wrong_place_is_shown(
    tmp_path: Path, old: str, new: str, named: str
) -> None:
    assert old in BASE
    with pytest.raises(FileFormatError, match=named):
        read_problem(write(tmp_path, BASE.replace(old, new)))


def test_names_with_blanks_in_fixed_format(tmp_path: Path) -> None:
    text = BASE.replace("LIM1 ", "LI 1 ").replace("LIM1\n", "LI 1\n")
    problem = read_problem(write(tmp_path, text))
    assert problem.row_names == ["LI 1", "LIM2", "MYEQN"]
    np.testing.assert_array_equal(problem.matrix.toarray(), [[1, 1, 0], [1, 0, 0], [0, -1, 1]])
    with pytest.raises(FileFormatError, match="LI 2"):
        read_problem(write(tmp_path, text.replace("2.0   LI 1", "2.0   LI 2")))


@pytest.mark.parametrize(
    "encoded",
    [
        pytest.param(BASE.replace("Y    ", "\xc4    ").encode("latin-1"), id="Latin-1"),
        pytest.param(BASE.replace("Y    ", "\xc4    ").encode(), id="UTF-8"),
        pytest.param(BASE.replace("Y    ", "\xc4    ").encode("utf-8-sig"), id="with a mark"),
        pytest.param(gzip.compress(BASE.replace("Y    ", "\xc4    ").encode("latin-1")), id="gz"),
    ],
)
def test_names_beyond_ascii(tmp_path: Path, encoded: bytes) -> None:
    name = "model.mps.gz" if encoded[:2] == b"\x1f\x8b" else "model.mps"
    problem = read_problem(write(tmp_path, encoded, name))
    assert problem.column_names == ["X", "\xc4", "Z"]
    np.testing.assert_array_equal(problem.lower, [0, -1, 0])


def test_an_empty_column_at_the_end_is_one(tmp_path: Path) -> None:
    text = BASE.replace("RHS\n", "    Q         COST               0.0\nRHS\n", 1)
    assert read_problem(write(tmp_path, text)).column_names == ["X", "Y", "Z", "Q"]


def test_a_repeated_right_hand_side_is_told(tmp_path: Path) -> None:
    text = BASE.replace("BOUNDS", "    RHS       LIM1               4.0\nBOUNDS")
    with pytest.warns(UserWarning, match="LIM1"):
        problem = read_problem(write(tmp_path, text))
    assert problem.row_upper[0] == 4.0


@pytest.mark.parametrize(
    ("name", "shape", "optimum"),
    [("afiro", (27, 32), -464.753142857), ("forplan", (161, 421), -664.218961272)],
)
def test_netlib(name: str, shape: tuple[int, int], optimum: float) -> None:
    problem = read_problem(DATA / f"{name}.mps.gz")
    assert problem.matrix.shape == shape
    assert gb.solve(problem).objective == pytest.approx(optimum, rel=1e-9)


def test_reading_prints_nothing() -> None:
    program = f"import gpu_bridge; gpu_bridge.read({str(DATA / 'adlittle.mps.gz')!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
