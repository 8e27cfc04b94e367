// Which column is decided next: a heap of the open columns by score.
#pragma once

#include "state.h"

namespace mip::lazy_clause {

/// Scores are scaled down before they are larger.
constexpr double LARGEST_SCORE = 1e100;

/// Scores fade by this from one contradiction to the next (MiniSat's figure).
constexpr double FADING = 0.95;

/// Put a column at a place of the heap.
inline void put_at(const State &state, std::int64_t place, std::int64_t j) {
    state.heap[place] = static_cast<std::int32_t>(j);
    state.heap_place[j] = static_cast<std::int32_t>(place);
}

/// Move what stands at a place of the heap up to where it belongs.
inline void sift_up(const State &state, std::int64_t place) {
    const std::int64_t j = state.heap[place];
    while (place > 0) {
        const std::int64_t parent = (place - 1) >> 1, other = state.heap[parent];
        if (state.score[other] >= state.score[j])
            break;
        put_at(state, place, other);
        place = parent;
    }
    put_at(state, place, j);
}

/// Put a column into the heap, unless it is there.
inline void put_in_heap(const State &state, std::int64_t j) {
    if (state.heap_place[j] < 0) {
        const std::int64_t place = state.counts[HEAP]++;
        put_at(state, place, j);
        sift_up(state, place);
    }
}

/// Take the first column out of the heap.
inline void take_top(const State &state) {
    const std::int64_t size = --state.counts[HEAP];
    state.heap_place[state.heap[0]] = -1;
    if (size == 0)
        return;
    const std::int64_t j = state.heap[size];
    std::int64_t place = 0;
    while (2 * place + 1 < size) {
        std::int64_t child = 2 * place + 1;
        if (child + 1 < size && state.score[state.heap[child + 1]] > state.score[state.heap[child]])
            ++child;
        const std::int64_t other = state.heap[child];
        if (state.score[j] >= state.score[other])
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
        const std::int64_t j = state.heap[0];
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
    state.score[j] += state.numbers[STEP];
    if (state.score[j] > LARGEST_SCORE) {
        for (double &score : state.score)
            score /= LARGEST_SCORE;
        state.numbers[STEP] /= LARGEST_SCORE;
    }
    if (state.heap_place[j] >= 0)
        sift_up(state, state.heap_place[j]);
}

/// Put every open integer column of the model into the heap.
inline void fill_heap(const Sides &sides, const State &state) {
    for (std::int64_t j = 0; j < sides.is_integer.size() - 1; ++j)
        if (sides.is_integer[j] == 1 && is_open(state, j))
            put_in_heap(state, j);
}

} // namespace mip::lazy_clause
