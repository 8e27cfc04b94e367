// One more item: for lists of completions, and for lists of packings that they prune.
#include "knapsack/dp/states.h"

namespace knapsack {

using Integers = Span<const std::int64_t>;

/// Items by falling efficiency ``ratio`` (n + 1,), which is 0 behind the last, and sums of their
/// profits and weights (n + 1,).
struct Lighter {
    Integers profit_before, weight_before;
    Span<const double> ratio;
};

/// Weights, and profits that rise with them.
struct Completions {
    Integers weight, profit;
};

namespace {

/// Relative error, and more, of a relaxation's value in double precision.
constexpr double ROUNDING = 1e-14;

/// Lighter items, and how many of them fit beside the heaviest state seen.
struct Filling {
    const Lighter &items;
    std::int64_t place;

    explicit Filling(const Lighter &items) : items(items), place(items.profit_before.size() - 1) {
        native::check_length("profit_before", items.profit_before.size(), 1);
        native::check_length("weight_before", items.weight_before.size(), place + 1);
        native::check_length("ratio", items.ratio.size(), place + 1);
    }

    /// Find how many fit into less than before.
    void fit(std::int64_t spare) {
        while (items.weight_before[place] > spare)
            --place;
    }
    std::int64_t profit() const { return items.profit_before[place]; }

    /// Profit of the part of the next item that fits, in double precision.
    double part(std::int64_t spare) const {
        return static_cast<double>(spare - items.weight_before[place]) * items.ratio[place];
    }
};

/// Merge a list by weight with its shifted copy; return the new one's length.
///
/// Dominated states go, and those that lighter items cannot bring to ``target``. Weights less than
/// ``grain`` apart become the smallest of them with the highest profit, which completes no worse.
/// The length is -1 where the new list has no room.
std::int64_t add_to_completions(Integers weight, Integers profit, std::int64_t count,
                                Span<std::int64_t> then_weight, Span<std::int64_t> then_profit,
                                std::int64_t weight_step, std::int64_t profit_step,
                                std::int64_t capacity, std::int64_t target, const Lighter &items,
                                std::int64_t grain) {
    native::check_length("weight", weight.size(), count);
    native::check_length("profit", profit.size(), count);
    native::check_length("then_profit", then_profit.size(), then_weight.size());
    Filling lighter(items);
    const std::int64_t room = then_weight.size();
    const double slack = ROUNDING * static_cast<double>(target);
    std::int64_t highest = -1, i = 0, j = 0, length = 0;
    while (i < count || j < count) {
        poll_at(i + j);
        std::int64_t w = 0, p = 0;
        if (j < count) {
            w = weight[j] + weight_step;
            p = profit[j] + profit_step;
        }
        if (i < count && (j == count || weight[i] < w || (weight[i] == w && profit[i] >= p))) {
            w = weight[i];
            p = profit[i];
            ++i;
        } else {
            ++j;
        }
        if (w > capacity)
            break;
        if (p <= highest)
            continue;
        const std::int64_t spare = capacity - w;
        lighter.fit(spare);
        if (lighter.part(spare) + slack < static_cast<double>(target - p - lighter.profit()))
            continue;
        highest = p;
        if (length > 0 && w - then_weight[length - 1] < grain) {
            then_profit[length - 1] = p;
            continue;
        }
        if (length == room)
            return -1;
        then_weight[length] = w;
        then_profit[length] = p;
        ++length;
    }
    return length;
}

/// What completions bring at most with parts of lighter items, rounded up; or -1.
double best_completed(const Completions &heavier, std::int64_t capacity, const Lighter &items) {
    const Integers weight = heavier.weight, profit = heavier.profit;
    native::check_length("profit", profit.size(), weight.size());
    Filling lighter(items);
    double best = -1.0;
    for (std::int64_t i = 0; i < weight.size(); ++i) {
        poll_at(i);
        const std::int64_t spare = capacity - weight[i];
        lighter.fit(spare);
        best =
            std::max(best, static_cast<double>(profit[i] + lighter.profit()) + lighter.part(spare));
    }
    return best > 0.0 ? best * (1.0 + ROUNDING) : best;
}

/// Merge a list of packings with its shifted copy; return the length of ``then``, or -1.
///
/// States go that are dominated, or worth less than ``target`` with the best of the completions
/// that still fit; these are sorted by weight, and profits rise with it.
std::int64_t add_to_packings(const States &now, std::int64_t count, const States &then,
                             std::int64_t profit_step, std::int64_t weight_step, std::uint64_t bit,
                             std::int64_t capacity, std::int64_t target,
                             const Completions &heavier) {
    check_states("now", now, count);
    check_states("then", then, 0);
    native::check_length("profit", heavier.profit.size(), heavier.weight.size());
    const std::int64_t room = then.room();
    std::int64_t best = heavier.weight.size() - 1, highest = -1, length = 0;
    Shifted state{now, count, profit_step, weight_step, bit};
    while (state.is_left()) {
        state.next();
        while (best >= 0 && heavier.weight[best] > capacity - state.weight)
            --best;
        if (best < 0)
            break;
        if (state.profit <= highest || state.profit + heavier.profit[best] < target)
            continue;
        highest = state.profit;
        if (length == room)
            return -1;
        state.put(then, length++);
    }
    return length;
}

} // namespace
} // namespace knapsack

NATIVE_STRUCT(knapsack::Lighter, profit_before, weight_before, ratio)
NATIVE_STRUCT(knapsack::Completions, weight, profit)

NATIVE_MODULE(knapsack_dp_cluster_lists) {
    using namespace knapsack;
    native::expose(module, "add_to_completions", &add_to_completions, "weight", "profit", "count",
                   "then_weight", "then_profit", "weight_step", "profit_step", "capacity", "target",
                   "lighter", "grain");
    native::expose(module, "best_completed", &best_completed, "heavier", "capacity", "lighter");
    native::expose(module, "add_to_packings", &add_to_packings, "now", "count", "then",
                   "profit_step", "weight_step", "bit", "capacity", "target", "heavier");
}
