// Which earlier entries of the trail made a bound rise, or contradict a side or a clause.
//
// Explanations of a side are weakened as far as its slack allows: bounds that it would not have
// needed are left out, or replaced by the weaker ones that they had before.
#pragma once

#include <cmath>

#include "state.h"
#include "tighten.h"

namespace mip::lazy_clause {

/// Slack that is left unused, relative to the sum: rounding errors.
constexpr double SPARE = 1e-9;

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
    std::int64_t place = state.latest[code];
    while (place >= end)
        place = state.entry_before[place];
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
            const double value = place >= 0 ? state.entry_value[place] : state.root[code];
            total += terms.coefficients[p] * value;
        }
        state.found[p] = static_cast<std::int32_t>(place);
    }
    state.counts[EXPLAINED] = size;
    state.counts[WORK] += size;
    return total - right;
}

/// Whether an entry came after a decision.
inline bool is_decided(const State &state, std::int64_t place) {
    return place >= 0 && state.entry_level[place] > 0;
}

/// Leave out of the listed entries what ``spare`` allows, and those of the root.
inline void weaken(const State &state, const Span<const double> &coefficients, double spare) {
    std::int64_t kept = 0;
    const std::int64_t listed = state.counts[EXPLAINED];
    for (std::int64_t k = 0; k < listed; ++k) {
        std::int64_t place = state.found[k];
        while (is_decided(state, place) && state.seen[place] == 0) {
            const double change =
                coefficients[k] * (state.entry_value[place] - state.entry_old[place]);
            if (!(change <= spare))
                break;
            spare -= change;
            place = state.entry_before[place];
        }
        if (is_decided(state, place))
            state.found[kept++] = static_cast<std::int32_t>(place);
    }
    state.counts[EXPLAINED] = kept;
}

/// List the entries that made the literals of a clause false, but for one code's.
inline void explain_by_clause(const State &state, std::int64_t c, std::int64_t without,
                              std::int64_t end) {
    std::int64_t kept = 0;
    const std::int64_t first = state.clause_start[c], last = state.clause_start[c + 1];
    for (std::int64_t k = first; k < last; ++k) {
        const std::int64_t code = state.literal_code[k];
        if (code == without)
            continue;
        std::int64_t place = latest_before(state, code ^ 1, end);
        const double needed = 1.0 - state.literal_value[k];
        while (place >= 0 && state.entry_old[place] >= needed)
            place = state.entry_before[place];
        if (is_decided(state, place))
            state.found[kept++] = static_cast<std::int32_t>(place);
    }
    state.counts[EXPLAINED] = kept;
    state.counts[WORK] += last - first;
}

/// List why an entry that is no decision came onto the trail.
inline void explain_entry(const Sides &sides, const State &state, std::int64_t place) {
    const std::int64_t reason = state.entry_reason[place], code = state.entry_code[place];
    if (reason < 0) {
        explain_by_clause(state, -2 - reason, code, place);
        return;
    }
    const Terms terms = terms_of(sides, reason);
    const std::int64_t mine = code ^ 1;
    const double right = state.right[reason];
    const double excess = explain_terms(state, terms, mine, place, right);
    double c = SMALLEST;
    for (std::int64_t p = 0; p < terms.codes.size(); ++p)
        if (terms.codes[p] == mine)
            c = terms.coefficients[p];
    double most = -state.entry_value[place];
    if (sides.is_integer[code >> 1] == 1)
        most += 1.0 - 2.0 * TOLERANCE;
    const double spare = c * most + excess - SPARE * (std::abs(right) + std::abs(excess));
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
    const double right = state.right[culprit];
    const double excess = explain_terms(state, terms, NOTHING, end, right);
    const double spare = excess - room_of(right) - SPARE * (std::abs(right) + std::abs(excess));
    weaken(state, terms.coefficients, spare);
}

} // namespace mip::lazy_clause
