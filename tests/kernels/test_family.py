"""Declaring, reading and calling kernels, apart from what any kernel computes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from solvers.kernels.family import Argument, compile_options, load_source
from solvers.pdlp.kernels.layout import launch
from solvers.pdlp.kernels.matrix import MATRIX


def test_argument_refuses_an_unknown_kind():
    with pytest.raises(ValueError, match="complex"):
        Argument("x", "complex[]")


def test_call_with_too_few_arguments_names_the_kernel():
    with pytest.raises(TypeError, match="multiply"):
        MATRIX["multiply"](1, np.zeros(2))


def test_headers_are_put_in_once_with_line_directives():
    source = load_source("solvers.pdlp.kernels", "matrix.cu")
    assert source.count("struct RowShare {") == 1
    assert source.count("struct Sum {") == 1
    assert '#include "' not in source
    assert '#line 1 "rows.cuh"' in source


def test_compile_options_name_the_types():
    assert compile_options(MATRIX.types("float32", "int64")) == (
        "-std=c++17",
        "-DREAL=float",
        "-DINDEX=long long",
    )


@pytest.mark.parametrize(
    ("rows", "lanes", "long_count", "grid"),
    [(0, 4, 0, 0), (1, 1, 0, 1), (256, 1, 0, 1), (257, 1, 0, 2), (256, 32, 3, 35)],
)
def test_launch_covers_every_row_and_gives_long_rows_their_blocks(rows, lanes, long_count, grid):
    shape = launch({"rows": rows, "lanes": lanes, "long_count": long_count})
    assert (shape.grid, shape.block) == (grid, 256)


def test_importing_the_engine_loads_neither_numba_nor_cupy():
    code = (
        "import sys, solvers.pdlp, solvers.device;"
        "print([name for name in ('numba', 'cupy', 'highspy') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_twins_work_where_nothing_can_be_cached():
    code = (
        "import numba.core.caching as caching;"
        "caching.FunctionCache._impl_class._locator_classes = [];"
        "import numpy as np; from solvers.pdlp.kernels.matrix import MATRIX;"
        "out = np.zeros(1);"
        "MATRIX['multiply'](1, np.array([0, 1]), np.array([0]), np.array([2.0]), 0,"
        " np.zeros(0, int), 9, 1, np.array([3.0]), out);"
        "print(out[0])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "6.0"
