// The conclusions of a check; decide.py states them.

#include "conclude.cuh"
#include "reduce.cuh"

// Add up the slots of all partial sums, along a fixed tree; every thread gets the results.
__device__ __forceinline__ void add_slots(
    int slots, const REAL* __restrict__ partial, REAL (&sums)[SUMS]) {
    REAL mine[SUMS] = {0, 0, 0, 0, 0, 0, 0};
    for (int slot = threadIdx.x; slot < slots; slot += blockDim.x) {
#pragma unroll
        for (int s = 0; s < SUMS; ++s) mine[s] += partial[(long long)slot * SUMS + s];
    }
#pragma unroll
    for (int s = 0; s < SUMS; ++s) sums[s] = block_reduce<Sum>(mine[s]);
}

extern "C" __global__ void decide(
    int row_slots, const REAL* __restrict__ row_partial, int column_slots,
    const REAL* __restrict__ column_partial, int count, REAL* __restrict__ control) {
    REAL rows[SUMS], columns[SUMS];
    if (control[STOP] != REAL(0)) {
        if (threadIdx.x == 0) {
            control[RESTART] = control[KEEP_BEST] = control[KEEP_FEASIBLE] = REAL(0);
        }
        return;
    }
    add_slots(row_slots, row_partial, rows);
    add_slots(column_slots, column_partial, columns);
    if (threadIdx.x == 0) conclude(rows, columns, count, control);
}

extern "C" __global__ void settle(
    int columns, REAL* __restrict__ x, REAL* __restrict__ x_anchor,
    const REAL* __restrict__ x_projection, REAL* __restrict__ best_x,
    REAL* __restrict__ feasible_x, int rows, REAL* __restrict__ y, REAL* __restrict__ y_anchor,
    const REAL* __restrict__ y_projection, REAL* __restrict__ best_y,
    const REAL* __restrict__ control) {
    const bool restart = control[RESTART] != REAL(0);
    const bool best = control[KEEP_BEST] != REAL(0);
    const bool feasible = control[KEEP_FEASIBLE] != REAL(0);
    if (!restart && !best && !feasible) return;
    const int stride = gridDim.x * blockDim.x;
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int j = first; j < columns; j += stride) {
        const REAL projected = x_projection[j];
        if (restart) x[j] = x_anchor[j] = projected;
        if (best) best_x[j] = projected;
        if (feasible) feasible_x[j] = projected;
    }
    for (int i = first; i < rows; i += stride) {
        const REAL projected = y_projection[i];
        if (restart) y[i] = y_anchor[i] = projected;
        if (best) best_y[i] = projected;
    }
}
