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

/// Return by how much a side is missed wherever the columns are, beyond its tolerance; or 0.
inline double excess_of(Rows rows, std::int64_t i, int which) {
    if (rows(i, INFINITE + which) > 0.0)
        return 0.0;
    const double side = rows(i, UPPER + which);
    const double excess = which == 0 ? rows(i, which) - side : side - rows(i, which);
    const double least = std::max(FEASIBILITY_TOLERANCE, SAME * std::abs(side));
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

// Changing bounds: the trail, the activities that depend on them, the rows to be woken.

namespace mip::domain {

/// Least change of a continuous bound, relative to its size and to the width of the interval.
inline constexpr double SIGNIFICANT = 1e-3;

/// Relative rounding error of one addition.
inline constexpr double EPSILON = 2.2e-16;

/// Put a value on the trail, unless it is there already at this level.
inline void record(const Box &box, std::int64_t code, double old) {
    const auto counts = box.counts;
    if (box.stamp[code] == counts[LEVEL])
        return;
    box.stamp[code] = static_cast<std::int32_t>(counts[LEVEL]);
    box.trail_code[counts[TRAIL]] = static_cast<std::int32_t>(code);
    box.trail_old[counts[TRAIL]] = old;
    counts[TRAIL] += 1;
}

/// Change a bound, carry it into the activities, and wake the rows that it may matter to.
inline void move_bound(const Matrix &matrix, const Box &box, std::int64_t j, int side,
                       double replacement, bool wake) {
    const Rows rows(box);
    const auto queue = box.queue;
    const auto queued = box.queued;
    const auto indices = matrix.columns.indices;
    const auto data = matrix.columns.data;
    const std::int64_t first = matrix.columns.indptr[j], last = matrix.columns.indptr[j + 1];
    const double old = box.bounds(side, j);
    box.bounds(side, j) = replacement;
    double step = 0.0, count = 0.0;
    if (std::isfinite(replacement)) {
        step = replacement;
        count = -1.0;
    }
    if (std::isfinite(old)) {
        step -= old;
        count += 1.0;
    }
    std::int64_t end = box.counts[QUEUE_HEAD] + box.counts[QUEUE_SIZE];
    for (std::int64_t p = first; p < last; ++p) {
        const std::int64_t i = indices[p];
        const int which = data[p] > 0.0 ? side : 1 - side;
        const double change = data[p] * step;
        rows(i, which) += change;
        rows(i, INFINITE + which) += count;
        if (rows(i, NOISE) >= 0.0)
            rows(i, NOISE) += EPSILON * (std::abs(rows(i, which)) + std::abs(change));
        if (wake && queued[i] == 0 && may_act(rows, i, which)) {
            queued[i] = 1;
            queue[end < queue.size() ? end : end - queue.size()] = static_cast<std::int32_t>(i);
            ++end;
        }
    }
    box.counts[QUEUE_SIZE] = end - box.counts[QUEUE_HEAD];
    box.counts[WORK] += last - first;
}

/// Change a bound, with trail, activities and queue.
inline void set_bound(const Matrix &matrix, const Box &box, std::int64_t j, int side,
                      double replacement) {
    record(box, side * matrix.is_integer.size() + j, box.bounds(side, j));
    move_bound(matrix, box, j, side, replacement, true);
}

/// Return the lower bound to be set, or ``old`` where the change is not worth it.
inline double accepted_low(double low, double old, double high, bool is_integer) {
    if (!(std::abs(low) <= LARGEST_BOUND))
        return old;
    if (is_integer)
        return std::max(old, std::ceil(low - FEASIBILITY_TOLERANCE) +
                                 0.0); // + 0.0 makes zero of minus zero
    low -= SAME * std::max(1.0, std::abs(low));
    double least = SIGNIFICANT * std::max(1.0, std::abs(low));
    if (high < native::INF)
        least = std::max(least, SIGNIFICANT * (high - old));
    return old == -native::INF || low - old > least ? low : old;
}

/// Note a contradiction; unless lenient, the box is empty from here on.
inline void conflict(const Box &box, std::int64_t i, bool lenient) {
    const auto counts = box.counts;
    counts[CONFLICT] = i;
    if (!lenient && counts[INFEASIBLE] == 0) {
        counts[INFEASIBLE] = 1;
        box.trail_code[counts[TRAIL]] = -1;
        counts[TRAIL] += 1;
    }
}

/// Take what a row says about a column, if it is worth it; false where it leaves nothing.
inline bool tighten_column(const Matrix &matrix, const Box &box, std::int64_t j, std::int64_t i,
                           double low, double high, bool lenient) {
    const double old_low = box.bounds(0, j), old_high = box.bounds(1, j);
    const bool is_integer = matrix.is_integer[j] == 1;
    low = accepted_low(low, old_low, old_high, is_integer);
    high = -accepted_low(-high, -old_high, -old_low, is_integer);
    if (low > high) {
        if (is_integer || low > high + FEASIBILITY_TOLERANCE) {
            conflict(box, i, lenient);
            return false;
        }
        low = high = std::min(std::max(low, old_low), old_high);
    }
    for (int side = 0; side < 2; ++side) {
        const double replacement = side == 0 ? low : high;
        if (replacement != box.bounds(side, j))
            set_bound(matrix, box, j, side, replacement);
    }
    return true;
}

/// Forget the queued rows.
inline void drain(const Box &box) {
    const auto counts = box.counts;
    const std::int64_t size = box.queue.size();
    const std::int64_t end = counts[QUEUE_HEAD] + counts[QUEUE_SIZE];
    for (std::int64_t place = counts[QUEUE_HEAD]; place < end; ++place)
        box.queued[box.queue[place < size ? place : place - size]] = 0;
    counts[QUEUE_HEAD] = counts[QUEUE_SIZE] = 0;
}

/// Begin a new level and return the place on the trail to go back to.
inline std::int64_t mark(const Box &box) {
    box.counts[LEVEL] += 1;
    return box.counts[TRAIL];
}

/// Give all values back that they had when the trail was ``place`` long.
inline void undo(const Matrix &matrix, const Box &box, std::int64_t place) {
    const auto counts = box.counts;
    const std::int64_t n = matrix.is_integer.size();
    const Rows rows(box);
    drain(box);
    for (std::int64_t entry = counts[TRAIL] - 1; entry >= place; --entry) {
        const std::int64_t code = box.trail_code[entry];
        const double old = box.trail_old[entry];
        if (code < 0)
            counts[INFEASIBLE] = 0;
        else if (code >= 2 * n)
            rows(code - 2 * n, WIDEST) = old;
        else if (code >= n)
            move_bound(matrix, box, code - n, 1, old, false);
        else
            move_bound(matrix, box, code, 0, old, false);
    }
    counts[TRAIL] = place;
    counts[LEVEL] += 1;
}

} // namespace mip::domain
