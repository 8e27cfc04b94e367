"""The launches of an iteration, dual or primal, in the order in which they depend on each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from solvers.kernels.family import Family
from solvers.simplex.dense_gpu.arrays import Arrays
from solvers.simplex.dense_gpu.kernels.column import COLUMN
from solvers.simplex.dense_gpu.kernels.dual_loop import DUAL_LOOP
from solvers.simplex.dense_gpu.kernels.dual_update import DUAL_UPDATE
from solvers.simplex.dense_gpu.kernels.primal import PRIMAL
from solvers.simplex.dense_gpu.kernels.ratio import RATIO
from solvers.simplex.dense_gpu.kernels.row import ROW
from solvers.simplex.dense_gpu.nucleus import Nucleus


@dataclass(frozen=True, eq=False)
class Step:
    """A kernel with its arguments."""

    family: Family
    name: str
    arguments: tuple[Any, ...]

    def run(self) -> None:
        """Launch it, or run its twin."""
        self.family[self.name](*self.arguments)

    def bound(self) -> Callable[[], None]:
        """Return it ready for a launch on the GPU."""
        return self.family.bind(self.name, *self.arguments)


def first_dual(a: Arrays) -> Step:
    """Return what has to run before the first dual iteration after a change of values."""
    arguments = (
        a.rows, a.x_basic, a.lower_basic, a.upper_basic, a.weights, a.scalars,
        a.row_value, a.row_index,
    )  # fmt: skip
    return Step(ROW, "choose_row", arguments)


def dual_iteration(a: Arrays, nucleus: Nucleus) -> tuple[Step, ...]:
    """Return the five launches of a dual iteration."""
    return (
        _pivot_row(a, nucleus, a.row_groups),
        _price_row(a, dual=1),
        Step(RATIO, "choose_column", (
            a.rows, a.structurals, a.most, a.columns.lanes, a.columns.full, a.steepest,
            *_columns(a), nucleus.slot_of_row, a.reference, a.lower, a.upper, a.alpha_rows,
            a.ratios, a.least, a.counts, a.squares, a.dots, a.status, a.x, a.reduced_cost,
            a.flips, a.flip_steps, *_sides(a, nucleus), a.column_dots, a.flip_dots, a.control,
            a.scalars,
        )),
        _solve_column(a, nucleus, dual=1),
        Step(DUAL_UPDATE, "update_dual", (
            a.rows, a.structurals, a.most, a.steepest, a.lower, a.upper, a.alpha_rows, a.alpha,
            a.beta, a.tau, a.flips, a.flip_steps, a.etas, a.x_basic, a.lower_basic,
            a.upper_basic, a.weights, a.x, a.cost, a.reduced_cost, a.basic, a.status,
            a.reference, a.pivot_log, a.row_value, a.row_index, a.control, a.scalars,
        )),
    )  # fmt: skip


def dual_iterations(a: Arrays, nucleus: Nucleus, count: int) -> Step:
    """Return one launch that makes many dual iterations, and needs no other one first."""
    arguments = (
        a.rows, a.structurals, nucleus.capacity, a.most, a.columns.lanes, a.columns.full,
        a.steepest, *_columns(a), nucleus.inverse, nucleus.unit_row, nucleus.slot_of_row, a.lower,
        a.upper, a.eta_rows, nucleus.row_slots, a.row_mask, a.etas, a.alpha_rows, a.ratios,
        a.least, a.counts, a.squares, a.dots, *_sides(a, nucleus), a.alpha, a.beta, a.tau,
        a.x_basic, a.lower_basic, a.upper_basic, a.weights, a.x, a.cost, a.reduced_cost,
        a.basic, a.status, a.reference, a.pivot_log, a.row_value, a.row_index, a.control,
        a.scalars, a.arrivals, a.blocks, count,
    )  # fmt: skip
    return Step(DUAL_LOOP, "iterate_dual", arguments)


def first_primal(a: Arrays) -> Step:
    """Return what has to run before the first primal iteration after a change of duals."""
    arguments = (
        a.rows, a.structurals, a.status, a.lower, a.upper, a.reduced_cost, a.price_weights,
        a.scalars, a.variable_value, a.variable_index,
    )  # fmt: skip
    return Step(PRIMAL, "price_costs", arguments)


def primal_iteration(a: Arrays, nucleus: Nucleus) -> tuple[Step, ...]:
    """Return the six launches of a primal iteration."""
    return (
        Step(PRIMAL, "choose_entering", (
            a.rows, a.structurals, a.most, a.columns.full, a.variable_groups, *_columns(a),
            nucleus.slot_of_row, a.x, a.reduced_cost, a.price_weights, a.alpha_rows,
            a.variable_value, a.variable_index, *_sides(a, nucleus), a.column_dots, a.control,
            a.scalars,
        )),
        _solve_column(a, nucleus, dual=0),
        Step(PRIMAL, "choose_leaving", (
            a.rows, a.basic, a.lower, a.upper, a.reduced_cost, a.alpha, a.x_basic,
            a.lower_basic, a.upper_basic, a.control, a.scalars,
        )),
        _pivot_row(a, nucleus, 0),
        _price_row(a, dual=0),
        Step(PRIMAL, "update_primal", (
            a.rows, a.structurals, a.most, a.alpha_rows, a.alpha, a.lower, a.upper, a.etas,
            a.x_basic, a.lower_basic, a.upper_basic, a.x, a.reduced_cost, a.price_weights,
            a.basic, a.status, a.pivot_log, a.variable_value, a.variable_index, a.control,
            a.scalars,
        )),
    )  # fmt: skip


def _columns(a: Arrays) -> tuple[Any, Any, Any]:
    return a.columns.starts, a.columns.indices, a.columns.values


def _sides(a: Arrays, nucleus: Nucleus) -> tuple[Any, ...]:
    return (
        a.places, a.amounts, a.column, nucleus.column_slots, a.flip_column, nucleus.flip_slots,
    )  # fmt: skip


def _pivot_row(a: Arrays, nucleus: Nucleus, groups: int) -> Step:
    arguments = (
        a.rows, nucleus.capacity, a.most, groups, nucleus.inverse, nucleus.unit_row,
        nucleus.slot_of_row, a.basic, a.etas, a.x_basic, a.lower_basic, a.upper_basic, a.weights,
        a.row_value, a.row_index, a.eta_rows, nucleus.row_slots, a.control, a.scalars,
    )  # fmt: skip
    return Step(ROW, "pivot_row", arguments)


def _price_row(a: Arrays, dual: int) -> Step:
    arguments = (
        a.rows, a.structurals, a.most, a.columns.lanes, a.columns.full, dual, a.steepest * dual,
        *_columns(a), a.eta_rows, a.status, a.reference, a.lower, a.upper, a.reduced_cost,
        a.control, a.scalars, a.alpha_rows, a.ratios, a.least, a.counts, a.squares, a.dots,
    )  # fmt: skip
    return Step(ROW, "price_row", arguments)


def _solve_column(a: Arrays, nucleus: Nucleus, dual: int) -> Step:
    arguments = (
        a.rows, nucleus.capacity, a.most, dual, a.steepest * dual, nucleus.inverse,
        nucleus.unit_row, a.etas, a.eta_rows, nucleus.row_slots, *_sides(a, nucleus),
        a.column_dots, a.flip_dots, a.dots, a.control, a.alpha, a.beta, a.tau,
    )  # fmt: skip
    return Step(COLUMN, "solve_column", arguments)
