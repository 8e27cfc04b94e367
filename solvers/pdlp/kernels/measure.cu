// The sums of a check; measure.py states what they are.
//
// A team owns a unit of slices; the thread that holds a row's products makes the row's terms, and
// each block adds the terms of its threads along a fixed tree into its slot of `partial`.

#include "sides.cuh"
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
    const MeasuredRows& rows;
    REAL terms[SUMS] = {0, 0, 0, 0, 0, 0, 0};

    __device__ __forceinline__ void prepare(INDEX) {}

    __device__ __forceinline__ void finish(INDEX i, const REAL (&products)[3]) {
        const REAL activity = products[0];
        const REAL low = rows.lower[i], high = rows.upper[i], scale = rows.metric[i];
        const REAL residual = activity - (activity < low ? low : (activity > high ? high : activity));
        const REAL distance = rows.projection[i] - rows.anchor[i];
        terms[0] += residual * residual;
        terms[1] += support(rows.projection[i], low, high);
        terms[2] += distance * distance / scale;
        terms[3] += rows.difference[i] * rows.difference[i] / scale;
        terms[4] += rows.difference[i] * products[1];
        terms[5] += rows.first_difference[i] * rows.first_difference[i] / scale;
        terms[6] += rows.first_difference[i] * products[2];
    }
};

struct ColumnTerms {
    const MeasuredColumns& columns;
    REAL terms[SUMS] = {0, 0, 0, 0, 0, 0, 0};

    __device__ __forceinline__ void prepare(INDEX) {}

    __device__ __forceinline__ void finish(INDEX j, const REAL (&products)[1]) {
        const REAL reduced = columns.cost[j] - products[0];
        const REAL side = reduced > REAL(0) ? columns.lower[j] : columns.upper[j];
        const REAL supported = finite(side) ? reduced : REAL(0);
        const REAL residual = reduced - supported;
        const REAL distance = columns.projection[j] - columns.anchor[j], scale = columns.metric[j];
        terms[0] += residual * residual;
        terms[1] += support(supported, columns.lower[j], columns.upper[j]);
        terms[2] += distance * distance / scale;
        terms[3] += columns.difference[j] * columns.difference[j] / scale;
        terms[4] += columns.cost[j] * columns.projection[j];
        terms[5] += columns.first_difference[j] * columns.first_difference[j] / scale;
    }
};

__device__ __forceinline__ void measure_rows(
    const Slices<INDICES_T, VALUES_T>& matrix, const LastSteps& x, const MeasuredRows& rows,
    const REAL* control, int slots, REAL* partial) {
    __shared__ REAL scratch[3 * TEAM_SUMS];
    if (control[STOP] != REAL(0)) return;
    RowTerms owner = {rows};
    const Products<3> products = {{x.projection, x.difference, x.first_difference}};
    run_unit(blockIdx.x, matrix, products, owner, scratch);
    store(owner.terms, partial);
}

__device__ __forceinline__ void measure_columns(
    const Slices<INDICES_T, VALUES_T>& matrix, const REAL* y_projection,
    const MeasuredColumns& columns, const REAL* control, int slots, REAL* partial) {
    __shared__ REAL scratch[TEAM_SUMS];
    if (control[STOP] != REAL(0)) return;
    ColumnTerms owner = {columns};
    const Products<1> products = {{y_projection}};
    run_unit(blockIdx.x, matrix, products, owner, scratch);
    store(owner.terms, partial);
}
