// Lists of undominated selections: shifting, pruning, merging and pairing them.
#pragma once

#include <cstdint>

#include "knapsack/dp/states.h"
#include "knapsack/efficiency.h"

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

/// The least bound that a selection better than the best one known can have.
inline std::int64_t least_better(std::int64_t best, Span<const std::int64_t> control) {
    return best + 1 + native::floor_modulo(control[RESIDUE] - best - 1, control[MODULUS]);
}

/// Whether profit + spare * gain / extent >= needed for a step, exactly.
inline bool reaches(std::int64_t profit, std::int64_t spare, std::int64_t needed,
                    const Step &step) {
    const auto [gain, extent] = step;
    return !exceeds(needed - profit, extent, spare, gain);
}

/// What a list is shifted by for an item, and the item's code in histories.
struct Choice {
    std::int64_t item;
    std::int64_t profit;
    std::int64_t weight;
    std::uint64_t code;
};

/// Append what of a shifted list may still beat the best profit behind ``place`` of another.
///
/// ``up`` and ``down`` are the steps outside the core that bound what a state can become. Returns
/// the end of what was appended, or -1 where there is no room for it.
inline std::int64_t shift_promising(const States &now, std::int64_t count, const States &then,
                                    std::int64_t place, const Choice choice, std::int64_t capacity,
                                    const Step up, const Step down, Span<std::int64_t> control) {
    const std::int64_t room = then.room();
    std::int64_t best = control[PROFIT], needed = least_better(best, control);
    for (std::int64_t k = 0; k < count; ++k) {
        poll_at(k);
        const std::int64_t profit = now.profit[k] + choice.profit;
        const std::int64_t weight = now.weight[k] + choice.weight;
        const std::int64_t spare = capacity - weight;
        if (spare >= 0) {
            if (profit > best) {
                best = profit;
                needed = least_better(best, control);
                control[PROFIT] = best;
                control[HISTORY] = static_cast<std::int64_t>(now.history[k]);
                control[ANCESTOR] = now.ancestor[k];
                control[BEST_STAGE] = control[STAGE];
                control[BEST_ITEM] = choice.item;
            }
            if (!reaches(profit, spare, needed, up))
                continue;
        } else {
            if (std::get<1>(down) == 0)
                break; // all that follow are heavier, and nothing can become lighter any more
            if (!reaches(profit, spare, needed, down))
                continue;
        }
        if (place == room)
            return -1;
        then.profit[place] = profit;
        then.weight[place] = weight;
        then.history[place] = now.history[k] | choice.code;
        then.ancestor[place] = now.ancestor[k];
        ++place;
    }
    return place;
}

/// Append a whole list, shifted; return the end, or -1 where there is no room.
inline std::int64_t shift_all(const States &now, std::int64_t count, const States &then,
                              std::int64_t place, const Choice choice) {
    if (place + count > then.room())
        return -1;
    for (std::int64_t k = 0; k < count; ++k) {
        poll_at(k);
        then.profit[place + k] = now.profit[k] + choice.profit;
        then.weight[place + k] = now.weight[k] + choice.weight;
        then.history[place + k] = now.history[k] | choice.code;
        then.ancestor[place + k] = now.ancestor[k];
    }
    return place + count;
}

/// Merge two neighbouring runs without what is dominated; return where the target ends.
inline std::int64_t merge(const States &source, std::int64_t begin, std::int64_t middle,
                          std::int64_t end, const States &target, std::int64_t place) {
    std::int64_t highest = INT64_MIN / 2, i = begin, j = middle;
    while (i < middle || j < end) {
        poll_at(i + j);
        const bool is_first = j == end || (i < middle && (source.weight[i] < source.weight[j] ||
                                                          (source.weight[i] == source.weight[j] &&
                                                           source.profit[i] >= source.profit[j])));
        const std::int64_t k = is_first ? i++ : j++;
        if (source.profit[k] <= highest)
            continue;
        highest = source.profit[k];
        target.take(place++, source, k);
    }
    return place;
}

/// Merge runs in pairs from one list into another; return the other's length.
inline std::int64_t merge_pairs(const States &source, const States &target, Span<std::int64_t> run,
                                std::int64_t runs) {
    const std::int64_t pairs = (runs + 1) / 2;
    std::int64_t length = 0;
    for (std::int64_t k = 0; k < pairs; ++k) {
        const std::int64_t begin = run[2 * k], middle = run[2 * k + 1];
        const std::int64_t end = run[std::min(2 * k + 2, runs)], start = length;
        length = merge(source, begin, middle, end, target, length);
        run[k] = start;
    }
    run[pairs] = length;
    return length;
}

} // namespace knapsack::choice

NATIVE_STRUCT(knapsack::choice::Core, profit, weight, first, break_item, sequence, up_profit,
              up_weight, down_profit, down_weight, step_profit, step_weight, profit_before,
              weight_before, spare_gain)
NATIVE_STRUCT(knapsack::choice::Stages, begin, shift, item, run)
