// From a contradiction to a clause: resolution up to the first unique implication point.
//
// Entries of continuous columns are always resolved further, as a clause has literals of integer
// columns only.
#pragma once

#include <algorithm>
#include <utility>

#include "explain.h"
#include "order.h"
#include "state.h"

namespace mip::lazy_clause {

/// Entries of a side up to which it is tried as the reason for leaving a literal out.
constexpr std::int64_t LONGEST_SHORTENED = 200;

/// Contradictions are counted by so many bits where levels are stamped with them.
constexpr std::int64_t STAMP_BITS = 0x3FFFFFFF;

/// Mark the listed entries: those of level ``AT`` wait, others make the clause.
inline void mark_found(const Sides &sides, const State &state) {
    const Span<std::int64_t> counts = state.counts;
    for (std::int64_t k = 0; k < counts[EXPLAINED]; ++k) {
        const std::int32_t place = state.found[k];
        if (state.seen[place] != 0)
            continue;
        state.seen[place] = 1;
        state.touched[counts[TOUCHED]++] = place;
        bump(sides, state, state.entry_code[place] >> 1);
        if (state.entry_level[place] == counts[AT])
            counts[OPEN] += 1;
        else
            state.lits[counts[RECORDED]++] = place;
    }
}

/// Go to the highest level among the clause's entries; returns false if there is none.
inline bool descend(const State &state) {
    const Span<std::int64_t> counts = state.counts;
    std::int32_t highest = 0;
    for (std::int64_t k = 0; k < counts[RECORDED]; ++k)
        highest = std::max(highest, state.entry_level[state.lits[k]]);
    if (highest == 0)
        return false;
    std::int64_t kept = 0;
    counts[AT] = highest;
    for (std::int64_t k = 0; k < counts[RECORDED]; ++k) {
        if (state.entry_level[state.lits[k]] == highest)
            counts[OPEN] += 1;
        else
            state.lits[kept++] = state.lits[k];
    }
    counts[RECORDED] = kept;
    return true;
}

/// Replace an entry by those that explain it.
inline void resolve(const Sides &sides, const State &state, std::int64_t place) {
    state.seen[place] = 2;
    explain_entry(sides, state, place);
    mark_found(sides, state);
}

/// Resolve until one integer entry of the level is left; returns it, or -1 if nothing is.
inline std::int64_t first_point(const Sides &sides, const State &state) {
    const Span<std::int64_t> counts = state.counts;
    std::int64_t place = counts[TRAIL] - 1;
    while (true) {
        if (counts[OPEN] == 0 && !descend(state))
            return -1;
        while (state.seen[place] != 1 || state.entry_level[place] != counts[AT])
            --place;
        if (counts[OPEN] == 1 && sides.is_integer[state.entry_code[place] >> 1] == 1)
            return place;
        counts[OPEN] -= 1;
        resolve(sides, state, place);
        --place;
    }
}

/// Replace entries of continuous columns by what made them.
inline void resolve_continuous(const Sides &sides, const State &state) {
    const Span<std::int64_t> counts = state.counts;
    std::int64_t k = 0;
    while (k < counts[RECORDED]) {
        const std::int64_t place = state.lits[k];
        if (sides.is_integer[state.entry_code[place] >> 1] == 1) {
            ++k;
            continue;
        }
        state.lits[k] = state.lits[--counts[RECORDED]];
        resolve(sides, state, place);
    }
}

/// Whether an entry follows from the others of the clause by its own reason.
inline bool follows(const Sides &sides, const State &state, std::int64_t place) {
    const std::int64_t reason = state.entry_reason[place];
    if (reason == DECISION)
        return false;
    if (reason >= 0 &&
        sides.by_side.indptr[reason + 1] - sides.by_side.indptr[reason] > LONGEST_SHORTENED)
        return false;
    explain_entry(sides, state, place);
    for (std::int64_t k = 0; k < state.counts[EXPLAINED]; ++k) {
        const std::int64_t one = state.found[k];
        const std::int64_t stands = state.chosen[state.entry_code[one]];
        if (!(one <= stands && stands < place))
            return false;
    }
    return true;
}

/// Keep the strongest entry of each code, and of those what does not follow from others.
inline void shorten(const Sides &sides, const State &state, std::int64_t point) {
    const Span<std::int64_t> counts = state.counts;
    const Span<std::int32_t> lits = state.lits, chosen = state.chosen, code = state.entry_code;
    chosen[code[point]] = static_cast<std::int32_t>(point);
    for (std::int64_t k = 0; k < counts[RECORDED]; ++k)
        chosen[code[lits[k]]] = std::max(chosen[code[lits[k]]], lits[k]);
    std::int64_t kept = 0;
    for (std::int64_t k = 0; k < counts[RECORDED]; ++k) {
        const std::int32_t place = lits[k];
        if (chosen[code[place]] == place && !follows(sides, state, place))
            lits[kept++] = place;
    }
    counts[RECORDED] = kept;
    for (std::int64_t k = 0; k < counts[TOUCHED]; ++k)
        chosen[code[state.touched[k]]] = -1;
}

/// How many levels the first entries of the clause are from.
inline std::int32_t spread_of(const State &state, std::int64_t size) {
    std::int32_t spread = 0;
    const auto now = static_cast<std::int32_t>(state.counts[CONFLICTS] & STAMP_BITS);
    for (std::int64_t k = 0; k < size; ++k) {
        const std::int64_t level = state.entry_level[state.lits[k]];
        if (state.stamp[level] != now) {
            state.stamp[level] = now;
            ++spread;
        }
    }
    return spread;
}

/// Put the implication point first, the entry of the highest level besides second; returns that
/// level.
inline std::int64_t put_point_first(const State &state, std::int64_t point) {
    const Span<std::int32_t> lits = state.lits;
    const std::int64_t size = state.counts[RECORDED]++;
    lits[size] = lits[0];
    lits[0] = static_cast<std::int32_t>(point);
    std::int64_t level = 0;
    for (std::int64_t k = 1; k <= size; ++k)
        if (state.entry_level[lits[k]] > level) {
            level = state.entry_level[lits[k]];
            std::swap(lits[1], lits[k]);
        }
    return level;
}

/// Make a clause of the entries listed in ``found``: its entries then stand in ``lits``.
///
/// The first is the implication point, the second that of the highest level besides. Returns the
/// level to go back to, or -1 where the contradiction holds at the root.
inline std::int64_t analyse(const Sides &sides, const State &state) {
    const Span<std::int64_t> counts = state.counts;
    counts[TOUCHED] = 0;
    counts[RECORDED] = 0;
    counts[OPEN] = 0;
    counts[AT] = -1;
    mark_found(sides, state);
    const std::int64_t point = first_point(sides, state);
    std::int64_t level = -1;
    if (point >= 0) {
        resolve_continuous(sides, state);
        shorten(sides, state, point);
        level = put_point_first(state, point);
    }
    for (std::int64_t k = 0; k < counts[TOUCHED]; ++k)
        state.seen[state.touched[k]] = 0;
    return level;
}

} // namespace mip::lazy_clause
