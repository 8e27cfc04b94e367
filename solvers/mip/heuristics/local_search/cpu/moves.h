// Changing one column: activities, the list of violated rows, the objective; all in O(column).
#pragma once

#include <algorithm>
#include <cmath>

#include "scoring.h"

namespace mip::local_search {

/// By what the box of a free integer is multiplied when it is hit.
constexpr double WIDENING = 10.0;

/// Steps between 0 and 1 of uniform().
constexpr std::int64_t FINE = 1 << 30;

/// A whole number from 0 to ``bound`` - 1 (below 2^32), by Marsaglia's xorshift generator.
inline std::int64_t draw(Status &status, std::int64_t bound) {
    std::uint64_t word = status.random;
    word ^= word << 13;
    word ^= word >> 7;
    word ^= word << 17;
    status.random = word;
    return static_cast<std::int64_t>(((word >> 32) * static_cast<std::uint64_t>(bound)) >> 32);
}

/// A number in [0, 1).
inline double uniform(Status &status) {
    return static_cast<double>(draw(status, FINE)) / static_cast<double>(FINE);
}

inline bool is_outside(const Row &row, double activity) {
    return activity < row.lower - VIOLATION_TOLERANCE || activity > row.upper + VIOLATION_TOLERANCE;
}

/// Put row i into the list of violated rows.
inline void list_row(const State &state, Status &status, std::int64_t i) {
    state.rows[i].place = status.num_violated;
    state.violated[status.num_violated] = i;
    status.num_violated += 1;
}

/// Take a row out of the list of violated rows: the last one takes its place.
inline void unlist_row(const State &state, Status &status, Row &row) {
    status.num_violated -= 1;
    const std::int64_t other = state.violated[status.num_violated];
    state.violated[row.place] = other;
    state.rows[other].place = row.place;
    row.place = -1;
}

/// Give column j a value, and bring all that depends on it up to date.
inline void set_value(const Matrix &matrix, const State &state, std::int64_t j, double value) {
    Status &status = state.status[0];
    Column &column = state.columns[j];
    const double delta = value - column.x;
    column.x = value;
    status.objective += column.cost * delta;
    const std::int64_t first = matrix.columns.indptr[j], last = matrix.columns.indptr[j + 1];
    status.work += last - first;
    for (std::int64_t k = first; k < last; ++k) {
        const std::int64_t i = matrix.columns.indices[k];
        Row &row = state.rows[i];
        const double change = matrix.columns.data[k] * delta - row.error;
        const double total = row.activity + change;
        row.error = (total - row.activity) - change;
        row.activity = total;
        const bool outside = is_outside(row, total);
        if (outside != (row.place >= 0)) {
            if (outside)
                list_row(state, status, i);
            else
                unlist_row(state, status, row);
        }
    }
}

/// Push the walls of a free integer's box outward; true bounds stay.
inline void widen(const State &state, std::int64_t j) {
    Column &column = state.columns[j];
    const double least = state.bounds(j, 0), most = state.bounds(j, 1);
    if (least < column.lower) {
        const double low = column.lower - (WIDENING - 1.0) * std::max(1.0, std::abs(column.lower));
        column.lower = std::max(least, std::max(low, -LARGEST_BOUND));
    }
    if (most > column.upper) {
        const double high = column.upper + (WIDENING - 1.0) * std::max(1.0, std::abs(column.upper));
        column.upper = std::min(most, std::min(high, LARGEST_BOUND));
    }
}

/// Forbid the way back of a column that has just risen or fallen, for a while.
inline void forbid_return(Status &status, const Settings &settings, Column &column,
                          bool has_risen) {
    const std::int64_t until =
        status.step + settings.tabu_base + draw(status, settings.tabu_spread + 1);
    if (has_risen)
        column.no_fall = until;
    else
        column.no_rise = until;
    column.changed = status.step;
}

/// Change column j by ``delta`` and forbid the way back for a while.
inline void make_move(const Matrix &matrix, const State &state, const Settings &settings,
                      std::int64_t j, double delta) {
    Status &status = state.status[0];
    Column &column = state.columns[j];
    double value = std::min(std::max(column.x + delta, column.lower), column.upper);
    if (column.whole == 1) {
        value = native::round_even(value);
        if (status.boxed == 1 && (value == column.lower || value == column.upper))
            widen(state, j);
    }
    set_value(matrix, state, j, value);
    forbid_return(status, settings, column, delta > 0.0);
    status.moves += 1;
    status.moves_since_refresh += 1;
}

/// Sum activities and objective anew from the point, and list the violated rows.
inline void refresh(const Matrix &matrix, const State &state) {
    Status &status = state.status[0];
    status.num_violated = 0;
    for (std::int64_t i = 0; i < state.rows.size(); ++i) {
        Row &row = state.rows[i];
        double total = 0.0, error = 0.0;
        for (std::int64_t k = matrix.rows.indptr[i]; k < matrix.rows.indptr[i + 1]; ++k) {
            const double change =
                matrix.rows.data[k] * state.columns[matrix.rows.indices[k]].x - error;
            const double larger = total + change;
            error = (larger - total) - change;
            total = larger;
        }
        row.activity = total;
        row.error = error;
        row.place = -1;
        if (is_outside(row, total))
            list_row(state, status, i);
    }
    double objective = 0.0;
    for (const Column &column : state.columns)
        objective += column.cost * column.x;
    status.objective = objective;
    status.moves_since_refresh = 0;
    status.work += matrix.rows.data.size();
}

/// Write the current point to one of those kept.
inline void keep_point(const State &state, std::int64_t which) {
    for (std::int64_t j = 0; j < state.columns.size(); ++j)
        state.kept(which, j) = state.columns[j].x;
}

} // namespace mip::local_search
