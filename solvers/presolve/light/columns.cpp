// Columns whose value is known: fixed ones, empty ones, and those that nothing holds back.
//
// A row's dual is non-negative when only its lower side is finite and non-positive when only its
// upper side is. Where these signs alone say that the reduced cost ``c - a'y`` of a column cannot
// be negative, the column goes to its lower bound; where it is without that bound and costs
// nothing, it recedes so far that all its rows hold, and they go with it.
#include "singleton_columns.h"

namespace presolve::light {
namespace {

struct Pulls {
    bool down, up;
};

/// Whether a row can want less of the column, and whether one can want more.
template <class W> Pulls pulls_of(const W &w, std::int64_t j) {
    Pulls found{false, false};
    for (std::int64_t entry = w.by_column.indptr[j]; entry < w.by_column.indptr[j + 1]; ++entry) {
        const std::int64_t i = w.by_column.indices[entry];
        if (!w.has_row(i))
            continue;
        const bool positive = w.by_column.data[entry] > 0.0;
        const bool at_lower = w.row_lower[i] > -INF, at_upper = w.row_upper[i] < INF;
        if ((at_lower && positive) || (at_upper && !positive))
            found.up = true;
        if ((at_lower && !positive) || (at_upper && positive))
            found.down = true;
        if (found.up && found.down)
            break;
    }
    w.count[WORK] += w.by_column.length(j);
    return found;
}

/// Take out a column that can go to infinity for nothing, with all its rows.
template <class W> void recede(const W &w, std::int64_t j, double direction) {
    const std::int64_t step = note(w, RECEDING_COLUMN, -1, j, direction, 0.0, 0.0, 0.0);
    remove_column(w, j, step, 0.0);
    for (std::int64_t entry = w.by_column.indptr[j]; entry < w.by_column.indptr[j + 1]; ++entry)
        if (w.has_row(w.by_column.indices[entry]))
            remove_redundant_row(w, w.by_column.indices[entry]);
}

template <class W> void reduce_column(const W &w, std::int64_t j) {
    const double cost = w.cost[j], low = w.lower[j], high = w.upper[j];
    if (low == high)
        return fix_column(w, j, low);
    if (w.column_length[j] == 0 && cost == 0.0)
        return fix_column(w, j, nearest_to_zero(low, high));
    const Pulls pulls = pulls_of(w, j);
    if (!pulls.up && cost >= 0.0) {
        if (low > -INF)
            fix_column(w, j, low);
        else if (cost == 0.0)
            recede(w, j, -1.0);
    } else if (!pulls.down && cost <= 0.0) {
        if (high < INF)
            fix_column(w, j, high);
        else if (cost == 0.0)
            recede(w, j, 1.0);
    } else if (w.column_length[j] == 1) {
        absorb(w, j);
    }
}

/// Look at every column that changed.
template <class Index> void reduce_columns(const Workspace<Index> &w) {
    check(w);
    w.count[WORK] += w.columns() / FLAGS_PER_LOOK;
    for (std::int64_t j = 0; j < w.columns(); ++j) {
        if (j % OWNERS_PER_POLL == 0)
            poll();
        if (!w.column_changed[j] || !w.has_column(j))
            continue;
        if (out_of_budget(w))
            return;
        w.column_changed[j] = false;
        reduce_column(w, j);
    }
}

} // namespace
} // namespace presolve::light

NATIVE_MODULE(presolve_light_columns) {
    using namespace presolve::light;
    native::expose(module, "reduce_columns", &reduce_columns<std::int32_t>, "workspace");
    native::expose(module, "reduce_columns", &reduce_columns<std::int64_t>, "workspace");
}
