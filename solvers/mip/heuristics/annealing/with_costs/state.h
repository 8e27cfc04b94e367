// What an annealing with costs holds besides (see state.py).
#pragma once

#include "mip/heuristics/annealing/state.h"

namespace mip::annealing {

/// Places of ``numbers`` besides WORK, MOVES and STAMP.
constexpr std::int64_t HARD = 0, COST = 4, SUM = 5, VIOLATED = 6;

struct CostState : State {
    Span<const double> cost;
    SparseRows by_row;
    Span<const std::int32_t> group, none, label;
    Grid<const std::int32_t> by_label, of_side;
    Span<const double> slack_cost, slack_least, slack_most;
    Span<const bool> slack_whole;
    Span<const std::int32_t> slack_start, slack_row, slack_side;
    Span<const double> slack_scale;
    Span<std::int64_t> slack_mark;
    Span<const double> excess;
};

} // namespace mip::annealing
