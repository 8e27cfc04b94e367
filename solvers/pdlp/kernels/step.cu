// The two halves of a reflected Halpern PDHG iteration; step.py states what they compute.
//
// A group of lanes owns a row of the matrix (a column of A in the primal step, a row of A in the
// dual step), sums its product and updates the owner's vector elements at once, so that the
// product never travels through memory and two launches make an iteration. Reads of the matrix
// and of the owner's vectors are coalesced or nearly so; the gather of the other side's vector is
// served by the L2 cache as far as that vector fits.

#include "rows.cuh"

__device__ __forceinline__ REAL between(REAL low, REAL value, REAL high) {
    return value < low ? low : (value > high ? high : value);
}

// The Halpern average of the reflected point, the current point and the anchor.
__device__ __forceinline__ REAL halpern(
    REAL current, REAL reflected, REAL anchor, const REAL* __restrict__ control, int offset) {
    const REAL gamma = control[2];
    const REAL k = control[3] + (REAL)offset;
    const REAL weight = (k + REAL(1)) / (k + REAL(2));
    const REAL relaxed = gamma * reflected + (REAL(1) - gamma) * current;
    return weight * relaxed + (REAL(1) - weight) * anchor;
}

extern "C" __global__ void primal_step(
    INDEX rows, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, INDEX long_count, const INDEX* __restrict__ long_rows,
    INDEX long_length, int lanes,
    const REAL* __restrict__ y, REAL* __restrict__ x, const REAL* __restrict__ anchor,
    const REAL* __restrict__ cost, const REAL* __restrict__ lower, const REAL* __restrict__ upper,
    REAL* __restrict__ reflected, REAL* __restrict__ projection, REAL* __restrict__ difference,
    const REAL* __restrict__ control, int offset, int keep) {
    const RowShare share = share_rows(rows, starts, long_count, long_rows, long_length, lanes);
    const REAL product = row_product(share, indices, values, y);
    if (!share.writes) return;
    const INDEX j = share.row;
    const REAL current = x[j];
    const REAL gradient = cost[j] - product;
    const REAL projected = between(lower[j], current - control[0] * gradient, upper[j]);
    const REAL mirrored = REAL(2) * projected - current;
    reflected[j] = mirrored;
    x[j] = halpern(current, mirrored, anchor[j], control, offset);
    if (keep) {
        projection[j] = projected;
        difference[j] = mirrored - current;
    }
}

extern "C" __global__ void dual_step(
    INDEX rows, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, INDEX long_count, const INDEX* __restrict__ long_rows,
    INDEX long_length, int lanes,
    const REAL* __restrict__ reflected, REAL* __restrict__ y, const REAL* __restrict__ anchor,
    const REAL* __restrict__ row_lower, const REAL* __restrict__ row_upper,
    REAL* __restrict__ projection, REAL* __restrict__ difference,
    const REAL* __restrict__ control, int offset, int keep) {
    const RowShare share = share_rows(rows, starts, long_count, long_rows, long_length, lanes);
    const REAL product = row_product(share, indices, values, reflected);
    if (!share.writes) return;
    const INDEX i = share.row;
    const REAL sigma = control[1];
    const REAL current = y[i];
    const REAL free_step = current - sigma * product;
    const REAL projected =
        free_step - between(-sigma * row_upper[i], free_step, -sigma * row_lower[i]);
    const REAL mirrored = REAL(2) * projected - current;
    y[i] = halpern(current, mirrored, anchor[i], control, offset);
    if (keep) {
        projection[i] = projected;
        difference[i] = mirrored - current;
    }
}
