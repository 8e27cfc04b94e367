// What a search holds (see state.py): bounds with their trail, watched literals, order of columns.
#pragma once

#include <cmath>
#include <cstdint>
#include <utility>

#include "mip/model.h"

namespace mip::lazy_clause {

using native::Span;

/// Places of ``counts``.
enum Count : std::int64_t {
    TRAIL,
    LEVEL,
    HEAD,
    QUEUE_HEAD,
    QUEUE_SIZE,
    WORK,
    CONFLICT,
    CLAUSES,
    LITERALS,
    CONFLICTS,
    HEAP,
    FIXED,
    MOST_FIXED,
    UNTIL_RESTART,
    CAPPED,
    EXPLAINED,
    RECORDED,
    TOUCHED,
    OPEN,
    AT,
    RUNGS,
    NUM_COUNTS
};

/// Places of ``numbers``.
constexpr std::int64_t STEP = 0, NUM_NUMBERS = 1;

/// Reason of a decision.
constexpr std::int64_t DECISION = -1;

/// No code, or no entry.
constexpr std::int64_t NOTHING = -1;

/// The level without decisions.
constexpr std::int64_t ROOT = 0;

struct Sides {
    native::SparseRows<std::int32_t> by_side, by_code;
    Span<const double> widest;
    Span<const std::uint8_t> is_exact, is_integer;
};

/// The smallest activities of sides, and those that wait to be looked at.
struct SideSums {
    Span<double> right, activity;
    Span<std::int32_t> infinite, queue;
    Span<std::uint8_t> queued;
};
/// Which bounds rose, in which order, and why.
struct Trail {
    Span<std::int32_t> code, before, reason, level;
    Span<double> value, old;
    Span<std::int32_t> latest, level_start;
};
struct Clauses {
    Span<std::int32_t> start, code;
    Span<double> value;
    Span<std::int32_t> spread, watch_next, watch_first;
};
/// Which column is decided next, and to which value.
struct Order {
    Span<double> score;
    Span<std::int32_t> heap, place;
    Span<double> preferred, closest;
};
/// Marks and lists of the analysis of a contradiction.
struct Analysis {
    Span<std::uint8_t> seen;
    Span<std::int32_t> found, lits, touched, stamp, chosen;
};
struct State {
    Span<double> bound, root;
    SideSums sums;
    Trail trail;
    Clauses clauses;
    Order order;
    Analysis analysis;
    Span<double> rung;
    Span<std::int64_t> counts;
    Span<double> numbers;
};

/// The place of the queue's entry number k.
inline std::int64_t place_in_queue(const State &state, std::int64_t k) {
    const std::int64_t place = state.counts[QUEUE_HEAD] + k, size = state.sums.queue.size();
    return place < size ? place : place - size;
}

/// Queue a side if it may tighten something or be contradicted.
inline void wake(const Sides &sides, const State &state, std::int64_t i) {
    const std::int64_t infinite = state.sums.infinite[i];
    if (state.sums.queued[i] == 1 || infinite > 1)
        return;
    if (infinite == 0 &&
        state.sums.right[i] - state.sums.activity[i] >= sides.widest[i] + FEASIBILITY_TOLERANCE)
        return;
    std::int64_t &queued = state.counts[QUEUE_SIZE];
    state.sums.queue[place_in_queue(state, queued)] = static_cast<std::int32_t>(i);
    state.sums.queued[i] = 1;
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
        state.sums.activity[i] += sides.by_code.data[p] * step;
        state.sums.infinite[i] += count;
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
    if (place >= state.trail.code.size())
        return;
    state.trail.code[place] = static_cast<std::int32_t>(code);
    state.trail.before[place] = state.trail.latest[code];
    state.trail.reason[place] = static_cast<std::int32_t>(reason);
    state.trail.level[place] = static_cast<std::int32_t>(state.counts[LEVEL]);
    state.trail.value[place] = value;
    state.trail.old[place] = state.bound[code];
    state.trail.latest[code] = static_cast<std::int32_t>(place);
    state.counts[TRAIL] = place + 1;
    move(sides, state, code, value, true);
}

/// Forget the queued sides.
inline void drain(const State &state) {
    for (std::int64_t k = 0; k < state.counts[QUEUE_SIZE]; ++k)
        state.sums.queued[state.sums.queue[place_in_queue(state, k)]] = 0;
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
    state.sums.activity[i] = total;
    state.sums.infinite[i] = infinite;
    state.counts[WORK] += last - first;
}

/// Whether a literal holds in the whole box.
inline bool is_true(const State &state, std::int64_t k) {
    return state.bound[state.clauses.code[k]] >= state.clauses.value[k];
}

/// Whether a literal holds nowhere in the box.
inline bool is_false(const State &state, std::int64_t k) {
    return state.bound[state.clauses.code[k] ^ 1] >= 1.0 - state.clauses.value[k];
}

/// Enter a clause into the list of the code that makes its literal ``w`` false.
inline void watch(const State &state, std::int64_t c, std::int64_t w) {
    const std::int64_t code = state.clauses.code[state.clauses.start[c] + w] ^ 1;
    state.clauses.watch_next[2 * c + w] = state.clauses.watch_first[code];
    state.clauses.watch_first[code] = static_cast<std::int32_t>(2 * c + w);
}

/// Exchange two literals of a clause.
inline void swap_literals(const State &state, std::int64_t a, std::int64_t b) {
    std::swap(state.clauses.code[a], state.clauses.code[b]);
    std::swap(state.clauses.value[a], state.clauses.value[b]);
}

/// The first literal from ``first`` on and before ``last`` that may still hold, or ``last``.
inline std::int64_t find_hope(const State &state, std::int64_t first, std::int64_t last) {
    while (first < last && is_false(state, first))
        ++first;
    return first;
}

/// Look at the clauses that watch a code which rose; returns false on a contradiction.
inline bool visit_clauses(const Sides &sides, const State &state, std::int64_t code) {
    const Span<std::int32_t> next = state.clauses.watch_next;
    std::int64_t before = -1, node = state.clauses.watch_first[code], seen = 0;
    bool holds = true;
    while (holds && node >= 0) {
        const std::int32_t following = next[node];
        const std::int64_t c = node >> 1, w = node & 1;
        const std::int64_t first = state.clauses.start[c], last = state.clauses.start[c + 1];
        const std::int64_t mine = first + w, other = first + 1 - w;
        ++seen;
        if (is_false(state, mine) && !is_true(state, other)) {
            const std::int64_t hope = find_hope(state, first + 2, last);
            seen += hope - (first + 2) + (hope < last);
            if (hope < last) {
                swap_literals(state, mine, hope);
                (before < 0 ? state.clauses.watch_first[code] : next[before]) = following;
                watch(state, c, w);
                node = following;
                continue;
            }
            holds = !is_false(state, other);
            if (holds)
                raise_bound(sides, state, state.clauses.code[other], state.clauses.value[other],
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
    for (std::int32_t &first : state.clauses.watch_first)
        first = -1;
    for (std::int64_t c = 0; c < state.counts[CLAUSES]; ++c) {
        watch(state, c, 0);
        watch(state, c, 1);
    }
}

/// Scores are scaled down before they are larger.
constexpr double LARGEST_SCORE = 1e100;

/// Scores fade by this from one contradiction to the next (MiniSat's figure).
constexpr double FADING = 0.95;

/// Put a column at a place of the heap.
inline void put_at(const State &state, std::int64_t place, std::int64_t j) {
    state.order.heap[place] = static_cast<std::int32_t>(j);
    state.order.place[j] = static_cast<std::int32_t>(place);
}

/// Move what stands at a place of the heap up to where it belongs.
inline void sift_up(const State &state, std::int64_t place) {
    const std::int64_t j = state.order.heap[place];
    while (place > 0) {
        const std::int64_t parent = (place - 1) >> 1, other = state.order.heap[parent];
        if (state.order.score[other] >= state.order.score[j])
            break;
        put_at(state, place, other);
        place = parent;
    }
    put_at(state, place, j);
}

/// Put a column into the heap, unless it is there.
inline void put_in_heap(const State &state, std::int64_t j) {
    if (state.order.place[j] < 0) {
        const std::int64_t place = state.counts[HEAP]++;
        put_at(state, place, j);
        sift_up(state, place);
    }
}

/// Take the first column out of the heap.
inline void take_top(const State &state) {
    const std::int64_t size = --state.counts[HEAP];
    state.order.place[state.order.heap[0]] = -1;
    if (size == 0)
        return;
    const std::int64_t j = state.order.heap[size];
    std::int64_t place = 0;
    while (2 * place + 1 < size) {
        std::int64_t child = 2 * place + 1;
        if (child + 1 < size && state.order.score[state.order.heap[child + 1]] >
                                    state.order.score[state.order.heap[child]])
            ++child;
        const std::int64_t other = state.order.heap[child];
        if (state.order.score[j] >= state.order.score[other])
            break;
        put_at(state, place, other);
        place = child;
    }
    put_at(state, place, j);
}

/// Whether a column's bounds have not met.
inline bool is_open(const State &state, std::int64_t j) {
    return state.bound[2 * j] != -state.bound[2 * j + 1];
}

/// The open column with the highest score, or -1; it stays in the heap.
inline std::int64_t next_column(const State &state) {
    while (state.counts[HEAP] > 0) {
        const std::int64_t j = state.order.heap[0];
        if (is_open(state, j))
            return j;
        take_top(state);
    }
    return -1;
}

/// Raise the score of a column that is part of a contradiction.
inline void bump(const Sides &sides, const State &state, std::int64_t j) {
    if (sides.is_integer[j] == 0)
        return;
    state.order.score[j] += state.numbers[STEP];
    if (state.order.score[j] > LARGEST_SCORE) {
        for (double &score : state.order.score)
            score /= LARGEST_SCORE;
        state.numbers[STEP] /= LARGEST_SCORE;
    }
    if (state.order.place[j] >= 0)
        sift_up(state, state.order.place[j]);
}

/// Put every open integer column of the model into the heap.
inline void fill_heap(const Sides &sides, const State &state) {
    for (std::int64_t j = 0; j < sides.is_integer.size() - 1; ++j)
        if (sides.is_integer[j] == 1 && is_open(state, j))
            put_in_heap(state, j);
}

} // namespace mip::lazy_clause
