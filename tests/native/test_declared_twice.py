"""What C++ or CUDA and Python both declare is the same in both."""

from __future__ import annotations

import importlib
import re
from operator import attrgetter

from solvers.native import _core
from solvers.papers.simplex_variants.kernels import layout, rules
from solvers.simplex import state
from solvers.simplex.dense_gpu import control
from solvers.simplex.dense_gpu.kernels import rules as dense_rules
from tests.cases import through
from tests.locations import ROOT

MODULES = [one for one in vars(_core).values() if hasattr(one, "constants")]


@through("native", MODULES)
def test_constants_agree(native):
    for python_module, named in native.constants.items():
        module = importlib.import_module(python_module)
        assert {name: float(attrgetter(name)(module)) for name in named} == named


HEADERS = {
    "solvers/papers/simplex_variants/kernels/rules.cuh": (layout, rules),
    "solvers/simplex/dense_gpu/kernels/structures.cuh": (control, dense_rules, state),
}
"""Headers of device code whose twins are in NumPy, and the modules that repeat their numbers."""


@through("header", HEADERS)
def test_numbers_of_device_code_agree(header):
    text = re.sub(r"//[^\n]*", "", (ROOT / header).read_text())
    constants = re.findall(r"constexpr \w+ ([^;]+);", text)
    named = [one.split("=") for part in constants for one in part.split(",")]
    for names in re.findall(r"enum \w+ {([^}]+)}", text):
        for number, name in enumerate(names.split(",")):
            named.append(name.split("=") if "=" in name else [name, str(number)])
    repeated = {name: value for module in HEADERS[header] for name, value in vars(module).items()}
    assert len(named) > 20
    for name, value in named:
        assert repeated[name.strip()] == float(value), name
