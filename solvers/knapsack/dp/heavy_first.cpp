// Stages of dynamic programming over items of falling weight, and the bounds that prune them.
#include "states.h"

namespace knapsack {

/// For each row, items from one place on, by falling efficiency; row 0 is the next stage's.
struct Suffixes {
    Span<const std::int64_t> start;
    Span<const std::int64_t> size;
    Span<const std::int64_t> above;
    native::Grid<const std::int64_t> profit_before;
    native::Grid<const std::int64_t> weight_before;
    native::Grid<const double> ratio;
};

} // namespace knapsack

NATIVE_STRUCT(knapsack::Suffixes, start, size, above, profit_before, weight_before, ratio)

namespace knapsack {
namespace {

enum Control {
    PROFIT = 4,
    HISTORY,
    ANCESTOR,
    VISITED,
    SUFFIX = 9,
    PLACES,
    NEXT,
    NEXT_SHIFTED,
    LENGTH,
    HIGHEST,
    ROW,
    PLACE,
    CONTROL
};

/// Instead of a length: there is no room for more states, or as many were looked at as allowed.
constexpr std::int64_t FULL = -1, PAUSED = -2;

/// Relative error, and more, of a relaxation's value in double precision.
constexpr double ROUNDING = 1e-14;

/// The row of suffixes that bounds states of rising weight, and how many of its items fit.
struct Relaxation {
    const Suffixes &known;
    std::int64_t row;
    std::int64_t place;
    /// The row that a state uses, which is row 0 where the one found begins before it.
    std::int64_t use = 0;

    /// Find the last row that all items with room beside a state are in.
    void fit(std::int64_t spare) {
        const std::int64_t rows = known.start.size(), first = known.start[0];
        while (row + 1 < rows && (known.start[row + 1] <= first || known.above[row + 1] > spare)) {
            ++row;
            place = known.size[row];
        }
        use = known.start[row] > first ? row : 0;
        place = std::min(place, known.size[use]);
        while (known.weight_before(use, place) > spare)
            --place;
    }
    std::int64_t profit() const { return known.profit_before(use, place); }

    /// Profit of the part of the next item that fits, in double precision.
    double part(std::int64_t spare) const {
        return static_cast<double>(spare - known.weight_before(use, place)) *
               known.ratio(use, place);
    }
};

void check_suffixes(const Suffixes &known) {
    const std::int64_t rows = known.start.size();
    native::check_length("start", rows, 1);
    native::check_length("size", known.size.size(), rows);
    native::check_length("above", known.above.size(), rows);
    native::check_length("profit_before", known.profit_before.shape(0), rows);
    native::check_length("weight_before", known.weight_before.shape(0), rows);
    native::check_length("ratio", known.ratio.shape(0), rows);
    const std::int64_t columns = known.profit_before.shape(1);
    native::check_length("weight_before", known.weight_before.shape(1), columns);
    native::check_length("ratio", known.ratio.shape(1), columns);
    for (const std::int64_t size : known.size)
        native::check_length("profit_before", columns, size + 1);
}

/// Note where a stage is to go on.
void pause(const Shifted &state, const Relaxation &relaxation, std::int64_t length,
           std::int64_t highest, Span<std::int64_t> control) {
    control[NEXT] = state.i;
    control[NEXT_SHIFTED] = state.j;
    control[LENGTH] = length;
    control[HIGHEST] = highest;
    control[ROW] = relaxation.row;
    control[PLACE] = relaxation.place;
}

/// Merge a list with its copy shifted by one item; return the length of ``then``.
///
/// ``known`` has in row 0 the items that come later. The length is FULL where ``then`` has no room,
/// and PAUSED after ``most`` states: then the same call goes on.
std::int64_t advance(const States &now, std::int64_t count, const States &then,
                     std::int64_t profit_step, std::int64_t weight_step, std::uint64_t bit,
                     std::int64_t capacity, const Suffixes &known, Span<std::int64_t> control,
                     std::int64_t most) {
    check_states("now", now, count);
    check_states("then", then, 0);
    check_suffixes(known);
    native::check_length("control", control.size(), CONTROL);
    std::int64_t best = control[PROFIT], highest = control[HIGHEST], length = control[LENGTH];
    const std::int64_t room = then.room();
    Shifted state{now, count, profit_step, weight_step, bit, control[NEXT], control[NEXT_SHIFTED]};
    Relaxation relaxation{known, control[ROW], control[PLACE]};
    const std::int64_t until = state.i + state.j + most;
    while (state.is_left()) {
        if (state.i + state.j >= until) {
            control[PROFIT] = best;
            pause(state, relaxation, length, highest, control);
            return PAUSED;
        }
        state.next();
        if (state.weight > capacity) {
            state.j = count; // and so are all the others of the copy
            continue;
        }
        if (state.profit <= highest)
            continue;
        highest = state.profit;
        const std::int64_t spare = capacity - state.weight;
        relaxation.fit(spare);
        const std::int64_t filled = state.profit + relaxation.profit();
        if (filled > best) {
            best = filled;
            control[HISTORY] = static_cast<std::int64_t>(state.history);
            control[ANCESTOR] = state.ancestor;
            control[SUFFIX] = relaxation.use;
            control[PLACES] = relaxation.place;
        }
        // only a gain of a whole unit counts
        if (relaxation.part(spare) + ROUNDING * static_cast<double>(best) <
            static_cast<double>(best + 1 - filled))
            continue;
        if (length == room) {
            control[PROFIT] = best;
            return FULL;
        }
        state.put(then, length++);
    }
    control[PROFIT] = best;
    control[VISITED] += 2 * count;
    return length;
}

} // namespace
} // namespace knapsack

NATIVE_MODULE(knapsack_dp_heavy_first) {
    using namespace knapsack;
    native::expose(module, "advance", &advance, "now", "count", "then", "profit_step",
                   "weight_step", "bit", "capacity", "known", "control", "most");
    native::constants(
        module, "solvers.knapsack.dp.states",
        {{"PROFIT", PROFIT}, {"HISTORY", HISTORY}, {"ANCESTOR", ANCESTOR}, {"VISITED", VISITED}});
    NATIVE_CONSTANTS(module, "solvers.knapsack.dp.heavy_first", SUFFIX, PLACES, NEXT, NEXT_SHIFTED,
                     LENGTH, HIGHEST, ROW, PLACE, CONTROL, FULL, PAUSED);
}
