// What lanes of a warp, threads of a block, and blocks of the grid do together.
//
// All threads of a warp, block or grid call each operation together. Sums follow a fixed tree that
// the CPU has as well (lane_sum.h): a butterfly within each warp, then warp after warp.

#pragma once

#include "numbers.cuh"

constexpr unsigned ALL_LANES = 0xffffffffu;
constexpr int BLOCK_WARPS = BLOCK / 32;

__device__ inline int lane_number() { return int(threadIdx.x) & 31; }

__device__ inline double warp_sum(double value) {
    for (int offset = 16; offset; offset >>= 1)
        value = plus(value, __shfl_xor_sync(ALL_LANES, value, offset));
    return value;
}

__device__ inline double warp_least(double value) {
    for (int offset = 16; offset; offset >>= 1)
        value = fmin(value, __shfl_xor_sync(ALL_LANES, value, offset));
    return value;
}

__device__ inline int warp_count(int value) {
    for (int offset = 16; offset; offset >>= 1) value += __shfl_xor_sync(ALL_LANES, value, offset);
    return value;
}

__device__ inline int warp_before(int value) {  // sum over the lower lanes
    const int lane = lane_number();
    int total = value;
    for (int offset = 1; offset < 32; offset <<= 1) {
        const int other = __shfl_up_sync(ALL_LANES, total, offset);
        if (lane >= offset) total += other;
    }
    return total - value;
}

__device__ inline double block_sum(double value) {
    __shared__ double of_warp[BLOCK_WARPS];
    value = warp_sum(value);
    if (lane_number() == 0) of_warp[threadIdx.x >> 5] = value;
    __syncthreads();
    value = of_warp[0];
    for (int warp = 1; warp < BLOCK_WARPS; ++warp) value = plus(value, of_warp[warp]);
    __syncthreads();
    return value;
}

__device__ inline double block_largest(double value) {
    __shared__ double of_warp[BLOCK_WARPS];
    value = -warp_least(-value);
    if (lane_number() == 0) of_warp[threadIdx.x >> 5] = value;
    __syncthreads();
    value = of_warp[0];
    for (int warp = 1; warp < BLOCK_WARPS; ++warp) value = fmax(value, of_warp[warp]);
    __syncthreads();
    return value;
}

struct Nothing {
    __device__ void operator()() const {}
};

// All blocks come; block 0 does what ``lead`` says; all go on. One thread of each block waits, the
// others wait for it at the block's own barrier, so that no warp spins in parts.
template <class Lead>
__device__ void meet(int* control, Lead lead) {
    volatile int* seen = control;
    int generation = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        generation = seen[GENERATION];  // cannot change before this block has come
        __threadfence();
        atomicAdd(control + ARRIVED, 1);
    }
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            while (seen[ARRIVED] != int(gridDim.x)) __nanosleep(20);
            __threadfence();
            seen[ARRIVED] = 0;
        }
        __syncthreads();
        lead();
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            seen[GENERATION] = generation + 1;
        }
    } else if (threadIdx.x == 0) {
        while (seen[GENERATION] == generation) __nanosleep(20);
        __threadfence();
    }
    __syncthreads();
}
