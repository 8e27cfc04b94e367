// Between two rounds, by block 0 alone: what the threads of a block do together.

#pragma once

#include "plan.cuh"
#include "settle.cuh"

// Takes from shared rows what the round's moves have noted, a warp to a row.
__device__ inline void change_shared(const Walk& walk) {
    int* of_top = (int*)walk.tree.nodes + walk.tree.first[walk.tree.top];
    for (int at = int(threadIdx.x) >> 5; at < walk.shared_count; at += BLOCK_WARPS) {
        const double* shares = walk.shares + (long long)at * walk.teams;
        double part = 0.0;
        for (int team = lane_number(); team < walk.teams; team += 32)
            part = plus(part, shares[team]);
        const double total = warp_sum(part);
        if (lane_number() == 0) change_row(walk, int(walk.shared_rows[at]), total, of_top);
    }
    __syncthreads();
}

// Block 0 when a round is over.
__device__ inline void end_round(Walk& walk) {
    double part = 0.0;
    for (int team = int(threadIdx.x); team < walk.teams; team += BLOCK)
        part = plus(part, walk.moves[MOVE * (long long)team + 3]);
    const double change = block_sum(part);
    if (walk.shared_count && walk.control[EXCLUSIVE] < 0) change_shared(walk);
    const int count = threadIdx.x < 32 ? tree_count(walk.tree) : 0;
    if (threadIdx.x == 0) close_round(walk, change, count);
    __syncthreads();
    if (threadIdx.x < SLOTS) walk.slots[MOVE * threadIdx.x] = -1.0;
}

// Block 0 when the slots' chunks are scored: the best slot goes alone if no team has a better move.
__device__ inline void choose_slot(Walk& walk) {
    const int lane = lane_number(), chunks = walk.column_chunks;
    for (int at = int(threadIdx.x) >> 5; at < SLOTS; at += BLOCK_WARPS) {
        double* slot = walk.slots + MOVE * at;
        if (slot[0] < 0.0) continue;
        const double* partials = walk.partials + 2 * (long long)at * chunks;
        Score own = {walk.mode == LIFT ? NONE : 0.0, 0.0};
        for (int chunk = lane; chunk < chunks; chunk += 32) {
            if (walk.mode == LIFT) own.progress = fmin(own.progress, partials[2 * chunk]);
            else own.progress = plus(own.progress, partials[2 * chunk]);
            own.bonus = plus(own.bonus, partials[2 * chunk + 1]);
        }
        own = joined(walk, own);
        __syncwarp();
        if (lane == 0) judge_slot(walk, slot, own);
    }
    double largest = -NONE;
    for (int team = int(threadIdx.x); team < walk.teams; team += BLOCK) {
        const double* move = walk.moves + MOVE * (long long)team;
        if (move[0] >= 0.0) largest = fmax(largest, move[2]);
    }
    largest = block_largest(largest);
    if (threadIdx.x == 0) pick_slot(walk, largest);
}
