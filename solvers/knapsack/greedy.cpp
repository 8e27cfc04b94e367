// Packing everything that fits, in order.
#include "native/bindings.h"

namespace knapsack {
namespace {

using native::Span;

/// Flag everything that fits, in order; return the profit.
std::int64_t pack_greedily(Span<const std::int64_t> profit, Span<const std::int64_t> weight,
                           std::int64_t capacity, Span<bool> flags) {
    native::check_length("weight", weight.size(), profit.size());
    native::check_length("flags", flags.size(), profit.size());
    std::int64_t total = 0;
    for (std::int64_t j = 0; j < profit.size(); ++j)
        if (weight[j] <= capacity) {
            flags[j] = true;
            capacity -= weight[j];
            total += profit[j];
        }
    return total;
}

} // namespace
} // namespace knapsack

NATIVE_MODULE(knapsack_greedy) {
    native::expose(module, "pack_greedily", &knapsack::pack_greedily, "profit", "weight",
                   "capacity", "flags");
}
