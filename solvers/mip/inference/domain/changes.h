// Changing bounds: the trail, the activities that depend on them, the rows to be woken.
#pragma once

#include "state.h"

namespace mip::domain {

/// Bounds beyond this are not taken: there a double no longer tells integers apart.
inline constexpr double LARGEST_BOUND = 1e15;

/// Slack when a bound of an integer column is rounded to a whole number.
inline constexpr double ROUNDING = 1e-6;

/// Bounds of a continuous column that cross by no more than this collapse to one point.
inline constexpr double CROSSING = 1e-6;

/// Bounds of continuous columns are relaxed by this, relative to max(1, |bound|).
inline constexpr double OUTWARD = 1e-9;

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
        return std::max(old, std::ceil(low - ROUNDING) + 0.0); // + 0.0 makes zero of minus zero
    low -= OUTWARD * std::max(1.0, std::abs(low));
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
        if (is_integer || low > high + CROSSING) {
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
