// Slack, violated rows and objective anew from the values, by the whole grid.

#pragma once

#include "lead.cuh"

// Activities of the chunks of rows that are longer than one; the tree and claims are emptied.
__device__ inline void prepare_refresh(const Walk& walk, int thread, int threads) {
    for (int row = thread; row < walk.model.rows; row += threads) walk.claims[row] = 0ull;
    for (int node = thread; node < walk.tree.size; node += threads) walk.tree.nodes[node] = 0u;
    const int chunks = walk.row_chunks;
    for (int at = thread >> 5; at < walk.long_count * chunks; at += threads >> 5) {
        const int row = int(walk.long_rows[at / chunks]);
        const int begin = int(walk.model.row_start[row]) + at % chunks * CHUNK;
        const int end = min(begin + CHUNK, int(walk.model.row_start[row + 1]));
        const double total = warp_sum(activity(walk, begin + lane_number(), end, 32));
        if (lane_number() == 0) walk.partials[at] = total;
    }
}

// Activity of a row that a warp or the grid has read together.
__device__ inline double long_activity(const Walk& walk, int row, int begin, int end) {
    if (end - begin <= CHUNK) return warp_sum(activity(walk, begin + lane_number(), end, 32));
    int low = 0, high = walk.long_count - 1;
    while (low < high) {
        const int middle = (low + high) >> 1;
        if (int(walk.long_rows[middle]) < row) low = middle + 1;
        else high = middle;
    }
    double own = 0.0;
    for (int chunk = lane_number(); chunk < walk.row_chunks; chunk += 32)
        own = plus(own, walk.partials[(long long)low * walk.row_chunks + chunk]);
    return warp_sum(own);
}

// Slack of the 32 rows of a word of the tree, a lane to a row where rows are short.
__device__ inline void refresh_word(const Walk& walk, int word) {
    const int lane = lane_number(), row = 32 * word + lane;
    int begin = 0, end = 0;
    if (row < walk.model.rows) {
        begin = int(walk.model.row_start[row]);
        end = int(walk.model.row_start[row + 1]);
    }
    unsigned waiting = __ballot_sync(ALL_LANES, end - begin > LANE_ROW);
    double total = end - begin > LANE_ROW ? 0.0 : activity(walk, begin, end, 1);
    while (waiting) {
        const int source = __ffs(int(waiting)) - 1;
        waiting &= waiting - 1;
        const double whole =
            long_activity(walk, 32 * word + source, __shfl_sync(ALL_LANES, begin, source),
                          __shfl_sync(ALL_LANES, end, source));
        if (lane == source) total = whole;
    }
    bool violated = false;
    if (row < walk.model.rows) {
        const REAL slack = REAL(plus(double(walk.model.sides[row]), -total));
        walk.cells[row].first = slack;
        violated = violation(double(slack), walk.range(row)) > 0.0;
    }
    const unsigned bits = __ballot_sync(ALL_LANES, violated);
    if (lane || bits == 0u) return;
    walk.tree.nodes[word] = bits;
    int node = word >> 5;
    for (int level = 1; level <= walk.tree.top; ++level, node >>= 5)
        atomicAdd((int*)walk.tree.nodes + walk.tree.first[level] + node, __popc(bits));
}

__device__ inline double* pieces_of(const Walk& walk) {
    return walk.partials + (long long)walk.long_count * walk.row_chunks;
}

__device__ inline void refresh(const Walk& walk, int thread, int threads) {
    for (int word = thread >> 5; 32 * word < walk.model.rows; word += threads >> 5)
        refresh_word(walk, word);
    for (int piece = thread; piece < PIECES; piece += threads) {
        double part = 0.0;
        for (int j = piece; j < walk.model.columns; j += PIECES)
            part = plus(part, times(double(walk.model.costs[j]), double(walk.values[j].first)));
        pieces_of(walk)[piece] = part;
    }
}

// Block 0 after it.
__device__ inline void end_refresh(Walk& walk) {
    double part = 0.0;
    for (int piece = int(threadIdx.x); piece < PIECES; piece += BLOCK)
        part = plus(part, pieces_of(walk)[piece]);
    const double objective = block_sum(part);
    if (threadIdx.x == 0) {
        walk.record[OBJECTIVE] = objective;
        walk.record[REFRESH] = 0.0;
    }
}

__device__ inline void restart_clock(const Walk& walk, int thread, int threads) {
    for (int j = thread; j < walk.model.columns; j += threads) walk.values[j].second = REAL(0);
    for (int row = thread; row < walk.model.rows; row += threads) walk.claims[row] = 0ull;
}

// Block 0 before the first round.
__device__ inline void begin_rounds(Walk& walk) {
    if (threadIdx.x < SLOTS) walk.slots[MOVE * threadIdx.x] = -1.0;
    const int count = threadIdx.x < 32 ? tree_count(walk.tree) : 0;
    if (threadIdx.x == 0) open_rounds(walk, count);
}
