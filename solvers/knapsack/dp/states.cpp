// What one more item does to a list of undominated states.
#include "states.h"

#include <cmath>

#include "knapsack/efficiency.h"

namespace knapsack {
namespace {

constexpr int STAGES = 64;

enum Control { COUNT, LEFT, RIGHT, STAGE, PROFIT, HISTORY, ANCESTOR, VISITED, TARGET };

enum Reason { EMPTY, FULL, CHECKPOINT, PAUSE };

/// Rounding errors that a bound from the relaxation's prices has, and then some.
constexpr double ROUNDINGS = 8.0;

/// Bound on the relative rounding error of a product of two converted whole numbers: each
/// conversion and the product add 1.1e-16.
constexpr double RELATIVE_ERROR = 1e-15;

/// Profit and weight of an item.
using Item = std::tuple<std::int64_t, std::int64_t>;

/// The items, and the break solution.
struct Items : Sorted {
    std::int64_t capacity;
    std::int64_t break_item;

    Item at(std::int64_t j) const { return {profit[j], weight[j]}; }
};

/// Whether profit + spare * p / w > best for the profit p and weight w of an item, exactly.
///
/// ``spare`` is capacity left, or negative for a state that is too heavy; then the item is the
/// least efficient that may still go.
bool can_improve(std::int64_t profit, std::int64_t spare, std::int64_t best, const Item &item) {
    return !exceeds(best + 1 - profit, std::get<1>(item), spare, std::get<0>(item));
}

/// Merge a list with its copy shifted by one item; return the length of ``then``.
///
/// ``right`` and ``left`` are profit and weight of the most efficient item that may still come in
/// and the least efficient that may still go out: (0, 1) and (1, 0) where there is none.
std::int64_t merge(const States &now, std::int64_t count, const States &then,
                   std::int64_t profit_step, std::int64_t weight_step, std::uint64_t bit,
                   std::int64_t capacity, const Item right, const Item left,
                   Span<std::int64_t> control) {
    std::int64_t best = control[PROFIT], highest = INT64_MIN / 2, length = 0;
    Shifted state{now, count, profit_step, weight_step, bit};
    while (state.is_left()) {
        state.next();
        if (state.profit <= highest)
            continue;
        highest = state.profit;
        const std::int64_t spare = capacity - state.weight;
        if (spare >= 0) {
            if (state.profit > best) {
                best = state.profit;
                control[HISTORY] = static_cast<std::int64_t>(state.history);
                control[ANCESTOR] = state.ancestor;
            }
            if (!can_improve(state.profit, spare, best, right))
                continue;
        } else {
            if (std::get<1>(left) == 0)
                break; // all that follow are heavier, and nothing can be taken out any more
            if (!can_improve(state.profit, spare, best, left))
                continue;
        }
        state.put(then, length++);
    }
    control[PROFIT] = best;
    control[VISITED] += 2 * count;
    return length;
}

/// The same for lists given from outside.
std::int64_t merge_lists(const States &now, std::int64_t count, const States &then,
                         std::int64_t profit_step, std::int64_t weight_step, std::uint64_t bit,
                         std::int64_t capacity, const Item &right, const Item &left,
                         Span<std::int64_t> control) {
    check_states("now", now, count);
    check_states("then", then, 2 * count);
    native::check_length("control", control.size(), TARGET + 1);
    return merge(now, count, then, profit_step, weight_step, bit, capacity, right, left, control);
}

/// Pass items that stay as the break solution has them.
///
/// Most do by the relaxation's own prices already, clear of rounding: an item costs what its profit
/// differs from its weight's price. Only the others need a bound of their own.
void skip(const Items &items, Span<std::int64_t> opposite, Span<std::int64_t> control) {
    const std::int64_t best = control[PROFIT], b = items.break_item;
    double efficiency = 0.0;
    if (b < items.size())
        efficiency = static_cast<double>(items.profit[b]) / static_cast<double>(items.weight[b]);
    const double spare = efficiency * static_cast<double>(items.capacity - items.weight_before[b]);
    const double gap = static_cast<double>(items.profit_before[b] - best) + spare;
    const double error = RELATIVE_ERROR * (static_cast<double>(best) + spare);
    for (const auto &[place, step] : {std::pair{RIGHT, 1}, std::pair{LEFT, -1}}) {
        std::int64_t j = control[place];
        for (; 0 <= j && j < items.size(); j += step) {
            const double price = efficiency * static_cast<double>(items.weight[j]);
            const double costs = std::abs(static_cast<double>(items.profit[j]) - price);
            if (!(costs - gap < ROUNDINGS * (error + RELATIVE_ERROR * price)))
                continue;
            if (opposite[j] < 0)
                opposite[j] = opposite_bound(items, items.capacity, b, j);
            if (opposite[j] > best)
                break;
        }
        control[place] = j;
    }
}

/// Why no stage can begin; -1 if one can.
int why_not(Span<const std::int64_t> control, std::int64_t room) {
    if (control[COUNT] == 0 || control[PROFIT] >= control[TARGET])
        return EMPTY;
    if (control[STAGE] == STAGES)
        return CHECKPOINT;
    return 2 * control[COUNT] > room ? FULL : -1;
}

/// Treat one more item, of those right and left in turn; return false where there is none.
bool treat_next(const Items &items, Span<std::int64_t> opposite, const States &now,
                const States &then, Span<std::int32_t> treated, Span<std::int64_t> control) {
    skip(items, opposite, control);
    bool to_right = control[RIGHT] < items.size();
    if (to_right && control[LEFT] >= 0)
        to_right = control[STAGE] % 2 == 0;
    if (!to_right && control[LEFT] < 0) {
        control[COUNT] = 0; // every item is treated, and the best profit is known
        return false;
    }
    const std::int64_t item = to_right ? control[RIGHT]++ : control[LEFT]--;
    const std::int64_t sign = to_right ? 1 : -1;
    skip(items, opposite, control);
    const Item right = control[RIGHT] < items.size() ? items.at(control[RIGHT]) : Item{0, 1};
    const Item left = control[LEFT] >= 0 ? items.at(control[LEFT]) : Item{1, 0};
    const std::uint64_t bit = std::uint64_t{1} << control[STAGE];
    treated[control[STAGE]++] = static_cast<std::int32_t>(item);
    control[COUNT] = merge(now, control[COUNT], then, sign * items.profit[item],
                           sign * items.weight[item], bit, items.capacity, right, left, control);
    return true;
}

/// Treat items right and left of those treated, in turn; return why it stopped.
///
/// The list is in ``one`` before and after. ``treated[k]`` is the item of stage k of this history.
/// An item whose opposite bound does not exceed the best profit needs no stage. Those bounds are
/// computed here when first looked at, and negative before.
int advance(const Sorted &given, std::int64_t capacity, std::int64_t break_item,
            Span<std::int64_t> opposite, const States &one, const States &other,
            Span<std::int32_t> treated, Span<std::int64_t> control, std::int64_t work) {
    check_sorted(given);
    native::check_length("opposite", opposite.size(), given.size());
    native::check_length("treated", treated.size(), STAGES);
    native::check_length("control", control.size(), TARGET + 1);
    check_states("one", one, control[COUNT]);
    check_states("other", other, one.room());
    const Items items{given, capacity, break_item};
    bool swapped = false;
    int reason = PAUSE;
    const std::int64_t until = control[VISITED] + work;
    while (control[VISITED] < until) {
        const int found = why_not(control, one.room());
        if (found >= 0) {
            reason = found;
            break;
        }
        native::poll();
        if (treat_next(items, opposite, swapped ? other : one, swapped ? one : other, treated,
                       control))
            swapped = !swapped;
    }
    for (std::int64_t k = 0; swapped && k < control[COUNT]; ++k)
        one.take(k, other, k);
    return reason;
}

/// Drop states that cannot improve on ``best`` any more, in place; return how many are left.
std::int64_t keep_promising(const States &states, std::int64_t count, std::int64_t capacity,
                            std::int64_t best, const Item right, const Item left) {
    check_states("states", states, count);
    std::int64_t length = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        poll_at(i);
        const std::int64_t spare = capacity - states.weight[i];
        const Item &side = spare >= 0 ? right : left;
        if (std::get<1>(side) != 0 && can_improve(states.profit[i], spare, best, side))
            states.take(length++, states, i);
    }
    return length;
}

} // namespace
} // namespace knapsack

NATIVE_MODULE(knapsack_dp_states) {
    using namespace knapsack;
    native::expose(module, "merge", &merge_lists, "now", "count", "then", "profit_step",
                   "weight_step", "bit", "capacity", "right", "left", "control");
    native::expose(module, "advance", &advance, "items", "capacity", "break_item", "opposite",
                   "one", "other", "treated", "control", "work");
    native::expose(module, "keep_promising", &keep_promising, "states", "count", "capacity", "best",
                   "right", "left");
    NATIVE_CONSTANTS(module, "solvers.knapsack.dp.states", STAGES, COUNT, LEFT, RIGHT, STAGE,
                     PROFIT, HISTORY, ANCESTOR, VISITED, TARGET, EMPTY, FULL, CHECKPOINT, PAUSE);
}
