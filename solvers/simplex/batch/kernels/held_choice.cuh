// The choice of who enters in a dual pivot, in straight code for the few columns that held
// dictionaries have: the same as choose_entering of dual.cuh.

#pragma once

#include "dual.cuh"

#define HELD_COLUMNS 256  // the most that a held dictionary has

// What the first warp finds out about a pivot, for the block to read.
struct HeldPivot {
    REAL inverse, price, target, tie;
    int leaving, entering, ending;
    bool to_low;
};

__shared__ HeldPivot held_pivot;

// The ratios of those who may enter in the row that stands in `line`: exact in lp.price(), with
// Harris' tolerance in lp.ratio(), and infinite for the others.
__device__ __forceinline__ void held_ratios(
    const Lp<true>& lp, const REAL* line, REAL sign, REAL smallest) {
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) {
        const REAL entry = line[j];
        const REAL size = fabs(entry);
        const REAL price = fabs(lp.reduced()[j]);
        const int v = lp.nonbasic()[j];
        const int status = lp.status()[v];
        const bool fits = size > smallest && lp.low()[v] < lp.high()[v] &&
                          (status == ZERO || (sign * entry > REAL(0)) == (status == LOWER));
        const REAL scale = REAL(1) / size;
        lp.price()[j] = fits ? price * scale : infinity();
        lp.ratio()[j] = fits ? (price + lp.dual_tolerance) * scale : infinity();
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
__device__ __forceinline__ void tell_pivot(
    const Lp<true>& lp, const REAL* line, int p, int q, int flips) {
    for (int k = threadIdx.x; k < flips; k += 32) {
        const int j = lp.candidates()[k];
        const int v = lp.nonbasic()[j];
        const bool to_high = lp.status()[v] == LOWER;
        lp.status()[v] = to_high ? UPPER : LOWER;
        lp.point()[j] = to_high ? lp.high()[v] : lp.low()[v];
    }
    if (threadIdx.x != 0) return;
    const REAL pivot = line[q];
    const int leaving = lp.basic()[p];
    const int entering = lp.nonbasic()[q];
    const bool below = lp.value()[p] < lp.low()[leaving];
    REAL price = lp.reduced()[q];
    held_pivot.tie = fabs(price);
    if ((below ? price : -price) * pivot < REAL(0)) {
        lp.cost()[entering] -= price;
        price = REAL(0);
    }
    held_pivot.price = price;
    held_pivot.inverse = REAL(1) / pivot;
    held_pivot.target = below ? lp.low()[leaving] : lp.high()[leaving];
    held_pivot.to_low = below;
    held_pivot.leaving = leaving;
    held_pivot.entering = entering;
    choice.q = q;
}

// By one warp: choose_entering of dual.cuh for at most 32 COLUMNS columns, and what follows from it.
template <int COLUMNS>
__device__ __forceinline__ void choose_held(
    const Lp<true>& lp, const REAL* line, int p, REAL smallest_wanted, int fresh) {
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
            const int v = lp.nonbasic()[j];
            const REAL own = fabs(line[j]);
            drop += own * (lp.high()[v] - lp.low()[v]);
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
        step = warp_least(next);
        if (size >= smallest_wanted || size > best_size) {
            best = q;
            best_size = size;
            flips = passed;
        }
        off -= drop;
        found = off <= lp.primal_tolerance;
        if (found) break;
    }
    __syncwarp();
    const bool accurate = best_size >= smallest_wanted || fresh == 0;
    const int ending = !found ? NO_PIVOT : (accurate ? DONE : INACCURATE);
    if (ending == DONE) tell_pivot(lp, line, p, best, flips);
    if (lane == 0) held_pivot.ending = ending;
}

// The same for as many columns as there are.
__device__ __noinline__ void choose_pivot(
    const Lp<true> lp, const REAL* line, int p, REAL smallest_wanted, int fresh) {
    if (lp.n <= 64) {
        choose_held<2>(lp, line, p, smallest_wanted, fresh);
    } else if (lp.n <= 128) {
        choose_held<4>(lp, line, p, smallest_wanted, fresh);
    } else {
        choose_held<HELD_COLUMNS / 32>(lp, line, p, smallest_wanted, fresh);
    }
}
