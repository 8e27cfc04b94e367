// Waiting for all blocks of a launch whose blocks run all at once.

#pragma once

#include "core.cuh"

#define TURN 0x80000000u  // the bit that each meeting turns over

// What blocks wrote before they came is seen by those that have seen all of them come.
__device__ __forceinline__ unsigned come(unsigned* arrivals, unsigned share) {
#ifdef __CUDA_ARCH__
    unsigned before;
    asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], %2;"
                 : "=r"(before) : "l"(arrivals), "r"(share) : "memory");
    return before;
#else
    return __atomic_fetch_add(arrivals, share, __ATOMIC_ACQ_REL);
#endif
}

__device__ __forceinline__ unsigned look(const unsigned* arrivals) {
#ifdef __CUDA_ARCH__
    unsigned seen;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrivals) : "memory");
    return seen;
#else
    __nanosleep(20);
    return __atomic_load_n(arrivals, __ATOMIC_ACQUIRE);
#endif
}

// All blocks together. The first adds what makes all shares turn the upper bit over, so that the
// counter needs no zero: neither before a launch nor between meetings.
__device__ __forceinline__ void meet(INDEX* arrivals) {
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned* counter = (unsigned*)arrivals;
        const unsigned before = come(counter, blockIdx.x == 0 ? TURN - (gridDim.x - 1u) : 1u);
        while (((look(counter) ^ before) & TURN) == 0u) {}
    }
    __syncthreads();
}
