// What the kernels of the dense GPU core share: words, rules and structures (structures.cuh), and
// reductions.
//
// Every combination follows a fixed tree, and of equals the lowest index is taken, so that a launch
// repeated gives the same bits. All threads of the block must call the block_ functions together.

#pragma once

#include "reduce.cuh"
#include "structures.cuh"

using namespace simplex::dense_gpu;

#define INFINITE (REAL(1) / REAL(0))

struct Best {
    REAL value;
    INDEX index;
};

__device__ __forceinline__ Best nothing() { return Best{REAL(0), (INDEX)NONE}; }

__device__ __forceinline__ Best better(const Best a, const Best b) {
    return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
}

// The upper and lower half of a number, which order numbers that are not negative as they are.
union Halves {
    REAL value;
    unsigned words[sizeof(REAL) / sizeof(unsigned)];

    __device__ __forceinline__ unsigned& upper() { return words[sizeof(REAL) / 4 - 1]; }
    __device__ __forceinline__ unsigned& lower() { return words[0]; }
};

// The least of numbers that are not negative; the whole warp calls it. Two operations of the
// warp's own take a fraction of the time of five shuffles.
__device__ __forceinline__ REAL warp_least(REAL own) {
    Halves mine, least;
    mine.value = own;
    least.upper() = ~__reduce_max_sync(0xffffffffu, ~mine.upper());
    const bool tied = mine.upper() == least.upper();
    least.lower() = ~__reduce_max_sync(0xffffffffu, tied ? ~mine.lower() : 0u);
    return least.value;
}

// The best of all lanes, none of which has a negative value; the whole warp calls it.
__device__ __forceinline__ Best warp_best(const Best own) {
    Halves mine, most;
    mine.value = own.value;
    most.upper() = __reduce_max_sync(0xffffffffu, mine.upper());
    bool tied = mine.upper() == most.upper();
    most.lower() = __reduce_max_sync(0xffffffffu, tied ? mine.lower() : 0u);
    tied = tied && mine.lower() == most.lower();
    const unsigned index = ~__reduce_max_sync(0xffffffffu, tied ? ~(unsigned)own.index : 0u);
    return Best{most.value, (INDEX)index};
}

// Several sums, whose waits for each other's lanes overlap.
template <int N>
__device__ __forceinline__ void warp_sums(REAL (&sums)[N]) {
    for (int distance = 16; distance > 0; distance >>= 1)
#pragma unroll
        for (int s = 0; s < N; ++s)
            sums[s] += __shfl_xor_sync(0xffffffffu, sums[s], distance);
}

// The least of all threads' numbers, none of which is negative, and several sums, for the price of
// one; all threads get them.
template <int N>
__device__ __forceinline__ REAL block_least(REAL least, REAL (&sums)[N]) {
    __shared__ REAL least_of[32];
    __shared__ REAL sum_of[N][32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const bool there = lane < (int)(blockDim.x >> 5);
    least = warp_least(least);
    warp_sums(sums);
    if (lane == 0) least_of[warp] = least;
#pragma unroll
    for (int s = 0; s < N; ++s)
        if (lane == 0) sum_of[s][warp] = sums[s];
    __syncthreads();
    least = warp_least(there ? least_of[lane] : INFINITE);
#pragma unroll
    for (int s = 0; s < N; ++s) sums[s] = there ? sum_of[s][lane] : REAL(0);
    warp_sums(sums);
    __syncthreads();
    return least;
}

__device__ __forceinline__ Best block_best(Best own) {
    __shared__ REAL values[32];
    __shared__ INDEX indices[32];
    const int lane = threadIdx.x & 31;
    own = warp_best(own);
    if (lane == 0) {
        values[threadIdx.x >> 5] = own.value;
        indices[threadIdx.x >> 5] = own.index;
    }
    __syncthreads();
    own = lane < (int)(blockDim.x >> 5) ? Best{values[lane], indices[lane]} : nothing();
    own = warp_best(own);
    __syncthreads();
    return own;
}

// Of each thread's count, the sum of those of the threads before it; `total` becomes that of all.
// `flags` says that no thread counts more than one, which is quicker.
__device__ __forceinline__ int block_before(int count, bool flags, int& total) {
    __shared__ int of_warp[BLOCK / 32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int sum = count;
    if (flags) {
        const unsigned counted = __ballot_sync(0xffffffffu, count != 0);
        sum = __popc(counted & (0xffffffffu >> (31 - lane)));
    } else {
        for (int distance = 1; distance < 32; distance <<= 1) {
            const int from = lane < distance ? lane : lane - distance;
            const int other = __shfl_sync(0xffffffffu, sum, from);
            if (lane >= distance) sum += other;
        }
    }
    if (lane == 31) of_warp[warp] = sum;
    __syncthreads();
    int before = 0;
    total = 0;
#pragma unroll
    for (int w = 0; w < BLOCK / 32; ++w) {
        const int other = of_warp[w];
        total += other;
        before += w < warp ? other : 0;
    }
    __syncthreads();
    return before + sum - count;
}
