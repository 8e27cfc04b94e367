"""Rounding: dives that fix, propagate, go back and repair; bulk rounding along a point."""

from solvers.mip.heuristics.fix_and_propagate.bulk import BulkChooser, Rounded, round_point
from solvers.mip.heuristics.fix_and_propagate.dive import Dive, Diver, dive
from solvers.mip.heuristics.fix_and_propagate.portfolio import Dives, run_portfolio
from solvers.mip.heuristics.fix_and_propagate.strategy import (
    LP_FREE,
    LP_GUIDED,
    Mode,
    Order,
    Strategy,
    Value,
)

__all__ = [
    "LP_FREE",
    "LP_GUIDED",
    "BulkChooser",
    "Dive",
    "Diver",
    "Dives",
    "Mode",
    "Order",
    "Rounded",
    "Strategy",
    "Value",
    "dive",
    "round_point",
    "run_portfolio",
]
