// The items of each class that none of it dominates.
#include "native/bindings.h"

namespace knapsack::choice {
namespace {

using native::Span;
using Integers = Span<const std::int64_t>;

/// Fill ``kept`` with the undominated items that fit, and ``count`` with how many of a class.
///
/// ``order`` has the items class by class, by rising weight in each.
void undominated(Integers order, Integers first, Integers profit, Integers weight,
                 std::int64_t room, Span<std::int64_t> kept, Span<std::int64_t> count) {
    const std::int64_t items = order.size(), classes = first.size() - 1;
    native::check_length("profit", profit.size(), items);
    native::check_length("weight", weight.size(), items);
    native::check_length("kept", kept.size(), items);
    native::check_length("count", count.size(), classes);
    std::int64_t length = 0;
    for (std::int64_t i = 0; i < classes; ++i) {
        const std::int64_t begin = length, least = weight[order[first[i]]];
        for (std::int64_t k = first[i]; k < first[i + 1]; ++k) {
            const std::int64_t item = order[k];
            if (weight[item] - least > room)
                break;
            if (length > begin) {
                const std::int64_t last = kept[length - 1];
                if (profit[item] <= profit[last])
                    continue;
                if (weight[item] == weight[last])
                    --length;
            }
            kept[length++] = item;
        }
        count[i] = length - begin;
    }
}

} // namespace
} // namespace knapsack::choice

NATIVE_MODULE(knapsack_multiple_choice_normal_form) {
    native::expose(module, "undominated", &knapsack::choice::undominated, "order", "first",
                   "profit", "weight", "room", "kept", "count");
}
