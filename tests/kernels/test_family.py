"""Declaring, reading and calling kernels, apart from what any kernel computes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from solvers.kernels.declaration import Argument
from solvers.kernels.device_code import compile_options, load_source
from solvers.pdlp.kernels.matrix import MATRIX, unit_launch


def test_argument_refuses_an_unknown_kind():
    with pytest.raises(ValueError, match="complex"):
        Argument("x", "complex[]")


def test_call_with_too_few_arguments_names_the_kernel():
    with pytest.raises(TypeError, match="multiply"):
        MATRIX["multiply"](1, np.zeros(2))


def test_headers_are_put_in_once_with_line_directives():
    source = load_source("solvers.pdlp.kernels", "matrix.cu")
    assert source.count("struct SlicedMatrix {") == 1
    assert source.count("struct Sum {") == 1
    assert '#include "' not in source
    assert '#line 1 "slices.cuh"' in source


def test_compile_options_name_the_types():
    types = MATRIX.types("float32", "int64", indices="uint16", values="uint8")
    assert compile_options(types) == (
        "-std=c++17",
        "-DREAL=float",
        "-DINDEX=long long",
        "-DINDICES_T=unsigned short",
        "-DVALUES_T=unsigned char",
    )


@pytest.mark.parametrize(("slices", "grid"), [(0, 0), (8, 1), (9, 2), (64, 8)])
def test_launch_gives_each_unit_of_eight_slices_a_block(slices, grid):
    shape = unit_launch({"slices": slices})
    assert (shape.grid, shape.block, shape.shared) == (grid, 256, 0)


def test_importing_the_engine_loads_neither_cupy_nor_highs():
    code = (
        "import sys, solvers.pdlp, solvers.core.device;"
        "print([name for name in ('cupy', 'highspy') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
