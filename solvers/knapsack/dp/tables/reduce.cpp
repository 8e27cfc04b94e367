// How many copies of each item may go out of the break solution, or come in.
#include "knapsack/efficiency.h"
#include "native/bindings.h"

namespace knapsack {
namespace {

using Integers = Span<const std::int64_t>;

/// Items in order of efficiency, and the profit that is to be exceeded.
struct Known {
    Integers profit;
    Integers weight;
    Integers profit_before;
    Integers weight_before;
    std::int64_t capacity;
    std::int64_t best;

    /// Whether more than the best profit can be hoped for with so many copies of an item more.
    bool allows(std::int64_t copies, std::int64_t p, std::int64_t w) const {
        const std::int64_t room = capacity - copies * w;
        return copies * p + relaxed(profit, weight, profit_before, weight_before, room) > best;
    }

    /// The largest number of copies, up to ``many``, by which that holds, by bisection.
    std::int64_t largest(std::int64_t many, std::int64_t sign, std::int64_t p,
                         std::int64_t w) const {
        std::int64_t few = 0, guess = std::min<std::int64_t>(1, many); // mostly not even one
        while (few < many) {
            if (allows(sign * guess, p, w))
                few = guess;
            else
                many = guess - 1;
            guess = few + (many - few + 1) / 2;
        }
        return few;
    }
};

/// Fill in ``out`` and ``into``, the copies of each item that may go out, and come in.
void count_changes(Integers unit_profit, Integers unit_weight, Integers packed, Integers free,
                   Integers profit, Integers weight, Integers profit_before, Integers weight_before,
                   std::int64_t capacity, std::int64_t best, Span<std::int64_t> out,
                   Span<std::int64_t> into) {
    const std::int64_t items = unit_profit.size();
    native::check_length("unit_weight", unit_weight.size(), items);
    native::check_length("packed", packed.size(), items);
    native::check_length("free", free.size(), items);
    native::check_length("out", out.size(), items);
    native::check_length("into", into.size(), items);
    native::check_length("weight", weight.size(), profit.size());
    native::check_length("profit_before", profit_before.size(), profit.size() + 1);
    native::check_length("weight_before", weight_before.size(), profit.size() + 1);
    const Known known{profit, weight, profit_before, weight_before, capacity, best};
    for (std::int64_t j = 0; j < items; ++j) {
        if ((j & 255) == 0)
            native::poll();
        const std::int64_t p = unit_profit[j], w = unit_weight[j];
        out[j] = known.largest(packed[j], -1, p, w);
        into[j] = known.largest(std::min(free[j], capacity / w), 1, p, w);
    }
}

} // namespace
} // namespace knapsack

NATIVE_MODULE(knapsack_dp_tables_reduce) {
    native::expose(module, "count_changes", &knapsack::count_changes, "unit_profit", "unit_weight",
                   "packed", "free", "profit", "weight", "profit_before", "weight_before",
                   "capacity", "best", "out", "into");
}
