// Depth-first branch and bound below one node, with a relaxation at every node.
//
// A node's duals settle every item whose reduced cost exceeds what the bound has over the target,
// so that after a few decisions hardly more items are free than there are rows.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "native/bindings.h"
#include "node.h"
#include "relaxation.h"

// The item to branch on: of those that are basic and fractional, the one with the largest losses.
//
// A loss is what the first pivot of the dual simplex method would take off the bound after a
// decision (Driebeek, "An algorithm for the solution of mixed integer programming problems", 1966).

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

namespace {

/// Copy what a level keeps of a node: of the free items those that there are.
template <class From, class To> void copy_level(std::int64_t count, From from, To to) {
    std::copy_n(from.data(), count, to.data());
}

/// Keep a node at a level.
void save(const Node &node, const Levels &levels, std::int64_t depth) {
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
void restore(const Node &node, const Levels &levels, std::int64_t depth) {
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

/// Where values are rounded up.
constexpr double HALF = 0.5;

/// Part of the bound by which a reduced cost must exceed what the bound has over the target.
constexpr double ROUNDING = 1e-9;

/// Why ``explore`` returns: the tree is done, or the nodes it was given are.
enum : std::int64_t { FINISHED, PAUSED };

/// Give a value to the free item at a place of the list; the last one takes its place there.
void decide(const Rows &rows, const Node &node, std::int64_t place_in_list, std::int64_t choice) {
    const std::int64_t j = node.free[place_in_list], m = rows.rows();
    const std::int64_t last = --node.counts[FREE];
    node.free[place_in_list] = node.free[last];
    node.value[j] = static_cast<std::int8_t>(choice);
    if (choice == 1) {
        node.counts[PROFIT] += rows.profit[j];
        for (std::int64_t i = 0; i < m; ++i)
            node.residual[i] -= rows.weight(j, i);
    }
    if (node.place[j] == BASIC || (node.place[j] == AT_UPPER) == (choice == 1))
        return;
    node.place[j] = choice == 1 ? AT_UPPER : AT_LOWER;
    const double sign = choice == 1 ? 1.0 : -1.0;
    for (std::int64_t i = 0; i < m; ++i)
        node.side[i] -= sign * rows.column(j, i);
}

/// Give a value to a free item.
void decide_item(const Rows &rows, const Node &node, std::int64_t item, std::int64_t choice) {
    const Span<const std::int32_t> free = node.free_items();
    const auto found = std::find(free.begin(), free.end(), item);
    if (found != free.end())
        decide(rows, node, found - free.begin(), choice);
}

/// Decide all items but some, as they are in a packing.
void decide_others(const Rows &rows, const Node &node, Span<const bool> is_free,
                   Span<const bool> x) {
    native::check_lengths(rows.items(), {{"is_free", is_free}, {"x", x}});
    std::int64_t place = 0;
    while (place < node.counts[FREE]) {
        const std::int64_t item = node.free[place];
        if (is_free[item])
            ++place;
        else
            decide(rows, node, place, x[item]);
    }
}

/// Return the one value left to a free item, or UNDECIDED; ``slack`` is what reduced costs may be.
std::int8_t only_value(const Rows &rows, const Node &node, std::int64_t j, double slack) {
    if (std::abs(node.reduced[j]) > slack)
        return node.reduced[j] > 0.0 ? 1 : 0;
    const Span<const std::int64_t> weight = rows.weight[j], residual = node.residual;
    for (std::int64_t i = 0; i < weight.size(); ++i)
        if (weight[i] > residual[i])
            return 0;
    return UNDECIDED;
}

/// Decide items that have one value left; return whether the relaxation has changed.
///
/// By reduced costs: with the other value the bound falls below the target. By capacities: the item
/// does not fit any more.
bool settle(const Rows &rows, const Node &node, std::int64_t target) {
    double slack = node.bound[0] - double(target);
    slack += ROUNDING * std::max(1.0, std::abs(node.bound[0]));
    bool changed = false;
    std::int64_t f = 0;
    while (f < node.counts[FREE]) {
        const std::int64_t j = node.free[f];
        const std::int8_t choice = only_value(rows, node, j, slack);
        if (choice == UNDECIDED) {
            ++f;
            continue;
        }
        if (node.place[j] != (choice == 1 ? AT_UPPER : AT_LOWER))
            changed = true;
        decide(rows, node, f, choice);
    }
    return changed;
}

/// Whether the items decided alone break a capacity, or cannot meet an equation's count.
bool overfull(const Rows &rows, const Node &node) {
    for (std::int64_t i = 0; i < rows.rows(); ++i) {
        if (node.residual[i] < 0)
            return true;
        if (rows.equation[i] && node.counts[FREE] == 0 && node.residual[i] != 0)
            return true;
    }
    return false;
}

/// Write the values of free items into ``row``; return the profit where they are rounded.
std::int64_t values_by_item(const Rows &rows, const Node &node) {
    for (std::int64_t k = 0; k < node.basis.size(); ++k)
        if (node.basis[k] < node.row.size())
            node.row[node.basis[k]] = node.activity[k];
    std::int64_t profit = node.counts[PROFIT];
    for (const std::int64_t j : node.free_items()) {
        if (node.place[j] != BASIC)
            node.row[j] = node.place[j] == AT_UPPER ? 1.0 : 0.0;
        if (node.row[j] > HALF)
            profit += rows.profit[j];
    }
    return profit;
}

/// Round the relaxation's point; keep it if it fits exactly and is worth at least ``best[0]``.
///
/// ``best[0]`` is the profit wanted and becomes one more than what was found. Return whether the
/// point is a packing that fits.
bool keep_if_better(const Rows &rows, const Node &node, Span<std::int64_t> best,
                    Span<std::int8_t> packing) {
    const std::int64_t profit = values_by_item(rows, node);
    for (std::int64_t i = 0; i < rows.rows(); ++i) {
        std::int64_t left = node.residual[i];
        for (const std::int64_t j : node.free_items())
            if (node.row[j] > HALF)
                left -= rows.weight(j, i);
        if (left < 0 || (rows.equation[i] && left != 0))
            return false;
    }
    if (profit >= best[0]) {
        best[0] = profit + 1;
        for (std::int64_t j = 0; j < rows.items(); ++j)
            packing[j] = node.value[j] == 1 ? 1 : 0;
        for (const std::int64_t j : node.free_items())
            packing[j] = node.row[j] > HALF ? 1 : 0;
    }
    return true;
}

/// Solve a node; return the item to branch on, or none if it is done.
Branch treat(const Rows &rows, const Node &node, Span<std::int64_t> best,
             Span<std::int8_t> packing) {
    for (;;) {
        if (overfull(rows, node))
            return {};
        const std::int64_t status = reoptimise(rows, node, best[0]);
        if (status == CUT_OFF)
            return {};
        const bool changed = settle(rows, node, best[0]);
        if (overfull(rows, node))
            return {};
        if (changed)
            continue;
        if (status == OPTIMAL) {
            const Branch found = branching_item(rows, node);
            if (found.item >= 0)
                return found;
        }
        const bool whole = status == OPTIMAL || node.counts[FREE] == 0;
        if (whole && keep_if_better(rows, node, best, packing))
            return {};
        if (node.counts[FREE] == 0)
            return {};
        return {node.free[0], 0}; // digits are lost: any decision makes the node smaller
    }
}

/// Return the deepest level above one whose other value may bring ``target``, or -1.
std::int64_t open_level(const Levels &levels, std::int64_t depth, std::int64_t target) {
    while (--depth >= 0) {
        if (levels.other[depth] != UNDECIDED && levels.bound(depth, 0) >= double(target))
            break;
        levels.other[depth] = UNDECIDED;
    }
    return depth;
}

/// Search below a node for packings worth ``best[0]`` and more, for so many nodes at a time.
///
/// ``counts[DEPTH]`` levels are open. The search pauses between nodes where ``stop[0]`` is set.
std::int64_t explore(const Rows &rows, const Node &node, const Levels &levels,
                     Span<std::int64_t> best, Span<std::int8_t> packing, std::int64_t nodes,
                     Span<const std::int8_t> stop) {
    native::check_lengths(1, {{"best", best}, {"stop", stop}});
    native::check_length("packing", packing.size(), rows.items());
    for (std::int64_t count = 0; count < nodes; ++count) {
        if (native::is_set(stop))
            return PAUSED;
        ++node.counts[NODES];
        const Branch branch = treat(rows, node, best, packing);
        std::int64_t depth = node.counts[DEPTH];
        if (branch.item >= 0) {
            native::check_length("levels", levels.item.size(), depth + 1);
            save(node, levels, depth);
            levels.item[depth] = static_cast<std::int32_t>(branch.item);
            levels.other[depth] = static_cast<std::int8_t>(1 - branch.first);
            node.counts[DEPTH] = depth + 1;
            decide_item(rows, node, branch.item, branch.first);
            continue;
        }
        depth = open_level(levels, depth, best[0]);
        node.counts[DEPTH] = std::max<std::int64_t>(depth, 0);
        if (depth < 0)
            return FINISHED;
        restore(node, levels, depth);
        decide_item(rows, node, levels.item[depth], levels.other[depth]);
    }
    return PAUSED;
}

} // namespace
} // namespace knapsack::rows

NATIVE_STRUCT(knapsack::rows::Rows, column, weight, scale, price, profit, equation)
NATIVE_STRUCT(knapsack::rows::Node, free, counts, value, place, basis, inverse, side, residual,
              dual, activity, reduced, row, bound)
NATIVE_STRUCT(knapsack::rows::Levels, item, other, free, counts, value, place, basis, inverse, side,
              residual, bound)

NATIVE_MODULE(knapsack_multidimensional_tree) {
    using namespace knapsack::rows;
    native::expose(module, "reoptimise", &reoptimise, "rows", "node", "target");
    native::expose(module, "settle", &settle, "rows", "node", "target");
    native::expose(module, "decide_item", &decide_item, "rows", "node", "item", "choice");
    native::expose(module, "decide_others", &decide_others, "rows", "node", "is_free", "x");
    native::expose(module, "explore", &explore, "rows", "node", "levels", "best", "packing",
                   "nodes", "stop");
    NATIVE_CONSTANTS(module, "solvers.knapsack.multidimensional.tree", FREE, PIVOTS, PROFIT, NODES,
                     DEPTH, AT_LOWER, AT_UPPER, BASIC, UNDECIDED, OPTIMAL, CUT_OFF, STUCK, FINISHED,
                     PAUSED);
}
