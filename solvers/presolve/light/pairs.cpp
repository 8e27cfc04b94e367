// Which columns to replace by which equations, and what becomes of their bounds.
#include <algorithm>
#include <cmath>
#include <vector>

#include "native/bindings.h"
#include "workspace.h"

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

/// What is read of a problem.
template <class Index> struct Model {
    SparseRows<Index> entries;
    Span<const double> row_lower, row_upper, lower, upper;

    std::int64_t rows() const { return row_lower.size(); }
    bool is_equation(std::int64_t i) const { return row_lower[i] == row_upper[i]; }

    /// Whether a row is an equation that may replace a column.
    bool is_short_equation(std::int64_t i) const {
        const std::int64_t length = entries.length(i);
        return is_equation(i) && length >= 2 && length <= LONGEST_EQUATION;
    }
};

template <class Index> void check(const Model<Index> &model) {
    check_rows("entries", model.entries, model.rows());
    check_length("row_upper", model.row_upper.size(), model.rows());
    check_length("upper", model.upper.size(), model.lower.size());
}

/// Replaced columns, their equations and pivots, and the bounds afterwards (substitution.py).
struct Pairs {
    Span<std::int64_t> row, column;
    Span<double> pivot;
    Span<std::int64_t> other;
    Span<double> other_entry;
    Span<std::int64_t> origin;
    Span<double> lower, upper;
};

void check(const Pairs &pairs, std::int64_t count) {
    for (const auto &one : {pairs.row, pairs.column, pairs.other, pairs.origin})
        check_length("row, column, other or origin", one.size(), count);
    check_length("pivot", pairs.pivot.size(), count);
    check_length("other_entry", pairs.other_entry.size(), count);
    check_length("upper", pairs.upper.size(), pairs.lower.size());
}

/// The entries that are added where an equation replaces a column.
std::int64_t added_by(std::int64_t size, std::int64_t length) {
    return (size - 1) * (length - 1) - (size + length - 1);
}

/// Count the equations with a column that could be replaced by them without adding entries.
template <class Index>
std::int64_t count_promising(const Model<Index> &model, Span<const Index> lengths) {
    check(model);
    check_length("lengths", lengths.size(), model.lower.size());
    const auto &rows = model.entries;
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < model.rows(); ++i) {
        if (!model.is_short_equation(i))
            continue;
        for (std::int64_t e = rows.indptr[i]; e < rows.indptr[i + 1]; ++e) {
            const std::int64_t length = lengths[rows.indices[e]];
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

template <class Index> Activity activity_of(const Model<Index> &model, std::int64_t i) {
    const auto &rows = model.entries;
    Activity found;
    for (std::int64_t e = rows.indptr[i]; e < rows.indptr[i + 1]; ++e) {
        const std::int64_t j = rows.indices[e];
        const auto [low, high] = reach_of(rows.data[e], model.lower[j], model.upper[j]);
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
template <class Index> bool is_open(const Model<Index> &model, std::int64_t by, bool equation) {
    return by == NO_ROW || (by >= 0 && equation && !model.is_equation(by));
}

/// Find rows that by themselves, and the other columns' bounds, imply a column's bounds.
///
/// ``low_by`` and ``high_by`` (n,) get the row that implies the lower and the upper bound, -2 where
/// there is no bound to imply, and stay -1 where no row does.
template <class Index>
void implied_bounds(const Model<Index> &model, Span<std::int64_t> low_by,
                    Span<std::int64_t> high_by) {
    check(model);
    check_length("low_by", low_by.size(), model.lower.size());
    check_length("high_by", high_by.size(), model.lower.size());
    const auto &rows = model.entries;
    const auto lower = model.lower, upper = model.upper;
    const auto row_lower = model.row_lower, row_upper = model.row_upper;
    for (std::int64_t j = 0; j < lower.size(); ++j) {
        low_by[j] = lower[j] == -INF ? NO_BOUND : NO_ROW;
        high_by[j] = upper[j] == INF ? NO_BOUND : NO_ROW;
    }
    for (std::int64_t i = 0; i < model.rows(); ++i) {
        const Activity all = activity_of(model, i);
        if ((all.endless_down > 1 || row_upper[i] == INF) &&
            (all.endless_up > 1 || row_lower[i] == -INF))
            continue;
        const bool equation = model.is_equation(i);
        for (std::int64_t e = rows.indptr[i]; e < rows.indptr[i + 1]; ++e) {
            const double a = rows.data[e];
            const std::int64_t j = rows.indices[e];
            if (!is_open(model, low_by[j], equation) && !is_open(model, high_by[j], equation))
                continue;
            const auto [low, high] = reach_of(a, lower[j], upper[j]);
            const double rest_least = rest_of(all.least, all.endless_down, low, -INF);
            const double rest_most = rest_of(all.most, all.endless_up, high, INF);
            bool holds_low = row_lower[i] - rest_most >= low; // of a x_j
            bool holds_high = row_upper[i] - rest_least <= high;
            if (a < 0.0)
                std::swap(holds_low, holds_high);
            if (holds_low && is_open(model, low_by[j], equation))
                low_by[j] = i;
            if (holds_high && is_open(model, high_by[j], equation))
                high_by[j] = i;
        }
    }
}

/// Find for each equation the entry at which replacing adds least.
template <class Index>
void find_candidates(const Model<Index> &model, Span<const Index> lengths,
                     Span<const std::int64_t> low_by, Span<const std::int64_t> high_by,
                     Span<std::int64_t> price, Span<std::int64_t> entry) {
    check(model);
    const auto &rows = model.entries;
    check_length("price", price.size(), model.rows());
    check_length("entry", entry.size(), model.rows());
    for (std::int64_t i = 0; i < model.rows(); ++i) {
        if (!model.is_short_equation(i))
            continue;
        const std::int64_t size = rows.length(i);
        double largest = 0.0;
        for (std::int64_t e = rows.indptr[i]; e < rows.indptr[i + 1]; ++e)
            largest = std::max(largest, std::abs(rows.data[e]));
        for (std::int64_t e = rows.indptr[i]; e < rows.indptr[i + 1]; ++e) {
            const std::int64_t j = rows.indices[e];
            if (std::abs(rows.data[e]) < PIVOT * largest || lengths[j] > LONGEST_COLUMN)
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
void mark(const SparseRows<Index> &rows, std::int64_t i, std::vector<char> &taken) {
    if (i < 0)
        return;
    for (std::int64_t entry = rows.indptr[i]; entry < rows.indptr[i + 1]; ++entry)
        taken[rows.indices[entry]] = true;
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
std::int64_t take(const Model<Index> &model, const SparseRows<Index> &by_column,
                  Span<const std::int64_t> low_by, Span<const std::int64_t> high_by,
                  Span<const std::int64_t> candidates, Span<const std::int64_t> entry,
                  const Pairs &pairs) {
    check(model);
    check_rows("by_column", by_column, model.lower.size());
    check(pairs, candidates.size());
    const auto &rows = model.entries;
    std::vector<char> row_taken(model.rows()), column_taken(model.lower.size());
    const auto is_taken = [&](std::int64_t i) { return i >= 0 && row_taken[i]; };
    std::int64_t count = 0;
    for (const std::int64_t i : candidates) {
        const std::int64_t e = entry[i];
        const std::int64_t j = rows.indices[e];
        if (row_taken[i] || column_taken[j])
            continue;
        const std::int64_t first = low_by[j], second = high_by[j];
        const bool implied = first != NO_ROW && second != NO_ROW;
        if (implied && (is_taken(first) || is_taken(second)))
            continue;
        pairs.row[count] = i;
        pairs.column[count] = j;
        pairs.pivot[count] = rows.data[e];
        pairs.other[count] = -1;
        pairs.other_entry[count] = 0.0;
        pairs.origin[count] = 0;
        if (!implied) { // an equation with two columns
            const std::int64_t last = std::int64_t{rows.indptr[i]} + rows.indptr[i + 1] - 1 - e;
            const std::int64_t k = rows.indices[last];
            if (!move_bounds(rows.data[e], j, rows.data[last], k, model.row_lower[i], pairs.lower,
                             pairs.upper, pairs.origin[count]))
                continue;
            pairs.other[count] = k;
            pairs.other_entry[count] = rows.data[last];
        }
        mark(by_column, j, row_taken);
        mark(rows, i, column_taken);
        if (implied) {
            mark(rows, first, column_taken);
            mark(rows, second, column_taken);
        }
        ++count;
    }
    return count;
}

/// Let multipliers and statuses on moved bounds go back to the columns they came from.
void return_bounds(const Pairs &pairs, Span<double> y, Span<double> z, Span<std::int8_t> columns) {
    const std::int64_t count = pairs.row.size();
    check(pairs, count);
    check_length("columns", columns.size(), z.size());
    for (std::int64_t pair = count - 1; pair >= 0; --pair) {
        const std::int64_t k = pairs.other[pair];
        if (k < 0)
            continue;
        const double multiplier = z[k];
        const bool lower_moved = pairs.origin[pair] & LOWER_SIDE,
                   upper_moved = pairs.origin[pair] & UPPER_SIDE;
        std::int8_t status = columns[k];
        if (status != BASIC && std::abs(multiplier) > NOISE)
            status = multiplier > 0.0 ? LOWER : UPPER;
        if ((multiplier > 0.0 && lower_moved) || (multiplier < 0.0 && upper_moved)) {
            y[pairs.row[pair]] += multiplier / pairs.other_entry[pair];
            z[k] = 0.0;
        }
        if ((status == LOWER && lower_moved) || (status == UPPER && upper_moved)) {
            const bool same_sign = pairs.pivot[pair] * pairs.other_entry[pair] > 0.0;
            columns[pairs.column[pair]] = same_sign == (status == LOWER) ? UPPER : LOWER;
            columns[k] = BASIC;
        } else {
            columns[k] = status;
        }
    }
}

template <class Index> void declare(native::Module &module) {
    expose(module, "count_promising", &count_promising<Index>, "model", "lengths");
    expose(module, "implied_bounds", &implied_bounds<Index>, "model", "low_by", "high_by");
    expose(module, "find_candidates", &find_candidates<Index>, "model", "lengths", "low_by",
           "high_by", "price", "entry");
    expose(module, "take", &take<Index>, "model", "by_column", "low_by", "high_by", "candidates",
           "entry", "pairs");
}

} // namespace
} // namespace presolve::light

NATIVE_STRUCT(presolve::light::Model<std::int32_t>, entries, row_lower, row_upper, lower, upper)
NATIVE_STRUCT(presolve::light::Model<std::int64_t>, entries, row_lower, row_upper, lower, upper)
NATIVE_STRUCT(presolve::light::Pairs, row, column, pivot, other, other_entry, origin, lower, upper)

NATIVE_MODULE(presolve_light_pairs) {
    using namespace presolve::light;
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
    expose(module, "return_bounds", &return_bounds, "pairs", "y", "z", "columns");
}
