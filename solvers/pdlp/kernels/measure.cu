// The sums of a check; measure.py states what they are.
//
// A team owns a unit of slices; the thread that holds a row's products makes the row's terms, and
// each block adds the terms of its threads along a fixed tree into its slot of `partial`.

#include "control.cuh"
#include "slices.cuh"

#define SUMS 7

// What sides support of a multiplier: the side it leans on times it, nothing for zero.
__device__ __forceinline__ REAL support(REAL multiplier, REAL low, REAL high) {
    if (multiplier > REAL(0)) return multiplier * low;
    if (multiplier < REAL(0)) return multiplier * high;
    return REAL(0);
}

__device__ __forceinline__ bool finite(REAL value) { return value - value == REAL(0); }

__device__ __forceinline__ void store(const REAL* terms, REAL* __restrict__ partial) {
    for (int s = 0; s < SUMS; ++s) {
        const REAL sum = block_reduce<Sum>(terms[s]);
        if (threadIdx.x == 0) partial[(long long)blockIdx.x * SUMS + s] = sum;
    }
}

struct RowTerms {
    const REAL *projection, *difference, *first_difference, *anchor, *lower, *upper, *metric;
    REAL terms[SUMS] = {0, 0, 0, 0, 0, 0, 0};

    __device__ __forceinline__ void prepare(INDEX) {}

    __device__ __forceinline__ void finish(INDEX i, const REAL (&products)[3]) {
        const REAL activity = products[0];
        const REAL low = lower[i], high = upper[i], scale = metric[i];
        const REAL residual = activity - (activity < low ? low : (activity > high ? high : activity));
        const REAL distance = projection[i] - anchor[i];
        terms[0] += residual * residual;
        terms[1] += support(projection[i], low, high);
        terms[2] += distance * distance / scale;
        terms[3] += difference[i] * difference[i] / scale;
        terms[4] += difference[i] * products[1];
        terms[5] += first_difference[i] * first_difference[i] / scale;
        terms[6] += first_difference[i] * products[2];
    }
};

struct ColumnTerms {
    const REAL *projection, *difference, *first_difference, *anchor, *cost, *lower, *upper, *metric;
    REAL terms[SUMS] = {0, 0, 0, 0, 0, 0, 0};

    __device__ __forceinline__ void prepare(INDEX) {}

    __device__ __forceinline__ void finish(INDEX j, const REAL (&products)[1]) {
        const REAL reduced = cost[j] - products[0];
        const REAL side = reduced > REAL(0) ? lower[j] : upper[j];
        const REAL supported = finite(side) ? reduced : REAL(0);
        const REAL residual = reduced - supported;
        const REAL distance = projection[j] - anchor[j], scale = metric[j];
        terms[0] += residual * residual;
        terms[1] += support(supported, lower[j], upper[j]);
        terms[2] += distance * distance / scale;
        terms[3] += difference[j] * difference[j] / scale;
        terms[4] += cost[j] * projection[j];
        terms[5] += first_difference[j] * first_difference[j] / scale;
    }
};

extern "C" __global__ void __launch_bounds__(TEAM) measure_rows(
    int slices, int height, const INDEX* __restrict__ meta, const INDICES_T* __restrict__ indices,
    const VALUES_T* __restrict__ values, const REAL* __restrict__ table,
    const INDEX* __restrict__ splits, REAL* __restrict__ partials, INDEX* __restrict__ tickets,
    const REAL* __restrict__ x_projection, const REAL* __restrict__ x_difference,
    const REAL* __restrict__ x_first_difference, const REAL* __restrict__ projection,
    const REAL* __restrict__ difference, const REAL* __restrict__ first_difference,
    const REAL* __restrict__ anchor, const REAL* __restrict__ row_lower,
    const REAL* __restrict__ row_upper, const REAL* __restrict__ metric,
    const REAL* __restrict__ control, int slots, REAL* __restrict__ partial) {
    __shared__ REAL scratch[3 * TEAM_WARPS];
    if (control[STOP] != REAL(0)) return;
    const Slices<INDICES_T, VALUES_T> matrix = {slices / TEAM_WARPS, (const int4*)meta, indices,
                                                values, table, splits, partials, tickets};
    RowTerms owner = {projection, difference, first_difference, anchor,
                      row_lower, row_upper, metric};
    const Products<3> products = {{x_projection, x_difference, x_first_difference}};
    run_unit(blockIdx.x, matrix, products, owner, scratch);
    store(owner.terms, partial);
}

extern "C" __global__ void __launch_bounds__(TEAM) measure_columns(
    int slices, int height, const INDEX* __restrict__ meta, const INDICES_T* __restrict__ indices,
    const VALUES_T* __restrict__ values, const REAL* __restrict__ table,
    const INDEX* __restrict__ splits, REAL* __restrict__ partials, INDEX* __restrict__ tickets,
    const REAL* __restrict__ y_projection, const REAL* __restrict__ projection,
    const REAL* __restrict__ difference, const REAL* __restrict__ first_difference,
    const REAL* __restrict__ anchor, const REAL* __restrict__ cost,
    const REAL* __restrict__ lower, const REAL* __restrict__ upper,
    const REAL* __restrict__ metric, const REAL* __restrict__ control, int slots,
    REAL* __restrict__ partial) {
    __shared__ REAL scratch[TEAM_WARPS];
    if (control[STOP] != REAL(0)) return;
    const Slices<INDICES_T, VALUES_T> matrix = {slices / TEAM_WARPS, (const int4*)meta, indices,
                                                values, table, splits, partials, tickets};
    ColumnTerms owner = {projection, difference, first_difference, anchor,
                         cost, lower, upper, metric};
    const Products<1> products = {{y_projection}};
    run_unit(blockIdx.x, matrix, products, owner, scratch);
    store(owner.terms, partial);
}
