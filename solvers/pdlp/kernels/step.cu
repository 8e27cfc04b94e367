// The two halves of a reflected Halpern PDHG iteration; step.py states what they compute.
//
// A team of threads takes a unit of the matrix in sliced rows, sums the products of its rows and
// updates their owners' vector elements at once, so that the product never travels through memory
// and two launches make an iteration. The gather of the other side's vector is served by the L2
// cache as far as that vector fits.

#include "owners.cuh"

__device__ __forceinline__ void primal_step(
    const Slices<INDICES_T, VALUES_T>& matrix, const REAL* y, const ColumnSide& x,
    const REAL* control, int offset, int keep) {
    __shared__ REAL scratch[TEAM_SUMS];
    if (control[STOP] != REAL(0)) return;
    Owner<ColumnSide, true> owner(x, Iteration{control, TAU, offset, keep});
    const Products<1> products = {{y}};
    run_unit(blockIdx.x, matrix, products, owner, scratch);
}

__device__ __forceinline__ void dual_step(
    const Slices<INDICES_T, VALUES_T>& matrix, const REAL* reflected, const RowSide& y,
    const REAL* control, int offset, int keep) {
    __shared__ REAL scratch[TEAM_SUMS];
    if (control[STOP] != REAL(0)) return;
    Owner<RowSide, true> owner(y, Iteration{control, SIGMA, offset, keep});
    const Products<1> products = {{reflected}};
    run_unit(blockIdx.x, matrix, products, owner, scratch);
}
