// A node of a search among listed patterns, as listed.py has it, and making it smaller: what is too
// dear goes.
//
// Patterns beyond the budget of slack or of waste go, items that no pattern holds any more are left
// out and paid for, and where an item is left out, so are patterns that would be better with it
// (Martello and Toth's dominance, as in Fukunaga, "A branch-and-bound algorithm for hard multiple
// knapsack problems", 2011, section 4).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

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

    /// The patterns left of a node.
    Span<std::int32_t> patterns(std::int64_t level) const {
        const std::int64_t begin = node(level, START);
        return active.part(begin, begin + node(level, SIZE));
    }
};

inline constexpr std::int64_t FAR = std::int64_t{1} << 62;

/// What patterns are left of a node: of each kind the smallest slack and the smallest waste, of
/// each item and kind the number of patterns.
struct Counted {
    std::vector<std::int64_t> slack, waste, of_item, of_kind;

    Counted(std::int64_t items, std::int64_t kinds)
        : slack(kinds), waste(kinds), of_item(items), of_kind(kinds) {}
};

/// Whether a pattern could take an item that is left out, instead of one that is worth less.
///
/// Ties are broken by weight and number, so that not each of two items bars the other.
inline bool is_better_with(const Cover &cover, std::int64_t pattern, std::int64_t item) {
    const Grid<const std::int64_t> good = cover.good;
    const std::int64_t waste = cover.pattern(WASTE, pattern);
    if (waste >= good(WEIGHT, item))
        return true;
    for (std::int64_t k = 0; k < cover.pattern(LENGTH, pattern); ++k) {
        const std::int64_t other = cover.item(pattern, k);
        if (waste + good(WEIGHT, other) < good(WEIGHT, item))
            continue;
        if (good(PROFIT, other) != good(PROFIT, item)) {
            if (good(PROFIT, other) < good(PROFIT, item))
                return true;
        } else if (good(WEIGHT, other) != good(WEIGHT, item)) {
            if (good(WEIGHT, other) > good(WEIGHT, item))
                return true;
        } else if (other > item) {
            return true;
        }
    }
    return false;
}

/// One open node of a stack, and what patterns it has left.
class Narrowing {
  public:
    Narrowing(const Cover &cover, const Stack &stack, std::int64_t level,
              Span<const std::int64_t> control, Counted &counted)
        : cover_(cover), stack_(stack), level_(level), counted_(counted),
          budget_(control[TOTAL] - control[SCALE] * control[TARGET]), spare_(control[SPARE]) {}

    /// Remove patterns until none is too dear; return what the node costs at least, or -1.
    std::int64_t propagate() {
        for (;;) {
            count_patterns();
            if (!leave_out() || is_short_of_patterns())
                return -1;
            const auto [least, wasted] = costs();
            if (least > budget_ || wasted > spare_)
                return -1;
            if (!keep_cheap(budget_ - least, spare_ - wasted))
                return least;
        }
    }

  private:
    /// Find the smallest slack and waste of each kind, and how many patterns hold an item.
    void count_patterns() {
        Counted &now = counted_;
        std::fill(now.slack.begin(), now.slack.end(), FAR);
        std::fill(now.waste.begin(), now.waste.end(), FAR);
        std::fill(now.of_item.begin(), now.of_item.end(), 0);
        std::fill(now.of_kind.begin(), now.of_kind.end(), 0);
        for (const std::int32_t p : stack_.patterns(level_)) {
            const std::int64_t t = cover_.pattern(KIND, p);
            for (std::int64_t k = 0; k < cover_.pattern(LENGTH, p); ++k)
                ++now.of_item[cover_.item(p, k)];
            ++now.of_kind[t];
            now.waste[t] = std::min(now.waste[t], cover_.pattern(WASTE, p));
            now.slack[t] = std::min(now.slack[t], cover_.pattern(SLACK, p));
        }
    }

    /// Leave out, and pay for, items that no pattern holds.
    ///
    /// False where a pattern that was chosen would be better with one of them.
    bool leave_out() {
        dropped_.clear();
        for (std::int64_t i = 0; i < cover_.items(); ++i)
            if (stack_.state(level_, i) == FREE && counted_.of_item[i] == 0) {
                stack_.state(level_, i) = OUTSIDE;
                stack_.node(level_, SPENT) += cover_.good(PRICE, i);
                dropped_.push_back(i);
            }
        for (const std::int64_t item : dropped_)
            for (std::int64_t above = 1; above <= level_; ++above)
                if (is_better_with(cover_, stack_.node(above, CHOSEN), item))
                    return false;
        return true;
    }

    /// Whether knapsacks of some kind have to be filled and no pattern is left for them.
    bool is_short_of_patterns() const {
        for (std::int64_t t = 0; t < cover_.kinds(); ++t)
            if (stack_.left(level_, t) > 0 && counted_.of_kind[t] == 0)
                return true;
        return false;
    }

    /// Return what a node costs and wastes at least.
    std::pair<std::int64_t, std::int64_t> costs() const {
        std::int64_t least = stack_.node(level_, SPENT), wasted = stack_.node(level_, WASTED);
        for (std::int64_t t = 0; t < cover_.kinds(); ++t)
            if (stack_.left(level_, t) > 0) {
                least += stack_.left(level_, t) * counted_.slack[t];
                wasted += stack_.left(level_, t) * counted_.waste[t];
            }
        return {least, wasted};
    }

    /// Remove patterns beyond limits of slack and waste, or better with an item that was dropped.
    ///
    /// Return whether there were any.
    bool keep_cheap(std::int64_t most_slack, std::int64_t most_waste) {
        const Span<std::int32_t> active = stack_.patterns(level_);
        std::int64_t kept = 0;
        for (const std::int32_t p : active) {
            const std::int64_t t = cover_.pattern(KIND, p);
            if (cover_.pattern(SLACK, p) - counted_.slack[t] > most_slack ||
                cover_.pattern(WASTE, p) - counted_.waste[t] > most_waste)
                continue;
            if (std::none_of(dropped_.begin(), dropped_.end(),
                             [&](std::int64_t item) { return is_better_with(cover_, p, item); }))
                active[kept++] = p;
        }
        stack_.node(level_, SIZE) = kept;
        return kept < active.size();
    }

    const Cover &cover_;
    const Stack &stack_;
    std::int64_t level_;
    Counted &counted_;
    std::int64_t budget_, spare_;
    std::vector<std::int64_t> dropped_;
};

} // namespace knapsack::multiple
