// Steps that look like rays.

#pragma once

#include "lp.cuh"

// Whether the dual step, left in y_trial without what leans on nothing, looks like a ray.
template <int STORAGE>
__device__ __noinline__ bool dual_ray(const Lp& lp, const REAL* parameters) {
    REAL terms[2] = {0, 0};
    REAL largest = REAL(0);
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) {
        const REAL step = lp.y_step[i];
        const REAL side = step > REAL(0) ? lp.row_lower[i] : lp.row_upper[i];
        const REAL kept = is_finite(side) ? step : REAL(0);
        lp.y_trial[i] = kept;
        largest = larger(largest, fabs(kept));
        if (kept != REAL(0)) {
            terms[0] += kept * side;
            terms[1] += fabs(kept * side);
        }
    }
    __syncthreads();
    REAL leftover = REAL(0);
    column_products<STORAGE>(lp, lp.y_trial, [&](int j, REAL pull) {
        const REAL side = pull > REAL(0) ? lp.upper[j] : lp.lower[j];
        if (is_finite(side)) {
            terms[0] -= pull * side;
            terms[1] += fabs(pull * side);
        } else {
            leftover = larger(leftover, fabs(pull));
        }
    });
    block_sums(terms);
    largest = block_reduce<Largest>(largest);
    leftover = block_reduce<Largest>(leftover);
    return leftover <= parameters[RAY_LEFTOVER] * largest &&
           terms[0] > parameters[RAY_MARGIN] * (largest + terms[1]);
}

// Whether one could go on along the primal step for ever at falling cost.
template <int STORAGE>
__device__ __noinline__ bool primal_ray(const Lp& lp, const REAL* parameters) {
    REAL terms[2] = {0, 0};
    REAL largest = REAL(0);
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) {
        const REAL step = lp.x_step[j];
        const REAL kept = is_finite(step > REAL(0) ? lp.upper[j] : lp.lower[j]) ? REAL(0) : step;
        lp.x_bar[j] = kept;
        largest = larger(largest, fabs(kept));
        terms[0] += lp.cost[j] * kept;
        terms[1] += fabs(lp.cost[j] * kept);
    }
    __syncthreads();
    REAL leftover = REAL(0);
    row_products<STORAGE>(lp, lp.x_bar, [&](int i, REAL moved) {
        if (is_finite(moved > REAL(0) ? lp.row_upper[i] : lp.row_lower[i])) {
            leftover = larger(leftover, fabs(moved));
        }
    });
    block_sums(terms);
    largest = block_reduce<Largest>(largest);
    leftover = block_reduce<Largest>(leftover);
    return leftover <= parameters[PRIMAL_RAY_LEFTOVER] * largest &&
           -terms[0] > parameters[RAY_MARGIN] * (largest + terms[1]);
}
