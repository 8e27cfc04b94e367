// The dual method with the dictionary in registers: a thread holds HELD_ENTRIES neighbouring entries
// of a row, so that a pivot moves two vectors through shared memory instead of the matrix, twice.
//
// The copy in shared memory is read at the beginning and written at the end; what happens between
// two runs of pivots works on that. Thread t has row t mod m and the (t / m)-th share of columns.
// A pivot that has all entries at hand anyway computes x_B = D x_N anew, as it does the squares for
// pricing, so that flips need no columns.

#pragma once

#include "held_choice.cuh"

#define SELECTED_AT_ONCE 8
#define SHARES_AT_ONCE 5

// Two neighbouring numbers, which are read in one access.
struct alignas(2 * sizeof(REAL)) Pair {
    REAL a, b;
};

// Return entry c of a thread's share and leave zero there.
__device__ __forceinline__ REAL take_entry(REAL (&entries)[HELD_ENTRIES], int c) {
    REAL taken = REAL(0);
#pragma unroll
    for (int first = 0; first < HELD_ENTRIES; first += SELECTED_AT_ONCE) {
        if (c < first || c >= first + SELECTED_AT_ONCE) continue;
#pragma unroll
        for (int k = first; k < first + SELECTED_AT_ONCE && k < HELD_ENTRIES; ++k) {
            if (k == c) {
                taken = entries[k];
                entries[k] = REAL(0);
            }
        }
    }
    return taken;
}

// By one thread: tell the block of row p, which leaves.
__device__ __forceinline__ void tell_row(int p) {
    const HeldLp& lp = held.lp;
    const int leaving = lp.basic()[p];
    const REAL value = lp.value()[p];
    const REAL low = lp.low()[leaving];
    const bool below = value < low;
    const REAL target = below ? low : lp.high()[leaving];
    held.pivot.off = fabs(target - value);
    held.pivot.target = target;
    held.pivot.to_low = below;
    held.pivot.leaving = leaving;
}

// What replaces row p, the reduced costs, and who is where after the pivot and the flips, which are
// of other columns than q.
__device__ __forceinline__ void turn_vectors(int p, int q) {
    const HeldLp& lp = held.lp;
    const REAL inverse = held.pivot.inverse, price = held.pivot.price;
    for (int j = threadIdx.x; j < held.padded; j += blockDim.x) {
        if (j >= lp.n) {
            held.line()[j] = held.point()[j] = REAL(0);
            continue;
        }
        const bool is_pivot = j == q;
        const REAL entry = is_pivot ? inverse : -inverse * held.line()[j];
        REAL point = is_pivot ? held.pivot.target : lp.point()[j];
        if (lp.price()[j] <= held.pivot.flip_until) {
            const int v = lp.nonbasic()[j];
            const bool to_high = lp.status()[v] == LOWER;
            lp.status()[v] = to_high ? UPPER : LOWER;
            point = to_high ? lp.high()[v] : lp.low()[v];
        }
        held.line()[j] = entry;
        held.point()[j] = lp.point()[j] = point;
        lp.reduced()[j] = (is_pivot ? REAL(0) : lp.reduced()[j]) + price * entry;
        if (is_pivot) {
            const int entering = held.pivot.entering, leaving = held.pivot.leaving;
            lp.basic()[p] = entering;
            lp.nonbasic()[q] = leaving;
            lp.status()[entering] = BASIC;
            lp.status()[leaving] = held.pivot.to_low ? LOWER : UPPER;
        }
    }
}

// The rows' sums from their parts: basic values, and what speaks for each row's choice.
__device__ __forceinline__ void sum_rows() {
    const HeldLp& lp = held.lp;
    const int row = threadIdx.x;
    REAL merit = REAL(0);
    if (row < lp.m) {
        const int v = lp.basic()[row];
        const REAL low = lp.low()[v], high = lp.high()[v];
        const REAL* const parts = held.squares() + row;
        const REAL* const values = held.values() + row;
        REAL squares = REAL(1), value = REAL(0);
        for (int first = 0; first < held.count; first += SHARES_AT_ONCE) {
#pragma unroll
            for (int s = first; s < first + SHARES_AT_ONCE; ++s) {
                squares += s < held.count ? parts[s * lp.m] : REAL(0);
                value += s < held.count ? values[s * lp.m] : REAL(0);
            }
        }
        lp.value()[row] = value;
        const REAL off = larger(low - value, value - high);
        if (off > lp.primal_tolerance) merit = larger(off * off / squares, REAL(0));
        lp.merit()[row] = merit;
    }
    offer_row(merit);
}

// Offer the rows by the merits that they have.
__device__ __forceinline__ void offer_rows() {
    const HeldLp& lp = held.lp;
    offer_row((int)threadIdx.x < lp.m ? lp.merit()[threadIdx.x] : REAL(0));
}

// Add the line times the pivot column to a thread's share, and leave parts of its row's sums.
__device__ __forceinline__ void update_share(REAL (&entries)[HELD_ENTRIES], REAL factor, int first) {
    const Pair* const line = (const Pair*)(held.line() + first);
    const Pair* const point = (const Pair*)(held.point() + first);
    REAL squares = REAL(0), other_squares = REAL(0);
    REAL value = REAL(0), other_value = REAL(0);
#pragma unroll
    for (int c = 0; c < HELD_ENTRIES; c += 2) {
        const Pair change = line[c / 2];
        const Pair at = point[c / 2];
        entries[c] += factor * change.a;
        entries[c + 1] += factor * change.b;
        squares += entries[c] * entries[c];
        other_squares += entries[c + 1] * entries[c + 1];
        value += entries[c] * at.a;
        other_value += entries[c + 1] * at.b;
    }
    held.squares()[threadIdx.x] = squares + other_squares;
    held.values()[threadIdx.x] = value + other_value;
}

// Dual pivots from a dual feasible dictionary with merits, like dual() of pivots.cuh, but that costs
// are not perturbed here: TIED asks for that. `checked` counts pivots since the last look at the
// accuracy.
__device__ __noinline__ int dual_held(
    const Lp<true> given, Counts& counts, const REAL* parameters, int& checked, int* at) {
    if (threadIdx.x == 0) set_up_held(given, parameters, counts, checked);
    __syncthreads();
    const HeldLp& lp = held.lp;
    const int i = (int)threadIdx.x % lp.m;
    const int share = (int)threadIdx.x / lp.m;
    const int first = share * HELD_ENTRIES;
    const bool holds = share < held.count;
    REAL entries[HELD_ENTRIES];
#pragma unroll
    for (int c = 0; c < HELD_ENTRIES; ++c) {
        const bool there = holds && first + c < lp.n;
        entries[c] = there ? lp.D()[lp.at(i, first + c)] : REAL(0);
    }
    offer_rows();
    __syncthreads();
    int made = 0, ties = 0, ending = DONE, p;
    while (true) {
        p = best_row();
        if (p == NOBODY) break;
        if (made >= held.until_limit) ending = AT_LIMIT;
        if (made >= held.until_pause) ending = PAUSED;
        if (ties > held.most_ties) ending = TIED;
        if (ending != DONE) break;
        if (holds && i == p) {
#pragma unroll
            for (int c = 0; c < HELD_ENTRIES; c += 2) {
                *(Pair*)(held.line() + first + c) = {entries[c], entries[c + 1]};
            }
        }
        if (threadIdx.x == 0) tell_row(p);
        __syncthreads();
        held_ratios();
        __syncthreads();
        if (is_first_warp()) choose_pivot(held.fresh + made == 0);
        if (holds && i == p) {  // what replaces the row is added to zeros, made while most wait
#pragma unroll
            for (int c = 0; c < HELD_ENTRIES; ++c) entries[c] = REAL(0);
        }
        __syncthreads();
        ending = held.pivot.ending;
        if (ending != DONE) break;
        const int q = held.pivot.q;
        ties = held.pivot.is_tie ? ties + 1 : 0;
        if (holds && share == q / HELD_ENTRIES) lp.column()[i] = take_entry(entries, q - first);
        turn_vectors(p, q);
        __syncthreads();
        if (holds) update_share(entries, i == p ? REAL(1) : lp.column()[i], first);
        __syncthreads();
        sum_rows();
        ++made;
        __syncthreads();
    }
    const bool is_out = ending == NO_PIVOT || ending == INACCURATE;  // row p is, in the line
#pragma unroll
    for (int c = 0; c < HELD_ENTRIES; ++c) {
        if (!holds || first + c >= lp.n) continue;
        lp.D()[lp.at(i, first + c)] = is_out && i == p ? held.line()[first + c] : entries[c];
    }
    counts.pivots += made;
    counts.fresh += made;
    checked += made;
    *at = p;
    __syncthreads();
    return ending;
}
