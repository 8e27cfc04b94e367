// The dual simplex method on a dictionary. The first warp chooses, the block moves.

#pragma once

#include "dictionary.cuh"

// By one warp: the row of the largest merit, or NOBODY.
template <bool NEAR>
__device__ __forceinline__ int leaving_row(const Lp<NEAR>& lp) {
    REAL best = REAL(0);
    int p = NOBODY;
    for (int i = threadIdx.x; i < lp.m; i += 32) {
        const REAL merit = lp.merit()[i];
        if (merit > best) {
            best = merit;
            p = i;
        }
    }
    warp_best(best, p);
    return p;
}

// Fill in lp.row() and the ratios of those who may enter in row p, infinite for the others.
template <bool NEAR>
__device__ __forceinline__ void find_ratios(
    const Lp<NEAR>& lp, int p, REAL sign, REAL smallest) {
    const REAL* D = lp.D();
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) {
        const REAL entry = D[lp.at(p, j)];
        const int v = lp.nonbasic()[j];
        const int status = lp.status()[v];
        const bool fits = fabs(entry) > smallest && lp.low()[v] < lp.high()[v] &&
                          (status == ZERO || (sign * entry > REAL(0)) == (status == LOWER));
        lp.row()[j] = entry;
        lp.ratio()[j] =
            fits ? (fabs(lp.reduced()[j]) + lp.dual_tolerance) / fabs(entry) : infinity();
    }
    __syncthreads();
}

// By one warp: the bound-flipping ratio test with Harris' tolerance, for a row that is `off` outside
// its bounds. Candidates are passed in groups of equal ratio, each group listed behind the one
// before; of the list, choice.flips are to be flipped.
template <bool NEAR>
__device__ __forceinline__ void choose_entering(
    const Lp<NEAR>& lp, REAL off, const REAL* parameters) {
    const REAL wanted = parameters[WANTED_PIVOT];
    const unsigned before = (1u << threadIdx.x) - 1u;
    int best = NOBODY, flips = 0, listed = 0;
    REAL best_size = REAL(0), step = infinity();
    bool found = false;
    for (int j = threadIdx.x; j < lp.n; j += 32) step = smaller(step, lp.ratio()[j]);
    step = warp_least(step);
    while (step < infinity()) {
        const int passed = listed;
        REAL size = REAL(0), drop = REAL(0), next = infinity();
        int q = NOBODY;
#pragma unroll 1
        for (int base = 0; base < lp.n; base += 32) {
            const int j = base + threadIdx.x;
            const REAL ratio = j < lp.n ? lp.ratio()[j] : infinity();
            bool joins = false;
            if (ratio < infinity()) {
                const REAL own = fabs(lp.row()[j]);
                joins = fabs(lp.reduced()[j]) <= step * own;
                if (joins) {
                    const int v = lp.nonbasic()[j];
                    lp.ratio()[j] = infinity();
                    drop += own * (lp.high()[v] - lp.low()[v]);
                    if (own > size) {
                        size = own;
                        q = j;
                    }
                } else {
                    next = smaller(next, ratio);
                }
            }
            const unsigned those = __ballot_sync(FULL_WARP, joins);
            if (joins) lp.candidates()[listed + __popc(those & before)] = j;
            listed += __popc(those);
        }
        drop = lanes_reduce<Sum>(drop, 32);
        warp_best(size, q);
        step = warp_least(next);
        if (q == NOBODY) break;
        if (size >= wanted || size > best_size) {
            best = q;
            best_size = size;
            flips = passed;
        }
        off -= drop;
        found = off <= lp.primal_tolerance;
        if (found) break;
    }
    if (threadIdx.x == 0) {
        choice.q = found ? best : NOBODY;
        choice.flips = flips;
    }
}

// Move the first `flips` candidates of the list to their other bounds.
template <bool NEAR>
__device__ __forceinline__ void flip_candidates(const Lp<NEAR>& lp, int flips) {
    const REAL* D = lp.D();
    for (int k = threadIdx.x; k < flips; k += blockDim.x) {
        const int j = lp.candidates()[k];
        const int v = lp.nonbasic()[j];
        const bool to_high = lp.status()[v] == LOWER;
        const REAL target = to_high ? lp.high()[v] : lp.low()[v];
        lp.ratio()[k] = target - lp.point()[j];
        lp.status()[v] = to_high ? UPPER : LOWER;
        lp.point()[j] = target;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) {
        REAL value = lp.value()[i];
        for (int k = 0; k < flips; ++k) {
            value += D[lp.at(i, lp.candidates()[k])] * lp.ratio()[k];
        }
        lp.value()[i] = value;
    }
    __syncthreads();
}

// Dual pivots from a dual feasible dictionary with merits; *at gets the row at which they ended.
template <bool NEAR>
__device__ __noinline__ int dual(
    const Lp<NEAR> lp, const AnyLp& plain, Counts& counts, const REAL* parameters, int* at) {
    int stalled = 0, checked = 0;
    while (true) {
        if (is_first_warp()) {
            const int row = leaving_row(lp);
            if (threadIdx.x == 0) choice.p = row;
        }
        __syncthreads();
        const int p = choice.p;
        *at = p;
        if (p == NOBODY) return DONE;
        if (counts.pivots >= counts.most) return AT_LIMIT;
        const int leaving = lp.basic()[p];
        const bool below = lp.value()[p] < lp.low()[leaving];
        const REAL target = below ? lp.low()[leaving] : lp.high()[leaving];
        find_ratios(lp, p, below ? REAL(1) : REAL(-1), parameters[SMALLEST_PIVOT]);
        if (is_first_warp()) choose_entering(lp, fabs(target - lp.value()[p]), parameters);
        __syncthreads();
        const int q = choice.q;
        if (q == NOBODY) return NO_PIVOT;
        const REAL pivot = lp.row()[q];
        if (fabs(pivot) < parameters[WANTED_PIVOT] && counts.fresh > 0) return INACCURATE;
        if (choice.flips > 0) flip_candidates(lp, choice.flips);
        const REAL price = lp.reduced()[q];
        if ((below ? price : -price) * pivot < REAL(0)) {
            __syncthreads();
            if (threadIdx.x == 0) {
                lp.cost()[lp.nonbasic()[q]] -= price;
                lp.reduced()[q] = REAL(0);
            }
            __syncthreads();
        }
        stalled = fabs(price) <= lp.dual_tolerance ? stalled + 1 : 0;
        const REAL step = (target - lp.value()[p]) / pivot;
        const Move move = {step, lp.point()[q] + step, target, true, below};
        exchange<NEAR, true>(lp, p, q, move);
        ++counts.pivots;
        ++counts.fresh;
        if (stalled > parameters[STALLED]) {
            perturb_costs(plain, ++counts.perturbed, parameters);
            stalled = 0;
        }
        if (++checked >= parameters[CHECK_EVERY]) return PAUSED;
    }
}
