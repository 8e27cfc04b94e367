// A position's row of the inverse times right sides; by one warp.
//
// The row, and that of the etas, is read once and in order. The right sides are short and come
// from the caches.

#pragma once

#include "core.cuh"

struct Sums {
    REAL alpha, beta, tau;
};

// The inverse, with its delayed pivots.
struct Inverse {
    int rows, capacity, most;
    INDEX slots, made;
    const REAL* stored;
    const INDEX* unit_row;
    const REAL* etas;
    const REAL* eta_rows;
    const REAL* row_slots;
};

// The right sides: `entries` of a list, or, if that is negative, sums by slot and by row; and their
// products with the delayed pivot rows.
struct Rights {
    bool flipped, steepest;
    INDEX entries, of_flips;
    const INDEX* places;
    const REAL* amounts;
    const REAL* column;
    const REAL* column_slots;
    const REAL* flip_column;
    const REAL* flip_slots;
    const REAL* column_dots;
    const REAL* flip_dots;
    const REAL* dots;
};

// Sums of a row's elements times up to three vectors.
template <bool with_alpha, bool with_beta, bool with_tau>
__device__ __forceinline__ void add_products(
    const REAL* row, INDEX count, const REAL* alpha_of, const REAL* beta_of, const REAL* tau_of,
    Sums& sums) {
#pragma unroll 8
    for (INDEX s = threadIdx.x & 31; s < count; s += 32) {
        const REAL element = row[s];
        if (with_alpha) sums.alpha += element * alpha_of[s];
        if (with_beta) sums.beta += element * beta_of[s];
        if (with_tau) sums.tau += element * tau_of[s];
    }
}

__device__ __forceinline__ void add_vectors(
    const REAL* row, INDEX count, const REAL* alpha_of, const REAL* beta_of, const REAL* tau_of,
    bool flipped, bool steepest, Sums& sums) {
    if (flipped && steepest)
        add_products<true, true, true>(row, count, alpha_of, beta_of, tau_of, sums);
    else if (flipped)
        add_products<true, true, false>(row, count, alpha_of, beta_of, tau_of, sums);
    else if (steepest)
        add_products<true, false, true>(row, count, alpha_of, beta_of, tau_of, sums);
    else
        add_products<true, false, false>(row, count, alpha_of, beta_of, tau_of, sums);
}

__device__ __forceinline__ Sums solve_position(
    int p, INDEX unit, const Inverse& inverse, const Rights& rights) {
    const int lane = threadIdx.x & 31;
    const REAL* row = inverse.stored + (long long)p * inverse.capacity;
    Sums sums = {REAL(0), REAL(0), REAL(0)};
    if (rights.entries >= 0) {
#pragma unroll 4
        for (INDEX u = lane; u < rights.entries; u += 32) {
            const INDEX place = rights.places[u];
            const REAL amount = rights.amounts[u];
            const REAL element = place >= 0 ? row[place] : (-1 - place == unit ? REAL(-1) : REAL(0));
            if (u < rights.of_flips) sums.beta += element * amount;
            else sums.alpha += element * amount;
        }
        if (rights.steepest)
            add_products<false, false, true>(
                row, inverse.slots, nullptr, nullptr, inverse.row_slots, sums);
    } else {
        add_vectors(row, inverse.slots, rights.column_slots, rights.flip_slots, inverse.row_slots,
                    rights.flipped, rights.steepest, sums);
        if (unit >= 0 && lane == 0) {
            sums.alpha -= rights.column[unit];
            if (rights.flipped) sums.beta -= rights.flip_column[unit];
        }
    }
    if (unit >= 0 && lane == 0 && rights.steepest)
        sums.tau -= inverse.eta_rows[(long long)inverse.made * inverse.rows + unit];
    add_vectors(inverse.etas + (long long)p * inverse.most, inverse.made, rights.column_dots,
                rights.flip_dots, rights.dots, rights.flipped, rights.steepest, sums);
    sums.alpha = lanes_join<Add>(sums.alpha, 32);
    if (rights.flipped) sums.beta = lanes_join<Add>(sums.beta, 32);
    if (rights.steepest) sums.tau = lanes_join<Add>(sums.tau, 32);
    return sums;
}
