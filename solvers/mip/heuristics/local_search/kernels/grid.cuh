// What lanes of a warp, threads of a block, and blocks of the grid do together.
//
// All threads of a warp, block or grid call each operation together. Sums follow a fixed tree that
// the CPU has as well (host.h): a butterfly within each warp, then warp after warp.
//
// Any number of threads change rows of the tree of violated rows at once: what it holds does not
// depend on the order of changes, and the k-th violated row is found by a warp in one look at each
// level. Changes of the top level, where all threads would meet, are gathered for each block first.
#pragma once

#include "grid_numbers.cuh"

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

// Notes that a row has become violated or holds again; ``of_top`` (32) are the block's.
__device__ inline void tree_change(const Tree& tree, int row, bool enters, int* of_top) {
    atomicXor(tree.nodes + (row >> 5), 1u << (row & 31));
    int node = row >> 10;
    for (int level = 1; level < tree.top; ++level, node >>= 5)
        atomicAdd((int*)tree.nodes + tree.first[level] + node, enters ? 1 : -1);
    atomicAdd(of_top + node, enters ? 1 : -1);
}

// Number of violated rows; all lanes of a warp call it.
__device__ inline int tree_count(const Tree& tree) {
    return warp_count(int(tree.nodes[tree.first[tree.top] + lane_number()]));
}

// The violated row with ``rank`` lower ones before it; all lanes of a warp call it.
__device__ inline int tree_find(const Tree& tree, int rank) {
    const int lane = lane_number();
    int node = 0;
    for (int level = tree.top; level >= 0; --level) {
        const unsigned own = tree.nodes[tree.first[level] + 32 * node + lane];
        const int rows = level ? int(own) : __popc(own);
        const int before = warp_before(rows);
        const unsigned here =
            __ballot_sync(ALL_LANES, before <= rank && rank < before + rows);
        const int source = max(__ffs(int(here)) - 1, 0);
        rank -= __shfl_sync(ALL_LANES, before, source);
        node = 32 * node + source;
    }
    const unsigned bits = tree.nodes[node];
    const bool mine = (bits >> lane) & 1u;
    const int below = __popc(bits & ((1u << lane) - 1u));
    const unsigned here = __ballot_sync(ALL_LANES, mine && below == rank);
    return 32 * node + max(__ffs(int(here)) - 1, 0);
}
