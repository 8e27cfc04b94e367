// CUDA's words for a host compiler: the threads of a block run in turns, each on a stack of its
// own, and meet at every operation of a warp or block. An operation that not all threads of the
// warp reach ends the program with a message, which a GPU would answer by hanging.
#pragma once

#include <ucontext.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

#define __global__
#define __device__
#define __shared__ static
#define __launch_bounds__(threads)
#define __restrict__

struct Index3 {
    unsigned x = 0;
};
static Index3 threadIdx, blockIdx, blockDim;

namespace emulator {

constexpr int MOST = 256;
constexpr size_t STACK = 256 << 10;

struct Lane {
    ucontext_t context;
    char *stack = nullptr;
    int waits_for = 0; // number of threads that meet there: 32, the block, or 0 for none
    bool done = false;
};

static Lane lanes[MOST];
static ucontext_t home;
static int current = 0, threads = 0;
static double slots[2][MOST];
static int parity[MOST];
static std::function<void()> body;

inline void fail(const char *what) {
    std::fprintf(stderr, "emulated lanes: %s\n", what);
    std::abort();
}

inline void enter() {
    body();
    lanes[current].done = true;
    swapcontext(&lanes[current].context, &home);
}

inline void meet(int count) {
    lanes[current].waits_for = count;
    swapcontext(&lanes[current].context, &home);
}

inline bool run_once(int lane) { // let a thread go on to its next meeting
    current = lane;
    threadIdx.x = unsigned(lane);
    lanes[lane].waits_for = 0;
    swapcontext(&home, &lanes[lane].context);
    return !lanes[lane].done;
}

// Runs every thread to its next meeting; lets a warp or the block go on once all have come.
inline void run_block(int count, std::function<void()> work) {
    threads = count;
    body = work;
    for (int lane = 0; lane < count; ++lane) {
        Lane &own = lanes[lane];
        if (!own.stack)
            own.stack = static_cast<char *>(std::malloc(STACK));
        getcontext(&own.context);
        own.context.uc_stack.ss_sp = own.stack;
        own.context.uc_stack.ss_size = STACK;
        own.context.uc_link = &home;
        own.done = false;
        parity[lane] = 0;
        makecontext(&own.context, enter, 0);
    }
    for (int lane = 0; lane < count; ++lane)
        run_once(lane);
    for (;;) {
        int done = 0, at_block = 0, moved = 0;
        for (int lane = 0; lane < count; ++lane) {
            done += lanes[lane].done;
            at_block += !lanes[lane].done && lanes[lane].waits_for == threads;
        }
        if (done == count)
            return;
        if (at_block == count) {
            for (int lane = 0; lane < count; ++lane)
                run_once(lane);
            continue;
        }
        for (int first = 0; first < count; first += 32) {
            int there = 0;
            for (int lane = first; lane < first + 32; ++lane)
                there += !lanes[lane].done && lanes[lane].waits_for == 32;
            if (there != 32)
                continue;
            for (int lane = first; lane < first + 32; ++lane)
                run_once(lane);
            ++moved;
        }
        if (!moved)
            fail("threads wait for each other at different places");
    }
}

template <class T>
inline T *exchange(T value) { // what the 32 lanes of this warp hold, valid until the next one
    static_assert(sizeof(T) <= sizeof(double), "a slot is eight bytes");
    static T seen[2][MOST];
    const int side = parity[current] ^= 1;
    seen[side][current] = value;
    meet(32);
    return &seen[side][current & ~31];
}

} // namespace emulator

using std::fabs;
using std::fmax;
using std::fmin;

inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }

inline void __syncwarp() { emulator::meet(32); }
inline void __syncthreads() { emulator::meet(emulator::threads == 32 ? 32 : emulator::threads); }

template <class T> inline T __shfl_sync(unsigned, T value, int source) {
    return emulator::exchange(value)[source & 31];
}

template <class T> inline T __shfl_xor_sync(unsigned, T value, int mask) {
    const int lane = emulator::current & 31;
    return emulator::exchange(value)[lane ^ mask];
}

inline unsigned __ballot_sync(unsigned, bool flag) {
    const int *flags = emulator::exchange(int(flag));
    unsigned raised = 0;
    for (int lane = 0; lane < 32; ++lane)
        raised |= unsigned(flags[lane]) << lane;
    return raised;
}

inline unsigned __reduce_max_sync(unsigned, unsigned value) {
    const unsigned *all = emulator::exchange(value);
    unsigned top = 0;
    for (int lane = 0; lane < 32; ++lane)
        top = all[lane] > top ? all[lane] : top;
    return top;
}

inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }

inline long long __double_as_longlong(double value) {
    long long bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
}
