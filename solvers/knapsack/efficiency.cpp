// Items in order of efficiency, and Dantzig's bound for each of them.
#include "efficiency.h"

namespace knapsack {
namespace {

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

std::int64_t relaxed_value(const Sorted &things, std::int64_t capacity) {
    check_sorted(things);
    return relaxed(things, capacity);
}

/// Fill in the (n,) opposite bounds of all items.
void opposite_bounds(const Sorted &items, std::int64_t capacity, std::int64_t break_item,
                     Span<std::int64_t> bound) {
    check_sorted(items);
    native::check_length("bound", bound.size(), items.size());
    for (std::int64_t j = 0; j < items.size(); ++j)
        bound[j] = opposite_bound(items, capacity, break_item, j);
}

} // namespace
} // namespace knapsack

NATIVE_MODULE(knapsack_efficiency) {
    using namespace knapsack;
    native::expose(module, "settle", &settle, "profit", "weight", "place");
    native::expose(module, "relaxed", &relaxed_value, "things", "capacity");
    native::expose(module, "opposite_bounds", &opposite_bounds, "items", "capacity", "break_item",
                   "bound");
    NATIVE_CONSTANTS(module, "solvers.knapsack.efficiency", SAFE_PRODUCT);
}
