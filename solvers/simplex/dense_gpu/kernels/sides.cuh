// Right sides of the solves with the basis: the entering column, and the sum of the flipped ones.
//
// If they have few entries these are left as a list, from which the solves gather; otherwise the
// sums are laid out by row and by slot, a tile of SIDE_ROWS rows at a time, so that nothing has to
// be zero before. Sums follow the order of the columns.

#pragma once

#include "core.cuh"

#define SIDE_COLUMNS 6  // what shared memory has room for beside all else

// Flipped columns with their steps, and the entering one last; in shared memory.
struct Sides {
    INDEX variable[MOST_FLIPS + 1];
    REAL step[MOST_FLIPS + 1];
    INDEX begin[MOST_FLIPS + 1];  // of its entries in the matrix, or -1 for a logical
    int offset[MOST_FLIPS + 2];   // entries of the columns before
};

// Count entries; the block together, after variables and steps have been set.
__device__ __forceinline__ void number_entries(Sides& sides, int columns, const Matrix& matrix) {
#pragma unroll 1
    for (int c = threadIdx.x; c < columns; c += BLOCK) {
        const INDEX j = sides.variable[c];
        const bool logical = j >= matrix.structurals;
        const INDEX begin = logical ? -1 : matrix.starts[j];
        sides.begin[c] = begin;
        sides.offset[c + 1] = logical ? 1 : matrix.starts[j + 1] - begin;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        const int lane = threadIdx.x;
        int before = 0;
#pragma unroll 1
        for (int first = 0; first < columns; first += 32) {
            const int c = first + lane;
            int sum = c < columns ? sides.offset[c + 1] : 0;
            for (int distance = 1; distance < 32; distance <<= 1) {
                const int from = lane < distance ? lane : lane - distance;
                const int other = __shfl_sync(0xffffffffu, sum, from);
                if (lane >= distance) sum += other;
            }
            __syncwarp();  // where there is one column, all lanes may have read its number
            if (c < columns) sides.offset[c + 1] = before + sum;
            before += __shfl_sync(0xffffffffu, sum, 31);
        }
        if (lane == 0) sides.offset[0] = 0;
    }
    __syncthreads();
}

// The column, among those from `low` to before `high`, in which an entry stands.
__device__ __forceinline__ int column_of(const Sides& sides, int low, int high, int entry) {
    while (high - low > 1) {
        const int middle = (low + high) >> 1;
        if (sides.offset[middle] <= entry) low = middle; else high = middle;
    }
    return low;
}

// Leave a thread's share of the list: entries from `first` on, at distances of `stride`.
__device__ __forceinline__ void leave_list(
    const Sides& sides, int columns, int first, int stride, const Matrix& matrix, INDEX* places,
    REAL* amounts) {
    const int entries = sides.offset[columns];
#pragma unroll 1
    for (int u = first; u < entries; u += stride) {
        const int c = column_of(sides, 0, columns, u);
        const INDEX begin = sides.begin[c], k = begin + (u - sides.offset[c]);
        const INDEX row = begin < 0 ? sides.variable[c] - matrix.structurals : matrix.indices[k];
        const INDEX slot = matrix.slot_of_row[row];
        places[u] = slot >= 0 ? slot : -1 - row;
        amounts[u] = begin < 0 ? -sides.step[c] : sides.step[c] * matrix.values[k];
    }
}

// The products of columns, from `from` on, with their steps, in a tile's rows; the tile is zero.
__device__ __forceinline__ void fill_tile(
    REAL* tile, const Sides& sides, int from, int count, int first, const Matrix& matrix) {
    if (matrix.full != 0) {
        for (int at = threadIdx.x; at < count * SIDE_ROWS; at += BLOCK) {
            const int c = from + at / SIDE_ROWS, row = first + at % SIDE_ROWS;
            const INDEX begin = sides.begin[c];
            if (row >= matrix.rows) continue;
            if (begin >= 0) tile[at] = sides.step[c] * matrix.values[begin + row];
            else if (sides.variable[c] - matrix.structurals == row) tile[at] = -sides.step[c];
        }
        return;
    }
    const int end = sides.offset[from + count];
#pragma unroll 4
    for (int u = sides.offset[from] + threadIdx.x; u < end; u += BLOCK) {
        const int c = column_of(sides, from, from + count, u);
        const INDEX begin = sides.begin[c], k = begin + (u - sides.offset[c]);
        const INDEX row = begin < 0 ? sides.variable[c] - matrix.structurals : matrix.indices[k];
        const REAL amount = begin < 0 ? -sides.step[c] : sides.step[c] * matrix.values[k];
        const int at = row - first;
        if (at >= 0 && at < SIDE_ROWS) tile[(c - from) * SIDE_ROWS + at] = amount;
    }
}

// Lay out the sums of a unit of SIDE_ROWS rows; the block together.
__device__ __forceinline__ void lay_out(
    REAL* tile, const Sides& sides, int columns, int unit, const Matrix& matrix,
    const RightSidesOut& target) {
    const int first = unit * SIDE_ROWS, own = threadIdx.x, i = first + own;
    REAL flipped = REAL(0), entering = REAL(0);
#pragma unroll 1
    for (int from = 0; from < columns; from += SIDE_COLUMNS) {
        const int count = min(SIDE_COLUMNS, columns - from);
#pragma unroll 1
        for (int at = threadIdx.x; at < count * SIDE_ROWS; at += BLOCK) tile[at] = REAL(0);
        __syncthreads();
        fill_tile(tile, sides, from, count, first, matrix);
        __syncthreads();
        if (own < SIDE_ROWS) {
#pragma unroll 1
            for (int c = 0; c < count; ++c) {
                const REAL amount = tile[c * SIDE_ROWS + own];
                if (from + c == columns - 1) entering = amount; else flipped += amount;
            }
        }
        __syncthreads();
    }
    if (own >= SIDE_ROWS || i >= matrix.rows) return;
    const INDEX slot = matrix.slot_of_row[i];
    target.column[i] = entering;
    if (slot >= 0) target.column_slots[slot] = entering;
    if (columns == 1) return;
    target.flip_column[i] = flipped;
    if (slot >= 0) target.flip_slots[slot] = flipped;
}

// Prepare the solves, a block taking its unit; the block together. Leaves the numbers of entries,
// or -1 for laid out sums.
__device__ __forceinline__ void make_sides(
    Sides& sides, int columns, int blocks, const Matrix& matrix, bool streamed, INDEX slots,
    const RightSidesOut& target, INDEX* control) {
    __shared__ REAL tile[SIDE_COLUMNS * SIDE_ROWS];
    number_entries(sides, columns, matrix);
    const long long entries = sides.offset[columns];
    const bool list = is_list(entries, streamed, slots, matrix.rows);
    if (list) {
        leave_list(sides, columns, blockIdx.x * BLOCK + threadIdx.x, blocks * BLOCK, matrix,
                   target.places, target.amounts);
    } else {
        lay_out(tile, sides, columns, blockIdx.x, matrix, target);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        control[ENTRIES] = list ? (INDEX)entries : -1;
        control[FLIP_ENTRIES] = sides.offset[columns - 1];
    }
}
