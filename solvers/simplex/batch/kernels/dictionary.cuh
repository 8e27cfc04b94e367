// The dictionary of a basis, x_B = D x_N, and what the dual and the primal method do to it: flips,
// pivots that exchange two variables, perturbations.
//
// All threads of the block call these together, and find everything written when they return.

#pragma once

#include "state.cuh"

#define AT_ONCE 4

// What a pivot does to the point: basic values move by `step` along the column, the variable that
// enters has `arrived`, and the one that leaves is on its lower or upper bound, `target`.
struct Move {
    REAL step, arrived, target;
    bool moves, to_low;
};

// Exchange the nonbasic variable at q and the basic one at p. WEIGH is for the dual method: lp.row()
// holds row p already, and all rows get their merits.
template <bool NEAR, bool WEIGH>
__device__ __forceinline__ void exchange(const Lp<NEAR>& lp, int p, int q, const Move& move) {
    REAL* const D = lp.D();
    REAL* const row = lp.row();
    REAL* const column = lp.column();
    REAL* const reduced = lp.reduced();
    REAL* const value = lp.value();
    if (!WEIGH) {
        for (int j = threadIdx.x; j < lp.n; j += blockDim.x) row[j] = D[lp.at(p, j)];
        __syncthreads();
    }
    const REAL inverse = REAL(1) / row[q];
    const REAL price = reduced[q];
    const int entering = lp.nonbasic()[q];
    const int leaving = lp.basic()[p];
    __syncthreads();
    // Row p and column q leave the dictionary; what replaces them comes with the update of all.
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) {
        const REAL entry = D[lp.at(i, q)];
        value[i] = i == p ? move.arrived : value[i] + entry * move.step;
        column[i] = i == p ? REAL(1) : entry;
        D[lp.at(i, q)] = REAL(0);
    }
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) {
        const REAL entry = j == q ? inverse : -inverse * row[j];
        row[j] = entry;
        reduced[j] = (j == q ? REAL(0) : reduced[j]) + price * entry;
        if (j != q) D[lp.at(p, j)] = REAL(0);
    }
    if (threadIdx.x == 0) {
        lp.basic()[p] = entering;
        lp.nonbasic()[q] = leaving;
        if (move.moves) {
            lp.point()[q] = move.target;
            lp.status()[entering] = BASIC;
            lp.status()[leaving] = move.to_low ? LOWER : UPPER;
        }
    }
    __syncthreads();
    over_rows(
        lp,
        [&](int i, int first, int last) {
            const REAL factor = column[i];
            REAL sum = REAL(0);
            int j = first;
            for (; j + AT_ONCE <= last; j += AT_ONCE) {  // all loads before the first store
                REAL entry[AT_ONCE];
#pragma unroll
                for (int c = 0; c < AT_ONCE; ++c) {
                    entry[c] = D[lp.at(i, j + c)] + factor * row[j + c];
                }
#pragma unroll
                for (int c = 0; c < AT_ONCE; ++c) {
                    D[lp.at(i, j + c)] = entry[c];
                    if (WEIGH) sum += entry[c] * entry[c];
                }
            }
#pragma unroll 1
            for (; j < last; ++j) {
                const REAL entry = D[lp.at(i, j)] + factor * row[j];
                D[lp.at(i, j)] = entry;
                if (WEIGH) sum += entry * entry;
            }
            return sum;
        },
        [&](int i, REAL sum) {
            if (WEIGH) lp.merit()[i] = dual_merit(lp, i, REAL(1) + sum);
        });
}

// The same for all others, out of line.
template <bool NEAR>
__device__ __noinline__ void exchange_plainly(const Lp<NEAR> lp, int p, int q, const Move move) {
    exchange<NEAR, false>(lp, p, q, move);
}

// The merits of all rows, for the first choice.
__device__ __noinline__ void weigh_rows(const AnyLp lp) {
    const REAL* D = lp.D();
    over_rows(
        lp,
        [&](int i, int first, int last) {
            REAL sum = REAL(0);
#pragma unroll 4
            for (int j = first; j < last; ++j) sum += D[lp.at(i, j)] * D[lp.at(i, j)];
            return sum;
        },
        [&](int i, REAL sum) { lp.merit()[i] = dual_merit(lp, i, REAL(1) + sum); });
}

// x_B = D x_N.
__device__ __noinline__ void basic_values(const AnyLp lp) {
    const REAL* D = lp.D();
    const REAL* point = lp.point();
    over_rows(
        lp,
        [&](int i, int first, int last) {
            REAL sum = REAL(0);
#pragma unroll 4
            for (int j = first; j < last; ++j) sum += D[lp.at(i, j)] * point[j];
            return sum;
        },
        [&](int i, REAL sum) { lp.value()[i] = sum; });
}

// d_N = c_N + D'c_B.
__device__ __noinline__ void reduced_costs(const AnyLp lp) {
    const REAL* D = lp.D();
    REAL* const column = lp.column();
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) column[i] = lp.cost()[lp.basic()[i]];
    __syncthreads();
    const int lane = threadIdx.x & 31;
    for (int j = threadIdx.x >> 5; j < lp.n; j += blockDim.x >> 5) {
        REAL sum = REAL(0);
        for (int i = lane; i < lp.m; i += 32) sum += D[lp.at(i, j)] * column[i];
        sum = lanes_reduce<Sum>(sum, 32);
        if (lane == 0) lp.reduced()[j] = lp.cost()[lp.nonbasic()[j]] + sum;
    }
    __syncthreads();
}

// Put nonbasic variables on the bounds of their statuses, or on bounds that they have.
__device__ __noinline__ void to_bounds(const AnyLp lp) {
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) {
        const int v = lp.nonbasic()[j];
        const REAL low = lp.low()[v];
        const REAL high = lp.high()[v];
        if (low > -infinity() && (lp.status()[v] != UPPER || high == infinity())) {
            lp.status()[v] = LOWER;
            lp.point()[j] = low;
        } else if (high < infinity()) {
            lp.status()[v] = UPPER;
            lp.point()[j] = high;
        } else {
            lp.status()[v] = ZERO;
            lp.point()[j] = REAL(0);
        }
    }
    __syncthreads();
}

// The dictionary of the slack basis: the matrix as it is given, scaled.
__device__ __noinline__ void load_matrix(const AnyLp lp, const Given& given) {
    REAL* const D = lp.D();
    const long long size = (long long)lp.leading * lp.n;
    for (long long e = threadIdx.x; e < size; e += blockDim.x) D[e] = REAL(0);
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) lp.basic()[i] = lp.n + i;
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) lp.nonbasic()[j] = j;
    __syncthreads();
    const int lane = threadIdx.x & 31;
    for (int i = threadIdx.x >> 5; i < lp.m; i += blockDim.x >> 5) {
        const REAL scale = given.row_scale[i];
        for (INDEX e = given.starts[i] + lane; e < given.starts[i + 1]; e += 32) {
            const int j = (int)given.indices[e];
            D[lp.at(i, j)] = given.values[e] * scale * given.column_scale[j];
        }
    }
    __syncthreads();
}

// The dictionary of the basis that statuses name, from the matrix as it is given. Structurals enter
// in their order, each in the row of its largest entry among those whose logicals are to leave; a
// singular basis is repaired by logicals.
__device__ __noinline__ void build(const AnyLp lp, const Given& given) {
    const REAL* D = lp.D();
    int* const status = lp.status();
    load_matrix(lp, given);
    for (int q = 0; q < lp.n; ++q) {
        if (status[q] != BASIC) continue;
        if (is_first_warp()) {
            REAL size = given.parameters[SMALLEST_PIVOT];
            int p = NOBODY;
            for (int i = threadIdx.x; i < lp.m; i += 32) {
                const int logical = lp.n + i;
                const REAL entry = fabs(D[lp.at(i, q)]);
                if (entry > size && lp.basic()[i] == logical && status[logical] != BASIC) {
                    size = entry;
                    p = i;
                }
            }
            warp_best(size, p);
            if (threadIdx.x == 0) choice.p = p;
        }
        __syncthreads();
        const int p = choice.p;
        if (p != NOBODY) {
            const Move none = {REAL(0), REAL(0), REAL(0), false, false};
            if (lp.near) {
                exchange_plainly(as_near(lp), p, q, none);
            } else {
                exchange_plainly(lp, p, q, none);
            }
        } else {
            if (threadIdx.x == 0) status[q] = LOWER;
            __syncthreads();
        }
    }
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) status[lp.basic()[i]] = BASIC;
    __syncthreads();
}

// Whether the point obeys [A -I] x = 0, up to a part of the terms of each row.
__device__ __noinline__ bool is_accurate(const AnyLp lp, const Given& given) {
    REAL* const x = lp.row();
    REAL* const activity = lp.column();
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) {
        const int v = lp.nonbasic()[j];
        (v < lp.n ? x[v] : activity[v - lp.n]) = lp.point()[j];
    }
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) {
        const int v = lp.basic()[i];
        (v < lp.n ? x[v] : activity[v - lp.n]) = lp.value()[i];
    }
    __syncthreads();
    const int lane = threadIdx.x & 31;
    bool off = false;
    for (int i = threadIdx.x >> 5; i < lp.m; i += blockDim.x >> 5) {
        const REAL scale = given.row_scale[i];
        REAL sum = REAL(0), size = REAL(0);
        for (INDEX e = given.starts[i] + lane; e < given.starts[i + 1]; e += 32) {
            const int j = (int)given.indices[e];
            const REAL term = given.values[e] * scale * given.column_scale[j] * x[j];
            sum += term;
            size += fabs(term);
        }
        sum = lanes_reduce<Sum>(sum, 32);
        size = lanes_reduce<Sum>(size, 32);
        // a comparison with NaN is false
        off = off || !(fabs(sum - activity[i]) <= given.parameters[ACCURACY] * (REAL(1) + size));
    }
    return !block_any(off);
}

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
