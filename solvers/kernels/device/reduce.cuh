// Sums, minima and maxima over the lanes of a warp and over a block.
//
// Every combination follows a fixed tree, so that a launch repeated gives the same bits. All
// threads of the block must call these together.

#pragma once

struct Sum {
    static __device__ __forceinline__ REAL neutral() { return REAL(0); }
    static __device__ __forceinline__ REAL combine(REAL a, REAL b) { return a + b; }
};

struct Largest {
    static __device__ __forceinline__ REAL neutral() { return REAL(0); }  // of magnitudes
    static __device__ __forceinline__ REAL combine(REAL a, REAL b) { return a > b ? a : b; }
};

struct Smallest {
    static __device__ __forceinline__ REAL neutral() { return REAL(1) / REAL(0); }
    static __device__ __forceinline__ REAL combine(REAL a, REAL b) { return a < b ? a : b; }
};

// Over groups of `lanes` neighbouring threads, a power of two up to 32; all get the result.
template <class Operation>
__device__ __forceinline__ REAL lanes_reduce(REAL value, int lanes) {
    for (int distance = lanes >> 1; distance > 0; distance >>= 1) {
        value = Operation::combine(value, __shfl_xor_sync(0xffffffffu, value, distance, lanes));
    }
    return value;
}

// Over the whole block, whose size is a multiple of 32; all threads get the result.
template <class Operation>
__device__ __forceinline__ REAL block_reduce(REAL value) {
    __shared__ REAL of_warp[32];
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    const int warps = blockDim.x >> 5;
    value = lanes_reduce<Operation>(value, 32);
    if (lane == 0) of_warp[warp] = value;
    __syncthreads();
    value = lane < warps ? of_warp[lane] : Operation::neutral();
    value = lanes_reduce<Operation>(value, 32);
    __syncthreads();  // the next call may write of_warp at once
    return value;
}
