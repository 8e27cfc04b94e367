// What follows from raised bounds, by clauses and by sides, with the reason of each.
//
// One side says of its columns the most that each can be while all others are at least.
#pragma once

#include <algorithm>
#include <cmath>

#include "native/numbers.h"
#include "native/threads.h"
#include "state.h"

namespace mip::lazy_clause {

/// Least change of a continuous bound, relative to its size and to the width of the interval.
///
/// With 1e-3, as in other propagation, a descent through a power grid of 18,000 rows spent its time
/// on bounds that crept around cycles: with 150 million entries visited it came to no point, with
/// 0.1 to one after 40 million.
constexpr double SIGNIFICANT = 1e-1;

/// Least change of an integer bound, relative to the width of the interval: any for up to 20
/// values. Without it a model of railway waggons in numbers of up to 16,000 fixed a quarter as many
/// columns.
constexpr double CREEPING = 0.05;

/// The excess that counts as none.
inline double room_of(double side) {
    return std::max(FEASIBILITY_TOLERANCE, SAME * std::abs(side));
}

/// The largest whole value left to a column, or ``high`` if that is no change.
inline double most_whole(double most, double low, double high) {
    const double whole = std::floor(most + FEASIBILITY_TOLERANCE);
    if (std::isfinite(low) && high < native::INF && high - whole < CREEPING * (high - low))
        return high;
    return std::max(std::min(whole, high), low);
}

/// The largest value left to a continuous column, or ``high`` if little changes.
inline double most_continuous(double most, double low, double high) {
    most += SAME * std::max(1.0, std::abs(most));
    double least = SIGNIFICANT * std::max(1.0, std::abs(most));
    if (high < native::INF) {
        if (std::isfinite(low))
            least = std::max(least, SIGNIFICANT * (high - low));
        if (high - most <= least)
            return high;
    }
    return std::max(most, low);
}

/// Raise what side i, with this much slack, says of its entry p.
inline void tighten_entry(const Sides &sides, const State &state, std::int64_t i, std::int64_t p,
                          bool is_infinite, double slack) {
    const std::int64_t code = sides.by_side.indices[p];
    const double c = sides.by_side.data[p];
    const double low = state.bound[code], high = -state.bound[code ^ 1];
    const bool is_free = !std::isfinite(low);
    if (is_free != is_infinite || (!is_free && c * (high - low) <= slack))
        return;
    double most = is_free ? slack / c : low + slack / c;
    if (c < SAME || !(std::abs(most) <= LARGEST_BOUND))
        return;
    most = sides.is_integer[code >> 1] == 1 ? most_whole(most, low, high)
                                            : most_continuous(most, low, high);
    if (most < high)
        raise_bound(sides, state, code ^ 1, -most + 0.0, i);
}

/// Check a side and raise what it says; returns false on a contradiction.
inline bool visit_side(const Sides &sides, const State &state, std::int64_t i) {
    if (sides.is_exact[i] == 0)
        sum_side(sides, state, i);
    const double right = state.sums.right[i];
    const std::int64_t infinite = state.sums.infinite[i];
    double slack = right - state.sums.activity[i];
    if (infinite == 0 && slack < -room_of(right)) {
        state.counts[CONFLICT] = i;
        return false;
    }
    if (infinite > 1)
        return true;
    if (infinite == 0)
        slack = std::max(slack, 0.0);
    const std::int64_t first = sides.by_side.indptr[i];
    std::int64_t last = sides.by_side.indptr[i + 1];
    state.counts[WORK] += last - first;
    if (i == state.sums.right.size() - 1)
        --last; // the count of the objective, which only clauses and decisions bound
    for (std::int64_t p = first; p < last; ++p)
        tighten_entry(sides, state, i, p, infinite == 1, slack);
    return true;
}

/// No conflict.
constexpr std::int64_t UNTRUE = -1;

/// Take the first side out of the queue.
inline std::int64_t take_queued(const State &state) {
    std::int64_t &head = state.counts[QUEUE_HEAD];
    const std::int64_t i = state.sums.queue[head];
    head = head + 1 < state.sums.queue.size() ? head + 1 : 0;
    state.counts[QUEUE_SIZE] -= 1;
    state.sums.queued[i] = 0;
    return i;
}

/// Raise bounds until nothing more follows; false on a contradiction, noted in ``CONFLICT``.
///
/// Clauses come first, as they cost least. Where the trail has no room left, but for decisions,
/// the rest is left out.
inline bool propagate(const Sides &sides, const State &state) {
    const Span<std::int64_t> counts = state.counts;
    counts[CONFLICT] = UNTRUE;
    const std::int64_t full =
        state.trail.code.size() - state.trail.level_start.size() - sides.is_integer.size();
    bool holds = true;
    const native::Watch watch;
    while (holds) {
        watch.poll();
        if (counts[TRAIL] > full) {
            counts[CAPPED] += 1;
            counts[HEAD] = counts[TRAIL];
            drain(state);
            return true;
        }
        if (counts[HEAD] < counts[TRAIL]) {
            const std::int64_t code = state.trail.code[counts[HEAD]++];
            holds = visit_clauses(sides, state, code);
        } else if (counts[QUEUE_SIZE] > 0) {
            holds = visit_side(sides, state, take_queued(state));
        } else {
            return true;
        }
    }
    drain(state);
    return false;
}

/// Sum all activities, and queue what may act.
inline void sum_all(const Sides &sides, const State &state) {
    drain(state);
    state.counts[FIXED] = 0;
    for (std::int64_t j = 0; j < sides.is_integer.size(); ++j)
        state.counts[FIXED] += sides.is_integer[j] == 1 && !is_open(state, j);
    for (std::int64_t i = 0; i < state.sums.right.size(); ++i) {
        sum_side(sides, state, i);
        wake(sides, state, i);
    }
}

} // namespace mip::lazy_clause
