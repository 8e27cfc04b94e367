// Waiting for all blocks of a launch whose blocks run all at once.

#pragma once

#include "core.cuh"

#define TURN 0x80000000u  // the bit that each meeting turns over

// What blocks wrote before they came is seen by those that have seen all of them come.
__device__ __forceinline__ void come(unsigned* arrivals, unsigned share) {
#ifdef __CUDA_ARCH__
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(arrivals), "r"(share) : "memory");
#else
    __atomic_fetch_add(arrivals, share, __ATOMIC_ACQ_REL);
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

// Meetings of all blocks. The first block adds what makes all shares turn the upper bit over, so
// that the counter needs no zero: neither before a launch nor between meetings.
struct Meetings {
    unsigned* arrivals;
    unsigned now;  // the bit, as it is before the next meeting

    // Before the block comes to the first one, which until then cannot end.
    __device__ __forceinline__ explicit Meetings(INDEX* counter) : arrivals((unsigned*)counter) {
        now = look(arrivals) & TURN;
    }

    __device__ __forceinline__ void meet() {
        __syncthreads();
        if (threadIdx.x == 0) {
            come(arrivals, blockIdx.x == 0 ? TURN - (gridDim.x - 1u) : 1u);
            while ((look(arrivals) & TURN) == now) {}
        }
        now ^= TURN;
        __syncthreads();
    }
};
