// Solving with the basis; column.py states what it computes.

#include "solving.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK) solve_column(
    int rows, int capacity, int most, int dual, int steepest, const REAL* __restrict__ inverse,
    const INDEX* __restrict__ unit_row, const REAL* __restrict__ etas,
    const REAL* __restrict__ eta_rows, const REAL* __restrict__ row_slots,
    const INDEX* __restrict__ places, const REAL* __restrict__ amounts,
    const REAL* __restrict__ column, const REAL* __restrict__ column_slots,
    const REAL* __restrict__ flip_column, const REAL* __restrict__ flip_slots,
    const REAL* __restrict__ column_dots, const REAL* __restrict__ flip_dots,
    const REAL* __restrict__ dots, const INDEX* __restrict__ control, REAL* __restrict__ alpha,
    REAL* __restrict__ beta, REAL* __restrict__ tau) {
    const INDEX state = control[STATUS], slots = control[SLOTS], made = control[PIVOTS];
    const INDEX entries = control[ENTRIES], of_flips = control[FLIP_ENTRIES];
    const bool flipped = dual == 1 && control[FLIPS] > 0;
    const int p = (blockIdx.x * BLOCK + threadIdx.x) >> 5;
    if (p >= rows) return;  // a whole warp
    const INDEX unit = unit_row[p];
    if (state != RUNNING) return;
    const Inverse basis = {rows, capacity, most, slots, made, inverse, unit_row, etas, eta_rows,
                           row_slots};
    const Rights rights = {flipped, steepest == 1, entries, of_flips, places, amounts, column,
                           column_slots, flip_column, flip_slots, column_dots, flip_dots, dots};
    const Sums sums = solve_position(p, unit, basis, rights);
    if ((threadIdx.x & 31) != 0) return;
    alpha[p] = sums.alpha;
    if (dual == 1) beta[p] = sums.beta;
    if (steepest == 1) tau[p] = sums.tau;
}
