// The dual method with the dictionary in registers: a thread holds ENTRIES neighbouring entries of a
// row, so that a pivot moves two vectors through shared memory instead of the matrix, twice.
//
// The copy in shared memory is read at the beginning and written at the end; what happens between
// two runs of pivots works on that. Thread t has row t mod m and the (t / m)-th share of columns.
// A pivot that has all entries at hand anyway computes x_B = D x_N anew, as it does the squares for
// pricing, so that flips need no columns.

#pragma once

#include "held_choice.cuh"

#define SELECTED_AT_ONCE 8
#define MOST_WARPS 16

// Two neighbouring numbers, which are read in one access.
struct alignas(2 * sizeof(REAL)) Pair {
    REAL a, b;
};

// What the pivots of a held dictionary keep beside it in shared memory.
template <int ENTRIES>
struct Shares {
    int count, padded;
    REAL* line;   // row p, then what replaces it; zero beyond n
    REAL* point;  // nonbasic values, zero beyond n
    REAL *squares, *values;  // parts of the rows' sums, by share and row

    __device__ __forceinline__ explicit Shares(const AnyLp& lp) {
        count = (lp.n + ENTRIES - 1) / ENTRIES;
        padded = count * ENTRIES;
        const int kept = lp.leading * lp.n + COLUMN_VECTORS * lp.n + ROW_VECTORS * lp.m +
                         VARIABLE_VECTORS * (lp.m + lp.n) + (int)blockDim.x;
        const int integers = 2 * (lp.m + lp.n) + lp.n;
        const int room = (integers * (int)sizeof(int) + (int)sizeof(REAL) - 1) / (int)sizeof(REAL);
        const int first = kept + room;
        line = (REAL*)memory + (first + 1) / 2 * 2;
        point = line + padded;
        squares = point + padded;
        values = squares + blockDim.x;
    }
};

// The row of the largest merit that each warp knows of, and that merit.
struct HeldRows {
    REAL merit[MOST_WARPS];
    int row[MOST_WARPS];
};

__shared__ HeldRows held_rows;

// Return entry c of a thread's share and leave zero there.
template <int ENTRIES>
__device__ __forceinline__ REAL take_entry(REAL (&entries)[ENTRIES], int c) {
    REAL taken = REAL(0);
#pragma unroll
    for (int first = 0; first < ENTRIES; first += SELECTED_AT_ONCE) {
        if (c < first || c >= first + SELECTED_AT_ONCE) continue;
#pragma unroll
        for (int k = first; k < first + SELECTED_AT_ONCE && k < ENTRIES; ++k) {
            if (k == c) {
                taken = entries[k];
                entries[k] = REAL(0);
            }
        }
    }
    return taken;
}

// Tell the block of the best of a warp's rows.
__device__ __forceinline__ void offer_row(REAL merit, int row) {
    warp_best(merit, row);
    if ((threadIdx.x & 31) == 0) {
        held_rows.merit[threadIdx.x >> 5] = merit;
        held_rows.row[threadIdx.x >> 5] = row;
    }
}

// The best row of all that were offered, the lowest of equal ones, or NOBODY.
__device__ __forceinline__ int best_row() {
    REAL best = REAL(0);
    int row = NOBODY;
    for (int warp = 0; warp < (int)(blockDim.x >> 5); ++warp) {
        const REAL merit = held_rows.merit[warp];
        const int other = held_rows.row[warp];
        if (merit > best || (merit == best && other < row)) {
            best = merit;
            row = other;
        }
    }
    return best > REAL(0) ? row : NOBODY;
}

// What replaces row p, the reduced costs, and who is where after the pivot.
template <int ENTRIES>
__device__ __forceinline__ void turn_vectors(
    const Lp<true>& lp, const Shares<ENTRIES>& shares, int p, int q) {
    const HeldPivot pivot = held_pivot;
    for (int j = threadIdx.x; j < shares.padded; j += blockDim.x) {
        if (j >= lp.n) {
            shares.line[j] = shares.point[j] = REAL(0);
            continue;
        }
        const bool is_pivot = j == q;
        const REAL entry = is_pivot ? pivot.inverse : -pivot.inverse * shares.line[j];
        const REAL point = is_pivot ? pivot.target : lp.point()[j];
        shares.line[j] = entry;
        shares.point[j] = point;
        if (is_pivot) lp.point()[j] = point;
        lp.reduced()[j] = (is_pivot ? REAL(0) : lp.reduced()[j]) + pivot.price * entry;
    }
    if (threadIdx.x == 0) {
        lp.basic()[p] = pivot.entering;
        lp.nonbasic()[q] = pivot.leaving;
        lp.status()[pivot.entering] = BASIC;
        lp.status()[pivot.leaving] = pivot.to_low ? LOWER : UPPER;
    }
}

// The rows' sums from their parts: basic values, and what speaks for each row's choice.
template <int ENTRIES>
__device__ __forceinline__ void sum_rows(const Lp<true>& lp, const Shares<ENTRIES>& shares) {
    REAL best = REAL(0);
    int best_row = NOBODY;
    for (int row = threadIdx.x; row < lp.m; row += blockDim.x) {
        REAL squares = REAL(1), value = REAL(0);
        for (int s = 0; s < shares.count; ++s) {
            squares += shares.squares[s * lp.m + row];
            value += shares.values[s * lp.m + row];
        }
        lp.value()[row] = value;
        const REAL merit = dual_merit(lp, row, squares);
        if (merit > best) {
            best = merit;
            best_row = row;
        }
    }
    offer_row(best, best_row);
}

// Dual pivots from a dual feasible dictionary with merits, like dual() of dual.cuh.
template <int ENTRIES>
__device__ __noinline__ int dual_held(
    const Lp<true> lp, const AnyLp& plain, Counts& counts, const REAL* parameters, int* at) {
    const Shares<ENTRIES> shares(plain);
    const REAL smallest = parameters[SMALLEST_PIVOT], wanted = parameters[WANTED_PIVOT];
    const int share = (int)threadIdx.x / lp.m;
    const int i = (int)threadIdx.x - share * lp.m;
    const int first = share * ENTRIES;
    const bool holds = share < shares.count;
    REAL entries[ENTRIES];
#pragma unroll
    for (int c = 0; c < ENTRIES; ++c) {
        const bool there = holds && first + c < lp.n;
        entries[c] = there ? lp.D()[lp.at(i, first + c)] : REAL(0);
    }
    REAL merit = REAL(0);
    int row_of_merit = NOBODY;
    for (int row = threadIdx.x; row < lp.m; row += blockDim.x) {
        if (lp.merit()[row] > merit) {
            merit = lp.merit()[row];
            row_of_merit = row;
        }
    }
    offer_row(merit, row_of_merit);
    __syncthreads();
    int stalled = 0, checked = 0, ending = DONE;
    while (true) {
        const int p = best_row();
        *at = p;
        if (p == NOBODY) break;
        if (counts.pivots >= counts.most) {
            ending = AT_LIMIT;
            break;
        }
        if (holds && i == p) {
#pragma unroll
            for (int c = 0; c < ENTRIES; c += 2) {
                *(Pair*)(shares.line + first + c) = {entries[c], entries[c + 1]};
                entries[c] = entries[c + 1] = REAL(0);  // what replaces the row is added to that
            }
        }
        const int leaves = lp.basic()[p];
        const bool below = lp.value()[p] < lp.low()[leaves];
        __syncthreads();
        held_ratios(lp, shares.line, below ? REAL(1) : REAL(-1), smallest);
        __syncthreads();
        if (is_first_warp()) choose_pivot(lp, shares.line, p, wanted, counts.fresh);
        __syncthreads();
        ending = held_pivot.ending;
        if (ending != DONE) break;
        const int q = choice.q;
        stalled = held_pivot.tie <= lp.dual_tolerance ? stalled + 1 : 0;
        if (holds && share == q / ENTRIES) lp.column()[i] = take_entry(entries, q - first);
        turn_vectors(lp, shares, p, q);
        __syncthreads();
        if (holds) {
            const REAL factor = i == p ? REAL(1) : lp.column()[i];
            REAL squares = REAL(0), other_squares = REAL(0);
            REAL value = REAL(0), other_value = REAL(0);
#pragma unroll
            for (int c = 0; c < ENTRIES; c += 2) {
                const Pair line = *(const Pair*)(shares.line + first + c);
                const Pair point = *(const Pair*)(shares.point + first + c);
                entries[c] += factor * line.a;
                entries[c + 1] += factor * line.b;
                squares += entries[c] * entries[c];
                other_squares += entries[c + 1] * entries[c + 1];
                value += entries[c] * point.a;
                other_value += entries[c + 1] * point.b;
            }
            shares.squares[threadIdx.x] = squares + other_squares;
            shares.values[threadIdx.x] = value + other_value;
        }
        __syncthreads();
        sum_rows(lp, shares);
        __syncthreads();
        ++counts.pivots;
        ++counts.fresh;
        if (stalled > parameters[STALLED]) {
            perturb_costs(plain, ++counts.perturbed, parameters);
            stalled = 0;
        }
        if (++checked >= parameters[CHECK_EVERY]) {
            ending = PAUSED;
            break;
        }
    }
    const bool is_out = ending == NO_PIVOT || ending == INACCURATE;  // row p is, in the line
#pragma unroll
    for (int c = 0; c < ENTRIES; ++c) {
        if (!holds || first + c >= lp.n) continue;
        lp.D()[lp.at(i, first + c)] = is_out && i == *at ? shares.line[first + c] : entries[c];
    }
    __syncthreads();
    return ending;
}
