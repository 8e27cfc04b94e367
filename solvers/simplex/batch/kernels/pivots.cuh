// Steps that the dual and the primal method share: flips, pivots, perturbations.

#pragma once

#include "dictionary.cuh"

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
