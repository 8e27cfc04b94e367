// Solving with the basis; column.py states what it computes.
//
// A warp owns a position and reads its row of the inverse, and of the etas, once and in order. The
// right sides are short and come from the caches. Of long lists of entries, a block first keeps
// those in shared memory that concern its positions: most others are of unit columns.

#include "core.cuh"

#define WARPS (BLOCK / 32)
#define ASKED 4  // entries that a thread asks for at once
#define LISTED (ASKED * BLOCK)
#define LONG_LIST 64  // entries, up to which each warp reads the list for itself

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

// Entries of a list that concern the block: twice the slot, or -1 - twice the row, and 1 or -1 more
// for those of flips.
struct Kept {
    INDEX code[LISTED];
    REAL amount[LISTED];
    int of_warp[WARPS];
};

// Keep what concerns the block of the entries from `from` on, in a fixed order; the block together.
__device__ __forceinline__ int keep_entries(
    Kept& kept, INDEX from, INDEX entries, INDEX of_flips, const INDEX (&units)[WARPS],
    const INDEX* __restrict__ places, const REAL* __restrict__ amounts) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    INDEX place[ASKED];
    REAL amount[ASKED];
#pragma unroll
    for (int k = 0; k < ASKED; ++k) {
        const INDEX u = from + k * BLOCK + threadIdx.x;
        place[k] = u < entries ? places[u] : -1 - (INDEX)NONE;
        amount[k] = u < entries ? amounts[u] : REAL(0);
    }
    int count = 0;
    unsigned mine = 0;  // bits that say which of this thread's are kept
#pragma unroll
    for (int k = 0; k < ASKED; ++k) {
        bool ours = place[k] >= 0;
#pragma unroll
        for (int w = 0; w < WARPS; ++w) ours = ours || -1 - place[k] == units[w];
        if (ours) mine |= 1u << k;
        count += __popc(__ballot_sync(0xffffffffu, ours));
    }
    if (lane == 0) kept.of_warp[warp] = count;
    __syncthreads();
    int at = 0, all = 0;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) {
        if (w == warp) at = all;
        all += kept.of_warp[w];
    }
#pragma unroll
    for (int k = 0; k < ASKED; ++k) {
        const INDEX u = from + k * BLOCK + threadIdx.x, flip = u < of_flips ? 1 : 0;
        const unsigned those = __ballot_sync(0xffffffffu, (mine >> k & 1u) != 0u);
        const int own = at + __popc(those & ((1u << lane) - 1u));
        if ((mine >> k & 1u) != 0u) {
            kept.code[own] = place[k] >= 0 ? 2 * place[k] + flip : -1 - (2 * (-1 - place[k]) + flip);
            kept.amount[own] = amount[k];
        }
        at += __popc(those);
    }
    __syncthreads();
    return all;
}

// A warp's products of kept entries with its row of the inverse.
__device__ __forceinline__ void add_kept(
    const Kept& kept, int count, INDEX unit, const REAL* __restrict__ row, Sums& sums) {
    for (int first = threadIdx.x & 31; first < count; first += 32 * ASKED) {
        REAL element[ASKED];
        INDEX code[ASKED];
#pragma unroll
        for (int k = 0; k < ASKED; ++k) {
            const int u = first + 32 * k;
            code[k] = u < count ? kept.code[u] : -1;
            const INDEX number = (code[k] >= 0 ? code[k] : -1 - code[k]) >> 1;
            element[k] = u >= count ? REAL(0)
                : code[k] >= 0 ? row[number] : (number == unit ? REAL(-1) : REAL(0));
        }
#pragma unroll
        for (int k = 0; k < ASKED; ++k) {
            const int u = first + 32 * k;
            const REAL product = u < count ? element[k] * kept.amount[u] : REAL(0);
            const bool flip = ((code[k] >= 0 ? code[k] : -1 - code[k]) & 1) != 0;
            if (flip) sums.beta += product; else sums.alpha += product;
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK, 6) solve_column(
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
    __shared__ Kept kept;
    const int p = (blockIdx.x * BLOCK + threadIdx.x) >> 5;
    const INDEX unit = p < rows ? unit_row[p] : -1;
    if (state != RUNNING) return;
    const int lane = threadIdx.x & 31;
    const REAL* __restrict__ row = inverse + (long long)p * capacity;
    Sums sums = {REAL(0), REAL(0), REAL(0)};
    if (entries > LONG_LIST) {
        INDEX units[WARPS];
#pragma unroll
        for (int w = 0; w < WARPS; ++w) {
            const int other = blockIdx.x * WARPS + w;
            units[w] = other < rows ? unit_row[other] : -1;
        }
        for (INDEX from = 0; from < entries; from += LISTED) {
            if (from > 0) __syncthreads();  // until the last ones have been used
            const int count = keep_entries(kept, from, entries, of_flips, units, places, amounts);
            if (p < rows) add_kept(kept, count, unit, row, sums);
        }
    }
    if (p >= rows) return;  // a whole warp
    if (entries >= 0) {
#pragma unroll 4
        for (INDEX u = lane; u < entries && entries <= LONG_LIST; u += 32) {
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
