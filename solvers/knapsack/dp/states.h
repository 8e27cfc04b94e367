// Lists of undominated states, as ``States`` in Python has them.
#pragma once

#include <cstdint>

#include "native/bindings.h"

namespace knapsack {

using native::Span;

/// Arrays of a list; only the first entries are in use.
struct States {
    Span<std::int64_t> profit;
    Span<std::int64_t> weight;
    Span<std::uint64_t> history;
    Span<std::int32_t> ancestor;

    /// Number of states that there is room for.
    std::int64_t room() const { return profit.size(); }

    /// Overwrite state k by state i of another list.
    void take(std::int64_t k, const States &other, std::int64_t i) const {
        profit[k] = other.profit[i];
        weight[k] = other.weight[i];
        history[k] = other.history[i];
        ancestor[k] = other.ancestor[i];
    }
};

/// Refuse a list whose arrays do not have ``count`` entries, or are of different lengths.
inline void check_states(const char *name, const States &states, std::int64_t count) {
    native::check_length(name, states.room(), count);
    native::check_length(name, states.weight.size(), states.room());
    native::check_length(name, states.history.size(), states.room());
    native::check_length(name, states.ancestor.size(), states.room());
}

/// Look now and then whether to end: once in some thousand steps.
inline void poll_at(std::int64_t step) {
    if ((step & 4095) == 0)
        native::poll();
}

/// The states of a list and of its copy shifted by one item, by rising weight.
///
/// Of two states of equal weight the more profitable one comes first, of equal ones the list's own.
struct Shifted {
    const States &list;
    std::int64_t count;
    std::int64_t profit_step;
    std::int64_t weight_step;
    std::uint64_t bit;
    /// Next states of the list and of its copy.
    std::int64_t i = 0;
    std::int64_t j = 0;

    /// The state taken last.
    std::int64_t profit = 0;
    std::int64_t weight = 0;
    std::uint64_t history = 0;
    std::int32_t ancestor = 0;

    bool is_left() const { return i < count || j < count; }

    /// Take the next state.
    void next() {
        poll_at(i + j);
        if (j < count) {
            weight = list.weight[j] + weight_step;
            profit = list.profit[j] + profit_step;
        }
        if (i < count && (j == count || list.weight[i] < weight ||
                          (list.weight[i] == weight && list.profit[i] >= profit))) {
            weight = list.weight[i];
            profit = list.profit[i];
            history = list.history[i];
            ancestor = list.ancestor[i];
            ++i;
        } else {
            history = list.history[j] | bit;
            ancestor = list.ancestor[j];
            ++j;
        }
    }

    /// Put the state taken last into a list.
    void put(const States &then, std::int64_t k) const {
        then.profit[k] = profit;
        then.weight[k] = weight;
        then.history[k] = history;
        then.ancestor[k] = ancestor;
    }
};

} // namespace knapsack

NATIVE_STRUCT(knapsack::States, profit, weight, history, ancestor)
