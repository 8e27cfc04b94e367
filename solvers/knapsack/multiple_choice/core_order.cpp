// The order in which classes enter the core.
#include <vector>

#include "native/bindings.h"

namespace knapsack::choice {
namespace {

using native::Span;
using Integers = Span<const std::int64_t>;

/// Fill the sequence from two orders in turn, and the best steps of classes not in it yet.
void alternate(Integers upward, Integers downward, Integers up, Integers down,
               Span<std::int64_t> sequence, Span<std::int64_t> next_up,
               Span<std::int64_t> next_down) {
    const std::int64_t classes = sequence.size();
    for (const Integers &values : {upward, downward, up, down})
        native::check_length("orders and steps", values.size(), classes);
    native::check_length("next_up", next_up.size(), classes);
    native::check_length("next_down", next_down.size(), classes);
    std::vector<char> is_in(classes, 0);
    std::int64_t i = 0, j = 0;
    for (std::int64_t t = 0; t < classes; ++t) {
        while (is_in[upward[i]])
            ++i;
        while (is_in[downward[j]])
            ++j;
        next_up[t] = up[upward[i]];
        next_down[t] = down[downward[j]];
        sequence[t] = t % 2 == 0 ? upward[i] : downward[j];
        is_in[sequence[t]] = 1;
    }
}

} // namespace
} // namespace knapsack::choice

NATIVE_MODULE(knapsack_multiple_choice_core_order) {
    native::expose(module, "alternate", &knapsack::choice::alternate, "upward", "downward", "up",
                   "down", "sequence", "next_up", "next_down");
}
