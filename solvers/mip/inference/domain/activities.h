// The activities of rows: what each can be at least and at most, and whether a side is missed.
//
// Infinite terms are counted and never added (Sofranac, Gleixner, Pokutta 2022, section 2), which
// lets a row tighten its only unbounded column.
#pragma once

#include "state.h"

namespace mip::domain {

/// Absolute excess at which a row is contradicted (the feasibility tolerance of the model).
inline constexpr double ROW_TOLERANCE = 1e-6;

/// The same relative to the side, for sides so large that sums carry larger rounding errors.
inline constexpr double RELATIVE_ROW_TOLERANCE = 1e-9;

/// Return by how much a side is missed wherever the columns are, beyond its tolerance; or 0.
inline double excess_of(Rows rows, std::int64_t i, int which) {
    if (rows(i, INFINITE + which) > 0.0)
        return 0.0;
    const double side = rows(i, UPPER + which);
    const double excess = which == 0 ? rows(i, which) - side : side - rows(i, which);
    const double least = std::max(ROW_TOLERANCE, RELATIVE_ROW_TOLERANCE * std::abs(side));
    return excess > least ? excess : 0.0;
}

/// Whether a side of a row may tighten something or be contradicted.
inline bool may_act(Rows rows, std::int64_t i, int which) {
    const double count = rows(i, INFINITE + which);
    if (count > 1.0 || std::abs(rows(i, UPPER + which)) == native::INF)
        return false;
    double slack = rows(i, UPPER + which) - rows(i, which);
    if (which == 1)
        slack = -slack;
    return count == 1.0 || slack < rows(i, WIDEST) + std::max(0.0, rows(i, NOISE));
}

/// Sum a row's activities from the bounds.
inline void sum_row(const Matrix &matrix, const Box &box, std::int64_t i) {
    const Rows rows(box);
    double activity[2] = {0.0, 0.0}, infinite[2] = {0.0, 0.0};
    for (std::int64_t p = matrix.rows.indptr[i]; p < matrix.rows.indptr[i + 1]; ++p) {
        const std::int64_t j = matrix.rows.indices[p];
        const double a = matrix.rows.data[p];
        for (int side = 0; side < 2; ++side) {
            const int which = a > 0.0 ? side : 1 - side;
            const double bound = box.bounds(side, j);
            if (std::isfinite(bound))
                activity[which] += a * bound;
            else
                infinite[which] += 1.0;
        }
    }
    for (int which = 0; which < 2; ++which) {
        rows(i, which) = activity[which];
        rows(i, INFINITE + which) = infinite[which];
    }
    rows(i, NOISE) = std::min(rows(i, NOISE), 0.0);
    box.counts[WORK] += matrix.rows.indptr[i + 1] - matrix.rows.indptr[i];
}

/// Sum all activities and find the widest term of each row.
inline void sum_all(const Matrix &matrix, const Box &box) {
    const Rows rows(box);
    for (std::int64_t i = 0; i < rows.count(); ++i) {
        sum_row(matrix, box, i);
        double widest = 0.0;
        for (std::int64_t p = matrix.rows.indptr[i]; p < matrix.rows.indptr[i + 1]; ++p) {
            const std::int64_t j = matrix.rows.indices[p];
            const double width = box.bounds(1, j) - box.bounds(0, j);
            if (width > 0.0 && matrix.rows.data[p] != 0.0)
                widest = std::max(widest, std::abs(matrix.rows.data[p]) * width);
        }
        rows(i, WIDEST) = widest;
    }
}

/// Sum a row's smallest (0) or largest (1) activity without one place; the rest is finite.
inline double rest_of_row(const Matrix &matrix, const Box &box, std::int64_t i,
                          std::int64_t without, int which) {
    double total = 0.0;
    for (std::int64_t p = matrix.rows.indptr[i]; p < matrix.rows.indptr[i + 1]; ++p) {
        const double a = matrix.rows.data[p];
        if (p != without)
            total += a * box.bounds(a > 0.0 ? which : 1 - which, matrix.rows.indices[p]);
    }
    box.counts[WORK] += matrix.rows.indptr[i + 1] - matrix.rows.indptr[i];
    return total;
}

} // namespace mip::domain
