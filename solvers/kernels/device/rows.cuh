// Sharing out the rows of a compressed sparse matrix over threads.
//
// A row belongs to `lanes` neighbouring threads of a warp, chosen by the mean row length, so that
// short rows do not leave threads idle and reads of a row's entries are coalesced. The few rows
// longer than `long_length` would keep one warp busy while the GPU waits: each of the first
// `long_count` blocks takes one of them as a whole.

#pragma once

#include "reduce.cuh"

struct RowShare {
    INDEX row;         // the row this thread works on
    INDEX first, end;  // its entries for this thread: first, first + stride, ... below end
    INDEX stride;
    int lanes;         // threads that share the row; 0: the whole block
    bool writes;       // whether this thread stores the row's results
};

__device__ __forceinline__ RowShare share_rows(
    INDEX rows, const INDEX* __restrict__ starts, INDEX long_count,
    const INDEX* __restrict__ long_rows, INDEX long_length, int lanes) {
    RowShare share;
    if ((INDEX)blockIdx.x < long_count) {
        share.row = long_rows[blockIdx.x];
        share.first = starts[share.row] + threadIdx.x;
        share.end = starts[share.row + 1];
        share.stride = blockDim.x;
        share.lanes = 0;
        share.writes = threadIdx.x == 0;
        return share;
    }
    const long long thread =
        ((long long)blockIdx.x - long_count) * blockDim.x + threadIdx.x;
    const long long row = thread / lanes;
    const int lane = (int)(thread % lanes);
    share.row = 0;
    share.first = 0;
    share.end = 0;
    share.stride = lanes;
    share.lanes = lanes;
    share.writes = false;
    if (row < rows) {
        const INDEX begin = starts[row];
        const INDEX end = starts[row + 1];
        if (end - begin <= long_length) {
            share.row = (INDEX)row;
            share.first = begin + lane;
            share.end = end;
            share.writes = lane == 0;
        }
    }
    return share;
}

// Combine what the threads of a row hold; all threads of the block must call it.
template <class Operation>
__device__ __forceinline__ REAL row_reduce(const RowShare& share, REAL value) {
    return share.lanes == 0 ? block_reduce<Operation>(value)
                            : lanes_reduce<Operation>(value, share.lanes);
}

// The row's product with a vector.
__device__ __forceinline__ REAL row_product(
    const RowShare& share, const INDEX* __restrict__ indices, const REAL* __restrict__ values,
    const REAL* __restrict__ vector) {
    REAL sum = REAL(0);
    for (INDEX k = share.first; k < share.end; k += share.stride) {
        sum += values[k] * vector[indices[k]];
    }
    return row_reduce<Sum>(share, sum);
}
