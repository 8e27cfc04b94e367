"""What C++ and Python both declare is the same in both."""

from __future__ import annotations

import importlib
from operator import attrgetter

import numpy as np
import pytest

from solvers.native import _core

MODULES = [one for one in vars(_core).values() if hasattr(one, "constants")]
RECORDS = [one for one in vars(_core).values() if hasattr(one, "records")]


@pytest.mark.parametrize("native", MODULES, ids=lambda one: one.__name__)
def test_constants_agree(native):
    for python_module, named in native.constants.items():
        module = importlib.import_module(python_module)
        assert {name: float(attrgetter(name)(module)) for name in named} == named


@pytest.mark.parametrize("native", RECORDS, ids=lambda one: one.__name__)
def test_records_agree(native):
    for (python_module, name), (size, offsets) in native.records.items():
        dtype = np.dtype(getattr(importlib.import_module(python_module), name))
        assert dtype.itemsize == size
        assert {field: found[1] for field, found in dtype.fields.items()} == offsets
