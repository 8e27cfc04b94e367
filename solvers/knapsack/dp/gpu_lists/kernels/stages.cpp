// Twins of stages.cu: the same stages by one core, a state at a time.
#include <cmath>

#include "knapsack/efficiency.h"
#include "native/bindings.h"

#define INDEX std::int64_t
#define ANCESTOR_T std::int32_t

namespace knapsack::lists {
namespace {

#include "fields.cuh"

using native::Span;
using Integers = Span<const std::int64_t>;

void check_sides(std::int64_t room, Integers profit, Integers weight, Integers history,
                 Span<const std::int32_t> ancestor, Integers control) {
    native::check_lengths(
        2 * room,
        {{"profit", profit}, {"weight", weight}, {"history", history}, {"ancestor", ancestor}});
    native::check_length("control", control.size(), CONTROL_SIZE);
}

/// Whether a state's bound is at least ``level``.
bool reaches(std::int64_t profit, std::int64_t weight, std::int64_t level, Integers control) {
    const std::int64_t spare = control[CAPACITY] - weight;
    if (spare >= 0)
        return !exceeds(level - profit, control[COMES_WEIGHT], spare, control[COMES_PROFIT]);
    return !exceeds(level - profit, control[GOES_WEIGHT], spare, control[GOES_PROFIT]);
}

/// Pass items that stay as the break solution has them.
void skip(std::int64_t items, Integers opposite, Span<std::int64_t> control) {
    while (control[RIGHT] < items && opposite[control[RIGHT]] <= control[PROFIT])
        ++control[RIGHT];
    while (control[LEFT] >= 0 && opposite[control[LEFT]] <= control[PROFIT])
        --control[LEFT];
}

/// The place of the heaviest of ``count`` states that weighs at most ``limit``, or -1.
std::int64_t last_that_fits(Integers weight, std::int64_t first, std::int64_t count,
                            std::int64_t limit) {
    std::int64_t low = 0, high = count;
    while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (weight[first + middle] <= limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

/// End the stage under way, and begin the next one.
void turn(int begin, int items, int room, const Order &order, const Lists &lists,
          Span<std::int64_t> treated, Span<std::int64_t> control, int) {
    check_sides(room, lists.profit, lists.weight, lists.history, lists.ancestor, control);
    native::check_lengths(items, {{"item_profit", order.item_profit},
                                  {"item_weight", order.item_weight},
                                  {"opposite", order.opposite}});
    native::check_length("treated", treated.size(), STAGES);
    if (control[TILES] > 0) {
        control[COUNT] = control[NEXT_COUNT];
        control[SIDE] = 1 - control[SIDE];
    }
    control[TILES] = 0;
    if (!begin || control[REASON] != NONE)
        return;
    control[REASON] = why_not(control.data(), control[COUNT], room);
    if (control[REASON] != NONE)
        return;
    skip(items, order.opposite, control);
    const bool to_right = control[RIGHT] < items && (control[LEFT] < 0 || control[STAGE] % 2 == 0);
    if (!to_right && control[LEFT] < 0) { // every item is treated, and the best profit is known
        control[COUNT] = 0;
        control[REASON] = EMPTY;
        return;
    }
    const std::int64_t item = to_right ? control[RIGHT]++ : control[LEFT]--;
    const std::int64_t sign = to_right ? 1 : -1;
    skip(items, order.opposite, control);
    see_sides(order.item_profit.data(), order.item_weight.data(), items, control.data());
    const std::int64_t from = control[SIDE] * room, count = control[COUNT];
    const std::int64_t step = sign * order.item_weight[item], limit = control[CAPACITY];
    begin_stage(lists.profit.data() + from, lists.weight.data() + from, lists.history.data() + from,
                lists.ancestor.data() + from, last_that_fits(lists.weight, from, count, limit),
                last_that_fits(lists.weight, from, count, limit - step), item,
                sign * order.item_profit[item], step, treated.data(), control.data());
}

/// Merge the list with its shifted copy.
void merge(int, int room, Span<std::int64_t> profit, Span<std::int64_t> weight,
           Span<std::int64_t> history, Span<std::int32_t> ancestor, Span<std::int64_t>,
           Span<std::int64_t> control, int) {
    check_sides(room, profit, weight, history, ancestor, control);
    if (control[TILES] == 0)
        return;
    const std::int64_t source = control[SIDE] * room, target = room - source;
    const std::int64_t count = control[COUNT];
    const std::int64_t profit_step = control[PROFIT_STEP], weight_step = control[WEIGHT_STEP];
    const auto bit = static_cast<std::int64_t>(std::uint64_t{1} << (control[STAGE] - 1));
    std::int64_t highest = LOWEST, i = 0, j = 0, length = target;
    while (i < count || j < count) {
        if (((i + j) & 4095) == 0)
            native::poll();
        bool ours = i < count;
        if (ours && j < count) {
            const std::int64_t own = weight[source + i], shifted = weight[source + j] + weight_step;
            ours = own < shifted ||
                   (own == shifted && profit[source + i] >= profit[source + j] + profit_step);
        }
        const std::int64_t at = source + (ours ? i++ : j++);
        const std::int64_t p = profit[at] + (ours ? 0 : profit_step);
        const std::int64_t w = weight[at] + (ours ? 0 : weight_step);
        if (p <= highest)
            continue;
        highest = p;
        const std::int64_t best =
            w <= control[CAPACITY] ? std::max(control[BEFORE], p) : control[PROFIT];
        if (!reaches(p, w, best + 1, control))
            continue;
        profit[length] = p;
        weight[length] = w;
        history[length] = history[at] | (ours ? 0 : bit);
        ancestor[length] = ancestor[at];
        ++length;
    }
    control[NEXT_COUNT] = length - target;
}

/// Copy states by their bounds or places.
void choose(int mode, int, int room, Span<std::int64_t> profit, Span<std::int64_t> weight,
            Span<std::int64_t> history, Span<std::int32_t> ancestor, Span<std::int64_t>,
            Span<std::int64_t> control, int) {
    check_sides(room, profit, weight, history, ancestor, control);
    if (control[TILES] == 0)
        return;
    const std::int64_t source = control[SIDE] * room, target = room - source;
    std::int64_t length = target;
    for (std::int64_t k = 0; k < control[COUNT]; ++k) {
        const std::int64_t at = source + k;
        const bool high = mode & PLACES ? k >= control[LEVEL]
                                        : reaches(profit[at], weight[at], control[LEVEL], control);
        if (high == ((mode & BELOW) != 0))
            continue;
        if (!(mode & COUNTING)) {
            profit[length] = profit[at];
            weight[length] = weight[at];
            history[length] = history[at];
            ancestor[length] = ancestor[at];
        }
        ++length;
    }
    control[NEXT_COUNT] = length - target;
}

/// Begin a history.
void renew(int, int room, Span<std::int64_t> history, Span<std::int32_t> ancestor, Integers control,
           int) {
    native::check_lengths(2 * std::int64_t{room}, {{"history", history}, {"ancestor", ancestor}});
    native::check_length("control", control.size(), CONTROL_SIZE);
    const std::int64_t first = control[SIDE] * room;
    for (std::int64_t k = 0; k < control[COUNT]; ++k) {
        history[first + k] = 0;
        ancestor[first + k] = static_cast<std::int32_t>(k);
    }
}

} // namespace
} // namespace knapsack::lists

NATIVE_STRUCT(knapsack::lists::Order, item_profit, item_weight, opposite)
NATIVE_STRUCT(knapsack::lists::Lists, profit, weight, history, ancestor)

NATIVE_MODULE(knapsack_dp_gpu_lists_stages) {
    using namespace knapsack::lists;
    NATIVE_CONSTANTS(module, "solvers.knapsack.dp.gpu_lists.kernels.stages", THREADS, EACH, TILE);
    native::constants(module, "solvers.knapsack.dp.gpu_lists.kernels.stages",
                      {{"CONTROL_SIZE", CONTROL_SIZE}, {"TICKET_LINE", TICKET}});
    NATIVE_KERNELS(module, turn, merge, choose, renew);
}
