// Solving with the basis; column.py states what it computes.
//
// A warp owns a position and reads its row of the inverse, and of the etas, once and in order. The
// right sides are short and come from the caches.

#include "core.cuh"

struct Sums {
    REAL alpha, beta, tau;
};

// Sums of a row's elements times up to three vectors.
template <bool with_alpha, bool with_beta, bool with_tau>
__device__ __forceinline__ void add_products(
    const REAL* __restrict__ row, INDEX count, const REAL* __restrict__ alpha_of,
    const REAL* __restrict__ beta_of, const REAL* __restrict__ tau_of, Sums& sums) {
#pragma unroll 8
    for (INDEX s = threadIdx.x & 31; s < count; s += 32) {
        const REAL element = row[s];
        if (with_alpha) sums.alpha += element * alpha_of[s];
        if (with_beta) sums.beta += element * beta_of[s];
        if (with_tau) sums.tau += element * tau_of[s];
    }
}

__device__ __forceinline__ void add_vectors(
    const REAL* __restrict__ row, INDEX count, const REAL* __restrict__ alpha_of,
    const REAL* __restrict__ beta_of, const REAL* __restrict__ tau_of, bool flipped, bool steepest,
    Sums& sums) {
    if (flipped && steepest)
        add_products<true, true, true>(row, count, alpha_of, beta_of, tau_of, sums);
    else if (flipped)
        add_products<true, true, false>(row, count, alpha_of, beta_of, tau_of, sums);
    else if (steepest)
        add_products<true, false, true>(row, count, alpha_of, beta_of, tau_of, sums);
    else
        add_products<true, false, false>(row, count, alpha_of, beta_of, tau_of, sums);
}

extern "C" __global__ void __launch_bounds__(BLOCK) solve_column(
    int rows, int capacity, int most, int dual, int steepest, const REAL* __restrict__ inverse,
    const INDEX* __restrict__ unit_row, const REAL* __restrict__ etas,
    const REAL* __restrict__ eta_rows, const REAL* __restrict__ row_slots,
    const INDEX* __restrict__ places, const REAL* __restrict__ amounts,
    const REAL* __restrict__ column, const REAL* __restrict__ column_slots,
    const REAL* __restrict__ flip_column, const REAL* __restrict__ flip_slots,
    const REAL* __restrict__ column_dots, const REAL* __restrict__ flip_dots,
    const REAL* __restrict__ dots, const INDEX* __restrict__ control, REAL* __restrict__ alpha,
    REAL* __restrict__ beta, REAL* __restrict__ tau) {
    const INDEX state = control[STATUS], slots = control[SLOTS], made = control[PIVOTS];
    const INDEX entries = control[ENTRIES], of_flips = control[FLIP_ENTRIES];
    const bool flipped = dual == 1 && control[FLIPS] > 0;
    const int p = (blockIdx.x * BLOCK + threadIdx.x) >> 5;
    if (p >= rows) return;  // a whole warp
    const INDEX unit = unit_row[p];
    if (state != RUNNING) return;
    const int lane = threadIdx.x & 31;
    const REAL* __restrict__ row = inverse + (long long)p * capacity;
    Sums sums = {REAL(0), REAL(0), REAL(0)};
    if (entries >= 0) {
#pragma unroll 4
        for (INDEX u = lane; u < entries; u += 32) {
            const INDEX place = places[u];
            const REAL amount = amounts[u];
            const REAL element = place >= 0 ? row[place] : (-1 - place == unit ? REAL(-1) : REAL(0));
            if (u < of_flips) sums.beta += element * amount; else sums.alpha += element * amount;
        }
        if (steepest == 1)
            add_products<false, false, true>(row, slots, nullptr, nullptr, row_slots, sums);
    } else {
        add_vectors(row, slots, column_slots, flip_slots, row_slots, flipped, steepest == 1, sums);
        if (unit >= 0 && lane == 0) {
            sums.alpha -= column[unit];
            if (flipped) sums.beta -= flip_column[unit];
        }
    }
    if (unit >= 0 && lane == 0 && steepest == 1)
        sums.tau -= eta_rows[(long long)made * rows + unit];
    add_vectors(etas + (long long)p * most, made, column_dots, flip_dots, dots, flipped,
                steepest == 1, sums);
    sums.alpha = lanes_join<Add>(sums.alpha, 32);
    if (flipped) sums.beta = lanes_join<Add>(sums.beta, 32);
    if (steepest == 1) sums.tau = lanes_join<Add>(sums.tau, 32);
    if (lane != 0) return;
    alpha[p] = sums.alpha;
    if (dual == 1) beta[p] = sums.beta;
    if (steepest == 1) tau[p] = sums.tau;
}
