"""The kernels of ``row.py`` in NumPy."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from solvers.core.linear_algebra import SparseRows
from solvers.core.problem import FloatArray
from solvers.simplex.dense_gpu import control as word
from solvers.simplex.dense_gpu.control import BLOCK, RUNNING, SEGMENT
from solvers.simplex.dense_gpu.kernels.rules import (
    distance_of,
    excess_of,
    infeasibility_of,
    leave_best,
    may_enter,
    take_best,
)
from solvers.simplex.state import BASIC


def choose_row(a: SimpleNamespace) -> None:
    """Leave the best position of each block."""
    leave_best(a, infeasibility_of(a))


def pivot_row(a: SimpleNamespace) -> None:
    """Find the leaving position and its row of the inverse."""
    control, in_dual = a.control, a.groups > 0
    if control[word.STATUS] != RUNNING or not (in_dual or control[word.FLIP_ONLY] == 0):
        return
    if in_dual and not _take_position(a):
        return
    made = control[word.PIVOTS] - (0 if in_dual else 1)
    p = control[word.POSITION]
    stored = np.flatnonzero(a.slot_of_row >= 0)
    slots, unit, row = a.slot_of_row[stored], a.unit_row[p], a.eta_rows[made]
    row[:] = 0.0
    if unit >= 0:
        row[unit] = -1.0
    row[stored] = a.inverse[p, slots]
    row += a.etas[p, :made] @ a.eta_rows[:made]
    a.row_slots[slots] = row[stored]


def _take_position(a: SimpleNamespace) -> bool:
    """Take the position from partial results, or say why there is none."""
    p = take_best(a)
    if p is None:
        return False
    value, lower, upper = a.x_basic[p], a.lower_basic[p], a.upper_basic[p]
    excess = float(excess_of(value, lower, upper, a.scalars[word.PRIMAL_TOLERANCE]))
    a.control[[word.POSITION, word.LEAVING]] = p, a.basic[p]
    a.scalars[[word.VALUE, word.EXCESS]] = value, excess
    a.scalars[[word.BOUND, word.WEIGHT]] = lower if excess < 0.0 else upper, a.weights[p]
    return True


def price_row(a: SimpleNamespace) -> None:
    """Multiply the pivot row with every column; find the candidates for entering."""
    control, in_dual = a.control, a.dual == 1
    if control[word.STATUS] != RUNNING or not (in_dual or control[word.FLIP_ONLY] == 0):
        return
    made = control[word.PIVOTS] - (0 if in_dual else 1)
    row, alpha = a.eta_rows[made], a.alpha_rows[made]
    columns = SparseRows(a.values, a.indices, a.starts, (a.structurals, a.rows))
    alpha[: a.structurals] = columns.times(row)
    alpha[a.structurals :] = -row
    alpha[a.status == BASIC] = 0.0
    if a.status[control[word.LEAVING]] == BASIC:
        alpha[control[word.LEAVING]] = 1.0
    if in_dual:
        _leave_ratios(a, alpha)
    if a.steepest == 1:
        a.dots[:made] = a.eta_rows[:made] @ row
        a.dots[a.most] = row @ row


def _leave_ratios(a: SimpleNamespace, alpha: FloatArray) -> None:
    """Leave the ratio of each candidate, the least of each segment, and the blocks' squares."""
    turned = -alpha if a.scalars[word.EXCESS] < 0.0 else alpha
    size, nonbasic = np.abs(alpha), a.status != BASIC
    near = nonbasic & (size > a.scalars[word.SMALL_PIVOT]) & (a.lower < a.upper)
    near = np.flatnonzero(near & may_enter(a.status, turned))
    distance = distance_of(a.status[near], a.reduced_cost[near])
    a.ratios[:] = np.inf
    a.ratios[near] = (distance + a.scalars[word.HARRIS]) / size[near]
    near = near[a.ratios[near] < np.inf]
    in_block = BLOCK // a.lanes
    width = min(SEGMENT, in_block)
    segment = _parts(a, in_block, width, near)
    a.least[:] = np.inf
    np.minimum.at(a.least, segment, a.ratios[near])
    a.counts[:] = np.bincount(segment, minlength=a.counts.size)
    if a.steepest == 0:
        counted = np.flatnonzero(nonbasic & (a.reference != 0))
        logical = counted - a.structurals
        blocks = -(-a.structurals // in_block)
        block = np.where(logical < 0, counted // in_block, blocks + logical // BLOCK)
        a.squares[:] = np.bincount(block, alpha[counted] ** 2, a.squares.size)


def _parts(a: SimpleNamespace, in_block: int, width: int, variables: np.ndarray) -> np.ndarray:
    """Return the segments of variables: logicals begin in a block of their own."""
    logical = variables - a.structurals
    before = -(-a.structurals // in_block) * in_block
    return np.where(logical < 0, variables, before + logical) // width


def solve_column(a: SimpleNamespace) -> None:
    """Multiply the right sides of this iteration with the inverse."""
    control = a.control
    if control[word.STATUS] != RUNNING:
        return
    made, entries, slots = (control[k] for k in (word.PIVOTS, word.ENTRIES, word.SLOTS))
    flipped = a.dual == 1 and control[word.FLIPS] > 0
    if entries >= 0:
        of_flips = control[word.FLIP_ENTRIES]
        flip = _listed(a, slice(0, of_flips))
        column = _listed(a, slice(of_flips, entries))
    else:
        flip, column = (a.flip_slots, a.flip_column), (a.column_slots, a.column)
    a.alpha[:] = _times_inverse(a, *column, a.column_dots[:made], slots)
    if a.dual == 1:
        a.beta[:] = _times_inverse(a, *flip, a.flip_dots[:made], slots) if flipped else 0.0
    if a.steepest == 1:
        a.tau[:] = _times_inverse(a, a.row_slots, a.eta_rows[made], a.dots[:made], slots)


def _listed(a: SimpleNamespace, part: slice) -> tuple[FloatArray, FloatArray]:
    """Return the sums by slot and by row of entries of the list."""
    places, amounts = a.places[part], a.amounts[part]
    stored = places >= 0
    by_slot, by_row = np.zeros(a.capacity), np.zeros(a.rows)
    np.add.at(by_slot, places[stored], amounts[stored])
    np.add.at(by_row, -1 - places[~stored], amounts[~stored])
    return by_slot, by_row


def _times_inverse(
    a: SimpleNamespace, by_slot: FloatArray, by_row: FloatArray, dots: FloatArray, slots: int
) -> FloatArray:
    """Return the inverse times a vector that is given by slot and by row."""
    used = np.flatnonzero(by_slot[:slots])
    own = used if SPARSE * used.size < slots else slice(0, slots)
    found: FloatArray = a.inverse[:, own] @ by_slot[own]
    unit = np.flatnonzero(a.unit_row >= 0)
    found[unit] -= by_row[a.unit_row[unit]]
    found += a.etas[:, : dots.size] @ dots
    return found


SPARSE = 4
"""Columns of the inverse for each one that is used, from which on these are gathered."""
