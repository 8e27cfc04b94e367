// CUDA's words for a host compiler.
//
// The threads of a block run in turns, each on a stack of its own, and meet at every operation of a
// warp or block. A launch in which not all of them come to such an operation fails with a message;
// a GPU would hang. Blocks run one after the other in the calling thread, or each in a thread of
// the operating system where they wait for each other. Every warp has all of its 32 lanes, so that
// masks say nothing.
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

#define __global__
#define __device__
#define __shared__ static thread_local
#define __restrict__
#define __launch_bounds__(...)
#define __forceinline__ inline
#define __noinline__ __attribute__((noinline))

struct Index3 {
    unsigned x = 0;
};
static thread_local Index3 threadIdx, blockIdx;
static Index3 blockDim, gridDim;

namespace emulator {

constexpr int WARP = 32, MOST_THREADS = 1024;
constexpr size_t STACK = 256 << 10, MOST_SHARED = 227 << 10;
constexpr unsigned char UNTOUCHED = 0xf5; // in every byte of dynamic memory before a block begins

struct Launch {
    int grid, threads, shared, together, backwards;
    std::function<void()> body;
};
static Launch launch; // the one under way; callers see to it that there is one at a time

enum class Wait { nothing, warp, block };

struct Lane {
    ucontext_t start; // at the top of its stack
    jmp_buf place;    // where it goes on
    bool begun, done;
    Wait wait;
    int side; // of `seen`, that its next exchange uses
};

struct Block {
    Lane lanes[MOST_THREADS];
    int prepared = 0; // lanes that have a stack
    int current;
    jmp_buf home;
    unsigned char seen[2][MOST_THREADS][8]; // values that lanes of a warp show each other
};
static thread_local Block *block;
alignas(128) static thread_local unsigned char dynamic_memory[MOST_SHARED];

static std::mutex idle_lock;
static std::vector<Block *> idle; // blocks whose stacks the next ones take over

// Leaves a lane until whoever runs the block lets it go on. Jumps keep the signal mask, contexts
// would ask the system for it.
__attribute__((noinline)) inline void meet(Wait wait) {
    Lane &own = block->lanes[block->current];
    own.wait = wait;
    if (!_setjmp(own.place))
        _longjmp(block->home, 1);
}

inline void enter() {
    launch.body();
    Lane &own = block->lanes[block->current];
    own.done = true;
    own.wait = Wait::nothing;
    _longjmp(block->home, 1);
}

__attribute__((noinline)) inline void go_on(int number) { // to the lane's next meeting, or its end
    Lane &lane = block->lanes[number];
    block->current = number;
    threadIdx.x = unsigned(number);
    if (_setjmp(block->home))
        return;
    if (lane.begun)
        _longjmp(lane.place, 1);
    lane.begun = true;
    setcontext(&lane.start);
}

// Lets lanes go on if all of them wait for the same.
inline bool go_on_together(int first, int end, Wait wait) {
    for (int lane = first; lane < end; ++lane)
        if (block->lanes[lane].wait != wait)
            return false;
    for (int lane = first; lane < end; ++lane)
        go_on(launch.backwards ? first + end - 1 - lane : lane);
    return true;
}

inline void prepare_lanes() {
    for (; block->prepared < launch.threads; ++block->prepared) {
        ucontext_t &start = block->lanes[block->prepared].start;
        getcontext(&start);
        start.uc_stack.ss_sp = std::malloc(STACK);
        start.uc_stack.ss_size = STACK;
        makecontext(&start, enter, 0);
    }
    for (int number = 0; number < launch.threads; ++number) {
        Lane &lane = block->lanes[number];
        lane.begun = lane.done = false;
        lane.wait = Wait::block;
        lane.side = 0;
    }
}

inline bool is_untouched(const unsigned char *bytes, size_t count) {
    return !count || (bytes[0] == UNTOUCHED && !std::memcmp(bytes, bytes + 1, count - 1));
}

inline const char *run_lanes() { // returns what went wrong, or nothing
    std::memset(dynamic_memory, UNTOUCHED, MOST_SHARED);
    prepare_lanes();
    const int threads = launch.threads;
    for (bool moved = true; moved;) {
        moved = go_on_together(0, threads, Wait::block);
        for (int first = 0; first < threads; first += WARP) {
            const int warp = launch.backwards ? threads - WARP - first : first;
            moved |= go_on_together(warp, warp + WARP, Wait::warp);
        }
    }
    for (int lane = 0; lane < threads; ++lane)
        if (!block->lanes[lane].done)
            return "threads wait for each other at different places";
    const size_t shared = size_t(launch.shared);
    if (!is_untouched(dynamic_memory + shared, MOST_SHARED - shared))
        return "a block wrote beyond the shared memory that its launch asked for";
    return nullptr;
}

inline const char *run_block(int number) {
    {
        const std::lock_guard<std::mutex> guard(idle_lock);
        if (idle.empty())
            idle.push_back(new Block);
        block = idle.back();
        idle.pop_back();
    }
    blockIdx.x = unsigned(number);
    const char *wrong = run_lanes();
    const std::lock_guard<std::mutex> guard(idle_lock);
    idle.push_back(block);
    return wrong;
}

inline void run_beside_others(int number) {
    if (const char *wrong = run_block(number)) { // others may wait for this block for ever
        std::fprintf(stderr, "emulator: %s\n", wrong);
        std::abort();
    }
}

inline const char *run(const int *shape, std::function<void()> body) {
    launch = {shape[0], shape[1], shape[2], shape[3], shape[4], body};
    gridDim.x = unsigned(launch.grid);
    blockDim.x = unsigned(launch.threads);
    if (launch.threads < WARP || launch.threads % WARP || launch.threads > MOST_THREADS)
        return "a block has 1 to 32 whole warps";
    if (size_t(launch.shared) > MOST_SHARED)
        return "a block has 227 KB of shared memory at most";
    if (launch.together) {
        std::vector<std::thread> blocks;
        for (int number = 0; number < launch.grid; ++number)
            blocks.emplace_back(run_beside_others, number);
        for (std::thread &one : blocks)
            one.join();
        return nullptr;
    }
    for (int number = 0; number < launch.grid; ++number)
        if (const char *wrong = run_block(number))
            return wrong;
    return nullptr;
}

using Slots = const unsigned char (*)[8];

template <class T> inline T held(Slots seen, int lane) {
    T value;
    std::memcpy(&value, seen[lane], sizeof value);
    return value;
}

template <class T> inline Slots exchange(T value) { // what each lane of the warp shows
    static_assert(sizeof(T) <= 8, "a slot is eight bytes");
    const int current = block->current, side = block->lanes[current].side ^= 1;
    std::memcpy(block->seen[side][current], &value, sizeof value);
    meet(Wait::warp);
    return &block->seen[side][current & ~(WARP - 1)];
}

// The value of another lane in a group of `width`; of this one if the other is outside.
template <class T> inline T take(T value, int distance, int width) {
    const int lane = block->current & (WARP - 1), place = (lane & (width - 1)) + distance;
    return held<T>(exchange(value), place >= 0 && place < width ? lane + distance : lane);
}

template <class T, class F> inline T combine(T value, F two) {
    const Slots seen = exchange(value);
    T all = held<T>(seen, 0);
    for (int lane = 1; lane < WARP; ++lane)
        all = two(all, held<T>(seen, lane));
    return all;
}

template <class T, class F> inline T update(T *place, F change) { // returns what was there before
    T seen, made;
    __atomic_load(place, &seen, __ATOMIC_RELAXED);
    do
        made = change(seen);
    while (
        !__atomic_compare_exchange(place, &seen, &made, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return seen;
}

template <class To, class From> inline To bits_as(From value) {
    static_assert(sizeof(To) == sizeof(From), "bits stay the same");
    To result;
    std::memcpy(&result, &value, sizeof result);
    return result;
}

template <class T> struct AsIs {
    using type = T;
};
template <class T> using as_is = typename AsIs<T>::type; // takes no part in finding T

} // namespace emulator

using std::fabs;
using std::fmax;
using std::fmin;

template <class A, class B> inline std::common_type_t<A, B> min(A a, B b) {
    using T = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point_v<T>)
        return std::fmin(T(a), T(b));
    else
        return T(b) < T(a) ? T(b) : T(a);
}

template <class A, class B> inline std::common_type_t<A, B> max(A a, B b) {
    using T = std::common_type_t<A, B>;
    if constexpr (std::is_floating_point_v<T>)
        return std::fmax(T(a), T(b));
    else
        return T(a) < T(b) ? T(b) : T(a);
}

inline void __syncwarp() { emulator::meet(emulator::Wait::warp); }
inline void __syncthreads() { emulator::meet(emulator::Wait::block); }
// Reads and writes past the cache of one multiprocessor.
template <class T> inline T __ldcg(const T *place) { return *place; }
template <class T> inline void __stcg(T *place, T value) { *place = value; }

inline void __threadfence() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void __nanosleep(unsigned) { std::this_thread::yield(); }

template <class T> inline T __shfl_sync(unsigned, T value, int source, int width = 32) {
    const int first = emulator::block->current & (emulator::WARP - 1) & ~(width - 1);
    return emulator::held<T>(emulator::exchange(value), first + (source & (width - 1)));
}

template <class T> inline T __shfl_xor_sync(unsigned, T value, int mask, int width = 32) {
    const int place = emulator::block->current & (width - 1);
    return emulator::take(value, (place ^ mask) - place, width);
}

template <class T> inline T __shfl_up_sync(unsigned, T value, int distance, int width = 32) {
    return emulator::take(value, -distance, width);
}

template <class T> inline T __shfl_down_sync(unsigned, T value, int distance, int width = 32) {
    return emulator::take(value, distance, width);
}

inline unsigned __ballot_sync(unsigned, bool flag) {
    const emulator::Slots flags = emulator::exchange(flag);
    unsigned raised = 0;
    for (int lane = 0; lane < emulator::WARP; ++lane)
        raised |= unsigned(emulator::held<bool>(flags, lane)) << lane;
    return raised;
}
inline int __any_sync(unsigned mask, bool flag) { return __ballot_sync(mask, flag) != 0; }

template <class T> inline T __reduce_add_sync(unsigned, T value) {
    return emulator::combine(value, [](T a, T b) { return T(a + b); });
}
template <class T> inline T __reduce_min_sync(unsigned, T value) {
    return emulator::combine(value, [](T a, T b) { return b < a ? b : a; });
}
template <class T> inline T __reduce_max_sync(unsigned, T value) {
    return emulator::combine(value, [](T a, T b) { return a < b ? b : a; });
}

template <class T> inline T atomicAdd(T *place, emulator::as_is<T> value) {
    return emulator::update(place, [=](T seen) { return T(seen + value); });
}
template <class T> inline T atomicXor(T *place, emulator::as_is<T> value) {
    return emulator::update(place, [=](T seen) { return T(seen ^ value); });
}
template <class T> inline T atomicMin(T *place, emulator::as_is<T> value) {
    return emulator::update(place, [=](T seen) { return value < seen ? value : seen; });
}
template <class T> inline T atomicMax(T *place, emulator::as_is<T> value) {
    return emulator::update(place, [=](T seen) { return seen < value ? value : seen; });
}
template <class T>
inline T atomicCAS(T *place, emulator::as_is<T> expected, emulator::as_is<T> value) {
    return emulator::update(place, [=](T seen) { return seen == expected ? value : seen; });
}

inline int __popc(unsigned bits) { return __builtin_popcount(bits); }
inline int __ffs(int bits) { return __builtin_ffs(bits); }
inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }

inline double __dmul_rn(double a, double b) { return a * b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }

inline long long __double_as_longlong(double a) { return emulator::bits_as<long long>(a); }
inline double __longlong_as_double(long long a) { return emulator::bits_as<double>(a); }
inline int __float_as_int(float a) { return emulator::bits_as<int>(a); }
inline float __int_as_float(int a) { return emulator::bits_as<float>(a); }
