// What an annealing holds, and that its arrays fit together (see structure.py).
#pragma once

#include "mip/model.h"
#include "native/bindings.h"

namespace mip::annealing {

using native::Grid;
using native::Span;

/// Places of ``numbers``.
constexpr std::int64_t HARD = 0, WORK = 1, MOVES = 2, STAMP = 3, COST = 4, SUM = 5, VIOLATED = 6;

/// Groups of columns of which one is chosen, and slacks of rows (see groups.py and structure.py).
struct Choices {
    Span<const std::int32_t> start, column, value, group, none;
    Grid<const std::int32_t> table;
};
struct Slacks {
    Span<const double> cost, least, most, scale;
    Span<const bool> is_whole;
    Span<const std::int32_t> start, row, side;
    Grid<const std::int32_t> of_side;
};

/// The parts of what an annealing holds (see structure.py).
struct Rows {
    Span<const double> lower, upper, weight;
    Span<double> activity;
};
struct TrialRows {
    Span<double> delta;
    Span<std::int64_t> stamp, mark;
    Span<std::int32_t> touched;
};
struct State {
    SparseRows by_column, by_row;
    Span<const double> cost;
    Choices choices;
    Slacks slacks;
    Span<const std::int32_t> label;
    Grid<const std::int32_t> by_label;
    Rows rows;
    TrialRows trial;
    Span<std::int32_t> holder, current, best;
    Span<const double> excess;
    Span<double> numbers;
    Span<std::uint64_t> random;
};

inline void check(const State &state) {
    const std::int64_t m = state.rows.activity.size(), groups = state.current.size();
    const std::int64_t slacks = state.slacks.cost.size();
    native::check_length("lower", state.rows.lower.size(), m);
    native::check_length("upper", state.rows.upper.size(), m);
    native::check_length("weight", state.rows.weight.size(), m);
    native::check_length("delta", state.trial.delta.size(), m);
    native::check_length("stamp", state.trial.stamp.size(), m);
    native::check_length("start", state.choices.start.size(), groups + 1);
    native::check_length("best", state.best.size(), groups);
    native::check_length("none", state.choices.none.size(), groups);
    native::check_rows("by_column", state.by_column, state.by_column.indptr.size() - 1);
    native::check_rows("by_row", state.by_row, m);
    native::check_length("numbers", state.numbers.size(), VIOLATED + 1);
    native::check_length("random", state.random.size(), 1);
    native::check_length("of_side", state.slacks.of_side.size(), 2 * m);
    native::check_length("slacks.least", state.slacks.least.size(), slacks);
    native::check_length("slacks.most", state.slacks.most.size(), slacks);
    native::check_length("slacks.is_whole", state.slacks.is_whole.size(), slacks);
    native::check_length("slacks.start", state.slacks.start.size(), slacks + 1);
    native::check_length("trial.mark", state.trial.mark.size(), slacks);
    native::check_length("excess", state.excess.size(), slacks);
}

} // namespace mip::annealing

NATIVE_STRUCT(mip::annealing::Choices, start, column, value, group, none, table)
NATIVE_STRUCT(mip::annealing::Slacks, cost, least, most, scale, is_whole, start, row, side, of_side)
NATIVE_STRUCT(mip::annealing::Rows, lower, upper, weight, activity)
NATIVE_STRUCT(mip::annealing::TrialRows, delta, stamp, mark, touched)
NATIVE_STRUCT(mip::annealing::State, by_column, by_row, cost, choices, slacks, label, by_label,
              rows, trial, holder, current, best, excess, numbers, random)
