// What the kernels of the paper's solver share: rules (rules.cuh), and reductions.

#pragma once

#include "rules.cuh"

using namespace simplex::paper;

constexpr int WARPS = BLOCK / 32;

using Choice = Candidate<REAL, INDEX>;

__device__ inline bool first_thread() { return blockIdx.x == 0 && threadIdx.x == 0; }

__device__ inline bool stopped(const REAL* control) {
    return control[STOP] != REAL(RUNNING);
}

// Sum over neighbouring threads, a power of two of them up to 32; all get the result. The whole
// warp must call it.
__device__ inline REAL team_sum(REAL value, int team) {
    for (int distance = 16; distance > 0; distance >>= 1) {
        const REAL other = __shfl_xor_sync(0xffffffffu, value, distance);
        if (distance < team) value += other;
    }
    return value;
}

__device__ inline REAL block_sum(REAL value) {
    __shared__ REAL of_warp[WARPS];
    value = team_sum(value, 32);
    if ((threadIdx.x & 31) == 0) of_warp[threadIdx.x >> 5] = value;
    __syncthreads();
    value = REAL(0);
    for (int warp = 0; warp < WARPS; ++warp) value += of_warp[warp];
    __syncthreads();  // the next call may write of_warp at once
    return value;
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

__device__ inline REAL block_max(REAL value) {
    __shared__ REAL of_warp[WARPS];
    for (int distance = 16; distance > 0; distance >>= 1) {
        const REAL other = __shfl_xor_sync(0xffffffffu, value, distance);
        value = other > value ? other : value;
    }
    if ((threadIdx.x & 31) == 0) of_warp[threadIdx.x >> 5] = value;
    __syncthreads();
    for (int warp = 0; warp < WARPS; ++warp) value = of_warp[warp] > value ? of_warp[warp] : value;
    __syncthreads();
    return value;
}

// Best of what the blocks of the last kernel left: (key, index, ...) in SLOTS numbers each.
__device__ inline Choice best_of_parts(const REAL* __restrict__ parts, int count) {
    Choice mine = {REAL(0), -1};
    for (int part = threadIdx.x; part < count; part += BLOCK) {
        mine.take(parts[SLOTS * part], (INDEX)parts[SLOTS * part + 1]);
    }
    return block_best(mine);
}
