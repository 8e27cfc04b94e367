// A round of bound propagation for one box; box.py states what each kernel computes.
//
// A group of 1 to 32 threads, or a block, walks a row twice: first for its activities, joined by
// shuffles in a fixed tree, then, while the row is still in cache, for the bounds it implies. The
// maximum and minimum of those are taken in place; they do not depend on the order of rows.

#include "in_place.cuh"

#define BLOCK 256
#define WARPS (BLOCK / 32)

enum Control { STOP = 0, ROUND = 1, LIMIT = 2, CHANGED = 3, INFEASIBLE = 4 };

struct Rows {
    const INDEX* __restrict__ column;
    const REAL* __restrict__ value;
    const REAL* __restrict__ lower;
    const REAL* __restrict__ upper;
    const INDEX* __restrict__ is_integer;
    const Interval* __restrict__ bounds;

    __device__ __forceinline__ Activity activity(INDEX first, INDEX last, int step) const {
        Activity sum = {REAL(0), REAL(0), 0, 0};
        for (INDEX k = first; k < last; k += step) {
            const Interval own = bounds[column[k]];
            sum.add(value[k], own.lower, own.upper);
        }
        return sum;
    }

    __device__ __forceinline__ void tighten(
        INDEX first, INDEX last, int step, const Room& room, REAL* next,
        INDEX* column_changed) const {
        for (INDEX k = first; k < last; k += step) {
            const INDEX j = column[k];
            const Interval own = bounds[j];
            if (own.lower == own.upper) continue;
            const Interval found =
                implied(value[k], own.lower, own.upper, room, is_integer[j] != 0);
            if (found.lower > own.lower) raise_to(next + 2 * (long long)j, found.lower);
            if (found.upper < own.upper) lower_to(next + 2 * (long long)j + 1, found.upper);
            if (found.lower > own.lower || found.upper < own.upper) column_changed[j] = 1;
        }
    }
};

// The flags of rows that this round reads.
__device__ __forceinline__ const INDEX* flags_of_round(
    const INDEX* row_changed, int rows, const INDEX* control) {
    return row_changed + (long long)(control[ROUND] & 1) * rows;
}

// Join the activities of groups of `lanes` neighbouring threads, a power of two up to 32.
__device__ __forceinline__ void join_group(Activity& sum, int lanes) {
    for (int distance = lanes >> 1; distance > 0; distance >>= 1) {
        Activity other;
        other.low = __shfl_xor_sync(ALL_LANES, sum.low, distance, lanes);
        other.high = __shfl_xor_sync(ALL_LANES, sum.high, distance, lanes);
        other.low_infinite = __shfl_xor_sync(ALL_LANES, sum.low_infinite, distance, lanes);
        other.high_infinite = __shfl_xor_sync(ALL_LANES, sum.high_infinite, distance, lanes);
        sum.join(other);
    }
}

// Join the activities of all threads of a block; all get the result.
__device__ __forceinline__ void join_block(Activity& sum) {
    __shared__ Activity of_warp[WARPS];
    join_group(sum, 32);
    if ((threadIdx.x & 31) == 0) of_warp[threadIdx.x >> 5] = sum;
    __syncthreads();
    sum = of_warp[0];
    for (int warp = 1; warp < WARPS; ++warp) sum.join(of_warp[warp]);
}

extern "C" __global__ void __launch_bounds__(BLOCK) box_rows(
    const INDEX* __restrict__ row_start, const INDEX* __restrict__ row_column,
    const REAL* __restrict__ row_value, const REAL* __restrict__ row_lower,
    const REAL* __restrict__ row_upper, const INDEX* __restrict__ is_integer,
    const INDEX* __restrict__ order, const INDEX* __restrict__ bins, int num_bins, int blocks,
    int rows, const REAL* __restrict__ bounds, REAL* next, const INDEX* __restrict__ row_changed,
    INDEX* column_changed, INDEX* control) {
    if (control[STOP] != 0) return;
    int bin = num_bins - 1;
    while (bin > 0 && (INDEX)blockIdx.x < bins[4 * bin]) --bin;
    const int lanes = (int)bins[4 * bin + 3];
    const INDEX groups = BLOCK / lanes;
    const INDEX place = ((INDEX)blockIdx.x - bins[4 * bin]) * groups + threadIdx.x / lanes;
    INDEX row = 0;
    bool active = place < bins[4 * bin + 2];
    if (active) {
        row = order[bins[4 * bin + 1] + place];
        active = flags_of_round(row_changed, rows, control)[row] != 0;
    }
    const Rows matrix = {row_column, row_value, row_lower, row_upper, is_integer,
                         (const Interval*)bounds};
    const int lane = threadIdx.x & (lanes - 1);
    const INDEX first = active ? row_start[row] + lane : 0;
    const INDEX last = active ? row_start[row + 1] : 0;
    Activity sum;
    if (lanes == BLOCK) {  // the whole block has the same row, and leaves or stays together
        if (!active) return;
        sum = matrix.activity(first, last, lanes);
        join_block(sum);
    } else {
        if (!__any_sync(ALL_LANES, active)) return;
        sum = matrix.activity(first, last, lanes);
        join_group(sum, lanes);
        if (!active) return;
    }
    const Room room = room_of(sum, row_lower[row], row_upper[row]);
    if (room.infeasible) {
        if (lane == 0) control[INFEASIBLE] = 1;
    } else if (!room.redundant) {
        matrix.tighten(first, last, lanes, room, next, column_changed);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) box_heavy_sums(
    const INDEX* __restrict__ row_column, const REAL* __restrict__ row_value,
    const REAL* __restrict__ row_lower, const REAL* __restrict__ row_upper,
    const INDEX* __restrict__ is_integer, const INDEX* __restrict__ parts, int rows,
    const REAL* __restrict__ bounds, const INDEX* __restrict__ row_changed,
    const INDEX* __restrict__ control, REAL* __restrict__ partial,
    INDEX* __restrict__ partial_infinite) {
    const INDEX* part = parts + 4 * (long long)blockIdx.x;
    if (control[STOP] != 0) return;
    if (flags_of_round(row_changed, rows, control)[part[1]] == 0) return;
    const Rows matrix = {row_column, row_value, row_lower, row_upper, is_integer,
                         (const Interval*)bounds};
    Activity sum = matrix.activity(part[2] + threadIdx.x, part[3], BLOCK);
    join_block(sum);
    if (threadIdx.x == 0) {
        partial[2 * (long long)blockIdx.x] = sum.low;
        partial[2 * (long long)blockIdx.x + 1] = sum.high;
        partial_infinite[2 * (long long)blockIdx.x] = sum.low_infinite;
        partial_infinite[2 * (long long)blockIdx.x + 1] = sum.high_infinite;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) box_heavy_tighten(
    const INDEX* __restrict__ row_column, const REAL* __restrict__ row_value,
    const REAL* __restrict__ row_lower, const REAL* __restrict__ row_upper,
    const INDEX* __restrict__ is_integer, const INDEX* __restrict__ parts,
    const INDEX* __restrict__ heavy, const REAL* __restrict__ partial,
    const INDEX* __restrict__ partial_infinite, int rows, const REAL* __restrict__ bounds,
    REAL* next, const INDEX* __restrict__ row_changed, INDEX* column_changed,
    INDEX* control) {
    const INDEX* part = parts + 4 * (long long)blockIdx.x;
    const INDEX row = part[1];
    if (control[STOP] != 0) return;
    if (flags_of_round(row_changed, rows, control)[row] == 0) return;
    const long long first = heavy[3 * (long long)part[0] + 1];
    const long long count = heavy[3 * (long long)part[0] + 2];
    Activity sum = {REAL(0), REAL(0), 0, 0};
    for (long long k = first + threadIdx.x; k < first + count; k += BLOCK) {
        sum.join({partial[2 * k], partial[2 * k + 1], (int)partial_infinite[2 * k],
                  (int)partial_infinite[2 * k + 1]});
    }
    join_block(sum);
    const Rows matrix = {row_column, row_value, row_lower, row_upper, is_integer,
                         (const Interval*)bounds};
    const Room room = room_of(sum, row_lower[row], row_upper[row]);
    if (room.infeasible) {
        if (threadIdx.x == 0) control[INFEASIBLE] = 1;
    } else if (!room.redundant) {
        matrix.tighten(part[2] + threadIdx.x, part[3], BLOCK, room, next, column_changed);
    }
}

// A warp looks at 32 columns, and goes through the rows of each flagged one together.
extern "C" __global__ void __launch_bounds__(BLOCK) box_columns(
    int rows, int columns, const INDEX* __restrict__ column_start,
    const INDEX* __restrict__ column_row, REAL* bounds, REAL* next, INDEX* row_changed,
    INDEX* column_changed, INDEX* control) {
    if (control[STOP] != 0) return;
    const int parity = (int)(control[ROUND] & 1);
    INDEX* const now = row_changed + (long long)parity * rows;
    INDEX* const later = row_changed + (long long)(1 - parity) * rows;
    const long long own = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (own < rows) now[own] = 0;
    bool flagged = false;
    if (own < columns && column_changed[own] != 0) {
        flagged = true;
        column_changed[own] = 0;
        Interval found = ((Interval*)next)[own];
        if (crossing(found.lower, found.upper)) control[INFEASIBLE] = 1;
        ((Interval*)next)[own] = found;
        ((Interval*)bounds)[own] = found;
        control[CHANGED] = 1;
    }
    unsigned left = __ballot_sync(ALL_LANES, flagged);
    const long long first_column = own - (threadIdx.x & 31);
    while (left != 0) {
        const long long j = first_column + __ffs(left) - 1;
        left &= left - 1;
        const INDEX last = column_start[j + 1];
        for (INDEX k = column_start[j] + (threadIdx.x & 31); k < last; k += 32) {
            later[column_row[k]] = 1;
        }
    }
}

extern "C" __global__ void __launch_bounds__(32) box_control(INDEX* control) {
    if (threadIdx.x != 0 || control[STOP] != 0) return;
    control[ROUND] += 1;
    if (control[CHANGED] == 0 || control[INFEASIBLE] != 0 || control[ROUND] >= control[LIMIT]) {
        control[STOP] = 1;
    }
    control[CHANGED] = 0;
}
