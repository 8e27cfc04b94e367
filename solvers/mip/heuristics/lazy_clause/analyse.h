// From a contradiction to a clause: resolution up to the first unique implication point.
//
// Explanations say which earlier entries of the trail made a bound rise, or contradict a side or a
// clause. Those of a side are weakened as far as its slack allows: bounds that it would not have
// needed are left out, or replaced by the weaker ones that they had before. Entries of continuous
// columns are always resolved further, as a clause has literals of integer columns only.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>

#include "propagate.h"
#include "state.h"

namespace mip::lazy_clause {

/// A sum of coefficients times bounds: entries of a side, or those of a caller.
struct Terms {
    Span<const std::int32_t> codes;
    Span<const double> coefficients;
};

/// The terms of side i.
inline Terms terms_of(const Sides &sides, std::int64_t i) {
    const std::int64_t first = sides.by_side.indptr[i], last = sides.by_side.indptr[i + 1];
    return {sides.by_side.indices.part(first, last), sides.by_side.data.part(first, last)};
}

/// The last entry of a code before a place of the trail, or -1.
inline std::int64_t latest_before(const State &state, std::int64_t code, std::int64_t end) {
    std::int64_t place = state.trail.latest[code];
    while (place >= end)
        place = state.trail.before[place];
    return place;
}

/// List the entries before ``end`` behind a sum without one code; returns ``sum - right``.
inline double explain_terms(const State &state, const Terms &terms, std::int64_t without,
                            std::int64_t end, double right) {
    double total = 0.0;
    const std::int64_t size = terms.codes.size();
    for (std::int64_t p = 0; p < size; ++p) {
        const std::int64_t code = terms.codes[p];
        std::int64_t place = -1;
        if (code != without) {
            place = latest_before(state, code, end);
            const double value = place >= 0 ? state.trail.value[place] : state.root[code];
            total += terms.coefficients[p] * value;
        }
        state.analysis.found[p] = static_cast<std::int32_t>(place);
    }
    state.counts[EXPLAINED] = size;
    state.counts[WORK] += size;
    return total - right;
}

/// Whether an entry came after a decision.
inline bool is_decided(const State &state, std::int64_t place) {
    return place >= 0 && state.trail.level[place] > 0;
}

/// Leave out of the listed entries what ``spare`` allows, and those of the root.
inline void weaken(const State &state, const Span<const double> &coefficients, double spare) {
    std::int64_t kept = 0;
    const std::int64_t listed = state.counts[EXPLAINED];
    for (std::int64_t k = 0; k < listed; ++k) {
        std::int64_t place = state.analysis.found[k];
        while (is_decided(state, place) && state.analysis.seen[place] == 0) {
            const double change =
                coefficients[k] * (state.trail.value[place] - state.trail.old[place]);
            if (!(change <= spare))
                break;
            spare -= change;
            place = state.trail.before[place];
        }
        if (is_decided(state, place))
            state.analysis.found[kept++] = static_cast<std::int32_t>(place);
    }
    state.counts[EXPLAINED] = kept;
}

/// List the entries that made the literals of a clause false, but for one code's.
inline void explain_by_clause(const State &state, std::int64_t c, std::int64_t without,
                              std::int64_t end) {
    std::int64_t kept = 0;
    const std::int64_t first = state.clauses.start[c], last = state.clauses.start[c + 1];
    for (std::int64_t k = first; k < last; ++k) {
        const std::int64_t code = state.clauses.code[k];
        if (code == without)
            continue;
        std::int64_t place = latest_before(state, code ^ 1, end);
        const double needed = 1.0 - state.clauses.value[k];
        while (place >= 0 && state.trail.old[place] >= needed)
            place = state.trail.before[place];
        if (is_decided(state, place))
            state.analysis.found[kept++] = static_cast<std::int32_t>(place);
    }
    state.counts[EXPLAINED] = kept;
    state.counts[WORK] += last - first;
}

/// List why an entry that is no decision came onto the trail.
inline void explain_entry(const Sides &sides, const State &state, std::int64_t place) {
    const std::int64_t reason = state.trail.reason[place], code = state.trail.code[place];
    if (reason < 0) {
        explain_by_clause(state, -2 - reason, code, place);
        return;
    }
    const Terms terms = terms_of(sides, reason);
    const std::int64_t mine = code ^ 1;
    const double right = state.sums.right[reason];
    const double excess = explain_terms(state, terms, mine, place, right);
    double c = SAME;
    for (std::int64_t p = 0; p < terms.codes.size(); ++p)
        if (terms.codes[p] == mine)
            c = terms.coefficients[p];
    double most = -state.trail.value[place];
    if (sides.is_integer[code >> 1] == 1)
        most += 1.0 - 2.0 * FEASIBILITY_TOLERANCE;
    const double spare = c * most + excess - SAME * (std::abs(right) + std::abs(excess));
    weaken(state, terms.coefficients, spare);
}

/// List what contradicts the side or clause that is noted as contradicted.
inline void explain_conflict(const Sides &sides, const State &state) {
    const std::int64_t culprit = state.counts[CONFLICT], end = state.counts[TRAIL];
    if (culprit < 0) {
        explain_by_clause(state, -2 - culprit, NOTHING, end);
        return;
    }
    const Terms terms = terms_of(sides, culprit);
    const double right = state.sums.right[culprit];
    const double excess = explain_terms(state, terms, NOTHING, end, right);
    const double spare = excess - room_of(right) - SAME * (std::abs(right) + std::abs(excess));
    weaken(state, terms.coefficients, spare);
}

/// Entries of a side up to which it is tried as the reason for leaving a literal out.
constexpr std::int64_t LONGEST_SHORTENED = 200;

/// Contradictions are counted by so many bits where levels are stamped with them.
constexpr std::int64_t STAMP_BITS = 0x3FFFFFFF;

/// Mark the listed entries: those of level ``AT`` wait, others make the clause.
inline void mark_found(const Sides &sides, const State &state) {
    const Span<std::int64_t> counts = state.counts;
    for (std::int64_t k = 0; k < counts[EXPLAINED]; ++k) {
        const std::int32_t place = state.analysis.found[k];
        if (state.analysis.seen[place] != 0)
            continue;
        state.analysis.seen[place] = 1;
        state.analysis.touched[counts[TOUCHED]++] = place;
        bump(sides, state, state.trail.code[place] >> 1);
        if (state.trail.level[place] == counts[AT])
            counts[OPEN] += 1;
        else
            state.analysis.lits[counts[RECORDED]++] = place;
    }
}

/// Go to the highest level among the clause's entries; returns false if there is none.
inline bool descend(const State &state) {
    const Span<std::int64_t> counts = state.counts;
    std::int32_t highest = 0;
    for (std::int64_t k = 0; k < counts[RECORDED]; ++k)
        highest = std::max(highest, state.trail.level[state.analysis.lits[k]]);
    if (highest == 0)
        return false;
    std::int64_t kept = 0;
    counts[AT] = highest;
    for (std::int64_t k = 0; k < counts[RECORDED]; ++k) {
        if (state.trail.level[state.analysis.lits[k]] == highest)
            counts[OPEN] += 1;
        else
            state.analysis.lits[kept++] = state.analysis.lits[k];
    }
    counts[RECORDED] = kept;
    return true;
}

/// Replace an entry by those that explain it.
inline void resolve(const Sides &sides, const State &state, std::int64_t place) {
    state.analysis.seen[place] = 2;
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
        while (state.analysis.seen[place] != 1 || state.trail.level[place] != counts[AT])
            --place;
        if (counts[OPEN] == 1 && sides.is_integer[state.trail.code[place] >> 1] == 1)
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
        const std::int64_t place = state.analysis.lits[k];
        if (sides.is_integer[state.trail.code[place] >> 1] == 1) {
            ++k;
            continue;
        }
        state.analysis.lits[k] = state.analysis.lits[--counts[RECORDED]];
        resolve(sides, state, place);
    }
}

/// Whether an entry follows from the others of the clause by its own reason.
inline bool follows(const Sides &sides, const State &state, std::int64_t place) {
    const std::int64_t reason = state.trail.reason[place];
    if (reason == DECISION)
        return false;
    if (reason >= 0 &&
        sides.by_side.indptr[reason + 1] - sides.by_side.indptr[reason] > LONGEST_SHORTENED)
        return false;
    explain_entry(sides, state, place);
    for (std::int64_t k = 0; k < state.counts[EXPLAINED]; ++k) {
        const std::int64_t one = state.analysis.found[k];
        const std::int64_t stands = state.analysis.chosen[state.trail.code[one]];
        if (!(one <= stands && stands < place))
            return false;
    }
    return true;
}

/// Keep the strongest entry of each code, and of those what does not follow from others.
inline void shorten(const Sides &sides, const State &state, std::int64_t point) {
    const Span<std::int64_t> counts = state.counts;
    const Span<std::int32_t> lits = state.analysis.lits, chosen = state.analysis.chosen,
                             code = state.trail.code;
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
        chosen[code[state.analysis.touched[k]]] = -1;
}

/// How many levels the first entries of the clause are from.
inline std::int32_t spread_of(const State &state, std::int64_t size) {
    std::int32_t spread = 0;
    const auto now = static_cast<std::int32_t>(state.counts[CONFLICTS] & STAMP_BITS);
    for (std::int64_t k = 0; k < size; ++k) {
        const std::int64_t level = state.trail.level[state.analysis.lits[k]];
        if (state.analysis.stamp[level] != now) {
            state.analysis.stamp[level] = now;
            ++spread;
        }
    }
    return spread;
}

/// Put the implication point first, the entry of the highest level besides second; returns that
/// level.
inline std::int64_t put_point_first(const State &state, std::int64_t point) {
    const Span<std::int32_t> lits = state.analysis.lits;
    const std::int64_t size = state.counts[RECORDED]++;
    lits[size] = lits[0];
    lits[0] = static_cast<std::int32_t>(point);
    std::int64_t level = 0;
    for (std::int64_t k = 1; k <= size; ++k)
        if (state.trail.level[lits[k]] > level) {
            level = state.trail.level[lits[k]];
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
        state.analysis.seen[state.analysis.touched[k]] = 0;
    return level;
}

/// Undo all decisions after the first ``level`` ones, and keep the values they had.
inline void go_back(const Sides &sides, const State &state, std::int64_t level) {
    const Span<std::int64_t> counts = state.counts;
    if (counts[LEVEL] <= level)
        return;
    const std::int64_t end = state.trail.level_start[level], count = sides.is_integer.size() - 1;
    drain(state);
    for (std::int64_t place = counts[TRAIL] - 1; place >= end; --place) {
        const std::int64_t code = state.trail.code[place], j = code >> 1;
        if (sides.is_integer[j] == 1) {
            const double bound = state.bound[code];
            if (bound == -state.bound[code ^ 1])
                state.order.preferred[j] = (code & 1) == 0 ? bound : -bound;
            if (j != count) // the count is decided by rungs alone
                put_in_heap(state, j);
        }
        state.trail.latest[code] = state.trail.before[place];
        move(sides, state, code, state.trail.old[place], false);
    }
    counts[TRAIL] = end;
    counts[HEAD] = end;
    counts[LEVEL] = level;
}

} // namespace mip::lazy_clause
