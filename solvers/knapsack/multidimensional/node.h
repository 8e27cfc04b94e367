// A node of the search, the rows that all nodes share, and the nodes above, as tree.py has them;
// the basis of a node's relaxation: its inverse, and the right side that belongs to it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

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

/// Entries of a pivot row below this count as zero; largest coefficients are one half to one.
inline constexpr double SMALLEST_PIVOT = 1e-9;

/// Pivots after which the basis inverse is computed from the basis again.
inline constexpr std::int64_t REFRESH = 60;

/// Turn (m, 2m) [B I] into [I inverse of B], with row exchanges; false where B is singular.
inline bool eliminate(Grid<double> work) {
    const std::int64_t m = work.shape(0);
    for (std::int64_t k = 0; k < m; ++k) {
        std::int64_t pivot = k;
        for (std::int64_t i = k + 1; i < m; ++i)
            if (std::abs(work(i, k)) > std::abs(work(pivot, k)))
                pivot = i;
        if (std::abs(work(pivot, k)) < SMALLEST_PIVOT)
            return false;
        const Span<double> row = work[k];
        if (pivot != k)
            std::swap_ranges(row.begin(), row.end(), work[pivot].begin());
        const double scale = 1.0 / row[k];
        for (double &entry : row)
            entry *= scale;
        for (std::int64_t i = 0; i < m; ++i) {
            const Span<double> other = work[i];
            const double factor = other[k];
            if (i != k && factor != 0.0)
                for (std::int64_t c = 0; c < 2 * m; ++c)
                    other[c] -= factor * row[c];
        }
    }
    return true;
}

/// Make the slacks basic, and what was basic nonbasic.
inline void slack_basis(const Rows &rows, const Node &node) {
    const std::int64_t n = rows.items(), m = rows.rows();
    for (const std::int64_t j : node.basis)
        node.place[j] = j < n && node.value[j] == 1 ? AT_UPPER : AT_LOWER;
    for (std::int64_t k = 0; k < m; ++k) {
        node.basis[k] = static_cast<std::int32_t>(n + k);
        node.place[n + k] = BASIC;
        for (std::int64_t i = 0; i < m; ++i)
            node.inverse(i, k) = i == k ? 1.0 : 0.0;
    }
}

/// Compute the right side without nonbasic columns at their upper bound, from whole numbers.
inline void set_side(const Rows &rows, const Node &node) {
    const std::int64_t n = rows.items(), m = rows.rows();
    for (std::int64_t i = 0; i < m; ++i)
        node.side[i] = double(node.residual[i]) * rows.scale[i];
    for (std::int64_t j = 0; j < n; ++j) {
        const Span<const double> column = rows.column[j];
        if (node.value[j] == 1 && node.place[j] != AT_UPPER) { // decided, still in the basis
            for (std::int64_t i = 0; i < m; ++i)
                node.side[i] += column[i];
        } else if (node.value[j] == UNDECIDED && node.place[j] == AT_UPPER) {
            for (std::int64_t i = 0; i < m; ++i)
                node.side[i] -= column[i];
        }
    }
}

/// Compute inverse and right side from the basis; begin at the slacks where it is singular.
inline void refresh(const Rows &rows, const Node &node) {
    const std::int64_t n = rows.items(), m = rows.rows();
    std::vector<double> entries(2 * m * m);
    const Grid<double> work(entries.data(), {m, 2 * m});
    for (std::int64_t k = 0; k < m; ++k) {
        const std::int64_t j = node.basis[k];
        for (std::int64_t i = 0; i < m; ++i)
            work(i, k) = j < n ? rows.column(j, i) : (j - n == i ? 1.0 : 0.0);
        work(k, m + k) = 1.0;
    }
    if (eliminate(work)) {
        for (std::int64_t i = 0; i < m; ++i)
            std::copy_n(work[i].data() + m, m, node.inverse[i].data());
    } else {
        slack_basis(rows, node);
    }
    node.counts[PIVOTS] = 0;
    set_side(rows, node);
}

} // namespace knapsack::rows
