// Pruning a list that waited, and pairing it with what the classes to come can do.
#include "lists.h"

namespace knapsack::choice {
namespace {

/// Copy what of a list may still beat the best profit; return how many states that is, or -1.
std::int64_t copy_promising(const States &now, std::int64_t count, const States &then,
                            std::int64_t capacity, const Step &up, const Step &down,
                            Span<std::int64_t> control) {
    check_states("now", now, count);
    check_states("then", then, 0);
    native::check_length("control", control.size(), CONTROLS);
    return shift_promising(now, count, then, 0, {}, capacity, up, down, control);
}

/// The largest sum of profits above ``best`` of a state and a partner, and who they are.
///
/// Their weights together keep the capacity. As profits rise with weights, the best partner of a
/// state is the heaviest that fits, and it is the lighter the heavier the state.
std::tuple<std::int64_t, std::int64_t, std::int64_t>
best_pair(const States &states, std::int64_t count, const States &partners, std::int64_t others,
          std::int64_t capacity, std::int64_t best) {
    check_states("states", states, count);
    check_states("partners", partners, others);
    std::int64_t first = -1, second = -1, j = others - 1;
    for (std::int64_t i = 0; i < count; ++i) {
        poll_at(i);
        while (j >= 0 && states.weight[i] + partners.weight[j] > capacity)
            --j;
        if (j < 0)
            break;
        const std::int64_t profit = states.profit[i] + partners.profit[j];
        if (profit > best) {
            best = profit;
            first = i;
            second = j;
        }
    }
    return {best, first, second};
}

} // namespace
} // namespace knapsack::choice

NATIVE_MODULE(knapsack_multiple_choice_pairs) {
    using namespace knapsack::choice;
    native::expose(module, "copy_promising", &copy_promising, "now", "count", "then", "capacity",
                   "up", "down", "control");
    native::expose(module, "best_pair", &best_pair, "states", "count", "partners", "others",
                   "capacity", "best");
}
