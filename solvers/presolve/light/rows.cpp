// Rows that say nothing, too much, or what a bound can say.
//
// By the least and the greatest activity that the bounds of its columns allow, a row is
//
// * a contradiction, when the two lie beyond its sides;
// * *forcing*, when one of them just reaches a side: every column stands at a bound then, and the
//   row's dual is whatever gives their reduced costs the right signs;
// * redundant, on one side or on both: the dual is zero;
// * a bound, when only one column is left: where the bound is active, its multiplier goes back to
//   the row.
#include "workspace.h"

namespace presolve::light {
namespace {

/// A side that the activity passes by no more than this, relative to max(1, |side|), is implied.
constexpr double REDUNDANT_TOLERANCE = 1e-10;

/// Sides missed by less than this, relative to max(1, |side|), are no contradiction.
constexpr double CONTRADICTION_TOLERANCE = 1e-9;

double slack(double side) { return REDUNDANT_TOLERANCE * std::max(1.0, std::abs(side)); }

/// Whether an activity is above a side by more than rounding.
bool beyond(double activity, double side, double error) {
    if (!(std::abs(side) < INF))
        return false;
    return activity > side + CONTRADICTION_TOLERANCE * std::max(1.0, std::abs(side)) + 8.0 * error;
}

/// Fix every column of a row at the bound that makes its activity least, or greatest.
template <class W> void force(const W &w, std::int64_t i, bool to_most) {
    remove_row(w, i, note(w, FORCING_ROW, i, -1, to_most ? 1.0 : -1.0, 0.0, 0.0, 0.0));
    for (std::int64_t entry = w.by_row.indptr[i]; entry < w.by_row.indptr[i + 1]; ++entry) {
        const std::int64_t j = w.by_row.indices[entry];
        if (w.has_column(j)) {
            const bool at_upper = (w.by_row.data[entry] > 0.0) == to_most;
            fix_column(w, j, at_upper ? w.upper[j] : w.lower[j]);
        }
    }
}

/// Turn a row with one column into bounds of that column.
template <class W> void to_bound(const W &w, std::int64_t i) {
    const std::int64_t entry = living_entry(w.by_row.indptr[i], w.by_row.indices,
                                            Span<const std::int64_t>(w.column_removed));
    const double a = w.by_row.data[entry];
    const std::int64_t j = w.by_row.indices[entry];
    if (std::abs(a) < SMALL_PIVOT * std::min(1.0, w.row_size[i]))
        return;
    double low = w.row_lower[i] / a, high = w.row_upper[i] / a;
    if (a < 0.0)
        std::swap(low, high);
    const double old_lower = w.lower[j], old_upper = w.upper[j];
    double new_lower = std::max(old_lower, low), new_upper = std::min(old_upper, high);
    if (new_lower > new_upper) { // by rounding: a contradiction was looked for before
        if (new_lower == old_lower)
            new_upper = old_lower;
        else
            new_lower = new_upper;
    }
    const double origin = (new_lower > old_lower ? 1.0 : 0.0) + (new_upper < old_upper ? 2.0 : 0.0);
    const std::int64_t step = note(w, SINGLETON_ROW, i, j, a, old_lower, old_upper, origin);
    w.lower[j] = new_lower;
    w.upper[j] = new_upper;
    remove_row(w, i, step);
    w.column_changed[j] = true;
    mark_rows(w, j);
}

/// Whether anything can be said of a row as things are.
template <class W> bool says_something(const W &w, std::int64_t i) {
    const double low = w.row_lower[i], high = w.row_upper[i];
    if (w.row_length[i] <= 1 || (low == -INF && high == INF))
        return true;
    const auto [least, most, least_error, most_error] = range_of(w, i, -1);
    return beyond(least, high, least_error) || beyond(-most, -low, most_error) ||
           least >= high - least_error || most <= low + most_error ||
           (low > -INF && least >= low - slack(low) - least_error) ||
           (high < INF && most <= high + slack(high) + most_error);
}

template <class W> void reduce_row(const W &w, std::int64_t i) {
    const auto [least, most, least_error, most_error] = activity_range(w, i, -1);
    const double low = w.row_lower[i], high = w.row_upper[i];
    if (beyond(least, high, least_error)) {
        w.count[CONTRADICTION] = -(1 + i);
        return;
    }
    if (beyond(-most, -low, most_error)) {
        w.count[CONTRADICTION] = 1 + i;
        return;
    }
    if (w.row_length[i] > 0 && least >= high - least_error)
        return force(w, i, false);
    if (w.row_length[i] > 0 && most <= low + most_error)
        return force(w, i, true);
    if (low > -INF && least >= low - slack(low) - least_error) {
        w.row_lower[i] = -INF;
        mark_columns(w, i);
    }
    if (high < INF && most <= high + slack(high) + most_error) {
        w.row_upper[i] = INF;
        mark_columns(w, i);
    }
    if ((w.row_lower[i] == -INF && w.row_upper[i] == INF) || w.row_length[i] == 0)
        remove_redundant_row(w, i);
    else if (w.row_length[i] == 1)
        to_bound(w, i);
}

/// Look at every row that changed.
template <class Index> void reduce_rows(const Workspace<Index> &w, int threads) {
    check(w);
    w.count[WORK] += w.rows() / FLAGS_PER_LOOK;
    screen(w, w.row_changed, w.row_removed, w.by_row, threads,
           [&](std::int64_t i) { return says_something(w, i); });
    for (std::int64_t i = 0; i < w.rows(); ++i) {
        if (i % OWNERS_PER_POLL == 0)
            poll();
        if (!w.row_changed[i] || !w.has_row(i))
            continue;
        if (out_of_budget(w))
            return;
        w.row_changed[i] = false;
        reduce_row(w, i);
    }
}

template <class Index> void declare(native::Module &module) {
    native::expose(module, "reduce_rows", &reduce_rows<Index>, "workspace", "threads");
}

} // namespace
} // namespace presolve::light

NATIVE_MODULE(presolve_light_rows) {
    using namespace presolve::light;
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
    NATIVE_CONSTANTS(module, "solvers.presolve.light.workspace", ALIVE, REDUNDANT_ROW, FIXED_COLUMN,
                     SINGLETON_ROW, FORCING_ROW, ABSORBED_AT_LOWER, ABSORBED_AT_UPPER,
                     ABSORBED_BETWEEN, RECEDING_COLUMN, PARALLEL_ROW, PARALLEL_COLUMN, STEPS, WORK,
                     WORK_LIMIT, CONTRADICTION, COUNTERS, OFFSET, LOWER, BASIC, UPPER, ZERO);
}
