// The dual simplex method on a dictionary. The first warp chooses, the block moves.

#pragma once

#include "pivots.cuh"

// By one warp: the row of the largest weighted primal infeasibility, or NOBODY.
template <bool NEAR>
__device__ __forceinline__ int leaving_row(const Lp<NEAR>& lp) {
    REAL best = REAL(0);
    int p = NOBODY;
    for (int i = threadIdx.x; i < lp.m; i += 32) {
        const REAL off = outside(lp, i);
        if (!(off > lp.primal_tolerance)) continue;
        const REAL merit = off * off / lp.weight()[i];
        if (merit > best) {
            best = merit;
            p = i;
        }
    }
    warp_best(best, p);
    return p;
}

// By one warp: fill in lp.row(), the candidates to enter and their ratios; return their number.
template <bool NEAR>
__device__ __forceinline__ int find_candidates(
    const Lp<NEAR>& lp, int p, REAL sign, const REAL* parameters) {
    const REAL* D = lp.D();
    int count = 0;
    for (int base = 0; base < lp.n; base += 32) {
        const int j = base + threadIdx.x;
        bool fits = false;
        REAL entry = REAL(0);
        if (j < lp.n) {
            entry = D[lp.at(p, j)];
            lp.row()[j] = entry;
            const int v = lp.nonbasic()[j];
            const int status = lp.status()[v];
            fits = fabs(entry) > parameters[SMALLEST_PIVOT] && lp.low()[v] < lp.high()[v] &&
                   (status == ZERO || (sign * entry > REAL(0)) == (status == LOWER));
        }
        const unsigned those = __ballot_sync(FULL_WARP, fits);
        if (fits) {
            const int place = count + __popc(those & ((1u << threadIdx.x) - 1u));
            lp.candidates()[place] = j;
            lp.groups()[place] = 0;
            lp.ratio()[place] = (fabs(lp.reduced()[j]) + lp.dual_tolerance) / fabs(entry);
        }
        count += __popc(those);
    }
    __syncwarp();
    return count;
}

// By one warp: the bound-flipping ratio test with Harris' tolerance, of `count` candidates, for a
// row that is `off` outside its bounds. Candidates get the number of their group, from 1 on; those
// of groups before the chosen one are to be flipped.
template <bool NEAR>
__device__ __forceinline__ void choose_entering(
    const Lp<NEAR>& lp, int count, REAL off, const REAL* parameters) {
    int best = NOBODY, best_group = 0;
    REAL best_size = REAL(0);
    bool found = false;
    for (int group = 1; !found; ++group) {
        REAL step = infinity();
#pragma unroll 1
        for (int k = threadIdx.x; k < count; k += 32) {
            if (lp.groups()[k] == 0) step = smaller(step, lp.ratio()[k]);
        }
        step = lanes_reduce<Smallest>(step, 32);
        REAL size = REAL(0), drop = REAL(0);
        int q = NOBODY;
#pragma unroll 1
        for (int k = threadIdx.x; k < count; k += 32) {
            if (lp.groups()[k] != 0) continue;
            const int j = lp.candidates()[k];
            const REAL own = fabs(lp.row()[j]);
            if (!(fabs(lp.reduced()[j]) <= step * own)) continue;
            lp.groups()[k] = group;
            const int v = lp.nonbasic()[j];
            drop += own * (lp.high()[v] - lp.low()[v]);
            if (own > size) {
                size = own;
                q = j;
            }
        }
        drop = lanes_reduce<Sum>(drop, 32);
        warp_best(size, q);
        if (q == NOBODY) break;
        if (size >= parameters[WANTED_PIVOT] || size > best_size) {
            best = q;
            best_size = size;
            best_group = group;
        }
        off -= drop;
        found = off <= lp.primal_tolerance;
    }
    if (threadIdx.x == 0) {
        choice.q = found ? best : NOBODY;
        choice.group = best_group;
        choice.candidates = count;
    }
}

// Move the candidates of the groups before the chosen one to their other bounds.
template <bool NEAR>
__device__ __forceinline__ void flip_candidates(const Lp<NEAR>& lp) {
    const REAL* D = lp.D();
    const int count = choice.candidates, chosen = choice.group;
    for (int k = threadIdx.x; k < count; k += blockDim.x) {
        const int j = lp.candidates()[k];
        const int v = lp.nonbasic()[j];
        REAL change = REAL(0);
        if (lp.groups()[k] != 0 && lp.groups()[k] < chosen) {
            const bool to_high = lp.status()[v] == LOWER;
            const REAL target = to_high ? lp.high()[v] : lp.low()[v];
            change = target - lp.point()[j];
            lp.status()[v] = to_high ? UPPER : LOWER;
            lp.point()[j] = target;
        }
        lp.ratio()[k] = change;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) {
        REAL value = lp.value()[i];
        for (int k = 0; k < count; ++k) {
            const REAL change = lp.ratio()[k];
            if (change != REAL(0)) value += D[lp.at(i, lp.candidates()[k])] * change;
        }
        lp.value()[i] = value;
    }
    __syncthreads();
}

// Dual pivots from a dual feasible dictionary; *at gets the row at which they ended.
template <bool NEAR>
__device__ __noinline__ int dual(
    const Lp<NEAR> lp, const AnyLp& plain, Counts& counts, const REAL* parameters, int* at) {
    int stalled = 0, checked = 0;
    while (true) {
        if (is_first_warp()) {
            const int p = leaving_row(lp);
            int count = 0;
            if (p != NOBODY) {
                const int v = lp.basic()[p];
                const REAL sign = lp.value()[p] < lp.low()[v] ? REAL(1) : REAL(-1);
                count = find_candidates(lp, p, sign, parameters);
                choose_entering(lp, count, outside(lp, p), parameters);
            }
            if (threadIdx.x == 0) choice.p = p;
        }
        __syncthreads();
        const int p = choice.p;
        *at = p;
        if (p == NOBODY) return DONE;
        if (counts.pivots >= counts.most) return AT_LIMIT;
        const int q = choice.q;
        if (q == NOBODY) return NO_PIVOT;
        const REAL pivot = lp.row()[q];
        if (fabs(pivot) < parameters[WANTED_PIVOT] && counts.fresh > 0) return INACCURATE;
        if (choice.group > 1) flip_candidates(lp);
        const int leaving = lp.basic()[p];
        const REAL value = lp.value()[p];
        const bool below = value < lp.low()[leaving];
        const REAL target = below ? lp.low()[leaving] : lp.high()[leaving];
        const REAL price = lp.reduced()[q];
        __syncthreads();
        if ((below ? price : -price) * pivot < REAL(0)) {
            if (threadIdx.x == 0) {
                lp.cost()[lp.nonbasic()[q]] -= price;
                lp.reduced()[q] = REAL(0);
            }
            __syncthreads();
        }
        stalled = fabs(price) <= lp.dual_tolerance ? stalled + 1 : 0;
        advance<NEAR, true>(lp, p, q, (target - value) / pivot, target, below);
        ++counts.pivots;
        ++counts.fresh;
        if (stalled > parameters[STALLED]) {
            perturb_costs(plain, ++counts.perturbed, parameters);
            stalled = 0;
        }
        if (++checked >= parameters[CHECK_EVERY]) return PAUSED;
    }
}
