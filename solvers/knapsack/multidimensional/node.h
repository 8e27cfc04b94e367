// A node of the search, the rows that all nodes share, and the nodes above, as node.py has them.
#pragma once

#include <cstdint>

#include "native/arrays.h"

namespace knapsack::rows {

using native::Cube;
using native::Grid;
using native::Span;

/// Places in ``Node::counts``.
enum : std::int64_t { FREE, PIVOTS, PROFIT, NODES, DEPTH };

/// Where a column of the relaxation stands.
enum : std::int8_t { AT_LOWER, AT_UPPER, BASIC };

/// Value of an item that is free.
inline constexpr std::int8_t UNDECIDED = -1;

/// What no decision changes; items are columns of the relaxation, then come slacks.
struct Rows {
    Grid<const double> column;
    Grid<const std::int64_t> weight;
    Span<const double> scale, price;
    Span<const std::int64_t> profit;
    Span<const std::int8_t> equation;

    std::int64_t items() const { return column.shape(0); }
    std::int64_t rows() const { return column.shape(1); }
};

/// What a decision changes.
struct Node {
    Span<std::int32_t> free;
    Span<std::int64_t> counts;
    Span<std::int8_t> value, place;
    Span<std::int32_t> basis;
    Grid<double> inverse;
    Span<double> side;
    Span<std::int64_t> residual;
    Span<double> dual, activity, reduced, row, bound;

    /// The undecided items.
    Span<std::int32_t> free_items() const { return free.part(0, counts[FREE]); }
};

/// The nodes above the current one, each with a decision that waits.
struct Levels {
    Span<std::int32_t> item;
    Span<std::int8_t> other;
    Grid<std::int32_t> free;
    Grid<std::int64_t> counts;
    Grid<std::int8_t> value, place;
    Grid<std::int32_t> basis;
    Cube<double> inverse;
    Grid<double> side;
    Grid<std::int64_t> residual;
    Grid<double> bound;
};

} // namespace knapsack::rows
