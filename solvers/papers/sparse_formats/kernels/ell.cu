// Product of a matrix in padded columns; ell.py states the contract. A thread owns a row.

#include "storage.cuh"

extern "C" __global__ void ell_multiply(
    INDEX rows, const INDEX* __restrict__ lengths, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, const REAL* __restrict__ vector,
    REAL* __restrict__ product) {
    const long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const INDEX length = lengths[row];
    const long long stride = rows;
    const REAL sum = gathered_sum(
        row, row + length * stride, stride, (INDEX)0, indices, values, (const REAL*)nullptr,
        vector);
    product[row] = sum;
}
