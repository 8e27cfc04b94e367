// Going through all rows of a compressed sparse matrix with a grid of any size.
//
// The grid need not grow with the matrix, which keeps the number of partial
// sums small where blocks also leave some: each of the first `long_count` blocks takes one row
// longer than `long_length`, the others take turns with the rest, `lanes` threads to a row.

#pragma once

#include "reduce.cuh"

// Sum term(k) over the entries k of each row and hand it to finish(row, sum), once per row.
template <class Term, class Finish>
__device__ __forceinline__ void each_row(
    INDEX rows, const INDEX* __restrict__ starts, INDEX long_count,
    const INDEX* __restrict__ long_rows, INDEX long_length, int lanes, Term term, Finish finish) {
    if ((INDEX)blockIdx.x < long_count) {
        const INDEX row = long_rows[blockIdx.x];
        const INDEX end = starts[row + 1];
        REAL sum = REAL(0);
        for (INDEX k = starts[row] + threadIdx.x; k < end; k += blockDim.x) sum += term(row, k);
        sum = block_reduce<Sum>(sum);
        if (threadIdx.x == 0) finish(row, sum);
        return;
    }
    const int groups = blockDim.x / lanes;
    const int lane = threadIdx.x % lanes;
    const long long step = (long long)(gridDim.x - long_count) * groups;
    // The loop's bound is the same for the whole block, as the shuffles need.
    for (long long base = ((long long)blockIdx.x - long_count) * groups; base < rows;
         base += step) {
        const long long row = base + threadIdx.x / lanes;
        REAL sum = REAL(0);
        bool owned = false;
        if (row < rows) {
            const INDEX begin = starts[row];
            const INDEX end = starts[row + 1];
            owned = end - begin <= long_length;
            if (owned) {
                for (INDEX k = begin + lane; k < end; k += lanes) sum += term((INDEX)row, k);
            }
        }
        sum = lanes_reduce<Sum>(sum, lanes);
        if (owned && lane == 0) finish((INDEX)row, sum);
    }
}
