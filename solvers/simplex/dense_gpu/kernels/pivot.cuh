// The leaving position, and its row of the inverse: the stored one, and the delayed pivots' part.

#pragma once

#include "core.cuh"

#define ROW_WARPS (BLOCK / 32)
#define ROW_ELEMENTS 32  // that a block computes at once: a lane each, and every warp a part of it

struct RowSums {
    REAL coefficient[MOST_DELAYED];
    REAL part[ROW_WARPS][ROW_ELEMENTS];
};

// What of the delayed rows a thread reads, which does not depend on the position.
struct Delayed {
    REAL element[MOST_DELAYED / ROW_WARPS];
    INDEX slot;
};

struct Leaving {
    INDEX position, variable;
    REAL value, excess, bound, weight;
};

__device__ __forceinline__ Leaving leaving_at(
    INDEX position, const REAL* x_basic, const REAL* lower_basic, const REAL* upper_basic,
    const REAL* weights, const INDEX* basic, REAL tolerance) {
    const REAL x = x_basic[position], low = lower_basic[position], high = upper_basic[position];
    const REAL excess = excess_of(x, low, high, tolerance);
    return Leaving{position, basic[position], x, excess, excess < REAL(0) ? low : high,
                   weights[position]};
}

// Of the elements of a unit. Threads wait for memory once, not once for each delayed row.
__device__ __forceinline__ Delayed ask_delayed(
    int unit, int rows, INDEX made, const REAL* eta_rows, const INDEX* slot_of_row) {
    const int i = unit * ROW_ELEMENTS + (threadIdx.x & 31), warp = threadIdx.x >> 5;
    const bool inside = i < rows;
    Delayed found;
    found.slot = inside ? slot_of_row[i] : -1;
#pragma unroll
    for (int u = 0; u < MOST_DELAYED / ROW_WARPS; ++u) {
        const int e = warp + u * ROW_WARPS;
        found.element[u] = inside && e < made ? eta_rows[(long long)e * rows + i] : REAL(0);
    }
    return found;
}

// A unit's elements of the row; the block together.
__device__ __forceinline__ void leave_row(
    RowSums& sums, const Delayed& delayed, int unit, INDEX position, int rows, int capacity,
    int most, INDEX made, const REAL* inverse, const INDEX* unit_row, const REAL* etas,
    REAL* eta_rows, REAL* row_slots) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int i = unit * ROW_ELEMENTS + lane;
    const bool inside = i < rows;
    REAL value = REAL(0);
    if (warp == 0 && inside)
        value = delayed.slot >= 0 ? inverse[(long long)position * capacity + delayed.slot]
                                  : (unit_row[position] == i ? REAL(-1) : REAL(0));
    if ((int)threadIdx.x < made)
        sums.coefficient[threadIdx.x] = etas[(long long)position * most + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int u = 0; u < MOST_DELAYED / ROW_WARPS; ++u) {
        const int e = warp + u * ROW_WARPS;
        if (e < made) value += sums.coefficient[e] * delayed.element[u];
    }
    sums.part[warp][lane] = value;
    __syncthreads();
    if (warp != 0) return;
    value = sums.part[0][lane];
#pragma unroll
    for (int w = 1; w < ROW_WARPS; ++w) value += sums.part[w][lane];
    if (!inside) return;
    eta_rows[(long long)made * rows + i] = value;
    if (delayed.slot >= 0) row_slots[delayed.slot] = value;
}
