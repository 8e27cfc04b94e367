// The pivot row; row.py states what the kernels compute.
//
// What one kernel leaves for all blocks of the next is a partial result for each block, which every
// block of the next one joins again for itself: cheaper than another launch, and without atomics.

#include "core.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK) choose_row(
    int rows, const REAL* __restrict__ x_basic, const REAL* __restrict__ lower_basic,
    const REAL* __restrict__ upper_basic, const REAL* __restrict__ weights,
    const REAL* __restrict__ scalars, REAL* __restrict__ partial_value,
    INDEX* __restrict__ partial_index) {
    const REAL tolerance = scalars[PRIMAL_TOLERANCE];
    Best best = nothing();
    for (int p = blockIdx.x * BLOCK + threadIdx.x; p < rows; p += groups_of(rows) * BLOCK) {
        const REAL excess = excess_of(x_basic[p], lower_basic[p], upper_basic[p], tolerance);
        const REAL merit = excess * excess / weights[p];
        if (merit > best.value) best = Best{merit, (INDEX)p};
    }
    best = block_best(best);
    if (threadIdx.x == 0) {
        partial_value[blockIdx.x] = best.value;
        partial_index[blockIdx.x] = best.index;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) pivot_row(
    int rows, int capacity, int most, int groups, const REAL* __restrict__ inverse,
    const INDEX* __restrict__ unit_row, const INDEX* __restrict__ slot_of_row,
    const INDEX* __restrict__ basic, const REAL* __restrict__ etas,
    const REAL* __restrict__ x_basic, const REAL* __restrict__ lower_basic,
    const REAL* __restrict__ upper_basic, const REAL* __restrict__ weights,
    const REAL* __restrict__ partial_value, const INDEX* __restrict__ partial_index,
    REAL* eta_rows, REAL* __restrict__ row_slots, INDEX* control, REAL* scalars) {
    __shared__ REAL coefficient[MOST_DELAYED];
    __shared__ REAL part[BLOCK / 32][32];
    if (control[STATUS] != RUNNING || (groups == 0 && control[FLIP_ONLY] != 0)) return;
    const INDEX made = control[PIVOTS] - (groups == 0 ? 1 : 0);
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    INDEX position = control[POSITION];
    if (groups > 0) {
        // A status written here ends the kernel in every block, whether or not it sees it.
        if (made >= most || control[ITERATIONS] >= control[LIMIT]) {
            if (first) control[STATUS] = made >= most ? FOLD : OUT_OF_PIVOTS;
            return;
        }
        Best best = nothing();
        if ((int)threadIdx.x < groups)
            best = Best{partial_value[threadIdx.x], partial_index[threadIdx.x]};
        best = block_best(best);
        if (best.index == NONE) {
            if (first) control[STATUS] = DONE;
            return;
        }
        position = best.index;
        if (first) {
            const REAL x = x_basic[position], low = lower_basic[position];
            const REAL high = upper_basic[position];
            const REAL excess = excess_of(x, low, high, scalars[PRIMAL_TOLERANCE]);
            control[POSITION] = position;
            control[LEAVING] = basic[position];
            scalars[VALUE] = x;
            scalars[EXCESS] = excess;
            scalars[BOUND] = excess < REAL(0) ? low : high;
            scalars[WEIGHT] = weights[position];
        }
    }
    for (int e = threadIdx.x; e < made; e += BLOCK)
        coefficient[e] = etas[(long long)position * most + e];
    __syncthreads();
    // A lane owns an element; the block's warps share out the delayed rows, as one thread alone
    // would wait for memory again and again.
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int i = blockIdx.x * 32 + lane;
    const bool inside = i < rows;
    const INDEX slot = inside ? slot_of_row[i] : -1;
    REAL value = REAL(0);
    if (warp == 0 && inside)
        value = slot >= 0 ? inverse[(long long)position * capacity + slot]
                          : (unit_row[position] == i ? REAL(-1) : REAL(0));
    if (inside) {
#pragma unroll 8
        for (int e = warp; e < made; e += BLOCK / 32)
            value += coefficient[e] * eta_rows[(long long)e * rows + i];
    }
    part[warp][lane] = value;
    __syncthreads();
    if (warp != 0 || !inside) return;
    value = part[0][lane];
#pragma unroll
    for (int w = 1; w < BLOCK / 32; ++w) value += part[w][lane];
    eta_rows[(long long)made * rows + i] = value;
    if (slot >= 0) row_slots[slot] = value;
}

extern "C" __global__ void __launch_bounds__(BLOCK) price_row(
    int rows, int structurals, int most, int lanes, int full, int dual, int steepest,
    const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, const REAL* __restrict__ eta_rows,
    const INDEX* __restrict__ status, const INDEX* __restrict__ reference,
    const REAL* __restrict__ lower, const REAL* __restrict__ upper,
    const REAL* __restrict__ reduced_cost, const INDEX* __restrict__ control,
    const REAL* __restrict__ scalars, REAL* __restrict__ alpha_rows,
    INDEX* __restrict__ candidates, INDEX* __restrict__ counts, REAL* __restrict__ ratios,
    REAL* __restrict__ squares, REAL* __restrict__ dots) {
    if (control[STATUS] != RUNNING || (dual == 0 && control[FLIP_ONLY] != 0)) return;
    const INDEX made = control[PIVOTS] - (dual == 0 ? 1 : 0);
    const REAL* row = eta_rows + (long long)made * rows;
    const int per_block = BLOCK / lanes;
    const int spread = (structurals + per_block - 1) / per_block;
    const int segments = spread + (rows + BLOCK - 1) / BLOCK;
    const int block = blockIdx.x;
    if (block >= segments) {  // products of the row with the delayed ones, and with itself
        const int e = block - segments;
        if (e >= made && e < most) return;
        const REAL* other = e < made ? eta_rows + (long long)e * rows : row;
        REAL sum = REAL(0);
        for (int i = threadIdx.x; i < rows; i += BLOCK) sum += other[i] * row[i];
        sum = block_join<Add>(sum);
        if (threadIdx.x == 0) dots[e < made ? e : most] = sum;
        return;
    }
    long long j, first;
    REAL alpha = REAL(0);
    bool owner;
    INDEX kind = BASIC;
    if (block < spread) {
        const int lane = threadIdx.x % lanes;
        first = (long long)block * per_block;
        j = first + threadIdx.x / lanes;
        owner = lane == 0 && j < structurals;
        if (j < structurals) {
            kind = status[j];
            if (kind != BASIC) {
                const INDEX begin = starts[j], end = starts[j + 1];
                if (full != 0) {
#pragma unroll 4
                    for (INDEX k = begin + lane; k < end; k += lanes)
                        alpha += values[k] * row[k - begin];
                } else {
#pragma unroll 4
                    for (INDEX k = begin + lane; k < end; k += lanes)
                        alpha += values[k] * row[indices[k]];
                }
            }
        }
        alpha = lanes_join<Add>(alpha, lanes);
    } else {
        const int i = (block - spread) * BLOCK + threadIdx.x;
        first = structurals + (long long)(block - spread) * BLOCK;
        j = (long long)structurals + i;
        owner = i < rows;
        if (owner) {
            kind = status[j];
            alpha = -row[i];
        }
    }
    bool candidate = false;
    REAL ratio = INFINITE, square = REAL(0);
    if (owner) {
        if (kind == BASIC) alpha = j == control[LEAVING] ? REAL(1) : REAL(0);
        alpha_rows[made * ((long long)rows + structurals) + j] = alpha;
        if (dual != 0 && kind != BASIC) {
            const REAL signed_alpha = scalars[EXCESS] < REAL(0) ? -alpha : alpha;
            const REAL size = fabs(alpha);
            if (reference[j] != 0) square = alpha * alpha;
            const bool right = kind == LOWER ? signed_alpha > REAL(0)
                                             : (kind == UPPER ? signed_alpha < REAL(0) : true);
            candidate = size > scalars[SMALL_PIVOT] && lower[j] < upper[j] && right;
            if (candidate) ratio = (distance_of(kind, reduced_cost[j]) + scalars[HARRIS]) / size;
        }
    }
    if (dual == 0) return;
    int total;
    const int place = block_before(candidate ? 1 : 0, total);
    if (candidate) candidates[first + place] = (INDEX)j;
    ratio = block_join<Least>(ratio);
    square = block_join<Add>(square);
    if (threadIdx.x == 0) {
        counts[block] = total;
        ratios[block] = ratio;
        squares[block] = square;
    }
}
