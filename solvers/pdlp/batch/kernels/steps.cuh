// The iteration, the fixed-point metric, and the errors of a point.

#pragma once

#include "lp.cuh"

// One step of the iteration, with both halves' barriers.
template <int STORAGE>
__device__ __forceinline__ void iterate(const Lp& lp, REAL tau, REAL sigma, int k) {
    const REAL weight = (k + REAL(1)) / (k + REAL(2));
    column_products<STORAGE>(lp, lp.y, [&](int j, REAL product) {
        const REAL current = lp.x[j];
        const REAL projected =
            between(lp.lower[j], current - tau * (lp.cost[j] - product), lp.upper[j]);
        const REAL mirrored = REAL(2) * projected - current;
        lp.x_hat[j] = projected;
        lp.x_bar[j] = mirrored;
        lp.x_step[j] = mirrored - current;
        lp.x[j] = weight * mirrored + (REAL(1) - weight) * lp.x_anchor[j];
    });
    __syncthreads();
    row_products<STORAGE>(lp, lp.x_bar, [&](int i, REAL product) {
        const REAL current = lp.y[i];
        const REAL free_step = current - sigma * product;
        const REAL projected =
            free_step - between(-sigma * lp.row_upper[i], free_step, -sigma * lp.row_lower[i]);
        const REAL mirrored = REAL(2) * projected - current;
        lp.y_hat[i] = projected;
        lp.y_step[i] = mirrored - current;
        lp.y[i] = weight * mirrored + (REAL(1) - weight) * lp.y_anchor[i];
    });
    __syncthreads();
}

// The sums of the fixed-point metric.
template <int STORAGE>
__device__ __noinline__ void sum_steps(const Lp& lp, Sums& sums) {
    REAL terms[3] = {0, 0, 0};
    row_products<STORAGE>(lp, lp.x_step, [&](int i, REAL product) {
        const REAL step = lp.y_step[i];
        terms[1] += step * step;
        terms[2] += step * product;
    });
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) terms[0] += lp.x_step[j] * lp.x_step[j];
    block_sums(terms);
    sums.x_step = terms[0];
    sums.y_step = terms[1];
    sums.cross = terms[2];
}

__device__ __forceinline__ REAL metric_squared(const Sums& sums, REAL omega, REAL eta) {
    return omega * sums.x_step + sums.y_step / omega + REAL(2) * eta * sums.cross;
}

// Residuals and objectives of (x, y), and the way from the anchor.
template <int STORAGE>
__device__ __noinline__ Errors errors(const Lp& lp, const REAL* x, const REAL* y, Sums& sums) {
    REAL terms[6] = {0, 0, 0, 0, 0, 0};
    row_products<STORAGE>(lp, x, [&](int i, REAL activity) {
        const REAL low = lp.row_lower[i];
        const REAL high = lp.row_upper[i];
        const REAL outside = (activity - between(low, activity, high)) / lp.row_scale[i];
        const REAL dual = y[i];
        const REAL travel = dual - lp.y_anchor[i];
        terms[0] += outside * outside;
        if (dual != REAL(0)) terms[3] += dual * (dual > REAL(0) ? low : high);
        terms[5] += travel * travel;
    });
    column_products<STORAGE>(lp, y, [&](int j, REAL product) {
        const REAL reduced = lp.cost[j] - product;
        const REAL side = reduced > REAL(0) ? lp.lower[j] : lp.upper[j];
        const REAL travel = x[j] - lp.x_anchor[j];
        if (is_finite(side)) {
            terms[3] += reduced * side;
        } else {
            const REAL wrong = reduced / lp.column_scale[j];
            terms[1] += wrong * wrong;
        }
        terms[2] += lp.cost[j] * x[j];
        terms[4] += travel * travel;
    });
    block_sums(terms);
    sums.primal = terms[0];
    sums.dual = terms[1];
    sums.value = terms[2];
    sums.support = terms[3];
    sums.x_travel = terms[4];
    sums.y_travel = terms[5];
    const REAL value = sums.value + lp.offset;
    const REAL support = sums.support + lp.offset;
    Errors found;
    found.primal = sqrt(sums.primal) / (REAL(1) + lp.side_norm);
    found.dual = sqrt(sums.dual) / (REAL(1) + lp.cost_norm);
    found.gap = fabs(value - support) / (REAL(1) + fabs(value) + fabs(support));
    return found;
}
