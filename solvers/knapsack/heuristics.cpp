// Good packings: greedily, and the best pair of exchanges or of differences.
#include <vector>

#include "native/bindings.h"

namespace knapsack {
namespace {

using native::Span;
using Integers = Span<const std::int64_t>;

/// Flag everything that fits, in order; return the profit.
std::int64_t pack_greedily(Span<const std::int64_t> profit, Span<const std::int64_t> weight,
                           std::int64_t capacity, Span<bool> flags) {
    native::check_lengths(profit.size(), {{"weight", weight}, {"flags", flags}});
    std::int64_t total = 0;
    for (std::int64_t j = 0; j < profit.size(); ++j)
        if (weight[j] <= capacity) {
            flags[j] = true;
            capacity -= weight[j];
            total += profit[j];
        }
    return total;
}

/// For each place of a list, the place of the highest profit up to there.
std::vector<std::int64_t> highest_so_far(Integers profits) {
    std::vector<std::int64_t> highest(profits.size());
    std::int64_t best = 0;
    for (std::int64_t j = 0; j < profits.size(); ++j) {
        if (profits[j] > profits[best])
            best = j;
        highest[j] = best;
    }
    return highest;
}

/// Places and profit of the best pair from two lists sorted by weight that fits.
std::tuple<std::int64_t, std::int64_t, std::int64_t>
best_pair(Integers weight, Integers profit, Integers weights, Integers profits, std::int64_t room) {
    native::check_length("profit", profit.size(), weight.size());
    native::check_length("profits", profits.size(), weights.size());
    const std::vector<std::int64_t> highest = highest_so_far(profits);
    std::int64_t at = -1, by = -1, most = INT64_MIN / 2, j = weights.size() - 1;
    for (std::int64_t i = 0; i < weight.size(); ++i) {
        while (j >= 0 && weight[i] + weights[j] > room)
            --j;
        if (j < 0)
            break;
        const std::int64_t value = profit[i] + profits[highest[j]];
        if (value > most) {
            at = i;
            by = highest[j];
            most = value;
        }
    }
    return {at, by, most};
}

/// Places and the sum of two numbers of sorted lists closest to ``room`` from below.
///
/// The places are -1 where every sum is larger.
std::tuple<std::int64_t, std::int64_t, std::int64_t> closest_sum(Integers first, Integers second,
                                                                 std::int64_t room) {
    std::int64_t best = INT64_MIN / 2, at = -1, by = -1, j = second.size() - 1;
    for (std::int64_t i = 0; i < first.size(); ++i) {
        while (j >= 0 && first[i] + second[j] > room)
            --j;
        if (j < 0)
            break;
        if (first[i] + second[j] > best) {
            best = first[i] + second[j];
            at = i;
            by = j;
            if (best == room)
                break;
        }
    }
    return {at, by, best};
}

} // namespace
} // namespace knapsack

NATIVE_MODULE(knapsack_heuristics) {
    using namespace knapsack;
    native::expose(module, "pack_greedily", &pack_greedily, "profit", "weight", "capacity",
                   "flags");
    native::expose(module, "best_pair", &best_pair, "weight", "profit", "weights", "profits",
                   "room");
    native::expose(module, "closest_sum", &closest_sum, "first", "second", "room");
}
