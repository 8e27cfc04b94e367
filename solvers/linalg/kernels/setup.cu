// Products, diagonals and diagonal blocks; setup.py states the contracts.
//
// A group of lanes owns a row, or a whole block one of the few long rows; in diagonal_blocks a
// thread owns one entry of a block and merges two rows, whose indices ascend.

#include "each_row.cuh"

__device__ __forceinline__ REAL magnitude(REAL value) { return value < REAL(0) ? -value : value; }

extern "C" __global__ void multiply(
    INDEX rows, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, INDEX long_count, const INDEX* __restrict__ long_rows,
    INDEX long_length, int lanes,
    const REAL* __restrict__ vector, int magnitudes, REAL* __restrict__ product) {
    each_row(
        rows, starts, long_count, long_rows, long_length, lanes,
        [=](INDEX, INDEX k) {
            return (magnitudes ? magnitude(values[k]) : values[k]) * vector[indices[k]];
        },
        [=](INDEX row, REAL sum) { product[row] = sum; });
}

extern "C" __global__ void residual(
    INDEX rows, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, INDEX long_count, const INDEX* __restrict__ long_rows,
    INDEX long_length, int lanes,
    const REAL* __restrict__ vector, const REAL* __restrict__ side, REAL* __restrict__ r) {
    each_row(
        rows, starts, long_count, long_rows, long_length, lanes,
        [=](INDEX, INDEX k) { return values[k] * vector[indices[k]]; },
        [=](INDEX row, REAL sum) { r[row] = side[row] - sum; });
}

extern "C" __global__ void diagonal(
    INDEX rows, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, INDEX long_count, const INDEX* __restrict__ long_rows,
    INDEX long_length, int lanes,
    const REAL* __restrict__ weight, int normal, REAL* __restrict__ product) {
    each_row(
        rows, starts, long_count, long_rows, long_length, lanes,
        [=](INDEX row, INDEX k) {
            if (normal) return values[k] * values[k] * weight[indices[k]];
            return indices[k] == row ? values[k] : REAL(0);
        },
        [=](INDEX row, REAL sum) { product[row] = sum; });
}

extern "C" __global__ void diagonal_blocks(
    INDEX rows, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, INDEX long_count, const INDEX* __restrict__ long_rows,
    INDEX long_length, int lanes,
    const REAL* __restrict__ weight, int normal, int block_size, REAL* __restrict__ blocks) {
    const long long element = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    const long long row = element / block_size;
    if (row >= rows) return;
    const long long other = row / block_size * block_size + element % block_size;
    if (other >= rows) return;
    INDEX k = starts[row];
    const INDEX end = starts[row + 1];
    REAL sum = REAL(0);
    if (normal) {
        INDEX l = starts[other];
        const INDEX other_end = starts[other + 1];
        while (k < end && l < other_end) {
            if (indices[k] == indices[l]) {
                sum += values[k] * values[l] * weight[indices[k]];
                ++k;
                ++l;
            } else if (indices[k] < indices[l]) {
                ++k;
            } else {
                ++l;
            }
        }
    } else {
        for (; k < end; ++k) {
            if (indices[k] == (INDEX)other) sum += values[k];
        }
    }
    blocks[element] = sum;
}
