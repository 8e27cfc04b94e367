"""In which order columns are probed."""

from __future__ import annotations

from enum import Enum

import numpy as np

from solvers.mip.model import IndexArray, MipModel
from solvers.native.mip_inference_probing_rank import conflicts, neighbours


class Priority(Enum):
    """Rules for the order of probing; the values say what they look at."""

    CONFLICT = "how many rows, and how far, a column at its other bound violates; then its slack"
    NEIGHBOURS = "how many entries of other integer columns stand in the rows of a column"


def prioritised(model: MipModel, rule: Priority = Priority.NEIGHBOURS, seed: int = 0) -> IndexArray:
    """Return the integer columns that are not fixed, the most promising one first.

    ``Priority.CONFLICT`` has the three criteria of section 2.2 of arXiv 2510.20499, compared one
    after the other. The first two count only for columns that push some rows' smallest activity
    up when they fall and others' when they rise: the number of rows that cannot hold when the
    column moves to the bound it does not have in the row's smallest activity, and the largest
    excess. The third is the least slack of a row per unit of the column, the smaller first.

    ``Priority.NEIGHBOURS`` counts the entries of other integer columns in a column's rows; one
    that shares two rows counts twice. Free columns come last under both rules.

    Parameters
    ----------
    model : MipModel
    rule : Priority
    seed : int
        For the order of columns that the rule finds equal.
    """
    columns = model.integers[model.lower[model.integers] < model.upper[model.integers]]
    columns = np.random.default_rng(seed).permutation(columns)
    free = np.isinf(model.lower[columns]) & np.isinf(model.upper[columns])
    if rule is Priority.NEIGHBOURS:
        score = np.empty(columns.size, dtype=np.int64)
        neighbours(columns, model, score)
        keys: tuple[np.ndarray, ...] = (-score, free)
    else:
        violated = np.empty(columns.size, dtype=np.int64)
        excess, slack = np.empty(columns.size), np.empty(columns.size)
        conflicts(columns, model, violated, excess, slack)
        keys = (slack, -excess, -violated, free)
    return np.ascontiguousarray(columns[np.lexsort(keys)], dtype=np.int32)
