// CUDA's words for a host compiler, for grids whose blocks wait for each other: each block runs in
// a thread of the operating system, its threads in turns on stacks of their own. They meet at every
// operation of a warp or block; blocks meet by their own atomic operations, truly side by side. An
// operation that not all threads of a warp reach ends the program with a message.
#pragma once

#include <ucontext.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#define __global__
#define __device__
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define __restrict__

struct Index3 {
    unsigned x = 0;
};
static thread_local Index3 threadIdx, blockIdx;
static Index3 blockDim, gridDim;

namespace emulator {

constexpr int MOST = 256;
constexpr size_t STACK = 256 << 10;

struct Lane {
    ucontext_t context;
    int waits_for = 0; // number of threads that meet there: 32, the block, or 0 for none
    bool done = false;
};

struct Block {
    Lane lanes[MOST];
    ucontext_t home;
    int current = 0, threads = 0;
    int parity[MOST] = {};
    alignas(16) unsigned char seen[2][MOST][8];
    std::vector<char> stacks;
    std::function<void()> body;
};

static thread_local Block *block;

inline void fail(const char *what) {
    std::fprintf(stderr, "emulated grid: %s\n", what);
    std::abort();
}

inline void enter() {
    block->body();
    Lane &own = block->lanes[block->current];
    own.done = true;
    swapcontext(&own.context, &block->home);
}

inline void meet(int count) {
    Lane &own = block->lanes[block->current];
    own.waits_for = count;
    swapcontext(&own.context, &block->home);
}

inline void run_once(int lane) { // let a thread go on to its next meeting
    block->current = lane;
    threadIdx.x = unsigned(lane);
    block->lanes[lane].waits_for = 0;
    swapcontext(&block->home, &block->lanes[lane].context);
}

inline bool all_wait(int first, int end, int count) {
    for (int lane = first; lane < end; ++lane)
        if (block->lanes[lane].done || block->lanes[lane].waits_for != count)
            return false;
    return true;
}

// Runs every thread to its next meeting; lets a warp or the block go on once all have come.
inline void run_block(int number, int count, std::function<void()> work) {
    Block own;
    block = &own;
    blockIdx.x = unsigned(number);
    own.threads = count;
    own.body = work;
    own.stacks.resize(STACK * size_t(count));
    for (int lane = 0; lane < count; ++lane) {
        getcontext(&own.lanes[lane].context);
        own.lanes[lane].context.uc_stack.ss_sp = own.stacks.data() + STACK * size_t(lane);
        own.lanes[lane].context.uc_stack.ss_size = STACK;
        own.lanes[lane].context.uc_link = &own.home;
        makecontext(&own.lanes[lane].context, enter, 0);
    }
    for (int lane = 0; lane < count; ++lane)
        run_once(lane);
    for (;;) {
        int done = 0;
        bool moved = false;
        for (int lane = 0; lane < count; ++lane)
            done += own.lanes[lane].done;
        if (done == count)
            return;
        if (all_wait(0, count, count)) {
            for (int lane = 0; lane < count; ++lane)
                run_once(lane);
            continue;
        }
        for (int first = 0; first < count; first += 32) {
            if (!all_wait(first, first + 32, 32))
                continue;
            for (int lane = first; lane < first + 32; ++lane)
                run_once(lane);
            moved = true;
        }
        if (!moved)
            fail("threads wait for each other at different places");
    }
}

inline void run_grid(int grid, int count, std::function<void()> work) {
    gridDim.x = unsigned(grid);
    blockDim.x = unsigned(count);
    std::vector<std::thread> blocks;
    for (int number = 0; number < grid; ++number)
        blocks.emplace_back([=] { run_block(number, count, work); });
    for (std::thread &one : blocks)
        one.join();
}

// What another lane of this warp holds; all 32 call it.
template <class T> inline const unsigned char (*exchange(T value))[8] {
    static_assert(sizeof(T) <= 8, "a slot is eight bytes");
    Block &own = *block;
    const int side = own.parity[own.current] ^= 1;
    std::memcpy(own.seen[side][own.current], &value, sizeof value);
    meet(32);
    return &own.seen[side][own.current & ~31];
}

template <class T> inline T held(const unsigned char (*seen)[8], int lane) {
    T value;
    std::memcpy(&value, seen[lane], sizeof value);
    return value;
}

} // namespace emulator

using std::fabs;
using std::fmax;
using std::fmin;

inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }

inline void __syncwarp() { emulator::meet(32); }
inline void __syncthreads() { emulator::meet(emulator::block->threads); }
inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void __nanosleep(unsigned) { std::this_thread::yield(); }

template <class T> inline T __shfl_sync(unsigned, T value, int source) {
    return emulator::held<T>(emulator::exchange(value), source & 31);
}

template <class T> inline T __shfl_xor_sync(unsigned, T value, int mask) {
    const int lane = emulator::block->current & 31;
    return emulator::held<T>(emulator::exchange(value), lane ^ mask);
}

template <class T> inline T __shfl_up_sync(unsigned, T value, int distance) {
    const int lane = emulator::block->current & 31;
    const int source = lane < distance ? lane : lane - distance;
    return emulator::held<T>(emulator::exchange(value), source);
}

inline unsigned __ballot_sync(unsigned, bool flag) {
    const auto flags = emulator::exchange(int(flag));
    unsigned raised = 0;
    for (int lane = 0; lane < 32; ++lane)
        raised |= unsigned(emulator::held<int>(flags, lane)) << lane;
    return raised;
}

inline unsigned __reduce_max_sync(unsigned, unsigned value) {
    const auto all = emulator::exchange(value);
    unsigned top = 0;
    for (int lane = 0; lane < 32; ++lane)
        top = std::max(top, emulator::held<unsigned>(all, lane));
    return top;
}

template <class T> inline T atomicAdd(T *place, T value) {
    return __atomic_fetch_add(place, value, __ATOMIC_RELAXED);
}

inline unsigned atomicXor(unsigned *place, unsigned value) {
    return __atomic_fetch_xor(place, value, __ATOMIC_RELAXED);
}

inline unsigned long long atomicMax(unsigned long long *place, unsigned long long value) {
    unsigned long long seen = __atomic_load_n(place, __ATOMIC_RELAXED);
    while (seen < value && !__atomic_compare_exchange_n(place, &seen, value, true, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED)) {
    }
    return seen;
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
