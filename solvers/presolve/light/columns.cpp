// Columns whose value is known: fixed ones, empty ones, and those that nothing holds back.
//
// A row's dual is non-negative when only its lower side is finite and non-positive when only its
// upper side is. Where these signs alone say that the reduced cost ``c - a'y`` of a column cannot
// be negative, the column goes to its lower bound; where it is without that bound and costs
// nothing, it recedes so far that all its rows hold, and they go with it.
#include <limits>
#include <optional>
#include <unordered_map>

#include "workspace.h"

// A column with one entry becomes slack of its row.
//
// With ``s = a x_j`` in ``[s_min, s_max]`` and the row ``L <= r + s <= U``:
//
// * an equation fixes ``s = L - r``. The cost ``c_j x_j`` moves on to the row's other columns and
//   the offset, and ``L - s_max <= r <= L - s_min`` is left;
// * without a cost, ``L - s_max <= r <= U - s_min`` is left;
// * with a cost that wants s small, and no bound in its way before the row's lower side is
//   reached, every optimum has ``r + s = L``: ``L - s_max <= r`` is left. Mirrored for the upper.
//
// The row's dual is the one of what is left plus ``c_j / a``. A column with a cost is taken only
// where what is left is redundant, so that the row goes too: that is the substitution of an implied
// free column. Where the row stays, moving the cost to its other columns cost more iterations than
// it saved (10 times as many on grow15 and grow22, 8 % on the mean of 61 models).

namespace presolve::light {

/// Entries from which the range of a row's activity is kept after a look. Some rows go through all
/// of a model, and have thousands of columns each of which may be their slack.
constexpr std::int64_t LONG_ROW = 1000;

/// The range of a row's activity as columns leave it, and how many terms it has been made of.
struct Kept {
    double least, most, size;
    std::int64_t terms;

    /// By how much it may differ from a sum over the columns that are left.
    double error() const {
        return 2.0 * static_cast<double>(terms) * std::numeric_limits<double>::epsilon() * size;
    }
};

/// A workspace whose bounds of columns stay, with the ranges of long rows.
template <class Index> struct Watched : Workspace<Index> {
    std::unordered_map<std::int64_t, Kept> &ranges;

    void lost(std::int64_t i, std::int64_t j, double a) const {
        if (ranges.empty())
            return;
        const auto found = ranges.find(i);
        if (found != ranges.end())
            leave(found->second, j, a);
    }

    /// Let a column leave a range.
    void leave(Kept &range, std::int64_t j, double a) const {
        const double at_lower = a * this->lower[j], at_upper = a * this->upper[j];
        range.least -= std::min(at_lower, at_upper);
        range.most -= std::max(at_lower, at_upper);
        range.terms += 1;
    }
};

/// What is kept of a long row's range, but for a column; nothing where it is not finite.
template <class Index>
std::optional<Kept> kept_range(const Watched<Index> &w, std::int64_t i, std::int64_t j, double a) {
    if (w.by_row.length(i) < LONG_ROW)
        return {};
    auto found = w.ranges.find(i);
    if (found == w.ranges.end()) {
        const Range range = activity_range(w, i, -1);
        const double size = std::max(range.least_error, range.most_error) / ROUNDING;
        found = w.ranges.emplace(i, Kept{range.least, range.most, size, w.by_row.length(i)}).first;
    }
    Kept range = found->second;
    if (!(std::abs(range.least) < INF && std::abs(range.most) < INF))
        return {};
    w.leave(range, j, a);
    return range;
}

/// Whether holds(least, most) of a row's range but for a column, which has an entry ``a`` in it.
///
/// What holds of a range holds of any within it. So what is kept of it often tells for certain.
template <class W, class Holds>
bool holds_of_range(const W &w, std::int64_t i, std::int64_t j, double a, const Holds &holds) {
    if (const auto kept = kept_range(w, i, j, a)) {
        const double error = kept->error();
        if (holds(kept->least - error, kept->most + error))
            return true;
        if (!holds(kept->least + error, kept->most - error))
            return false;
    }
    const Range range = activity_range(w, i, j);
    return holds(range.least, range.most);
}

/// Whether nothing keeps a row from its lower side but that side.
template <class W>
bool reaches_lower(const W &w, std::int64_t i, std::int64_t j, double a, double bound) {
    const double side = w.row_lower[i];
    if (side == -INF)
        return false;
    return bound == -INF || holds_of_range(w, i, j, a, [&](double /*least*/, double most) {
               return side - most >= bound;
           });
}

template <class W>
bool reaches_upper(const W &w, std::int64_t i, std::int64_t j, double a, double bound) {
    const double side = w.row_upper[i];
    if (side == INF)
        return false;
    return bound == INF || holds_of_range(w, i, j, a, [&](double least, double /*most*/) {
               return side - least <= bound;
           });
}

/// Whether what is left of a row without a column is redundant.
template <class W>
bool holds_anyway(const W &w, std::int64_t i, std::int64_t j, double a, double low, double high) {
    return holds_of_range(w, i, j, a,
                          [&](double least, double most) { return least >= low && most <= high; });
}

/// Charge the row at ``price`` to its columns, and the side it stands at to the offset.
template <class W> void move_cost(const W &w, std::int64_t i, double price, double side) {
    if (price == 0.0)
        return mark_columns(w, i);
    w.total[OFFSET] += price * side;
    for (std::int64_t entry = w.by_row.indptr[i]; entry < w.by_row.indptr[i + 1]; ++entry) {
        const std::int64_t k = w.by_row.indices[entry];
        if (!w.has_column(k))
            continue;
        const double old = w.cost[k], change = price * w.by_row.data[entry];
        const double left = old - change;
        const bool is_noise = std::abs(left) <= ROUNDING * (std::abs(old) + std::abs(change));
        w.cost[k] = is_noise ? 0.0 : left;
        w.column_changed[k] = true;
    }
    w.count[WORK] += w.by_row.length(i);
}

/// Make a column with one living entry slack of its row, if that is exact.
template <class W> void absorb(const W &w, std::int64_t j) {
    const std::int64_t entry = living_entry(w.by_column.indptr[j], w.by_column.indices,
                                            Span<const std::int64_t>(w.row_removed));
    const double a = w.by_column.data[entry];
    const std::int64_t i = w.by_column.indices[entry];
    if (std::abs(a) < SMALL_PIVOT * w.row_size[i] || w.row_length[i] < 2)
        return;
    const double low = w.row_lower[i], high = w.row_upper[i];
    const double least = std::min(a * w.lower[j], a * w.upper[j]);
    const double most = std::max(a * w.lower[j], a * w.upper[j]);
    const double price = w.cost[j] / a;
    Kind kind = ABSORBED_AT_LOWER;
    double new_low = shifted(low, most), new_high = INF;
    if (low == high) {
        new_high = shifted(low, least);
    } else if (price == 0.0) {
        kind = ABSORBED_BETWEEN;
        new_high = shifted(high, least);
    } else if (price > 0.0 && reaches_lower(w, i, j, a, least)) {
        new_high = INF;
    } else if (price < 0.0 && reaches_upper(w, i, j, a, most)) {
        kind = ABSORBED_AT_UPPER;
        new_low = -INF;
        new_high = shifted(high, least);
    } else {
        return;
    }
    if (price != 0.0 && !holds_anyway(w, i, j, a, new_low, new_high))
        return;
    remove_column(w, j, note(w, kind, i, j, low, high, a, price), 0.0);
    w.row_lower[i] = new_low;
    w.row_upper[i] = new_high;
    move_cost(w, i, price, kind == ABSORBED_AT_UPPER ? high : low);
}

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
    return found;
}

/// Whether anything can be said of a column as things are.
template <class W> bool says_something(const W &w, std::int64_t j) {
    const double cost = w.cost[j];
    if (w.lower[j] == w.upper[j] || w.column_length[j] <= 1)
        return true;
    const Pulls pulls = pulls_of(w, j);
    return (!pulls.up && cost >= 0.0) || (!pulls.down && cost <= 0.0);
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
    w.count[WORK] += w.by_column.length(j);
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
template <class Index> void reduce_columns(const Workspace<Index> &workspace, int threads) {
    check(workspace);
    std::unordered_map<std::int64_t, Kept> ranges;
    const Watched<Index> w{workspace, ranges};
    w.count[WORK] += w.columns() / FLAGS_PER_LOOK;
    screen(w, w.column_changed, w.column_removed, w.by_column, threads,
           [&](std::int64_t j) { return says_something(w, j); });
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
    native::expose(module, "reduce_columns", &reduce_columns<std::int32_t>, "workspace", "threads");
    native::expose(module, "reduce_columns", &reduce_columns<std::int64_t>, "workspace", "threads");
}
