// Kernels of the variant "resident"; resident.py states what they compute.

#include "paper.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK) ratio_test(
    int size, int columns, const REAL* __restrict__ x, const REAL* __restrict__ d,
    INDEX* __restrict__ basic, INDEX* __restrict__ position, REAL* control) {
    __shared__ int stop;
    if (threadIdx.x == 0) stop = stopped(control);
    __syncthreads();  // a thread ahead may set the flag below
    if (stop) return;
    Choice closest = {REAL(0), -1};
    for (int i = threadIdx.x; i < size; i += BLOCK) {
        const Ratio ratio = ratio_of(x[i], d[i], basic[i] >= columns, control);
        if (ratio.blocks) closest.take(-ratio.relaxed, (INDEX)i);
    }
    closest = block_best(closest);
    if (closest.index < 0) {
        if (threadIdx.x == 0) control[STOP] = REAL(NO_RATIO);
        return;
    }
    const bool bland = control[BLAND] != REAL(0);
    Choice best = {REAL(0), -1};
    for (int i = threadIdx.x; i < size; i += BLOCK) {
        const Ratio ratio = ratio_of(x[i], d[i], basic[i] >= columns, control);
        if (!ratio.blocks || ratio.exact > -closest.key) continue;
        best.take(bland ? REAL(-basic[i]) : magnitude(d[i]), (INDEX)i);
    }
    best = block_best(best);
    if (threadIdx.x != 0) return;
    const INDEX r = best.index, q = (INDEX)control[ENTERING];
    const REAL theta = ratio_of(x[r], d[r], basic[r] >= columns, control).exact;
    if (!is_safe(d[r], control)) return;
    position[basic[r]] = -1;
    position[q] = r;
    basic[r] = q;
    note_pivot(r, theta, d[r], control);
}

extern "C" __global__ void __launch_bounds__(BLOCK) update_in_place(
    int size, int stride, int team, const REAL* __restrict__ d, REAL* __restrict__ inverse,
    REAL* __restrict__ pivot_row, REAL* control) {
    if (stopped(control)) return;
    const long long k = ((long long)blockIdx.x * BLOCK + threadIdx.x) / team;
    const int lane = threadIdx.x % team;
    const int r = (int)control[LEAVING];
    REAL* column = inverse + (k < size ? k : 0) * stride;
    const REAL rho = k < size ? column[r] / control[PIVOT] : REAL(0);
    __syncthreads();  // everybody holds the pivot element before it is overwritten
    if (k >= size) return;
    for (int i = lane; i < size; i += team) column[i] = i == r ? rho : column[i] - rho * d[i];
    if (lane == 0) pivot_row[k] = rho;
}

extern "C" __global__ void __launch_bounds__(BLOCK) solution(
    int size, int stride, int columns, const REAL* __restrict__ inverse,
    const REAL* __restrict__ rhs, const REAL* __restrict__ cost,
    const INDEX* __restrict__ basic, REAL* __restrict__ x, REAL* __restrict__ basic_cost,
    REAL* control) {
    __shared__ REAL of_warp[WARPS][32];
    if (stopped(control)) return;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const long long i = (long long)blockIdx.x * 32 + lane;
    REAL sum = REAL(0);
    if (i < size) {
#pragma unroll 4
        for (int k = warp; k < size; k += WARPS) sum += inverse[(long long)k * stride + i] * rhs[k];
    }
    of_warp[warp][lane] = sum;
    __syncthreads();
    if (warp != 0 || i >= size) return;
    for (int other = 1; other < WARPS; ++other) sum += of_warp[other][lane];
    x[i] = sum;
    const INDEX j = basic[i];
    const bool artificial = j >= columns;
    if (control[PHASE] == REAL(2)) basic_cost[i] = artificial ? REAL(0) : cost[j];
    else basic_cost[i] = infeasibility_cost(sum, artificial, control[PRIMAL_TOLERANCE]);
}

__device__ __forceinline__ void basis_rows(
    int size, int columns, const Matrix& matrix, const INDEX* basic, REAL* transposed) {
    const long long i = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (i >= size) return;
    REAL* __restrict__ row = transposed + i * size;
    const INDEX j = basic[i];
    if (j >= columns) {
        row[j - columns] = REAL(1);
        return;
    }
    for (INDEX k = matrix.starts[j]; k < matrix.starts[j + 1]; ++k)
        row[matrix.rows[k]] = matrix.values[k];
}

extern "C" __global__ void __launch_bounds__(BLOCK) dual(
    int size, int stride, int team, const REAL* __restrict__ inverse,
    const REAL* __restrict__ basic_cost, REAL* __restrict__ y, REAL* control) {
    if (stopped(control)) return;
    const long long k = ((long long)blockIdx.x * BLOCK + threadIdx.x) / team;
    const int lane = threadIdx.x % team;
    const REAL* __restrict__ column = inverse + (k < size ? k : 0) * stride;
    REAL sum = REAL(0);
    if (k < size) {
        for (int i = lane; i < size; i += team) sum += column[i] * basic_cost[i];
    }
    sum = team == BLOCK ? block_reduce<Sum>(sum) : lanes_reduce<Sum>(sum, team);
    if (k < size && lane == 0) y[k] = sum;
}
