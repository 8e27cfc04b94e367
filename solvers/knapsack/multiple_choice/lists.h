// Lists of undominated selections: shifting, pruning, merging and pairing them.
#pragma once

#include "core.h"
#include "knapsack/wide.h"

namespace knapsack::choice {

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
