// Nodes kept at the levels of a depth-first search, to come back to.
#pragma once

#include <algorithm>
#include <cstdint>

#include "node.h"

namespace knapsack::rows {

/// Copy what a level keeps of a node: of the free items those that there are.
template <class From, class To> inline void copy_level(std::int64_t count, From from, To to) {
    std::copy_n(from.data(), count, to.data());
}

/// Keep a node at a level.
inline void save(const Node &node, const Levels &levels, std::int64_t depth) {
    const std::int64_t n = node.value.size(), m = node.basis.size();
    copy_level(node.counts[FREE], node.free, levels.free[depth]);
    copy_level(n, node.value, levels.value[depth]);
    copy_level(n + m, node.place, levels.place[depth]);
    copy_level(m, node.basis, levels.basis[depth]);
    copy_level(m, node.side, levels.side[depth]);
    copy_level(m, node.residual, levels.residual[depth]);
    copy_level(m * m, node.inverse, levels.inverse[depth]);
    levels.bound(depth, 0) = node.bound[0];
    for (const std::int64_t place : {FREE, PIVOTS, PROFIT})
        levels.counts(depth, place) = node.counts[place];
}

/// Go back to the node at a level.
inline void restore(const Node &node, const Levels &levels, std::int64_t depth) {
    const std::int64_t n = node.value.size(), m = node.basis.size();
    copy_level(levels.counts(depth, FREE), levels.free[depth], node.free);
    copy_level(n, levels.value[depth], node.value);
    copy_level(n + m, levels.place[depth], node.place);
    copy_level(m, levels.basis[depth], node.basis);
    copy_level(m, levels.side[depth], node.side);
    copy_level(m, levels.residual[depth], node.residual);
    copy_level(m * m, levels.inverse[depth], node.inverse);
    node.bound[0] = levels.bound(depth, 0);
    for (const std::int64_t place : {FREE, PIVOTS, PROFIT})
        node.counts[place] = levels.counts(depth, place);
}

} // namespace knapsack::rows
