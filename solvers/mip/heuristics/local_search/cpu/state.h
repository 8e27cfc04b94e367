// What a walker holds: rows and columns with all that a move reads side by side (see state.py).
#pragma once

#include <cstdint>

#include "mip/model.h"

namespace mip::local_search {

using native::Grid;
using native::INF;
using native::Span;

/// Which of the points kept is the best feasible one, and which the least violated.
constexpr std::int64_t BEST = 0, LEAST = 1;

/// Violation above which a row counts as violated.
constexpr double VIOLATION_TOLERANCE = 5e-7;

/// Shorter steps of continuous columns change nothing worth a move.
constexpr double SMALLEST_STEP = 1e-9;

struct Row {
    double activity, error, lower, upper, lower_weight, upper_weight, scale;
    std::int64_t place;
};

struct Column {
    double x, lower, upper, cost;
    std::int64_t no_rise, no_fall, changed, whole;
};

struct Status {
    std::int64_t step, moves, moves_since_refresh, improved, work, num_violated, least_violated,
        pointer, num_chain, chains, boxed, done, found;
    double objective, best, target, aim, granularity, objective_weight, objective_scale, progress,
        chain_gain, chain_chance, lift_part;
    std::uint64_t random;
};

/// A column and its step, or its value from before.
struct Pair {
    std::int64_t place;
    double value;
};

struct State {
    Span<Row> rows;
    Span<Column> columns;
    Span<Status> status;
    Span<std::int64_t> violated;
    Span<const std::int64_t> priced;
    Grid<const double> bounds;
    Grid<double> kept;
    Span<Pair> candidates, links, chain, origins;
    Span<const Pair> pivots;
    Grid<double> breaks;
};

struct Parameters {
    std::int64_t jump, rows, breadth, scan, satisfied_rows, breakthroughs, lift_work, tabu_base,
        tabu_spread;
    double smoothing, equality_weight;
    std::int64_t chain_trials, chain_depth, chain_breadth;
};

} // namespace mip::local_search
