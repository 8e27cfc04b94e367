// Product of a matrix in coordinates; coo.py states the contracts.
//
// A warp owns a chunk and goes through it 32 entries at a time: products are summed by rows with a
// segmented scan over the lanes, and the sum of the row that is not over yet is handed on to the
// next 32. All reads are coalesced, whatever the lengths of the rows.

#include "reduce.cuh"

__device__ __forceinline__ long long own_warp() {
    return ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5;
}

extern "C" __global__ void coo_clear(INDEX rows, REAL* __restrict__ product) {
    const long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) product[row] = REAL(0);
}

extern "C" __global__ void coo_segments(
    INDEX entries, int chunk, const INDEX* __restrict__ row_indices,
    const INDEX* __restrict__ indices, const REAL* __restrict__ values,
    const REAL* __restrict__ vector, REAL* __restrict__ product, REAL* __restrict__ carries) {
    const long long own = own_warp();
    const int lane = threadIdx.x & 31;
    const long long begin = own * chunk;
    if (begin >= entries) return;  // the whole warp
    const long long end = begin + chunk < entries ? begin + chunk : entries;
    const INDEX first_row = row_indices[begin];
    INDEX open_row = first_row;  // the row whose sum is not over yet
    REAL open_sum = REAL(0);
    REAL first_sum = REAL(0);
    for (long long base = begin; base < end; base += 32) {
        const long long entry = base + lane;
        const bool inside = entry < end;
        const INDEX row = row_indices[inside ? entry : end - 1];
        REAL sum = inside ? values[entry] * vector[indices[entry]] : REAL(0);
        if (lane == 0) {
            if (row == open_row) {
                sum += open_sum;
            } else if (open_row == first_row) {
                first_sum = open_sum;
            } else {
                product[open_row] = open_sum;
            }
        }
#pragma unroll
        for (int distance = 1; distance < 32; distance <<= 1) {
            const REAL before = __shfl_up_sync(0xffffffffu, sum, distance);
            const INDEX row_before = __shfl_up_sync(0xffffffffu, row, distance);
            if (lane >= distance && row_before == row) sum += before;
        }
        const INDEX row_after = __shfl_down_sync(0xffffffffu, row, 1);
        if (lane < 31 && row_after != row) {  // the row is over within these 32
            if (row == first_row) {
                first_sum = sum;
            } else {
                product[row] = sum;
            }
        }
        open_row = __shfl_sync(0xffffffffu, row, 31);
        open_sum = __shfl_sync(0xffffffffu, sum, 31);
    }
    // The first row ended in at most one lane; the others hold 0.
    first_sum = lanes_reduce<Sum>(first_sum, 32);
    if (lane == 0) {
        const bool one_row = open_row == first_row;
        carries[2 * own] = one_row ? open_sum : first_sum;
        carries[2 * own + 1] = one_row ? REAL(0) : open_sum;
    }
}

// The row that carry q belongs to.
__device__ __forceinline__ INDEX carry_row(
    long long q, INDEX entries, int chunk, const INDEX* __restrict__ row_indices) {
    const long long begin = (q >> 1) * chunk;
    const long long end = begin + chunk < entries ? begin + chunk : entries;
    return row_indices[(q & 1) ? end - 1 : begin];
}

extern "C" __global__ void coo_carries(
    INDEX entries, int chunk, const INDEX* __restrict__ row_indices,
    const REAL* __restrict__ carries, REAL* __restrict__ product) {
    const long long own = own_warp();
    const int lane = threadIdx.x & 31;
    const long long count = 2 * (((long long)entries + chunk - 1) / chunk);
    if (own >= count) return;
    const INDEX row = carry_row(own, entries, chunk, row_indices);
    if (own > 0 && carry_row(own - 1, entries, chunk, row_indices) == row) return;
    REAL sum = REAL(0);
    for (long long q = own + lane; q < count; q += 32) {
        if (carry_row(q, entries, chunk, row_indices) != row) break;
        sum += carries[q];
    }
    __syncwarp();
    sum = lanes_reduce<Sum>(sum, 32);
    if (lane == 0) product[row] = sum;
}
