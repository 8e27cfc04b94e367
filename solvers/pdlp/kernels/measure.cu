// The sums of a check; measure.py states what they are.
//
// A group of lanes owns a row; its writing thread makes the row's terms, and each block adds the
// terms of its threads along a fixed tree into its slot of `partial`. No atomics.

#include "rows.cuh"

#define SUMS 5

// What sides support of a multiplier: the side it leans on times it, nothing for zero.
__device__ __forceinline__ REAL support(REAL multiplier, REAL low, REAL high) {
    if (multiplier > REAL(0)) return multiplier * low;
    if (multiplier < REAL(0)) return multiplier * high;
    return REAL(0);
}

__device__ __forceinline__ bool finite(REAL value) { return value - value == REAL(0); }

__device__ __forceinline__ void store(const REAL* terms, REAL* __restrict__ partial) {
    for (int s = 0; s < SUMS; ++s) {
        const REAL sum = block_reduce<Sum>(terms[s]);
        if (threadIdx.x == 0) partial[(long long)blockIdx.x * SUMS + s] = sum;
    }
}

extern "C" __global__ void measure_rows(
    INDEX rows, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, INDEX long_count, const INDEX* __restrict__ long_rows,
    INDEX long_length, int lanes,
    const REAL* __restrict__ x_projection, const REAL* __restrict__ x_difference,
    const REAL* __restrict__ projection, const REAL* __restrict__ difference,
    const REAL* __restrict__ anchor, const REAL* __restrict__ row_lower,
    const REAL* __restrict__ row_upper, const REAL* __restrict__ row_scale,
    int slots, REAL* __restrict__ partial) {
    const RowShare share = share_rows(rows, starts, long_count, long_rows, long_length, lanes);
    const REAL activity = row_product(share, indices, values, x_projection);
    const REAL moved = row_product(share, indices, values, x_difference);
    REAL terms[SUMS] = {0, 0, 0, 0, 0};
    if (share.writes) {
        const INDEX i = share.row;
        const REAL low = row_lower[i];
        const REAL high = row_upper[i];
        const REAL nearest = activity < low ? low : (activity > high ? high : activity);
        const REAL residual = (activity - nearest) / row_scale[i];
        const REAL distance = projection[i] - anchor[i];
        terms[0] = residual * residual;
        terms[1] = support(projection[i], low, high);
        terms[2] = distance * distance;
        terms[3] = difference[i] * difference[i];
        terms[4] = difference[i] * moved;
    }
    store(terms, partial);
}

extern "C" __global__ void measure_columns(
    INDEX rows, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, INDEX long_count, const INDEX* __restrict__ long_rows,
    INDEX long_length, int lanes,
    const REAL* __restrict__ y_projection, const REAL* __restrict__ projection,
    const REAL* __restrict__ difference, const REAL* __restrict__ anchor,
    const REAL* __restrict__ cost, const REAL* __restrict__ lower,
    const REAL* __restrict__ upper, const REAL* __restrict__ column_scale,
    int slots, REAL* __restrict__ partial) {
    const RowShare share = share_rows(rows, starts, long_count, long_rows, long_length, lanes);
    const REAL product = row_product(share, indices, values, y_projection);
    REAL terms[SUMS] = {0, 0, 0, 0, 0};
    if (share.writes) {
        const INDEX j = share.row;
        const REAL reduced = cost[j] - product;
        const REAL side = reduced > REAL(0) ? lower[j] : upper[j];
        const REAL supported = finite(side) ? reduced : REAL(0);
        const REAL residual = (reduced - supported) / column_scale[j];
        const REAL distance = projection[j] - anchor[j];
        terms[0] = residual * residual;
        terms[1] = support(supported, lower[j], upper[j]);
        terms[2] = distance * distance;
        terms[3] = difference[j] * difference[j];
        terms[4] = cost[j] * projection[j];
    }
    store(terms, partial);
}
