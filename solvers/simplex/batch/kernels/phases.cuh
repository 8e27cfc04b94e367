// The dual and the primal simplex method on a dictionary. The first warp chooses, the block moves.

#pragma once

#include "dictionary.cuh"

#define NO_STEP REAL(1e-12)

// Move reduced costs away from zero, into the side where they are dual feasible.
__device__ __noinline__ void perturb_costs(const AnyLp lp, int turn, const REAL* parameters) {
    const REAL size = parameters[PERTURBATION] * lp.cost_size * REAL(turn);
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) {
        const int v = lp.nonbasic()[j];
        const int status = lp.status()[v];
        if (lp.low()[v] == lp.high()[v] || status == ZERO) continue;
        const REAL change = (status == UPPER ? -size : size) * spread(v, turn);
        lp.reduced()[j] += change;
        lp.cost()[v] += change;
    }
    __syncthreads();
}

// Move the bounds of basic variables outwards.
__device__ __noinline__ void perturb_bounds(const AnyLp lp, int turn, const REAL* parameters) {
    const REAL size = parameters[PERTURBATION] * REAL(turn);
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) {
        const int v = lp.basic()[i];
        const REAL change = size * spread(v, turn) * (REAL(1) + fabs(lp.value()[i]));
        lp.low()[v] -= change;
        lp.high()[v] += change;
    }
    __syncthreads();
}

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

// Move along column q by `step` until the basic variable at p is at `target`; pivot. WEIGH: for the
// dual method, whose choice has copied row p.
template <bool NEAR, bool WEIGH>
__device__ __forceinline__ void advance(
    const Lp<NEAR>& lp, int p, int q, REAL step, REAL target, bool to_low) {
    const int entering = lp.nonbasic()[q];
    const int leaving = lp.basic()[p];
    const REAL point = lp.point()[q];
    if constexpr (WEIGH) {
        exchange<NEAR, true>(lp, p, q, step, true);
    } else {
        exchange_plainly(lp, p, q, step);
    }
    if (threadIdx.x == 0) {
        lp.value()[p] = point + step;
        lp.point()[q] = target;
        lp.status()[entering] = BASIC;
        lp.status()[leaving] = to_low ? LOWER : UPPER;
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
    longest = lanes_reduce<Smallest>(longest, 32);
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

// Move the nonbasic variable at q to its other bound.
template <bool NEAR>
__device__ __forceinline__ void flip(const Lp<NEAR>& lp, int q) {
    const REAL* D = lp.D();
    const int v = lp.nonbasic()[q];
    const bool to_high = lp.status()[v] == LOWER;
    const REAL target = to_high ? lp.high()[v] : lp.low()[v];
    const REAL change = target - lp.point()[q];
    __syncthreads();
    if (threadIdx.x == 0) {
        lp.status()[v] = to_high ? UPPER : LOWER;
        lp.point()[q] = target;
    }
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) {
        lp.value()[i] += D[lp.at(i, q)] * change;
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
        advance<NEAR, false>(lp, p, q, direction * length, target, to_low);
        weigh_columns(lp, q);
        ++counts.fresh;
        if (stalled > parameters[STALLED]) {
            perturb_bounds(plain, ++counts.perturbed, parameters);
            stalled = 0;
        }
        if (++checked >= parameters[CHECK_EVERY]) return PAUSED;
    }
}
