// The arrays that propagation works on, as domain.py lays them out, and the activities of rows:
// what each can be at least and at most, and whether a side is missed.
//
// Infinite terms are counted and never added (Sofranac, Gleixner, Pokutta 2022, section 2), which
// lets a row tighten its only unbounded column.
#pragma once

#include "mip/model.h"

namespace mip::domain {

/// Places in Box::counts.
inline constexpr int QUEUE_HEAD = 0, QUEUE_SIZE = 1, TRAIL = 2, LEVEL = 3, INFEASIBLE = 4,
                     CONFLICT = 5, WORK = 6, CAPPED = 7, NUM_COUNTS = 8;

/// Places in a row of Box::rows.
inline constexpr int SMALLEST = 0, LARGEST = 1, INFINITE = 2, UPPER = 4, LOWER = 5, WIDEST = 6,
                     NOISE = 7, ROW_SIZE = 8;

/// Bounds of the n columns, and the activities of the m rows that follow from them.
struct Box {
    native::Grid<double> bounds;
    native::Grid<double> rows;
    native::Span<std::int32_t> queue;
    native::Span<std::uint8_t> queued;
    native::Span<std::int32_t> trail_code;
    native::Span<double> trail_old;
    native::Span<std::int32_t> stamp;
    native::Span<std::int64_t> counts;
};

/// Box::rows, whose length of a row is known.
class Rows {
  public:
    explicit Rows(const Box &box) : data_(box.rows.data()), count_(box.rows.shape(0)) {}

    double &operator()(std::int64_t i, int place) const {
        native::check_index(i, count_);
        return data_[i * ROW_SIZE + place];
    }
    std::int64_t count() const { return count_; }

  private:
    double *data_;
    std::int64_t count_;
};

/// Refuse arrays that do not belong together.
inline void check_shapes(const Box &box) {
    const std::int64_t m = box.rows.shape(0), n = box.bounds.shape(1);
    native::check_length("bounds", box.bounds.shape(0), 2);
    native::check_length("rows", box.rows.shape(1), ROW_SIZE);
    native::check_length("queue", box.queue.size(), m);
    native::check_length("queued", box.queued.size(), m);
    native::check_length("trail_old", box.trail_old.size(), box.trail_code.size());
    native::check_length("stamp", box.stamp.size(), 2 * n + m);
    native::check_length("counts", box.counts.size(), NUM_COUNTS);
}

inline void check_shapes(const Matrix &matrix, const Box &box) {
    const std::int64_t m = box.rows.shape(0), n = box.bounds.shape(1);
    check_shapes(box);
    mip::check_shapes(matrix, m, n);
}

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

NATIVE_STRUCT(mip::domain::Box, bounds, rows, queue, queued, trail_code, trail_old, stamp, counts)
