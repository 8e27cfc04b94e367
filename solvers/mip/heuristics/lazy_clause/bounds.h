// Raising bounds: each step goes on the trail, and into the activities of sides.
#pragma once

#include <cmath>

#include "state.h"

namespace mip::lazy_clause {

/// The place of the queue's entry number k.
inline std::int64_t place_in_queue(const State &state, std::int64_t k) {
    const std::int64_t place = state.counts[QUEUE_HEAD] + k, size = state.queue.size();
    return place < size ? place : place - size;
}

/// Queue a side if it may tighten something or be contradicted.
inline void wake(const Sides &sides, const State &state, std::int64_t i) {
    const std::int64_t infinite = state.infinite[i];
    if (state.queued[i] == 1 || infinite > 1)
        return;
    if (infinite == 0 && state.right[i] - state.activity[i] >= sides.widest[i] + TOLERANCE)
        return;
    std::int64_t &queued = state.counts[QUEUE_SIZE];
    state.queue[place_in_queue(state, queued)] = static_cast<std::int32_t>(i);
    state.queued[i] = 1;
    ++queued;
}

/// Give a bound another value, and carry it into the activities.
inline void move(const Sides &sides, const State &state, std::int64_t code, double value,
                 bool wakes) {
    const double old = state.bound[code], opposite = -state.bound[code ^ 1];
    if (sides.is_integer[code >> 1] == 1)
        state.counts[FIXED] += static_cast<int>(value == opposite) - (old == opposite);
    state.bound[code] = value;
    double step = 0.0;
    std::int32_t count = 0;
    if (std::isfinite(value)) {
        step = value;
        count = -1;
    }
    if (std::isfinite(old)) {
        step -= old;
        ++count;
    }
    const std::int64_t first = sides.by_code.indptr[code], last = sides.by_code.indptr[code + 1];
    for (std::int64_t p = first; p < last; ++p) {
        const std::int64_t i = sides.by_code.indices[p];
        state.activity[i] += sides.by_code.data[p] * step;
        state.infinite[i] += count;
        if (wakes)
            wake(sides, state, i);
    }
    state.counts[WORK] += last - first + 1;
}

/// Raise a bound, at most to the opposite one, and put that on the trail.
///
/// Where the trail has no room, the bound stays as it is: what follows is only weaker.
inline void raise_bound(const Sides &sides, const State &state, std::int64_t code, double value,
                        std::int64_t reason) {
    const std::int64_t place = state.counts[TRAIL];
    if (place >= state.entry_code.size())
        return;
    state.entry_code[place] = static_cast<std::int32_t>(code);
    state.entry_before[place] = state.latest[code];
    state.entry_reason[place] = static_cast<std::int32_t>(reason);
    state.entry_level[place] = static_cast<std::int32_t>(state.counts[LEVEL]);
    state.entry_value[place] = value;
    state.entry_old[place] = state.bound[code];
    state.latest[code] = static_cast<std::int32_t>(place);
    state.counts[TRAIL] = place + 1;
    move(sides, state, code, value, true);
}

/// Forget the queued sides.
inline void drain(const State &state) {
    for (std::int64_t k = 0; k < state.counts[QUEUE_SIZE]; ++k)
        state.queued[state.queue[place_in_queue(state, k)]] = 0;
    state.counts[QUEUE_HEAD] = 0;
    state.counts[QUEUE_SIZE] = 0;
}

/// Sum a side's activity from the bounds.
inline void sum_side(const Sides &sides, const State &state, std::int64_t i) {
    double total = 0.0;
    std::int32_t infinite = 0;
    const std::int64_t first = sides.by_side.indptr[i], last = sides.by_side.indptr[i + 1];
    for (std::int64_t p = first; p < last; ++p) {
        const double b = state.bound[sides.by_side.indices[p]];
        if (std::isfinite(b))
            total += sides.by_side.data[p] * b;
        else
            ++infinite;
    }
    state.activity[i] = total;
    state.infinite[i] = infinite;
    state.counts[WORK] += last - first;
}

} // namespace mip::lazy_clause
