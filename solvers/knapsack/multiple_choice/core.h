// The core of a multiple-choice knapsack problem, as ``Core`` in Python has it, and its control.
#pragma once

#include <cstdint>

#include "knapsack/dp/states.h"

namespace knapsack::choice {

using Integers = Span<const std::int64_t>;

/// Bits of a state's history, which is also the number of stages it holds at most.
inline constexpr int HISTORY_BITS = 64;

/// Places in the array that controls a search.
enum Control {
    COUNT,
    PLACE,
    STAGE,
    SHIFT,
    ITEMS,
    PROFIT,
    HISTORY,
    ANCESTOR,
    BEST_STAGE,
    BEST_ITEM,
    VISITED,
    TARGET,
    RESIDUE,
    MODULUS,
    SWAPPED,
    KEPT,
    STOP,
    CONTROLS
};

/// Why ``advance`` returns.
enum Reason { EMPTY, FULL, CHECKPOINT, PAUSE };

/// What ``expand`` returns for a length where the list has not changed, and why.
inline constexpr std::int64_t NO_ROOM = -1, STOPPED = -2;

/// Profit and weight of a step.
using Step = std::tuple<std::int64_t, std::int64_t>;

/// What the search reads.
struct Core {
    Integers profit;
    Integers weight;
    Integers first;
    Integers break_item;
    Integers sequence;
    Integers up_profit;
    Integers up_weight;
    Integers down_profit;
    Integers down_weight;
    Integers step_profit;
    Integers step_weight;
    Integers profit_before;
    Integers weight_before;
    std::int64_t spare_gain;

    std::int64_t num_classes() const { return sequence.size(); }
};

/// The stages of a history: what each of them chose among, and its bits.
struct Stages {
    Span<std::int64_t> begin;
    Span<std::int64_t> shift;
    Span<std::int64_t> item;
    Span<std::int64_t> run;
};

/// Whether another thread asked the search to end.
inline bool is_stopped(Span<const std::int64_t> control) {
    return *static_cast<const volatile std::int64_t *>(&control[STOP]) != 0;
}

inline void check_core(const Core &core) {
    const std::int64_t classes = core.num_classes(), steps = core.step_profit.size();
    native::check_length("weight", core.weight.size(), core.profit.size());
    native::check_length("first", core.first.size(), classes + 1);
    native::check_length("break_item", core.break_item.size(), classes);
    for (const Integers &values :
         {core.up_profit, core.up_weight, core.down_profit, core.down_weight})
        native::check_length("up and down", values.size(), classes + 1);
    native::check_length("step_weight", core.step_weight.size(), steps);
    native::check_length("profit_before", core.profit_before.size(), steps + 1);
    native::check_length("weight_before", core.weight_before.size(), steps + 1);
}

inline void check_stages(const Stages &stages, Span<const std::int64_t> control) {
    native::check_length("begin", stages.begin.size(), HISTORY_BITS + 1);
    native::check_length("shift", stages.shift.size(), HISTORY_BITS + 1);
    native::check_length("control", control.size(), CONTROLS);
}

} // namespace knapsack::choice

NATIVE_STRUCT(knapsack::choice::Core, profit, weight, first, break_item, sequence, up_profit,
              up_weight, down_profit, down_weight, step_profit, step_weight, profit_before,
              weight_before, spare_gain)
NATIVE_STRUCT(knapsack::choice::Stages, begin, shift, item, run)
