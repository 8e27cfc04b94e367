// The item to branch on: of those that are basic and fractional, the one with the largest losses.
//
// A loss is what the first pivot of the dual simplex method would take off the bound after a
// decision (Driebeek, "An algorithm for the solution of mixed integer programming problems", 1966).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "basis.h"
#include "node.h"

namespace knapsack::rows {

/// Values nearer to a whole number than this are whole; what fits is decided exactly.
inline constexpr double FRACTION = 1e-7;

/// Fractional items whose losses are compared: more would make that dearer than a pivot.
inline constexpr int MOST_CANDIDATES = 8;

/// Factor of a product of losses where one of them is zero.
inline constexpr double LEAST_LOSS = 1e-6;

/// Stands for a decision that no pivot can answer: nothing fits then.
inline constexpr double LARGEST_RATIO = 1e12;

/// Return what a unit less and a unit more of a basic item costs, up to the first pivot.
inline std::pair<double, double> ratios(const Rows &rows, const Node &node, std::int64_t k) {
    const std::int64_t n = rows.items(), m = rows.rows();
    const Span<const std::int8_t> place = node.place;
    const Span<const double> inverse = node.inverse[k], reduced = node.reduced;
    double down = LARGEST_RATIO, up = LARGEST_RATIO;
    for (const std::int64_t j : node.free_items()) {
        if (place[j] == BASIC)
            continue;
        const Span<const double> column = rows.column[j];
        double entry = 0.0;
        for (std::int64_t i = 0; i < m; ++i)
            entry += inverse[i] * column[i];
        if (std::abs(entry) < SMALLEST_PIVOT)
            continue;
        const double ratio = std::abs(reduced[j] / entry);
        if ((entry > 0.0) == (place[j] == AT_LOWER))
            down = std::min(down, ratio);
        else
            up = std::min(up, ratio);
    }
    for (std::int64_t i = 0; i < m; ++i) {
        const double entry = inverse[i];
        if (place[n + i] == BASIC || rows.equation[i] || std::abs(entry) < SMALLEST_PIVOT)
            continue;
        if (entry > 0.0)
            down = std::min(down, node.dual[i] / entry);
        else
            up = std::min(up, -node.dual[i] / entry);
    }
    return {down, up};
}

/// An item and the value to try first; item -1 where there is none.
struct Branch {
    std::int64_t item = -1, first = 0;
};

/// Return the item to decide; none where all are whole.
inline Branch branching_item(const Rows &rows, const Node &node) {
    const std::int64_t n = rows.items(), m = rows.rows();
    Branch chosen;
    double best = -1.0;
    int looked = 0;
    for (std::int64_t k = 0; k < m && looked < MOST_CANDIDATES; ++k) {
        const std::int64_t j = node.basis[k];
        if (j >= n || node.value[j] != UNDECIDED)
            continue;
        const double value = node.activity[k];
        if (value < FRACTION || value > 1.0 - FRACTION)
            continue;
        const auto [less, more] = ratios(rows, node, k);
        const double down = less * value, up = more * (1.0 - value);
        const double score = std::max(down, LEAST_LOSS) * std::max(up, LEAST_LOSS);
        if (score > best) {
            best = score;
            chosen = {j, down < up ? 0 : 1};
        }
        ++looked;
    }
    return chosen;
}

} // namespace knapsack::rows
