"""The reader of a model that a solver has solved before, so that only what changed is read again.

It is kept beside the solver and not in it, so that solvers can be copied and written to files. It
holds the model's parts but not the model, and goes with whichever of the two goes first.
"""

from __future__ import annotations

import weakref
from typing import Any

from gpu_bridge.adapters.pyomo.convert import ConvertedModel, ModelReader, convert
from gpu_bridge.adapters.pyomo.data_classes import BlockData
from solvers.core.process_state import Slot

MOST_MODELS = 4
"""Models that one solver may be used on by turns."""

_Readers = weakref.WeakKeyDictionary[Any, ModelReader]
_last: Slot[weakref.WeakKeyDictionary[Any, _Readers]] = Slot(
    "each solver's last Pyomo models, as they were read", weakref.WeakKeyDictionary
)


def convert_again(solver: Any, model: Any) -> ConvertedModel:
    """Read a model as :func:`convert` does, with what this solver knows of it.

    A reader is used by one thread at a time, and by none after it has failed.
    """
    if not isinstance(model, BlockData):
        return convert(model)  # which says what is wrong
    readers = _last.value.setdefault(solver, weakref.WeakKeyDictionary())
    reader = readers.pop(model, None)
    if reader is None or not reader.fits(model):
        reader = ModelReader(model)
    converted = reader.read(model)
    readers[model] = reader
    for old in list(readers.keys())[:-MOST_MODELS]:
        readers.pop(old, None)
    return converted
