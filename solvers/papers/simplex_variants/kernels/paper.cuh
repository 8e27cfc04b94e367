// What the kernels of the paper's solver share: rules (rules.cuh), and reductions.

#pragma once

#include "reduce.cuh"
#include "rules.cuh"

using namespace simplex::paper;

constexpr int WARPS = BLOCK / 32;

__device__ inline bool first_thread() { return blockIdx.x == 0 && threadIdx.x == 0; }

__device__ inline bool stopped(const REAL* control) {
    return control[STOP] != REAL(RUNNING);
}

__device__ inline Choice block_best(Choice mine) {
    __shared__ REAL keys[WARPS];
    __shared__ INDEX indices[WARPS];
    for (int distance = 16; distance > 0; distance >>= 1) {
        const REAL key = __shfl_xor_sync(0xffffffffu, mine.key, distance);
        const INDEX index = __shfl_xor_sync(0xffffffffu, mine.index, distance);
        mine.take(key, index);
    }
    if ((threadIdx.x & 31) == 0) {
        keys[threadIdx.x >> 5] = mine.key;
        indices[threadIdx.x >> 5] = mine.index;
    }
    __syncthreads();
    for (int warp = 0; warp < WARPS; ++warp) mine.take(keys[warp], indices[warp]);
    __syncthreads();
    return mine;
}

// Best of what the blocks of the last kernel left: (key, index, ...) in SLOTS numbers each.
__device__ inline Choice best_of_parts(const REAL* __restrict__ parts, int count) {
    Choice mine = {REAL(0), -1};
    for (int part = threadIdx.x; part < count; part += BLOCK) {
        mine.take(parts[SLOTS * part], (INDEX)parts[SLOTS * part + 1]);
    }
    return block_best(mine);
}
