"""What C++ and Python both declare is the same in both."""

from __future__ import annotations

import importlib
from operator import attrgetter

import numpy as np

from solvers.native import _core
from tests.cases import through

MODULES = [one for one in vars(_core).values() if hasattr(one, "constants")]
RECORDS = [one for one in vars(_core).values() if hasattr(one, "records")]


@through("native", MODULES)
def test_constants_agree(native):
    for python_module, named in native.constants.items():
        module = importlib.import_module(python_module)
        assert {name: float(attrgetter(name)(module)) for name in named} == named


@through("native", RECORDS)
def test_records_agree(native):
    for (python_module, name), (size, offsets) in native.records.items():
        dtype = np.dtype(getattr(importlib.import_module(python_module), name))
        assert dtype.itemsize == size
        assert {field: found[1] for field, found in dtype.fields.items()} == offsets
