// The loop: decide, propagate, learn, go back.
#include "native/bindings.h"

#include <algorithm>

#include "analyse.h"
#include "propagate.h"
#include "state.h"

NATIVE_STRUCT(mip::lazy_clause::Sides, by_side, by_code, widest, is_exact, is_integer)
NATIVE_STRUCT(mip::lazy_clause::SideSums, right, activity, infinite, queue, queued)
NATIVE_STRUCT(mip::lazy_clause::Trail, code, before, reason, level, value, old, latest, level_start)
NATIVE_STRUCT(mip::lazy_clause::Clauses, start, code, value, spread, watch_next, watch_first)
NATIVE_STRUCT(mip::lazy_clause::Order, score, heap, place, preferred, closest)
NATIVE_STRUCT(mip::lazy_clause::Analysis, seen, found, lits, touched, stamp, chosen)
NATIVE_STRUCT(mip::lazy_clause::State, bound, root, sums, trail, clauses, order, analysis, rung,
              counts, numbers)

namespace mip::lazy_clause {
namespace {

using native::check_length;

/// How a slice ends: work spent, all integers fixed, time for a restart, nothing left to search,
/// nothing left below a rung.
constexpr std::int64_t RUNNING = 0, CANDIDATE = 1, RESTART = 2, EXHAUSTED = 3, REFUTED = 4;

/// Nothing is learned from a side that holds.
constexpr std::int64_t HOLDS = -1;

/// Begin another level.
void begin_level(const State &state) {
    state.trail.level_start[state.counts[LEVEL]] = static_cast<std::int32_t>(state.counts[TRAIL]);
    state.counts[LEVEL] += 1;
}

/// Bring a column to its preferred value, or one of its bounds there where that lies between them.
void decide(const Sides &sides, const State &state, std::int64_t j) {
    const double low = state.bound[2 * j], high = -state.bound[2 * j + 1];
    const double value =
        std::min(std::max(native::round_even(state.order.preferred[j]), low), high);
    begin_level(state);
    const bool is_upper = value < high;
    raise_bound(sides, state, 2 * j + is_upper, (is_upper ? -value : value) + 0.0, DECISION);
}

/// The first rung that the count may still be above, or -1.
std::int64_t next_rung(const State &state) {
    const double bound = state.bound[state.bound.size() - 1];
    for (std::int64_t k = 0; k < state.counts[RUNGS]; ++k)
        if (bound < -state.rung[k])
            return k;
    return -1;
}

/// Decide that the count is at most a rung; false where it is known to be above it.
///
/// That is known because of the rungs before it, if of anything, as they come before all other
/// decisions; and who is below this rung is below them. So it holds at the root.
bool assume(const Sides &sides, const State &state, std::int64_t k) {
    const std::int64_t code = state.bound.size() - 1;
    const double least = state.bound[code - 1];
    if (least > state.rung[k]) {
        go_back(sides, state, ROOT);
        if (state.bound[code - 1] < least)
            raise_bound(sides, state, code - 1, least, DECISION);
        return false;
    }
    begin_level(state);
    raise_bound(sides, state, code, -state.rung[k] + 0.0, DECISION);
    return true;
}

/// Remember the values where most columns were fixed.
void keep_closest(const Sides &sides, const State &state) {
    const Span<std::int64_t> counts = state.counts;
    if (counts[FIXED] <= counts[MOST_FIXED])
        return;
    counts[MOST_FIXED] = counts[FIXED];
    const std::int64_t columns = sides.is_integer.size();
    for (std::int64_t j = 0; j < columns; ++j)
        state.order.closest[j] = is_open(state, j) ? state.order.preferred[j] : state.bound[2 * j];
    counts[WORK] += columns;
}

/// Keep the clause of the entries in ``lits``; returns false where there is no room.
bool take_clause(const State &state, std::int32_t spread) {
    const Span<std::int64_t> counts = state.counts;
    const std::int64_t c = counts[CLAUSES], first = counts[LITERALS], size = counts[RECORDED];
    if (c >= state.clauses.spread.size() || first + size > state.clauses.code.size())
        return false;
    for (std::int64_t k = 0; k < size; ++k) {
        const std::int64_t place = state.analysis.lits[k];
        state.clauses.code[first + k] = state.trail.code[place] ^ 1;
        state.clauses.value[first + k] = 1.0 - state.trail.value[place];
    }
    state.clauses.start[c + 1] = static_cast<std::int32_t>(first + size);
    state.clauses.spread[c] = spread;
    counts[CLAUSES] = c + 1;
    counts[LITERALS] = first + size;
    watch(state, c, 0);
    watch(state, c, 1);
    return true;
}

/// Learn from the entries in ``found``, go back, and draw the clause's conclusion.
std::int64_t learn(const Sides &sides, const State &state) {
    const Span<std::int64_t> counts = state.counts;
    counts[CONFLICTS] += 1;
    counts[UNTIL_RESTART] -= 1;
    keep_closest(sides, state);
    const std::int64_t level = analyse(sides, state);
    if (level < 0)
        return EXHAUSTED;
    state.numbers[STEP] /= FADING;
    const std::int64_t size = counts[RECORDED], point = state.analysis.lits[0];
    const std::int32_t spread = spread_of(state, size);
    const std::int64_t code = state.trail.code[point] ^ 1;
    const double value = 1.0 - state.trail.value[point];
    std::int64_t reason = DECISION;
    if (size > 1) {
        reason = -2 - counts[CLAUSES];
        if (!take_clause(state, spread)) {
            go_back(sides, state, ROOT);
            return RESTART;
        }
    }
    go_back(sides, state, level);
    if (state.bound[code] < value) {
        if (value > -state.bound[code ^ 1]) { // sums erred: begin anew with what was learned
            go_back(sides, state, ROOT);
            return value > -state.bound[code ^ 1] ? EXHAUSTED : RESTART;
        }
        raise_bound(sides, state, code, value, reason);
    }
    return counts[UNTIL_RESTART] <= 0 ? RESTART : RUNNING;
}

void check(const Sides &sides, const State &state) {
    const std::int64_t n = sides.is_integer.size(), codes = 2 * n, r = state.sums.right.size();
    const std::int64_t t = state.trail.code.size(), levels = state.trail.level_start.size();
    check_length("counts", state.counts.size(), NUM_COUNTS);
    check_length("numbers", state.numbers.size(), NUM_NUMBERS);
    native::check_rows("by_side", sides.by_side, r);
    native::check_rows("by_code", sides.by_code, codes);
    for (const auto &[name, size] : {std::pair{"widest", sides.widest.size()},
                                     {"is_exact", sides.is_exact.size()},
                                     {"activity", state.sums.activity.size()},
                                     {"infinite", state.sums.infinite.size()},
                                     {"queue", state.sums.queue.size()},
                                     {"queued", state.sums.queued.size()}})
        check_length(name, size, r);
    for (const auto &[name, size] : {std::pair{"bound", state.bound.size()},
                                     {"root", state.root.size()},
                                     {"latest", state.trail.latest.size()},
                                     {"watch_first", state.clauses.watch_first.size()},
                                     {"chosen", state.analysis.chosen.size()}})
        check_length(name, size, codes);
    for (const auto &[name, size] : {std::pair{"score", state.order.score.size()},
                                     {"heap", state.order.heap.size()},
                                     {"order.place", state.order.place.size()},
                                     {"preferred", state.order.preferred.size()},
                                     {"closest", state.order.closest.size()}})
        check_length(name, size, n);
    for (const auto &[name, size] : {std::pair{"trail.before", state.trail.before.size()},
                                     {"trail.reason", state.trail.reason.size()},
                                     {"trail.level", state.trail.level.size()},
                                     {"trail.value", state.trail.value.size()},
                                     {"trail.old", state.trail.old.size()},
                                     {"seen", state.analysis.seen.size()},
                                     {"found", state.analysis.found.size()},
                                     {"lits", state.analysis.lits.size()},
                                     {"touched", state.analysis.touched.size()}})
        check_length(name, size, t);
    check_length("stamp", state.analysis.stamp.size(), levels);
    check_length("clauses.start", state.clauses.start.size(), state.clauses.spread.size() + 1);
    check_length("watch_next", state.clauses.watch_next.size(), 2 * state.clauses.spread.size());
    check_length("clauses.value", state.clauses.value.size(), state.clauses.code.size());
    check_length("rung", state.rung.size(), state.counts[RUNGS]);
}

/// Go on until the counter of work reads ``end``, or something has to be decided outside.
std::int64_t search(const Sides &sides, const State &state, std::int64_t end) {
    check(sides, state);
    const Span<std::int64_t> counts = state.counts;
    while (true) {
        if (!propagate(sides, state)) {
            explain_conflict(sides, state);
            const std::int64_t status = learn(sides, state);
            if (status != RUNNING)
                return status;
            continue;
        }
        if (counts[WORK] >= end)
            return RUNNING;
        if (counts[TRAIL] >= state.trail.code.size() ||
            counts[LEVEL] >= state.trail.level_start.size()) {
            go_back(sides, state, ROOT); // no room: begin anew, where bounds are settled
            return RESTART;
        }
        const std::int64_t k = next_rung(state);
        if (k >= 0) {
            if (!assume(sides, state, k))
                return REFUTED;
            continue;
        }
        const std::int64_t j = next_column(state);
        if (j < 0)
            return CANDIDATE;
        decide(sides, state, j);
    }
}

/// Learn from a valid side that the box contradicts; -1 where it does not.
std::int64_t learn_row(const Sides &sides, const State &state, Span<const std::int32_t> codes,
                       Span<const double> coefficients, double right) {
    check(sides, state);
    check_length("coefficients", coefficients.size(), codes.size());
    check_length("found", state.analysis.found.size(), codes.size());
    const double excess =
        explain_terms(state, {codes, coefficients}, NOTHING, state.counts[TRAIL], right);
    const double room = FEASIBILITY_TOLERANCE * std::max(1.0, std::abs(right));
    if (!(excess > room))
        return HOLDS;
    weaken(state, coefficients, excess - room);
    return learn(sides, state);
}

/// Learn that the present decisions lead nowhere.
std::int64_t learn_decisions(const Sides &sides, const State &state) {
    check(sides, state);
    const std::int64_t levels = state.counts[LEVEL];
    std::copy_n(state.trail.level_start.begin(), levels, state.analysis.found.begin());
    state.counts[EXPLAINED] = levels;
    drain(state);
    return learn(sides, state);
}

/// Undo all decisions.
void to_root(const Sides &sides, const State &state) {
    check(sides, state);
    go_back(sides, state, ROOT);
}

/// Make the bounds at the root those that explanations end at.
void forget(const State &state) {
    const Span<std::int64_t> counts = state.counts;
    for (std::int64_t place = 0; place < counts[TRAIL]; ++place)
        state.trail.latest[state.trail.code[place]] = -1;
    std::copy(state.bound.begin(), state.bound.end(), state.root.begin());
    counts[TRAIL] = 0;
    counts[HEAD] = 0;
}

/// Undo all decisions, propagate what was learned, and forget how it came about.
std::int64_t settle_root(const Sides &sides, const State &state) {
    to_root(sides, state);
    if (state.counts[HEAD] == state.counts[TRAIL]) {
        if (!propagate(sides, state))
            return EXHAUSTED;
        forget(state);
    }
    return RUNNING;
}

/// Sum all activities, and put open columns into the heap, at the root.
void begin(const Sides &sides, const State &state) {
    check(sides, state);
    sum_all(sides, state);
    fill_heap(sides, state);
}

/// Rebuild the lists of watches.
void watch_clauses(const Sides &sides, const State &state) {
    check(sides, state);
    watch_all(state);
}

/// Undo all decisions and let the count of the objective be ``most`` at most from now on.
std::int64_t limit_count(const Sides &sides, const State &state, double most) {
    to_root(sides, state);
    const std::int64_t last = state.bound.size() - 1;
    if (most < state.bound[last - 1])
        return EXHAUSTED;
    if (state.bound[last] < -most)
        raise_bound(sides, state, last, -most + 0.0, DECISION);
    return RUNNING;
}

} // namespace
} // namespace mip::lazy_clause

NATIVE_MODULE(mip_heuristics_lazy_clause) {
    using namespace mip::lazy_clause;
    using native::constants, native::expose;
    expose(module, "search", &search, "sides", "state", "end");
    expose(module, "learn_row", &learn_row, "sides", "state", "codes", "coefficients", "right");
    expose(module, "learn_decisions", &learn_decisions, "sides", "state");
    expose(module, "to_root", &to_root, "sides", "state");
    expose(module, "settle_root", &settle_root, "sides", "state");
    expose(module, "begin", &begin, "sides", "state");
    expose(module, "watch_clauses", &watch_clauses, "sides", "state");
    expose(module, "limit_count", &limit_count, "sides", "state", "most");
    constants(module, "solvers.mip.heuristics.lazy_clause.state",
              {{"SliceEnd.RUNNING", RUNNING},
               {"SliceEnd.CANDIDATE", CANDIDATE},
               {"SliceEnd.RESTART", RESTART},
               {"SliceEnd.EXHAUSTED", EXHAUSTED},
               {"SliceEnd.REFUTED", REFUTED},
               {"Count.TRAIL", TRAIL},
               {"Count.LEVEL", LEVEL},
               {"Count.HEAD", HEAD},
               {"Count.QUEUE_HEAD", QUEUE_HEAD},
               {"Count.QUEUE_SIZE", QUEUE_SIZE},
               {"Count.WORK", WORK},
               {"Count.CONFLICT", CONFLICT},
               {"Count.CLAUSES", CLAUSES},
               {"Count.LITERALS", LITERALS},
               {"Count.CONFLICTS", CONFLICTS},
               {"Count.HEAP", HEAP},
               {"Count.FIXED", FIXED},
               {"Count.MOST_FIXED", MOST_FIXED},
               {"Count.UNTIL_RESTART", UNTIL_RESTART},
               {"Count.CAPPED", CAPPED},
               {"Count.EXPLAINED", EXPLAINED},
               {"Count.RECORDED", RECORDED},
               {"Count.TOUCHED", TOUCHED},
               {"Count.OPEN", OPEN},
               {"Count.AT", AT},
               {"Count.RUNGS", RUNGS}});
}
