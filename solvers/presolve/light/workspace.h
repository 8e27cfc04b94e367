// What the reductions work on: the model's data, what is still alive in it, and the record
// (workspace.py), with the steps that all of them take.
#pragma once

#include <algorithm>
#include <cmath>

#include "native/bindings.h"
#include "native/threads.h"

namespace presolve::light {

using native::check_length;
using native::Grid;
using native::INF;
using native::poll;
using native::Span;
using native::SparseRows;

/// The step at which a row or column that is still alive is removed.
inline constexpr std::int64_t ALIVE = std::int64_t{1} << 62;

/// Where a value stands that the way back had to choose.
enum Place : std::int64_t {
    // a column that was slack of its row
    COLUMN_AT_BOUND,
    ROW_AT_LOWER,
    ROW_AT_UPPER,
    // two columns that were one
    SECOND_AT_LEAST,
    SECOND_AT_MOST,
    FIRST_AT_LOWER,
    FIRST_AT_UPPER
};

/// Sides of a row or column that came from another, as steps have them in their payload.
inline constexpr std::int64_t LOWER_SIDE = 1, UPPER_SIDE = 2;

/// The numbers of solvers/core/outcome.py.
enum Status : std::int8_t { LOWER, BASIC, UPPER, ZERO };

/// Multipliers up to this size do not decide what is basic.
inline constexpr double NOISE = 1e-9;

/// What a step did.
enum Kind : std::int8_t {
    REDUNDANT_ROW,
    FIXED_COLUMN,
    SINGLETON_ROW,
    FORCING_ROW,
    ABSORBED_AT_LOWER,
    ABSORBED_AT_UPPER,
    ABSORBED_BETWEEN,
    RECEDING_COLUMN,
    PARALLEL_ROW,
    PARALLEL_COLUMN
};

/// Whether a step made a column slack of its row.
inline bool is_absorbed(std::int8_t kind) {
    return kind == ABSORBED_AT_LOWER || kind == ABSORBED_AT_UPPER || kind == ABSORBED_BETWEEN;
}

/// Places in ``count``, and in ``total``.
enum Counter { STEPS, WORK, WORK_LIMIT, CONTRADICTION, COUNTERS };
inline constexpr int OFFSET = 0;

/// Rounding of a sum, relative to the sum of its terms' magnitudes.
inline constexpr double ROUNDING = 1e-14;

/// Entries below this part of the largest in their row are not divided by.
inline constexpr double SMALL_PIVOT = 1e-3;

/// Flags of what changed that are read in the time of a look at an entry.
inline constexpr std::int64_t FLAGS_PER_LOOK = 16;

/// Owners looked at between two looks at the clock.
inline constexpr std::int64_t OWNERS_PER_POLL = 4096;

template <class Index> struct Workspace {
    SparseRows<Index> by_row, by_column;
    Span<double> cost, lower, upper, row_lower, row_upper, row_size;
    Span<std::int64_t> row_length, column_length, row_removed, column_removed;
    Span<bool> row_changed, column_changed;
    Span<std::int8_t> kind;
    Span<std::int64_t> row, column;
    Grid<double> payload;
    Span<std::int64_t> count;
    Span<double> total;

    std::int64_t rows() const { return row_removed.size(); }
    std::int64_t columns() const { return column_removed.size(); }
    bool has_row(std::int64_t i) const { return row_removed[i] == ALIVE; }
    bool has_column(std::int64_t j) const { return column_removed[j] == ALIVE; }

    /// Hear that a row has lost a column, of which it has an entry a: nobody keeps anything here.
    void lost(std::int64_t /*i*/, std::int64_t /*j*/, double /*a*/) const {}
};

/// Refuse arrays that do not belong together.
template <class Index> void check(const Workspace<Index> &w) {
    const std::int64_t m = w.rows(), n = w.columns();
    native::check_rows("by_row", w.by_row, m);
    native::check_rows("by_column", w.by_column, n);
    for (const auto &one : {w.cost, w.lower, w.upper})
        check_length("cost, lower or upper", one.size(), n);
    for (const auto &one : {w.row_lower, w.row_upper, w.row_size})
        check_length("row_lower, row_upper or row_size", one.size(), m);
    check_length("row_length", w.row_length.size(), m);
    check_length("row_changed", w.row_changed.size(), m);
    check_length("column_length", w.column_length.size(), n);
    check_length("column_changed", w.column_changed.size(), n);
    check_length("kind", w.kind.size(), m + n);
    check_length("row", w.row.size(), m + n);
    check_length("column", w.column.size(), m + n);
    check_length("payload", w.payload.shape(0), 4);
    check_length("payload", w.payload.shape(1), m + n);
    check_length("count", w.count.size(), COUNTERS);
    check_length("total", w.total.size(), 1);
}

/// What the way back reads of a workspace that is done with (workspace.py).
template <class Index> struct Record {
    SparseRows<Index> by_row, by_column;
    Span<const double> cost, lower, upper, row_lower, row_upper;
    Span<const std::int64_t> row_removed, column_removed;
    Span<const std::int8_t> kind;
    Span<const std::int64_t> row, column;
    Grid<const double> payload;
    Span<const std::int64_t> count;

    std::int64_t rows() const { return row_removed.size(); }
    std::int64_t columns() const { return column_removed.size(); }
    bool has_row(std::int64_t i) const { return row_removed[i] == ALIVE; }
    bool has_column(std::int64_t j) const { return column_removed[j] == ALIVE; }
};

/// Refuse arrays that do not belong together.
template <class Index> void check(const Record<Index> &w) {
    const std::int64_t m = w.rows(), n = w.columns();
    native::check_rows("by_row", w.by_row, m);
    native::check_rows("by_column", w.by_column, n);
    for (const auto &one : {w.cost, w.lower, w.upper})
        check_length("cost, lower or upper", one.size(), n);
    for (const auto &one : {w.row_lower, w.row_upper})
        check_length("row_lower or row_upper", one.size(), m);
    check_length("count", w.count.size(), COUNTERS);
    check_length("kind", w.kind.size(), w.count[STEPS]);
    for (const auto &one : {w.row, w.column})
        check_length("row or column", one.size(), w.count[STEPS]);
    check_length("payload", w.payload.shape(0), 4);
    check_length("payload", w.payload.shape(1), w.count[STEPS]);
}

/// Whether the work allowed is done, or a contradiction was found.
template <class W> bool out_of_budget(const W &w) {
    return w.count[WORK] > w.count[WORK_LIMIT] || w.count[CONTRADICTION] != 0;
}

/// Record a step and return its number.
template <class W>
std::int64_t note(const W &w, Kind kind, std::int64_t row, std::int64_t column, double first,
                  double second, double third, double fourth) {
    const std::int64_t step = w.count[STEPS]++;
    w.kind[step] = kind;
    w.row[step] = row;
    w.column[step] = column;
    int place = 0;
    for (const double figure : {first, second, third, fourth}) {
        if (figure != 0.0) // what nobody writes to takes no memory
            w.payload(place, step) = figure;
        ++place;
    }
    return step;
}

/// Take a row out and mark its columns.
template <class W> void remove_row(const W &w, std::int64_t i, std::int64_t step) {
    w.row_removed[i] = step;
    const std::int64_t end = w.by_row.indptr[i + 1];
    for (std::int64_t entry = w.by_row.indptr[i]; entry < end; ++entry) {
        const std::int64_t j = w.by_row.indices[entry];
        if (w.has_column(j)) {
            w.column_length[j] -= 1;
            w.column_changed[j] = true;
        }
    }
    w.count[WORK] += w.by_row.length(i);
}

/// Take out a row that says nothing.
template <class W> void remove_redundant_row(const W &w, std::int64_t i) {
    remove_row(w, i, note(w, REDUNDANT_ROW, i, -1, 0.0, 0.0, 0.0, 0.0));
}

/// side - shift, zero where nothing but rounding is left of it.
inline double shifted(double side, double shift) {
    const double difference = side - shift;
    const double size = std::abs(side) + std::abs(shift);
    return std::abs(difference) <= ROUNDING * size && size < INF ? 0.0 : difference;
}

/// Take a column out at a value, which moves over to the sides of its rows.
template <class W> void remove_column(const W &w, std::int64_t j, std::int64_t step, double value) {
    w.column_removed[j] = step;
    const std::int64_t end = w.by_column.indptr[j + 1];
    for (std::int64_t entry = w.by_column.indptr[j]; entry < end; ++entry) {
        const std::int64_t i = w.by_column.indices[entry];
        if (!w.has_row(i))
            continue;
        w.row_length[i] -= 1;
        w.row_changed[i] = true;
        w.lost(i, j, w.by_column.data[entry]);
        if (value != 0.0) {
            const double shift = w.by_column.data[entry] * value;
            w.row_lower[i] = shifted(w.row_lower[i], shift);
            w.row_upper[i] = shifted(w.row_upper[i], shift);
        }
    }
    w.count[WORK] += w.by_column.length(j);
}

/// Fix a column at a value and take it out.
template <class W> void fix_column(const W &w, std::int64_t j, double value) {
    const std::int64_t step = note(w, FIXED_COLUMN, -1, j, value, 0.0, 0.0, 0.0);
    w.total[OFFSET] += w.cost[j] * value;
    remove_column(w, j, step, value);
}

/// The finite bound of least magnitude, or zero without any: a value fit for a vertex.
inline double nearest_to_zero(double low, double high) {
    if (low > -INF && (high == INF || std::abs(low) <= std::abs(high)))
        return low;
    return high < INF ? high : 0.0;
}

/// Mark the columns of a row.
template <class W> void mark_columns(const W &w, std::int64_t i) {
    const std::int64_t end = w.by_row.indptr[i + 1];
    for (std::int64_t entry = w.by_row.indptr[i]; entry < end; ++entry)
        w.column_changed[w.by_row.indices[entry]] = true;
    w.count[WORK] += w.by_row.length(i);
}

/// Mark the rows of a column.
template <class W> void mark_rows(const W &w, std::int64_t j) {
    const std::int64_t end = w.by_column.indptr[j + 1];
    for (std::int64_t entry = w.by_column.indptr[j]; entry < end; ++entry)
        w.row_changed[w.by_column.indices[entry]] = true;
    w.count[WORK] += w.by_column.length(j);
}

/// The only living entry of a row or column, among those from ``entry`` on.
template <class Index>
std::int64_t living_entry(std::int64_t entry, Span<const Index> index,
                          Span<const std::int64_t> removed) {
    while (removed[index[entry]] != ALIVE)
        ++entry;
    return entry;
}

/// Least and greatest activity of a row, and their rounding.
struct Range {
    double least, most, least_error, most_error;
};

inline double rounding_of(double size) { return size < INF ? ROUNDING * size : 0.0; }

/// The range of a row's activity, but for one column (-1 for none); the look is not counted.
template <class W> Range range_of(const W &w, std::int64_t i, std::int64_t without) {
    double least = 0.0, most = 0.0, least_size = 0.0, most_size = 0.0;
    const std::int64_t end = w.by_row.indptr[i + 1];
    for (std::int64_t entry = w.by_row.indptr[i]; entry < end; ++entry) {
        const std::int64_t j = w.by_row.indices[entry];
        if (!w.has_column(j) || j == without)
            continue;
        const double a = w.by_row.data[entry];
        const double at_lower = a * w.lower[j], at_upper = a * w.upper[j];
        const double smaller = std::min(at_lower, at_upper);
        const double larger = std::max(at_lower, at_upper);
        least += smaller;
        most += larger;
        least_size += std::abs(smaller);
        most_size += std::abs(larger);
    }
    return {least, most, rounding_of(least_size), rounding_of(most_size)};
}

/// The same, counted.
template <class W> Range activity_range(const W &w, std::int64_t i, std::int64_t without) {
    w.count[WORK] += w.by_row.length(i);
    return range_of(w, i, without);
}

/// Take the mark of a change from living owners of which nothing can be said as things are.
///
/// That is found out by many threads at once. Most owners are left in peace by it, and what changes
/// later marks them again.
template <class Index, class Says>
void screen(const Workspace<Index> &w, Span<bool> changed, Span<const std::int64_t> removed,
            const SparseRows<Index> &entries, int threads, const Says &says) {
    if (threads < 2)
        return;
    native::parallel_for(threads, changed.size(), [&](std::int64_t owner) {
        if (owner % OWNERS_PER_POLL == 0)
            poll();
        if (changed[owner] && removed[owner] == ALIVE && !says(owner))
            changed[owner] = false;
    });
    w.count[WORK] += entries.indices.size();
}

} // namespace presolve::light

#define LIGHT_WORKSPACE(Index)                                                                     \
    NATIVE_STRUCT(presolve::light::Workspace<Index>, by_row, by_column, cost, lower, upper,        \
                  row_lower, row_upper, row_size, row_length, column_length, row_removed,          \
                  column_removed, row_changed, column_changed, kind, row, column, payload, count,  \
                  total)
#define LIGHT_RECORD(Index)                                                                        \
    NATIVE_STRUCT(presolve::light::Record<Index>, by_row, by_column, cost, lower, upper,           \
                  row_lower, row_upper, row_removed, column_removed, kind, row, column, payload,   \
                  count)
LIGHT_WORKSPACE(std::int32_t)
LIGHT_WORKSPACE(std::int64_t)
LIGHT_RECORD(std::int32_t)
LIGHT_RECORD(std::int64_t)
#undef LIGHT_WORKSPACE
#undef LIGHT_RECORD
