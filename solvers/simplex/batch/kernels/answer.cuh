// The beginning and the end of an LP: its first dictionary, and what is said of it.

#pragma once

#include "dictionary.cuh"

// Start at the dictionary that all share, or at the basis that the statuses name.
__device__ __forceinline__ void begin(
    const AnyLp& lp, const Given& given, const INDEX* statuses, const REAL* dictionary,
    const INDEX* heads, int start) {
    for (int v = threadIdx.x; v < lp.n + lp.m; v += blockDim.x) {
        lp.status()[v] = start == SLACK && v >= lp.n ? BASIC : (int)statuses[v];
    }
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) lp.reduced()[j] = REAL(0);
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) lp.value()[i] = REAL(0);
    __syncthreads();
    if (start != DICTIONARY) {
        build(lp, given);
        return;
    }
    REAL* const D = lp.D();
    const int lane = threadIdx.x & 31;
    for (int j = threadIdx.x >> 5; j < lp.n; j += blockDim.x >> 5) {
        const REAL* from = dictionary + (long long)j * lp.m;
        for (int i = lane; i < lp.m; i += 32) D[lp.at(i, j)] = from[i];
    }
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) lp.basic()[i] = (int)heads[i];
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) {
        lp.nonbasic()[j] = (int)heads[lp.m + j];
    }
    __syncthreads();
}

// The point, on or within its bounds, the row duals, and what proves that there is no optimum; what
// no ratio test looks at is rounding.
__device__ __noinline__ void write_answer(
    const AnyLp lp, const Given given, int how, int at, REAL* x, REAL* y, REAL* ray) {
    const REAL* D = lp.D();
    const int n = lp.n;
    const REAL smallest = given.parameters[SMALLEST_PIVOT];
    const bool infeasible = how == INFEASIBLE, unbounded = how == UNBOUNDED;
    REAL sign = REAL(0), direction = REAL(0);
    if (infeasible) sign = lp.value()[at] < lp.low()[lp.basic()[at]] ? REAL(1) : REAL(-1);
    if (unbounded) direction = lp.reduced()[at] > REAL(0) ? REAL(-1) : REAL(1);
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
        const int v = lp.nonbasic()[j];
        if (v >= n) {
            const REAL entry = infeasible ? D[lp.at(at, j)] : REAL(0);
            const REAL farkas = fabs(entry) > smallest ? -sign * entry : REAL(0);
            y[v - n] = (infeasible ? farkas : lp.reduced()[j]) * given.row_scale[v - n];
            continue;
        }
        const int status = lp.status()[v];
        x[v] = status == LOWER ? given.lower[v] : (status == UPPER ? given.upper[v] : REAL(0));
        ray[v] = unbounded && j == at ? direction * given.column_scale[v] : REAL(0);
    }
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) {
        const int v = lp.basic()[i];
        if (v >= n) {
            y[v - n] = infeasible && i == at ? sign * given.row_scale[v - n] : REAL(0);
            continue;
        }
        const REAL value = lp.value()[i] * given.column_scale[v];
        x[v] = smaller(larger(value, given.lower[v]), given.upper[v]);
        const REAL entry = unbounded ? D[lp.at(i, at)] : REAL(0);
        ray[v] = fabs(entry) > smallest ? direction * entry * given.column_scale[v] : REAL(0);
    }
    __syncthreads();
}
