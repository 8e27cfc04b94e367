// Products of matrices in padded columns and in sorted slices; sell.py states the contracts.
//
// A thread owns a row, or a place. With slices of 32 places a warp reads 32 neighbouring entries at
// a time.

#include "gather.cuh"

extern "C" __global__ void sell_multiply(
    INDEX rows, int slice_shift, const INDEX* __restrict__ slice_starts,
    const INDEX* __restrict__ lengths, const INDEX* __restrict__ order,
    const INDEX* __restrict__ indices, const REAL* __restrict__ values,
    const REAL* __restrict__ vector, REAL* __restrict__ product) {
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= rows) return;
    const INDEX place = (INDEX)thread;
    const INDEX height = (INDEX)1 << slice_shift;
    const INDEX length = lengths[place];
    const INDEX first = slice_starts[place >> slice_shift] + (place & (height - 1));
    product[order[place]] =
        gathered_sum(first, first + length * height, height, indices, values, vector);
}

extern "C" __global__ void ell_multiply(
    INDEX rows, const INDEX* __restrict__ lengths, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, const REAL* __restrict__ vector,
    REAL* __restrict__ product) {
    const long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const long long stride = rows;
    product[row] =
        gathered_sum(row, row + lengths[row] * stride, stride, indices, values, vector);
}
