"""Numba twin of ``dual_loop.cu``: the twins of the single kernels, one after the other."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numpy as np

from solvers.kernels.twin import twin
from solvers.simplex.resident.control import BLOCK, MOST_FLIPS, RUNNING, STATUS
from solvers.simplex.resident.kernels import column_cpu, dual_update_cpu, ratio_cpu, row_cpu

_choose_row = row_cpu.choose_row.serial
_pivot_row = row_cpu.pivot_row.serial
_price_row = row_cpu.price_row.serial
_choose_column = ratio_cpu.choose_column.serial
_solve_column = column_cpu.solve_column.serial
_update_dual = dual_update_cpu.update_dual.serial


@twin
def iterate_dual(
    rows, structurals, capacity, most, lanes, full, steepest, starts, indices, values, inverse,
    unit_row, slot_of_row, lower, upper, eta_rows, row_slots, row_mask, etas, alpha_rows,
    ratios, least, counts, squares, dots, places, amounts, column, column_slots, flip_column,
    flip_slots,
    alpha, beta, tau, x_basic, lower_basic, upper_basic, weights, x, cost, reduced_cost,
    basic, status, reference, pivot_log, partial_value, partial_index, control, scalars,
    arrivals, blocks, count,
):  # fmt: skip
    """Make dual pivots."""
    words = scalars.copy()  # where the single kernels tell each other of the pivot
    flips, flip_steps = np.zeros(MOST_FLIPS, dtype=np.int32), np.zeros(MOST_FLIPS)
    column_dots, flip_dots = np.zeros(most), np.zeros(most)
    groups = max(1, min(BLOCK, (rows + BLOCK - 1) // BLOCK))
    best, place = np.zeros(groups), np.zeros(groups, dtype=np.int32)
    if control[STATUS] == RUNNING:
        _choose_row(rows, x_basic, lower_basic, upper_basic, weights, words, best, place)
    for _ in range(count):
        if control[STATUS] != RUNNING:
            return
        _pivot_row(
            rows, capacity, most, groups, inverse, unit_row, slot_of_row, basic, etas,
            x_basic, lower_basic, upper_basic, weights, best, place, eta_rows, row_slots,
            control, words,
        )  # fmt: skip
        _price_row(
            rows, structurals, most, lanes, full, 1, steepest, starts, indices, values,
            eta_rows, status, reference, lower, upper, reduced_cost, control, words,
            alpha_rows, ratios, least, counts, squares, dots,
        )  # fmt: skip
        _choose_column(
            rows, structurals, most, lanes, full, steepest, starts, indices, values,
            slot_of_row, reference, lower, upper, alpha_rows, ratios, least, counts, squares,
            dots, status, x, reduced_cost, flips, flip_steps, places, amounts, column,
            column_slots, flip_column, flip_slots, column_dots, flip_dots, control, words,
        )  # fmt: skip
        _solve_column(
            rows, capacity, most, 1, steepest, inverse, unit_row, etas, eta_rows, row_slots,
            places, amounts, column, column_slots, flip_column, flip_slots, column_dots,
            flip_dots, dots, control, alpha, beta, tau,
        )  # fmt: skip
        _update_dual(
            rows, structurals, most, steepest, lower, upper, alpha_rows, alpha, beta, tau,
            flips, flip_steps, etas, x_basic, lower_basic, upper_basic, weights, x, cost,
            reduced_cost, basic, status, reference, pivot_log, best, place, control, words,
        )  # fmt: skip
