// Iterations of reflected Halpern PDHG by threads that stay; barrier.py states the contract.
//
// Units of slices go round the teams, four to a block, in an order that is always the same; all
// blocks meet after each half of an iteration. What other blocks wrote is read through plain loads
// after the acquire at the barrier, so that the first-level cache serves repeated gathers within
// a half. (Copies of the matrix in shared memory made no model faster and some slower: they take
// that cache's room.)

#include "owners.cuh"

#define TEAMS 4

// Wait for all blocks. `meeting` counts the barriers so far.
__device__ __forceinline__ void meet(INDEX* arrivals, unsigned meeting) {
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned wanted = meeting * gridDim.x;
        unsigned seen;
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrivals) : "memory");
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                         : "=r"(seen)
                         : "l"(arrivals)
                         : "memory");
        } while (seen < wanted);
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(TEAMS * TEAM, 1) barrier_steps(
    int column_slices, int column_height, const INDEX* __restrict__ column_meta,
    const COLUMN_INDICES_T* __restrict__ column_indices,
    const COLUMN_VALUES_T* __restrict__ column_values, const REAL* __restrict__ column_table,
    const INDEX* __restrict__ column_splits, REAL* column_partials, INDEX* column_tickets,
    int row_slices, int row_height, const INDEX* __restrict__ row_meta,
    const ROW_INDICES_T* __restrict__ row_indices, const ROW_VALUES_T* __restrict__ row_values,
    const REAL* __restrict__ row_table, const INDEX* __restrict__ row_splits, REAL* row_partials,
    INDEX* row_tickets, REAL* x, const REAL* __restrict__ x_anchor,
    const REAL* __restrict__ cost, const REAL* __restrict__ lower, const REAL* __restrict__ upper,
    const REAL* __restrict__ column_metric, REAL* reflected, REAL* x_projection,
    REAL* x_difference, REAL* x_first_difference, REAL* y, const REAL* __restrict__ y_anchor,
    const REAL* __restrict__ row_lower, const REAL* __restrict__ row_upper,
    const REAL* __restrict__ row_metric, REAL* y_projection, REAL* y_difference,
    REAL* y_first_difference, const REAL* __restrict__ control, int count, int blocks,
    INDEX* arrivals) {
    __shared__ REAL scratch_of_teams[TEAMS * TEAM_WARPS];
    if (control[STOP] != REAL(0)) return;
    const int team = threadIdx.x / TEAM;
    const int first = blockIdx.x + team * gridDim.x, stride = TEAMS * gridDim.x;
    REAL* scratch = scratch_of_teams + team * TEAM_WARPS;
    const Slices<COLUMN_INDICES_T, COLUMN_VALUES_T> by_column = {
        column_slices / TEAM_WARPS, (const int4*)column_meta, column_indices, column_values,
        column_table, column_splits, column_partials, column_tickets};
    const Slices<ROW_INDICES_T, ROW_VALUES_T> by_row = {
        row_slices / TEAM_WARPS, (const int4*)row_meta, row_indices, row_values,
        row_table, row_splits, row_partials, row_tickets};
    const Side primal = {x, x_anchor, cost, lower, upper, column_metric, reflected,
                         x_projection, x_difference, x_first_difference};
    const Side dual = {y, y_anchor, nullptr, row_lower, row_upper, row_metric, nullptr,
                       y_projection, y_difference, y_first_difference};
    for (int offset = 0; offset < count; ++offset) {
        const int keep =
            (offset == 0 ? KEEP_FIRST : 0) | (offset == count - 1 ? KEEP_LAST : 0);
        Owner<true> columns(primal, Iteration(control, TAU, offset, keep));
        run_units(first, stride, by_column, Products<1>{{y}}, columns, scratch, team);
        meet(arrivals, 2 * offset + 1);
        Owner<false> rows(dual, Iteration(control, SIGMA, offset, keep));
        run_units(first, stride, by_row, Products<1>{{reflected}}, rows, scratch, team);
        meet(arrivals, 2 * offset + 2);
    }
}
