// Sequential bound propagation: a queue of rows, activities updated with every changed bound.
//
// A row is taken from the queue, checked, and walked once to tighten its columns; each change goes
// through the column to the activities of the other rows, and those that may now tighten something
// join the queue. Rows keep an upper bound on their widest term, so that a row of 100,000 entries
// is not walked again each time that one of them changes while it has slack to spare.
//
// Integer columns take any change, so that on bounded integer models the end point is the unique
// fixed point; continuous ones take changes that matter.
#pragma once

#include "state.h"

namespace mip::domain {

/// A term this much larger than the rest of the row leaves no digits: the rest is summed anew.
inline constexpr double CANCELLED = 1e6;

/// Possible rounding error at which a row's activities are summed anew: a hundredth of 1e-6.
inline constexpr double NOISE_LIMIT = 1e-8;

/// A bound that a side of row i implies for the column at place p; nothing where none does.
///
/// The side is read as ``b x <= side`` with the smallest activity of ``b x``: the lower one with
/// all signs turned. ``low`` and ``high`` are narrowed by it.
inline void imply(const Matrix &matrix, const Box &box, std::int64_t i, std::int64_t p, int which,
                  double &low, double &high) {
    const Rows rows(box);
    const std::int64_t j = matrix.rows.indices[p];
    const double a = matrix.rows.data[p], old_low = box.bounds(0, j), old_high = box.bounds(1, j);
    const double sign = 1.0 - 2.0 * which;
    const double side = sign * rows(i, UPPER + which), activity = sign * rows(i, which);
    const double count = rows(i, INFINITE + which);
    const double width = std::abs(a) * (old_high - old_low);
    if (count > 1.0 || (count == 0.0 && width <= side - activity))
        return;
    const double b = sign * a;
    double own = b > 0.0 ? b * old_low : b * old_high;
    if (!std::isfinite(own))
        own = 0.0;
    else if (count > 0.0)
        return;
    double rest = activity - own, error = 0.0;
    if (rows(i, NOISE) >= 0.0) {
        if (std::abs(own) > CANCELLED * std::max(1.0, std::abs(rest)))
            rest = sign * rest_of_row(matrix, box, i, p, which);
        error = rows(i, NOISE) + ROUNDING * std::max(std::abs(side), std::abs(rest));
    }
    const double bound = (side - rest + error) / b;
    if (b > 0.0)
        high = std::min(high, bound);
    else
        low = std::max(low, bound);
}

/// Tighten the columns of a row by its sides from ``from_which`` to before ``to_which``.
inline bool tighten_row(const Matrix &matrix, const Box &box, std::int64_t i, int from_which,
                        int to_which, bool lenient) {
    const Rows rows(box);
    bool consistent = true;
    double widest = 0.0;
    for (std::int64_t p = matrix.rows.indptr[i]; p < matrix.rows.indptr[i + 1]; ++p) {
        const std::int64_t j = matrix.rows.indices[p];
        const double a = std::abs(matrix.rows.data[p]);
        const double low = box.bounds(0, j), high = box.bounds(1, j);
        double width = a * (high - low);
        if (!(width > 0.0) || a < SAME)
            continue;
        double new_low = low, new_high = high;
        for (int which = from_which; which < to_which; ++which)
            imply(matrix, box, i, p, which, new_low, new_high);
        if (new_low > low || new_high < high) {
            if (!tighten_column(matrix, box, j, i, new_low, new_high, lenient)) {
                if (!lenient)
                    return false;
                consistent = false;
            }
            width = a * (box.bounds(1, j) - box.bounds(0, j));
        }
        widest = std::max(widest, width);
    }
    if (widest < rows(i, WIDEST)) {
        record(box, 2 * matrix.is_integer.size() + i, rows(i, WIDEST));
        rows(i, WIDEST) = widest;
    }
    return consistent;
}

/// Check a row and tighten its columns; false on a contradiction.
inline bool visit_row(const Matrix &matrix, const Box &box, std::int64_t i, bool lenient) {
    const Rows rows(box);
    if (rows(i, NOISE) > NOISE_LIMIT)
        sum_row(matrix, box, i);
    if (excess_of(rows, i, 0) > 0.0 || excess_of(rows, i, 1) > 0.0) {
        conflict(box, i, lenient);
        return false;
    }
    const int from_which = may_act(rows, i, 0) ? 0 : 1;
    const int to_which = may_act(rows, i, 1) ? 2 : 1;
    if (from_which == to_which)
        return true;
    box.counts[WORK] += matrix.rows.indptr[i + 1] - matrix.rows.indptr[i];
    return tighten_row(matrix, box, i, from_which, to_which, lenient);
}

/// Visit queued rows until none is left or ``cap`` entries have been; false if contradicted.
///
/// A lenient propagation passes over contradicted rows and bounds that would cross, and goes on:
/// for points that an LP may complete. The room of one level is needed on the trail.
inline bool propagate(const Matrix &matrix, const Box &box, std::int64_t cap, bool lenient) {
    const auto counts = box.counts;
    bool consistent = counts[INFEASIBLE] == 0;
    const std::int64_t end = counts[WORK] + cap;
    const native::Watch watch;
    while (counts[QUEUE_SIZE] > 0 && (consistent || lenient)) {
        if (counts[WORK] > end) {
            counts[CAPPED] += 1;
            break;
        }
        watch.poll();
        const std::int64_t i = box.queue[counts[QUEUE_HEAD]];
        counts[QUEUE_HEAD] += 1;
        if (counts[QUEUE_HEAD] == box.queue.size())
            counts[QUEUE_HEAD] = 0;
        counts[QUEUE_SIZE] -= 1;
        box.queued[i] = 0;
        if (!visit_row(matrix, box, i, lenient))
            consistent = false;
    }
    drain(box);
    return consistent;
}

/// Queue every row that may act, in the order of the rows.
inline void wake_all(const Box &box) {
    const Rows rows(box);
    drain(box);
    std::int64_t size = 0;
    for (std::int64_t i = 0; i < rows.count(); ++i) {
        if (may_act(rows, i, 0) || may_act(rows, i, 1)) {
            box.queue[size] = static_cast<std::int32_t>(i);
            box.queued[i] = 1;
            ++size;
        }
    }
    box.counts[QUEUE_SIZE] = size;
}

/// Narrow a column to [low, high] within its bounds, and propagate; false if contradicted.
inline bool decide(const Matrix &matrix, const Box &box, std::int64_t j, double low, double high,
                   std::int64_t cap, bool lenient) {
    low = std::max(low, box.bounds(0, j));
    high = std::min(high, box.bounds(1, j));
    if (low > high) {
        conflict(box, -1, lenient);
        return false;
    }
    for (int side = 0; side < 2; ++side) {
        const double replacement = side == 0 ? low : high;
        if (replacement != box.bounds(side, j))
            set_bound(matrix, box, j, side, replacement);
    }
    return propagate(matrix, box, cap, lenient);
}

} // namespace mip::domain
