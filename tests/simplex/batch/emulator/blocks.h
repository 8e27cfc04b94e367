// What the batched simplex kernel needs beside the words of lanes.h: memory of a block that is
// sized at its launch, a queue, and warps that reduce.
#pragma once

#include "lanes.h"

#undef __launch_bounds__
#define __launch_bounds__(...)
#define __noinline__ __attribute__((noinline))
#define __forceinline__ inline

template <class T> inline T __shfl_xor_sync(unsigned mask, T value, int distance, int) {
    return __shfl_xor_sync(mask, value, distance);
}

inline int atomicAdd(int *place, int more) {
    const int before = *place;
    *place += more;
    return before;
}

inline unsigned long long atomicAdd(unsigned long long *place, unsigned long long more) {
    const unsigned long long before = *place;
    *place += more;
    return before;
}

inline unsigned __reduce_min_sync(unsigned, unsigned value) {
    const unsigned *all = emulator::exchange(value);
    unsigned least = all[0];
    for (int lane = 1; lane < 32; ++lane)
        least = all[lane] < least ? all[lane] : least;
    return least;
}

inline double __longlong_as_double(long long bits) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
