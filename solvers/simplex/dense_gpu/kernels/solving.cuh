// A position's row of the inverse times right sides; by one warp, or by a whole block.
//
// The row, and that of the etas, is read once and in order, several elements asked for at once. The
// right sides are short and come from the caches.

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

#define OF_ROW 8   // elements that a thread asks for at once, of a row of the inverse
#define OF_ETAS 4  // of the etas, of which there are fewer

// Sums of a row's elements, from `first` on at distances of `stride`, times up to three vectors.
template <int WIDE, bool with_alpha, bool with_beta, bool with_tau>
__device__ __forceinline__ void add_products(
    const REAL* row, int first, int stride, INDEX count, const REAL* alpha_of, const REAL* beta_of,
    const REAL* tau_of, Sums& sums) {
#pragma unroll 1
    for (INDEX s = first; s < count; s += WIDE * stride) {
        REAL element[WIDE], of_alpha[WIDE], of_beta[WIDE], of_tau[WIDE];
#pragma unroll
        for (int u = 0; u < WIDE; ++u) {
            const INDEX at = s + u * stride;
            const bool there = at < count;
            element[u] = there ? row[at] : REAL(0);
            if (with_alpha) of_alpha[u] = there ? alpha_of[at] : REAL(0);
            if (with_beta) of_beta[u] = there ? beta_of[at] : REAL(0);
            if (with_tau) of_tau[u] = there ? tau_of[at] : REAL(0);
        }
#pragma unroll
        for (int u = 0; u < WIDE; ++u) {
            if (with_alpha) sums.alpha += element[u] * of_alpha[u];
            if (with_beta) sums.beta += element[u] * of_beta[u];
            if (with_tau) sums.tau += element[u] * of_tau[u];
        }
    }
}

template <int WIDE>
__device__ __forceinline__ void add_vectors(
    const REAL* row, int first, int stride, INDEX count, const REAL* alpha_of, const REAL* beta_of,
    const REAL* tau_of, bool flipped, bool steepest, Sums& sums) {
    if (flipped && steepest)
        add_products<WIDE, true, true, true>(row, first, stride, count, alpha_of, beta_of, tau_of, sums);
    else if (flipped)
        add_products<WIDE, true, true, false>(row, first, stride, count, alpha_of, beta_of, tau_of, sums);
    else if (steepest)
        add_products<WIDE, true, false, true>(row, first, stride, count, alpha_of, beta_of, tau_of, sums);
    else
        add_products<WIDE, true, false, false>(row, first, stride, count, alpha_of, beta_of, tau_of, sums);
}

// A thread's share of the list's products with a row of the stored inverse.
__device__ __forceinline__ void add_list(
    const REAL* row, INDEX unit, int first, int stride, const Rights& rights, Sums& sums) {
#pragma unroll 4
    for (INDEX u = first; u < rights.entries; u += stride) {
        const INDEX place = rights.places[u];
        const REAL amount = rights.amounts[u];
        const REAL element = place >= 0 ? row[place] : (-1 - place == unit ? REAL(-1) : REAL(0));
        if (u < rights.of_flips) sums.beta += element * amount;
        else sums.alpha += element * amount;
    }
}

// The share of thread `first` of `stride` in a position's elements of alpha and beta, and tau if
// asked for.
__device__ __forceinline__ Sums share_of_position(
    int p, INDEX unit, int first, int stride, bool with_tau, const Inverse& inverse,
    const Rights& rights) {
    const REAL* row = inverse.stored + (long long)p * inverse.capacity;
    const REAL* etas = inverse.etas + (long long)p * inverse.most;
    Sums sums = {REAL(0), REAL(0), REAL(0)};
    if (rights.entries >= 0) {
        add_list(row, unit, first, stride, rights, sums);
        if (with_tau)
            add_products<OF_ROW, false, false, true>(
                row, first, stride, inverse.slots, nullptr, nullptr, inverse.row_slots, sums);
    } else {
        add_vectors<OF_ROW>(row, first, stride, inverse.slots, rights.column_slots, rights.flip_slots,
                    inverse.row_slots, rights.flipped, with_tau, sums);
        if (unit >= 0 && first == 0) {
            sums.alpha -= rights.column[unit];
            if (rights.flipped) sums.beta -= rights.flip_column[unit];
        }
    }
    if (unit >= 0 && first == 0 && with_tau)
        sums.tau -= inverse.eta_rows[(long long)inverse.made * inverse.rows + unit];
    add_vectors<OF_ETAS>(etas, first, stride, inverse.made, rights.column_dots, rights.flip_dots,
                rights.dots, rights.flipped, with_tau, sums);
    return sums;
}

// A position's elements; the whole warp.
__device__ __forceinline__ Sums solve_position(
    int p, INDEX unit, const Inverse& inverse, const Rights& rights) {
    const Sums own =
        share_of_position(p, unit, threadIdx.x & 31, 32, rights.steepest, inverse, rights);
    REAL sums[3] = {own.alpha, own.beta, own.tau};
    warp_sums(sums);
    return Sums{sums[0], sums[1], sums[2]};
}
