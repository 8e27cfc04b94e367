// Which columns to replace by which equations, and what becomes of their bounds.
#include <algorithm>
#include <cmath>

#include "native/bindings.h"
#include "places.h"
#include "status.h"

using namespace native;

namespace presolve::light {
namespace {

/// A column is replaced by an equation only where its entry is at least this part of the largest.
constexpr double PIVOT = 0.1;

constexpr std::int64_t LONGEST_EQUATION = 30;
constexpr std::int64_t LONGEST_COLUMN = 30;

/// Entries that a replacement may add to the matrix.
constexpr std::int64_t MOST_ADDED = 0;

/// In place of the row that implies a bound: no row does, or there is no bound to imply.
constexpr std::int64_t NO_ROW = -1, NO_BOUND = -2;

/// A matrix by rows, with their sides.
template <class Index> struct Rows {
    Span<const Index> start, index;
    Span<const double> value, lower, upper;

    std::int64_t size() const { return lower.size(); }
    std::int64_t length(std::int64_t i) const { return start[i + 1] - start[i]; }
    bool is_equation(std::int64_t i) const { return lower[i] == upper[i]; }

    /// Whether a row is an equation that may replace a column.
    bool is_short_equation(std::int64_t i) const {
        return is_equation(i) && length(i) >= 2 && length(i) <= LONGEST_EQUATION;
    }
};

template <class Index> void check(const Rows<Index> &rows) {
    check_length("start", rows.start.size(), rows.size() + 1);
    check_length("index", rows.index.size(), rows.start[rows.size()]);
    check_length("value", rows.value.size(), rows.value.size() == 0 ? 0 : rows.index.size());
    check_length("row_upper", rows.upper.size(), rows.size());
}

/// The entries that are added where an equation replaces a column.
std::int64_t added_by(std::int64_t size, std::int64_t length) {
    return (size - 1) * (length - 1) - (size + length - 1);
}

/// Count the equations with a column that could be replaced by them without adding entries.
template <class Index>
std::int64_t count_promising(Span<const Index> start, Span<const Index> index,
                             Span<const Index> lengths, Span<const double> row_lower,
                             Span<const double> row_upper) {
    const Rows<Index> rows{start, index, {}, row_lower, row_upper};
    check(rows);
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < rows.size(); ++i) {
        if (!rows.is_short_equation(i))
            continue;
        for (std::int64_t e = start[i]; e < start[i + 1]; ++e) {
            const std::int64_t length = lengths[index[e]];
            if (length <= LONGEST_COLUMN && added_by(rows.length(i), length) <= MOST_ADDED) {
                ++count;
                break;
            }
        }
    }
    return count;
}

/// Least and greatest value of a times a column.
struct Reach {
    double low, high;
};

Reach reach_of(double a, double low, double high) {
    return {std::min(a * low, a * high), std::max(a * low, a * high)};
}

/// The finite parts of a row's least and greatest activity, and the infinite terms.
struct Activity {
    double least = 0.0, most = 0.0;
    std::int64_t endless_down = 0, endless_up = 0;
};

template <class Index>
Activity activity_of(const Rows<Index> &rows, Span<const double> lower, Span<const double> upper,
                     std::int64_t i) {
    Activity found;
    for (std::int64_t e = rows.start[i]; e < rows.start[i + 1]; ++e) {
        const std::int64_t j = rows.index[e];
        const auto [low, high] = reach_of(rows.value[e], lower[j], upper[j]);
        if (low == -INF)
            ++found.endless_down;
        else
            found.least += low;
        if (high == INF)
            ++found.endless_up;
        else
            found.most += high;
    }
    return found;
}

/// A bound on the activity of all columns but one.
double rest_of(double total, std::int64_t endless, double own, double infinity) {
    if (own == infinity)
        return endless == 1 ? total : infinity;
    return endless == 0 ? total - own : infinity;
}

/// Whether a bound is still without a row that implies it, or an equation is better than its.
template <class Index> bool is_open(const Rows<Index> &rows, std::int64_t by, bool equation) {
    return by == NO_ROW || (by >= 0 && equation && !rows.is_equation(by));
}

/// Find rows that by themselves, and the other columns' bounds, imply a column's bounds.
///
/// ``low_by`` and ``high_by`` (n,) get the row that implies the lower and the upper bound, -2 where
/// there is no bound to imply, and stay -1 where no row does.
template <class Index>
void implied_bounds(Span<const Index> start, Span<const Index> index, Span<const double> value,
                    Span<const double> row_lower, Span<const double> row_upper,
                    Span<const double> lower, Span<const double> upper, Span<std::int64_t> low_by,
                    Span<std::int64_t> high_by) {
    const Rows<Index> rows{start, index, value, row_lower, row_upper};
    check(rows);
    for (std::int64_t j = 0; j < lower.size(); ++j) {
        low_by[j] = lower[j] == -INF ? NO_BOUND : NO_ROW;
        high_by[j] = upper[j] == INF ? NO_BOUND : NO_ROW;
    }
    for (std::int64_t i = 0; i < rows.size(); ++i) {
        const Activity all = activity_of(rows, lower, upper, i);
        if ((all.endless_down > 1 || row_upper[i] == INF) &&
            (all.endless_up > 1 || row_lower[i] == -INF))
            continue;
        const bool equation = rows.is_equation(i);
        for (std::int64_t e = start[i]; e < start[i + 1]; ++e) {
            const double a = value[e];
            const std::int64_t j = index[e];
            if (!is_open(rows, low_by[j], equation) && !is_open(rows, high_by[j], equation))
                continue;
            const auto [low, high] = reach_of(a, lower[j], upper[j]);
            const double rest_least = rest_of(all.least, all.endless_down, low, -INF);
            const double rest_most = rest_of(all.most, all.endless_up, high, INF);
            bool holds_low = row_lower[i] - rest_most >= low; // of a x_j
            bool holds_high = row_upper[i] - rest_least <= high;
            if (a < 0.0)
                std::swap(holds_low, holds_high);
            if (holds_low && is_open(rows, low_by[j], equation))
                low_by[j] = i;
            if (holds_high && is_open(rows, high_by[j], equation))
                high_by[j] = i;
        }
    }
}

/// Find for each equation the entry at which replacing adds least.
template <class Index>
void find_candidates(Span<const Index> start, Span<const Index> index, Span<const double> value,
                     Span<const Index> lengths, Span<const double> row_lower,
                     Span<const double> row_upper, Span<const std::int64_t> low_by,
                     Span<const std::int64_t> high_by, Span<std::int64_t> price,
                     Span<std::int64_t> entry) {
    const Rows<Index> rows{start, index, value, row_lower, row_upper};
    check(rows);
    check_length("price", price.size(), rows.size());
    check_length("entry", entry.size(), rows.size());
    for (std::int64_t i = 0; i < rows.size(); ++i) {
        if (!rows.is_short_equation(i))
            continue;
        const std::int64_t size = rows.length(i);
        double largest = 0.0;
        for (std::int64_t e = start[i]; e < start[i + 1]; ++e)
            largest = std::max(largest, std::abs(value[e]));
        for (std::int64_t e = start[i]; e < start[i + 1]; ++e) {
            const std::int64_t j = index[e];
            if (std::abs(value[e]) < PIVOT * largest || lengths[j] > LONGEST_COLUMN)
                continue;
            const std::int64_t added = added_by(size, lengths[j]);
            const bool implied = low_by[j] != NO_ROW && high_by[j] != NO_ROW;
            if (added > MOST_ADDED || !(size == 2 || implied))
                continue;
            // of equals take those that rely on no other row
            const std::int64_t others = (low_by[j] != i && low_by[j] != NO_BOUND) +
                                        (high_by[j] != i && high_by[j] != NO_BOUND);
            if (4 * added + others < price[i]) {
                price[i] = 4 * added + others;
                entry[i] = e;
            }
        }
    }
}

template <class Index>
void mark(Span<const Index> start, Span<const Index> index, std::int64_t i, Span<bool> taken) {
    if (i < 0)
        return;
    for (std::int64_t entry = start[i]; entry < start[i + 1]; ++entry)
        taken[index[entry]] = true;
}

/// Give column k of ``a x_j + b x_k = side`` the bounds of column j, unless they cross.
bool move_bounds(double a, std::int64_t j, double b, std::int64_t k, double side,
                 Span<double> lower, Span<double> upper, std::int64_t &origin) {
    const auto [least, most] = reach_of(a, lower[j], upper[j]);
    const double first = (side - most) / b, second = (side - least) / b;
    const double low = std::min(first, second), high = std::max(first, second);
    if (std::max(low, lower[k]) > std::min(high, upper[k]))
        return false;
    origin = (low > lower[k] ? LOWER_SIDE : 0) + (high < upper[k] ? UPPER_SIDE : 0);
    lower[k] = std::max(low, lower[k]);
    upper[k] = std::min(high, upper[k]);
    lower[j] = -INF;
    upper[j] = INF;
    return true;
}

/// Take pairs whose columns stand in no row that another pair relies on; return how many.
template <class Index>
std::int64_t take(Span<const Index> start, Span<const Index> index, Span<const double> value,
                  Span<const Index> column_start, Span<const Index> column_index,
                  Span<const double> row_lower, Span<const std::int64_t> low_by,
                  Span<const std::int64_t> high_by, Span<const std::int64_t> candidates,
                  Span<const std::int64_t> entry, Span<bool> row_taken, Span<bool> column_taken,
                  Span<std::int64_t> row, Span<std::int64_t> column, Span<double> pivot,
                  Span<std::int64_t> other, Span<double> other_entry, Span<std::int64_t> origin,
                  Span<double> lower, Span<double> upper) {
    for (const auto &one : {row, column, other, origin})
        check_length("row, column, other or origin", one.size(), candidates.size());
    check_length("pivot", pivot.size(), candidates.size());
    check_length("other_entry", other_entry.size(), candidates.size());
    const auto is_taken = [&](std::int64_t i) { return i >= 0 && row_taken[i]; };
    std::int64_t count = 0;
    for (const std::int64_t i : candidates) {
        const std::int64_t e = entry[i];
        const std::int64_t j = index[e];
        if (row_taken[i] || column_taken[j])
            continue;
        const std::int64_t first = low_by[j], second = high_by[j];
        const bool implied = first != NO_ROW && second != NO_ROW;
        if (implied && (is_taken(first) || is_taken(second)))
            continue;
        row[count] = i;
        column[count] = j;
        pivot[count] = value[e];
        other[count] = -1;
        other_entry[count] = 0.0;
        origin[count] = 0;
        if (!implied) { // an equation with two columns
            const std::int64_t last = std::int64_t{start[i]} + start[i + 1] - 1 - e;
            const std::int64_t k = index[last];
            if (!move_bounds(value[e], j, value[last], k, row_lower[i], lower, upper,
                             origin[count]))
                continue;
            other[count] = k;
            other_entry[count] = value[last];
        }
        for (std::int64_t c = column_start[j]; c < column_start[j + 1]; ++c)
            row_taken[column_index[c]] = true;
        mark(start, index, i, column_taken);
        if (implied) {
            mark(start, index, first, column_taken);
            mark(start, index, second, column_taken);
        }
        ++count;
    }
    return count;
}

/// Let multipliers and statuses on moved bounds go back to the columns they came from.
void return_bounds(Span<const std::int64_t> row, Span<const std::int64_t> column,
                   Span<const double> pivot, Span<const std::int64_t> other,
                   Span<const double> other_entry, Span<const std::int64_t> origin, Span<double> y,
                   Span<double> z, Span<std::int8_t> columns) {
    for (const auto &one : {column, other, origin})
        check_length("column, other or origin", one.size(), row.size());
    check_length("pivot", pivot.size(), row.size());
    check_length("other_entry", other_entry.size(), row.size());
    check_length("columns", columns.size(), z.size());
    for (std::int64_t pair = row.size() - 1; pair >= 0; --pair) {
        const std::int64_t k = other[pair];
        if (k < 0)
            continue;
        const double multiplier = z[k];
        const bool lower_moved = origin[pair] & LOWER_SIDE, upper_moved = origin[pair] & UPPER_SIDE;
        std::int8_t status = columns[k];
        if (status != BASIC && std::abs(multiplier) > NOISE)
            status = multiplier > 0.0 ? LOWER : UPPER;
        if ((multiplier > 0.0 && lower_moved) || (multiplier < 0.0 && upper_moved)) {
            y[row[pair]] += multiplier / other_entry[pair];
            z[k] = 0.0;
        }
        if ((status == LOWER && lower_moved) || (status == UPPER && upper_moved)) {
            const bool same_sign = pivot[pair] * other_entry[pair] > 0.0;
            columns[column[pair]] = same_sign == (status == LOWER) ? UPPER : LOWER;
            columns[k] = BASIC;
        } else {
            columns[k] = status;
        }
    }
}

template <class Index> void declare(nanobind::module_ &module) {
    expose(module, "count_promising", &count_promising<Index>, "start", "index", "lengths",
           "row_lower", "row_upper");
    expose(module, "implied_bounds", &implied_bounds<Index>, "start", "index", "value", "row_lower",
           "row_upper", "lower", "upper", "low_by", "high_by");
    expose(module, "find_candidates", &find_candidates<Index>, "start", "index", "value", "lengths",
           "row_lower", "row_upper", "low_by", "high_by", "price", "entry");
    expose(module, "take", &take<Index>, "start", "index", "value", "column_start", "column_index",
           "row_lower", "low_by", "high_by", "candidates", "entry", "row_taken", "column_taken",
           "row", "column", "pivot", "other", "other_entry", "origin", "lower", "upper");
}

} // namespace
} // namespace presolve::light

NATIVE_MODULE(presolve_light_pairs) {
    using namespace presolve::light;
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
    expose(module, "return_bounds", &return_bounds, "row", "column", "pivot", "other",
           "other_entry", "origin", "y", "z", "columns");
}
