// What follows from raised bounds, by clauses and by sides, with the reason of each.
#pragma once

#include "bounds.h"
#include "native/interrupt.h"
#include "order.h"
#include "state.h"
#include "tighten.h"
#include "watches.h"

namespace mip::lazy_clause {

/// No conflict.
constexpr std::int64_t UNTRUE = -1;

/// Sides and codes between two looks at whether to end.
constexpr std::int64_t POLLED_VISITS = 1024;

/// Take the first side out of the queue.
inline std::int64_t take_queued(const State &state) {
    std::int64_t &head = state.counts[QUEUE_HEAD];
    const std::int64_t i = state.queue[head];
    head = head + 1 < state.queue.size() ? head + 1 : 0;
    state.counts[QUEUE_SIZE] -= 1;
    state.queued[i] = 0;
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
        state.entry_code.size() - state.level_start.size() - sides.is_integer.size();
    bool holds = true;
    for (std::int64_t visits = 1; holds; ++visits) {
        if (visits % POLLED_VISITS == 0)
            native::poll();
        if (counts[TRAIL] > full) {
            counts[CAPPED] += 1;
            counts[HEAD] = counts[TRAIL];
            drain(state);
            return true;
        }
        if (counts[HEAD] < counts[TRAIL]) {
            const std::int64_t code = state.entry_code[counts[HEAD]++];
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
    for (std::int64_t i = 0; i < state.right.size(); ++i) {
        sum_side(sides, state, i);
        wake(sides, state, i);
    }
}

} // namespace mip::lazy_clause
