// The primal simplex method on a dictionary. The first warp chooses, the block moves.

#pragma once

#include "dictionary.cuh"

// By one warp: the column of the largest weighted dual infeasibility, or NOBODY.
template <bool NEAR>
__device__ __forceinline__ int priced_column(const Lp<NEAR>& lp) {
    REAL best = REAL(0);
    int q = NOBODY;
    for (int j = threadIdx.x; j < lp.n; j += 32) {
        const int v = lp.nonbasic()[j];
        const REAL price = lp.reduced()[j];
        if (!is_attractive(price, lp.status()[v], lp.low()[v], lp.high()[v], lp.dual_tolerance)) {
            continue;
        }
        const REAL merit = price * price / lp.price()[j];
        if (merit > best) {
            best = merit;
            q = j;
        }
    }
    warp_best(best, q);
    return q;
}

// How far a basic variable that changes by `rate` is from the bound it moves to.
template <bool NEAR>
__device__ __forceinline__ REAL room(const Lp<NEAR>& lp, int i, REAL rate) {
    const int v = lp.basic()[i];
    return rate > REAL(0) ? lp.high()[v] - lp.value()[i] : lp.value()[i] - lp.low()[v];
}

// By one warp: the row that stops column q by Harris' test, or NOBODY.
template <bool NEAR>
__device__ __forceinline__ int blocking_row(
    const Lp<NEAR>& lp, int q, REAL direction, const REAL* parameters) {
    const REAL* D = lp.D();
    const REAL smallest = parameters[SMALLEST_PIVOT];
    REAL longest = infinity();
    for (int i = threadIdx.x; i < lp.m; i += 32) {
        const REAL rate = direction * D[lp.at(i, q)];
        if (!(fabs(rate) > smallest)) continue;
        const REAL free = larger(room(lp, i, rate), REAL(0)) + lp.primal_tolerance;
        longest = smaller(longest, free / fabs(rate));
    }
    longest = warp_least(longest);
    REAL size = smallest;
    int p = NOBODY;
    for (int i = threadIdx.x; i < lp.m; i += 32) {
        const REAL rate = direction * D[lp.at(i, q)];
        if (!(fabs(rate) > size)) continue;
        const REAL free = room(lp, i, rate);
        if (free <= longest * fabs(rate) && free < infinity()) {
            size = fabs(rate);
            p = i;
        }
    }
    warp_best(size, p);
    return p;
}

// Devex weights of the columns after a pivot in column q.
template <bool NEAR>
__device__ __forceinline__ void weigh_columns(const Lp<NEAR>& lp, int q) {
    const REAL own = lp.price()[q];
    __syncthreads();
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) {
        const REAL entry = lp.row()[j];
        const REAL seen = entry * entry * own;
        lp.price()[j] = j == q ? larger(seen, REAL(1)) : larger(lp.price()[j], seen);
    }
    __syncthreads();
}

// Primal pivots from a feasible point; *at gets the column at which they ended.
template <bool NEAR>
__device__ __noinline__ int primal(
    const Lp<NEAR> lp, const AnyLp& plain, Counts& counts, const REAL* parameters, int* at) {
    const REAL* D = lp.D();
    int stalled = 0, checked = 0;
    while (true) {
        if (is_first_warp()) {
            const int q = priced_column(lp);
            int p = NOBODY;
            if (q != NOBODY) {
                const REAL direction = lp.reduced()[q] > REAL(0) ? REAL(-1) : REAL(1);
                p = blocking_row(lp, q, direction, parameters);
            }
            if (threadIdx.x == 0) {
                choice.p = p;
                choice.q = q;
            }
        }
        __syncthreads();
        const int p = choice.p, q = choice.q;
        *at = q;
        if (q == NOBODY) return DONE;
        if (counts.pivots >= counts.most) return AT_LIMIT;
        const int entering = lp.nonbasic()[q];
        const REAL direction = lp.reduced()[q] > REAL(0) ? REAL(-1) : REAL(1);
        const REAL span = lp.high()[entering] - lp.low()[entering];
        if (p == NOBODY && span == infinity()) return NO_PIVOT;
        ++counts.pivots;
        REAL length = infinity(), target = REAL(0), pivot = REAL(0), value = REAL(0);
        bool to_low = false;
        int leaving = 0;
        if (p != NOBODY) {
            leaving = lp.basic()[p];
            pivot = D[lp.at(p, q)];
            value = lp.value()[p];
            to_low = direction * pivot < REAL(0);
            target = to_low ? lp.low()[leaving] : lp.high()[leaving];
            length = (target - value) / (direction * pivot);
        }
        __syncthreads();
        if (span <= length) {
            flip(lp, q);
            continue;
        }
        if (fabs(pivot) < parameters[WANTED_PIVOT] && counts.fresh > 0) return INACCURATE;
        if (length < REAL(0)) {  // beyond its bound within the tolerance: the bound gives way
            length = REAL(0);
            target = value;
            if (threadIdx.x == 0) (to_low ? lp.low() : lp.high())[leaving] = target;
        }
        stalled = length <= NO_STEP ? stalled + 1 : 0;
        const REAL step = direction * length;
        const Move move = {step, lp.point()[q] + step, target, true, to_low};
        exchange_plainly(lp, p, q, move);
        weigh_columns(lp, q);
        ++counts.fresh;
        if (stalled > parameters[STALLED]) {
            perturb_bounds(plain, ++counts.perturbed, parameters);
            stalled = 0;
        }
        if (++checked >= parameters[CHECK_EVERY]) return PAUSED;
    }
}
