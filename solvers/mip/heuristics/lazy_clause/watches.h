// Clauses that watch two of their literals, and are looked at when one of these turns false.
#pragma once

#include <utility>

#include "bounds.h"
#include "state.h"

namespace mip::lazy_clause {

/// Whether a literal holds in the whole box.
inline bool is_true(const State &state, std::int64_t k) {
    return state.bound[state.literal_code[k]] >= state.literal_value[k];
}

/// Whether a literal holds nowhere in the box.
inline bool is_false(const State &state, std::int64_t k) {
    return state.bound[state.literal_code[k] ^ 1] >= 1.0 - state.literal_value[k];
}

/// Enter a clause into the list of the code that makes its literal ``w`` false.
inline void watch(const State &state, std::int64_t c, std::int64_t w) {
    const std::int64_t code = state.literal_code[state.clause_start[c] + w] ^ 1;
    state.watch_next[2 * c + w] = state.watch_first[code];
    state.watch_first[code] = static_cast<std::int32_t>(2 * c + w);
}

/// Exchange two literals of a clause.
inline void swap_literals(const State &state, std::int64_t a, std::int64_t b) {
    std::swap(state.literal_code[a], state.literal_code[b]);
    std::swap(state.literal_value[a], state.literal_value[b]);
}

/// The first literal from ``first`` on and before ``last`` that may still hold, or ``last``.
inline std::int64_t find_hope(const State &state, std::int64_t first, std::int64_t last) {
    while (first < last && is_false(state, first))
        ++first;
    return first;
}

/// Look at the clauses that watch a code which rose; returns false on a contradiction.
inline bool visit_clauses(const Sides &sides, const State &state, std::int64_t code) {
    const Span<std::int32_t> next = state.watch_next;
    std::int64_t before = -1, node = state.watch_first[code], seen = 0;
    bool holds = true;
    while (holds && node >= 0) {
        const std::int32_t following = next[node];
        const std::int64_t c = node >> 1, w = node & 1;
        const std::int64_t first = state.clause_start[c], last = state.clause_start[c + 1];
        const std::int64_t mine = first + w, other = first + 1 - w;
        ++seen;
        if (is_false(state, mine) && !is_true(state, other)) {
            const std::int64_t hope = find_hope(state, first + 2, last);
            seen += hope - (first + 2) + (hope < last);
            if (hope < last) {
                swap_literals(state, mine, hope);
                (before < 0 ? state.watch_first[code] : next[before]) = following;
                watch(state, c, w);
                node = following;
                continue;
            }
            holds = !is_false(state, other);
            if (holds)
                raise_bound(sides, state, state.literal_code[other], state.literal_value[other],
                            -2 - c);
            else
                state.counts[CONFLICT] = -2 - c;
        }
        before = node;
        node = following;
    }
    state.counts[WORK] += seen;
    return holds;
}

/// Rebuild the lists of watches.
inline void watch_all(const State &state) {
    for (std::int32_t &first : state.watch_first)
        first = -1;
    for (std::int64_t c = 0; c < state.counts[CLAUSES]; ++c) {
        watch(state, c, 0);
        watch(state, c, 1);
    }
}

} // namespace mip::lazy_clause
