// What a selection to begin with gains by one exchange, or by steps that still fit.
#include <vector>

#include "native/bindings.h"

namespace knapsack::choice {
namespace {

using native::Span;
using Integers = Span<const std::int64_t>;

/// The class and item that gain most within the spare capacity; -1 if none gains.
std::tuple<std::int64_t, std::int64_t> best_exchange(Integers profit, Integers weight,
                                                     Integers first, std::int64_t spare,
                                                     Integers chosen) {
    native::check_length("weight", weight.size(), profit.size());
    native::check_length("chosen", chosen.size(), first.size() - 1);
    std::int64_t most = 0, best_group = -1, best_item = -1;
    for (std::int64_t i = 0; i < first.size() - 1; ++i) {
        const std::int64_t limit = weight[chosen[i]] + spare, least = profit[chosen[i]];
        for (std::int64_t j = first[i]; j < first[i + 1] && weight[j] <= limit; ++j)
            if (profit[j] - least > most) {
                most = profit[j] - least;
                best_group = i;
                best_item = j;
            }
    }
    return {best_group, best_item};
}

/// Take steps in order where they fit, in place; return weight and profit.
///
/// A class goes no farther once a step of it did not fit.
std::tuple<std::int64_t, std::int64_t> fill(Integers step_profit, Integers step_weight,
                                            Integers step_group, Integers step_item,
                                            std::int64_t capacity, Span<std::int64_t> chosen,
                                            std::int64_t weight, std::int64_t profit) {
    native::check_length("step_weight", step_weight.size(), step_profit.size());
    native::check_length("step_group", step_group.size(), step_profit.size());
    native::check_length("step_item", step_item.size(), step_profit.size());
    std::vector<char> ended(chosen.size(), 0);
    for (std::int64_t k = 0; k < step_profit.size(); ++k) {
        const std::int64_t group = step_group[k];
        if (ended[group])
            continue;
        if (weight + step_weight[k] > capacity) {
            ended[group] = 1;
            continue;
        }
        chosen[group] = step_item[k];
        weight += step_weight[k];
        profit += step_profit[k];
    }
    return {weight, profit};
}

} // namespace
} // namespace knapsack::choice

NATIVE_MODULE(knapsack_multiple_choice_start) {
    using namespace knapsack::choice;
    native::expose(module, "best_exchange", &best_exchange, "profit", "weight", "first", "spare",
                   "chosen");
    native::expose(module, "fill", &fill, "step_profit", "step_weight", "step_group", "step_item",
                   "capacity", "chosen", "weight", "profit");
}
