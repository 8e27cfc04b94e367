// Items in order of efficiency, and Dantzig's bound for each of them.
#include "efficiency.h"

#include "native/bindings.h"

namespace knapsack {
namespace {

using Integers = Span<const std::int64_t>;

/// Put right, in place, the few neighbours whose order rounding got wrong.
void settle(Span<std::int64_t> profit, Span<std::int64_t> weight, Span<std::int64_t> place) {
    native::check_length("weight", weight.size(), profit.size());
    native::check_length("place", place.size(), profit.size());
    for (std::int64_t i = 1; i < profit.size(); ++i) {
        const std::int64_t p = profit[i], w = weight[i], origin = place[i];
        std::int64_t j = i;
        for (; j > 0 && exceeds(p, weight[j - 1], profit[j - 1], w); --j) {
            profit[j] = profit[j - 1];
            weight[j] = weight[j - 1];
            place[j] = place[j - 1];
        }
        profit[j] = p;
        weight[j] = w;
        place[j] = origin;
    }
}

void check_sums(Integers profit, Integers weight, Integers profit_before, Integers weight_before) {
    native::check_length("weight", weight.size(), profit.size());
    native::check_length("profit_before", profit_before.size(), profit.size() + 1);
    native::check_length("weight_before", weight_before.size(), profit.size() + 1);
}

std::int64_t relaxed_value(Integers profit, Integers weight, Integers profit_before,
                           Integers weight_before, std::int64_t capacity) {
    check_sums(profit, weight, profit_before, weight_before);
    return relaxed(profit, weight, profit_before, weight_before, capacity);
}

/// Fill in the (n,) opposite bounds of all items.
void opposite_bounds(Integers profit, Integers weight, Integers profit_before,
                     Integers weight_before, std::int64_t capacity, std::int64_t break_item,
                     Span<std::int64_t> bound) {
    check_sums(profit, weight, profit_before, weight_before);
    native::check_length("bound", bound.size(), profit.size());
    for (std::int64_t j = 0; j < profit.size(); ++j)
        bound[j] =
            opposite_bound(profit, weight, profit_before, weight_before, capacity, break_item, j);
}

} // namespace
} // namespace knapsack

NATIVE_MODULE(knapsack_efficiency) {
    using namespace knapsack;
    native::expose(module, "settle", &settle, "profit", "weight", "place");
    native::expose(module, "relaxed", &relaxed_value, "profit", "weight", "profit_before",
                   "weight_before", "capacity");
    native::expose(module, "opposite_bounds", &opposite_bounds, "profit", "weight", "profit_before",
                   "weight_before", "capacity", "break_item", "bound");
    NATIVE_CONSTANTS(module, "solvers.knapsack.efficiency", SAFE_PRODUCT);
}
