// The two halves of a reflected Halpern PDHG iteration; step.py states what they compute.
//
// A team of threads takes a unit of the matrix in sliced rows, sums the products of its rows and
// updates their owners' vector elements at once, so that the product never travels through memory
// and two launches make an iteration. The gather of the other side's vector is served by the L2
// cache as far as that vector fits.

#include "owners.cuh"

extern "C" __global__ void __launch_bounds__(TEAM) primal_step(
    int slices, int height, const INDEX* __restrict__ meta, const INDICES_T* __restrict__ indices,
    const VALUES_T* __restrict__ values, const REAL* __restrict__ table,
    const INDEX* __restrict__ splits, REAL* __restrict__ partials, INDEX* __restrict__ tickets,
    const REAL* __restrict__ y, REAL* __restrict__ x, const REAL* __restrict__ anchor,
    const REAL* __restrict__ cost, const REAL* __restrict__ lower, const REAL* __restrict__ upper,
    const REAL* __restrict__ metric, REAL* __restrict__ reflected, REAL* __restrict__ projection,
    REAL* __restrict__ difference, REAL* __restrict__ first_difference,
    const REAL* __restrict__ control, int offset, int keep) {
    __shared__ REAL scratch[TEAM_WARPS];
    if (control[STOP] != REAL(0)) return;
    const Slices<INDICES_T, VALUES_T> matrix = {slices / TEAM_WARPS, (const int4*)meta, indices,
                                                values, table, splits, partials, tickets};
    const Side side = {x, anchor, cost, lower, upper, metric,
                       reflected, projection, difference, first_difference};
    Owner<true> owner(side, Iteration(control, TAU, offset, keep));
    const Products<1> products = {{y}};
    run_unit(blockIdx.x, matrix, products, owner, scratch);
}

extern "C" __global__ void __launch_bounds__(TEAM) dual_step(
    int slices, int height, const INDEX* __restrict__ meta, const INDICES_T* __restrict__ indices,
    const VALUES_T* __restrict__ values, const REAL* __restrict__ table,
    const INDEX* __restrict__ splits, REAL* __restrict__ partials, INDEX* __restrict__ tickets,
    const REAL* __restrict__ reflected, REAL* __restrict__ y, const REAL* __restrict__ anchor,
    const REAL* __restrict__ row_lower, const REAL* __restrict__ row_upper,
    const REAL* __restrict__ metric, REAL* __restrict__ projection, REAL* __restrict__ difference,
    REAL* __restrict__ first_difference, const REAL* __restrict__ control, int offset, int keep) {
    __shared__ REAL scratch[TEAM_WARPS];
    if (control[STOP] != REAL(0)) return;
    const Slices<INDICES_T, VALUES_T> matrix = {slices / TEAM_WARPS, (const int4*)meta, indices,
                                                values, table, splits, partials, tickets};
    const Side side = {y, anchor, nullptr, row_lower, row_upper, metric,
                       nullptr, projection, difference, first_difference};
    Owner<false> owner(side, Iteration(control, SIGMA, offset, keep));
    const Products<1> products = {{reflected}};
    run_unit(blockIdx.x, matrix, products, owner, scratch);
}
