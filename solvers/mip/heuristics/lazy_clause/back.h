// Undoing decisions.
#pragma once

#include "bounds.h"
#include "order.h"
#include "state.h"

namespace mip::lazy_clause {

/// Undo all decisions after the first ``level`` ones, and keep the values they had.
inline void go_back(const Sides &sides, const State &state, std::int64_t level) {
    const Span<std::int64_t> counts = state.counts;
    if (counts[LEVEL] <= level)
        return;
    const std::int64_t end = state.level_start[level], count = sides.is_integer.size() - 1;
    drain(state);
    for (std::int64_t place = counts[TRAIL] - 1; place >= end; --place) {
        const std::int64_t code = state.entry_code[place], j = code >> 1;
        if (sides.is_integer[j] == 1) {
            const double bound = state.bound[code];
            if (bound == -state.bound[code ^ 1])
                state.preferred[j] = (code & 1) == 0 ? bound : -bound;
            if (j != count) // the count is decided by rungs alone
                put_in_heap(state, j);
        }
        state.latest[code] = state.entry_before[place];
        move(sides, state, code, state.entry_old[place], false);
    }
    counts[TRAIL] = end;
    counts[HEAD] = end;
    counts[LEVEL] = level;
}

} // namespace mip::lazy_clause
