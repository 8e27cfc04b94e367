// The choice of who enters in a dual pivot, in straight code for the few columns that held
// dictionaries have: the same as choose_entering of dual.cuh.

#pragma once

#include "held_state.cuh"

// For those who may enter in the row that stands in the line: exact ratios in lp.price(), those with
// Harris' tolerance in lp.ratio(), both infinite for the others, and what the slope drops by.
__device__ __forceinline__ void held_ratios(bool below) {
    const Lp<true>& lp = held.lp;
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) {
        const REAL entry = held.line()[j];
        const REAL size = fabs(entry);
        const REAL price = fabs(lp.reduced()[j]);
        const int v = lp.nonbasic()[j];
        const int status = lp.status()[v];
        const REAL low = lp.low()[v], high = lp.high()[v];
        const bool fits = size > held.smallest && low < high &&
                          (status == ZERO || (below == (entry > REAL(0))) == (status == LOWER));
        const REAL scale = REAL(1) / size;
        lp.price()[j] = fits ? price * scale : infinity();
        lp.ratio()[j] = fits ? (price + lp.dual_tolerance) * scale : infinity();
        held.drop()[j] = size * (high - low);
    }
}

// How many the lanes before this one have together, of at most 15 each.
__device__ __forceinline__ int before_mine(int count) {
    const unsigned before = (1u << threadIdx.x) - 1u;
    int found = 0;
#pragma unroll
    for (int bit = 0; bit < 4; ++bit) {
        found += __popc(__ballot_sync(FULL_WARP, ((count >> bit) & 1) != 0) & before) << bit;
    }
    return found;
}

// By one warp: move what is to be flipped, and tell the block of the pivot in row p and column q.
__device__ __forceinline__ void tell_pivot(int p, int q, int flips) {
    const Lp<true>& lp = held.lp;
    for (int k = threadIdx.x; k < flips; k += 32) {
        const int j = lp.candidates()[k];
        const int v = lp.nonbasic()[j];
        const bool to_high = lp.status()[v] == LOWER;
        lp.status()[v] = to_high ? UPPER : LOWER;
        lp.point()[j] = to_high ? lp.high()[v] : lp.low()[v];
    }
    if (threadIdx.x != 0) return;
    const REAL pivot = held.line()[q];
    const int leaving = lp.basic()[p];
    const int entering = lp.nonbasic()[q];
    const bool below = lp.value()[p] < lp.low()[leaving];
    REAL price = lp.reduced()[q];
    held.pivot.is_tie = fabs(price) <= lp.dual_tolerance;
    if ((below ? price : -price) * pivot < REAL(0)) {
        lp.cost()[entering] -= price;
        price = REAL(0);
    }
    held.pivot.price = price;
    held.pivot.inverse = REAL(1) / pivot;
    held.pivot.target = below ? lp.low()[leaving] : lp.high()[leaving];
    held.pivot.to_low = below;
    held.pivot.leaving = leaving;
    held.pivot.entering = entering;
    held.pivot.q = q;
}

// By one warp: choose_entering of dual.cuh for at most 32 COLUMNS columns, and what follows from it.
template <int COLUMNS>
__device__ __forceinline__ void choose_held(int p, bool is_fresh) {
    const Lp<true>& lp = held.lp;
    const int lane = threadIdx.x;
    const int leaving = lp.basic()[p];
    const REAL value = lp.value()[p];
    const REAL low = lp.low()[leaving];
    REAL off = value < low ? low - value : value - lp.high()[leaving];
    unsigned left = 0;  // candidates not passed yet, a bit for each of this lane's columns
    REAL step = infinity();
#pragma unroll
    for (int k = 0; k < COLUMNS; ++k) {
        const int j = lane + 32 * k;
        const REAL ratio = j < lp.n ? lp.ratio()[j] : infinity();
        left |= (ratio < infinity() ? 1u : 0u) << k;
        step = smaller(step, ratio);
    }
    step = warp_least(step);
    int best = NOBODY, flips = 0, listed = 0;
    REAL best_size = REAL(0);
    bool found = false;
    while (step < infinity()) {
        const int passed = listed;
        REAL size = REAL(0), drop = REAL(0), next = infinity();
        int q = NOBODY;
        unsigned joined = 0;
#pragma unroll
        for (int k = 0; k < COLUMNS; ++k) {
            const int j = lane + 32 * k;
            const bool is_left = ((left >> k) & 1u) != 0u;
            const REAL exact = is_left ? lp.price()[j] : infinity();
            const REAL ratio = is_left ? lp.ratio()[j] : infinity();
            const bool joins = exact <= step && is_left;
            joined |= (joins ? 1u : 0u) << k;
            next = smaller(next, joins ? infinity() : ratio);
        }
        left &= ~joined;
        const unsigned lanes = __ballot_sync(FULL_WARP, joined != 0u);
        if (lanes == 0u) break;  // only where numbers are not finite
        const bool alone = (lanes & (lanes - 1u)) == 0u;  // one lane has them all, most often
        const int count = __popc(joined);
        int place = listed + (alone ? 0 : before_mine(count));
        for (unsigned rest = joined; rest != 0u; rest &= rest - 1u) {
            const int j = lane + 32 * (__ffs((int)rest) - 1);
            const REAL own = fabs(held.line()[j]);
            drop += held.drop()[j];
            lp.candidates()[place++] = j;
            if (own > size) {
                size = own;
                q = j;
            }
        }
        if (alone) {
            const int owner = __ffs((int)lanes) - 1;
            drop = __shfl_sync(FULL_WARP, drop, owner);
            size = __shfl_sync(FULL_WARP, size, owner);
            q = __shfl_sync(FULL_WARP, q, owner);
            listed += __shfl_sync(FULL_WARP, count, owner);
        } else {
            drop = lanes_reduce<Sum>(drop, 32);
            warp_best(size, q);
            listed = __shfl_sync(FULL_WARP, place, 31);
        }
        if (size >= held.wanted || size > best_size) {
            best = q;
            best_size = size;
            flips = passed;
        }
        off -= drop;
        found = off <= lp.primal_tolerance;
        if (found) break;
        step = warp_least(next);
    }
    __syncwarp();
    const bool accurate = best_size >= held.wanted || is_fresh;
    const int ending = !found ? NO_PIVOT : (accurate ? DONE : INACCURATE);
    if (ending == DONE) tell_pivot(p, best, flips);
    if (lane == 0) held.pivot.ending = ending;
}

// The same for as many columns as there are.
__device__ __noinline__ void choose_pivot(int p, bool is_fresh) {
    if (held.lp.n <= 64) {
        choose_held<2>(p, is_fresh);
    } else if (held.lp.n <= 128) {
        choose_held<4>(p, is_fresh);
    } else {
        choose_held<HELD_COLUMNS / 32>(p, is_fresh);
    }
}
