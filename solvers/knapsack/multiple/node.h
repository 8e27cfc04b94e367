// The data of a search among listed patterns, as listed.py has them.
#pragma once

#include <cstdint>

#include "native/arrays.h"

namespace knapsack::multiple {

using native::Grid;
using native::Span;

/// What is known of an item.
enum : std::int8_t { FREE, PACKED, OUTSIDE };

/// Rows of ``pattern``.
enum : std::int64_t { LENGTH, KIND, SLACK, WASTE };

/// Rows of ``good``.
enum : std::int64_t { PROFIT, WEIGHT, PRICE };

/// Columns of ``node``.
enum : std::int64_t { START, SIZE, CHOSEN, SPENT, WASTED };

/// Places in ``control``.
enum : std::int64_t { LEVEL, TARGET, NODES, TOTAL, SCALE, SPARE };

/// Listed patterns of t kinds of knapsacks, and items by falling efficiency.
struct Cover {
    Grid<const std::int16_t> item;
    Grid<const std::int64_t> pattern, good;
    Span<const std::int64_t> capacity;

    std::int64_t kinds() const { return capacity.size(); }
    std::int64_t items() const { return good.shape(1); }
};

/// Open nodes: ``active`` lists the patterns left of each, one after the other.
struct Stack {
    Span<std::int32_t> active;
    Grid<std::int64_t> node, left;
    Grid<std::int8_t> state;
    Grid<std::int64_t> raised;

    /// The patterns left of a node.
    Span<std::int32_t> patterns(std::int64_t level) const {
        const std::int64_t begin = node(level, START);
        return active.part(begin, begin + node(level, SIZE));
    }
};

} // namespace knapsack::multiple
