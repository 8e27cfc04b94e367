// Solving with the basis; column.py states what it computes.
//
// A warp owns a position and reads its row of the inverse, and of the etas, once and in order. The
// right sides are short and come from the caches.

#include "core.cuh"

#define SPARSE_BELOW 8

struct Sums {
    REAL alpha, beta, tau;
};

// Sums of a row's elements times up to three vectors.
template <bool with_alpha>
__device__ __forceinline__ void add_products(
    const REAL* __restrict__ row, INDEX count, const REAL* __restrict__ alpha_of,
    const REAL* __restrict__ beta_of, const REAL* __restrict__ tau_of, bool flipped, bool steepest,
    Sums& sums) {
    const int lane = threadIdx.x & 31;
#pragma unroll 4
    for (INDEX s = lane; s < count; s += 32) {
        const REAL element = row[s];
        if (with_alpha) sums.alpha += element * alpha_of[s];
        if (flipped) sums.beta += element * beta_of[s];
        if (steepest) sums.tau += element * tau_of[s];
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) solve_column(
    int rows, int structurals, int capacity, int most, int dual, int steepest,
    const REAL* __restrict__ inverse, const INDEX* __restrict__ unit_row,
    const INDEX* __restrict__ slot_of_row, const REAL* __restrict__ etas,
    const REAL* __restrict__ eta_rows, const REAL* __restrict__ row_slots,
    const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, const REAL* __restrict__ column,
    const REAL* __restrict__ column_slots, const REAL* __restrict__ flip_column,
    const REAL* __restrict__ flip_slots, const REAL* __restrict__ column_dots,
    const REAL* __restrict__ flip_dots, const REAL* __restrict__ dots,
    const INDEX* __restrict__ control, REAL* __restrict__ alpha, REAL* __restrict__ beta,
    REAL* __restrict__ tau) {
    if (control[STATUS] != RUNNING) return;
    const int p = (blockIdx.x * BLOCK + threadIdx.x) >> 5;
    if (p >= rows) return;  // a whole warp
    const int lane = threadIdx.x & 31;
    const INDEX q = control[ENTERING], slots = control[SLOTS];
    const INDEX made = control[PIVOTS] - (dual == 1 ? 1 : 0);
    const bool flipped = dual == 1 && control[FLIPS] > 0;
    const INDEX begin = q < structurals ? starts[q] : 0;
    const INDEX end = q < structurals ? starts[q + 1] : 0;
    const bool sparse = q < structurals && (end - begin) * SPARSE_BELOW < slots;
    const REAL* row = inverse + (long long)p * capacity;
    Sums sums = {REAL(0), REAL(0), REAL(0)};
    if (sparse) {
        for (INDEX k = begin + lane; k < end; k += 32) {
            const INDEX slot = slot_of_row[indices[k]];
            if (slot >= 0) sums.alpha += row[slot] * values[k];
        }
        if (flipped || steepest == 1)
            add_products<false>(row, slots, column_slots, flip_slots, row_slots, flipped,
                                steepest == 1, sums);
    } else {
        add_products<true>(row, slots, column_slots, flip_slots, row_slots, flipped,
                           steepest == 1, sums);
    }
    add_products<true>(etas + (long long)p * most, made, column_dots, flip_dots, dots, flipped,
                       steepest == 1, sums);
    sums.alpha = lanes_join<Add>(sums.alpha, 32);
    if (dual == 1) sums.beta = lanes_join<Add>(sums.beta, 32);
    if (steepest == 1) sums.tau = lanes_join<Add>(sums.tau, 32);
    if (lane != 0) return;
    const INDEX unit = unit_row[p];
    if (unit >= 0) {
        sums.alpha -= column[unit];
        sums.beta -= flip_column[unit];
        if (steepest == 1) sums.tau -= eta_rows[(long long)made * rows + unit];
    }
    alpha[p] = sums.alpha;
    if (dual == 1) beta[p] = sums.beta;
    if (steepest == 1) tau[p] = sums.tau;
}
