// What stages on lists need beside the words of the headers for blocks and grids.
#pragma once

#ifdef WHOLE_GRID
#include "grid.h"
#else
#include "blocks.h"

template <class T> inline T __shfl_up_sync(unsigned, T value, int distance) {
    const int lane = emulator::current & 31;
    return emulator::exchange(value)[lane < distance ? lane : lane - distance];
}
#endif

inline long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
