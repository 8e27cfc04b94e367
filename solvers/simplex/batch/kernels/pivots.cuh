// The dual and the primal simplex method on a dictionary. The first warp chooses, the block moves.

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

// The primal method.

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
