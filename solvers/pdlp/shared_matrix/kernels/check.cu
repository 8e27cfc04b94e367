// The check after an iteration block, for several problems; check.py states it.
//
// Sums: a block takes every gridDim.x-th unit and keeps its terms in registers, each thread those
// of its problem; at the end the groups' terms are added in their order into the block's slot.
// Decisions: a block for each problem.

#include "conclude.cuh"
#include "team.cuh"
#include "reduce.cuh"

// Adds the terms of a problem's threads, group after group, into partial[blockIdx.x][s][problem].
__device__ __forceinline__ void store(const Place& place, int width, const REAL (&terms)[SUMS],
                                      REAL* scratch, REAL* __restrict__ partial) {
#pragma unroll
    for (int s = 0; s < SUMS; ++s) {
        scratch[threadIdx.x] = terms[s];
        __syncthreads();
        if (place.group == 0) {
            REAL total = 0;
            for (int group = 0; group < place.groups; ++group) {
                total += scratch[group * width + place.problem];
            }
            partial[((long long)blockIdx.x * SUMS + s) * width + place.problem] = total;
        }
        __syncthreads();
    }
}

struct RowTerms {
    int width;
    const REAL *projection, *difference, *first_difference, *anchor, *lower, *upper, *metric;
    REAL terms[SUMS];

    __device__ __forceinline__ void finish(INDEX row, int problem, REAL activity) {
        const long long at = (long long)row * width + problem;
        const REAL low = lower[at], high = upper[at], scale = metric[row];
        const REAL residual = activity - (activity < low ? low : (activity > high ? high : activity));
        const REAL distance = projection[at] - anchor[at];
        terms[0] += residual * residual;
        terms[1] += support(projection[at], low, high);
        terms[2] += distance * distance / scale;
        terms[3] += difference[at] * difference[at] / scale;
        terms[4] += first_difference[at] * first_difference[at] / scale;
    }
};

struct ColumnTerms {
    int width;
    const REAL *projection, *difference, *first_difference, *anchor, *cost, *lower, *upper, *metric;
    REAL terms[SUMS];

    __device__ __forceinline__ void finish(INDEX row, int problem, REAL product) {
        const long long at = (long long)row * width + problem;
        const REAL reduced = cost[at] - product, scale = metric[row];
        const REAL side = reduced > REAL(0) ? lower[at] : upper[at];
        const REAL supported = finite(side) ? reduced : REAL(0);
        const REAL residual = reduced - supported;
        const REAL distance = projection[at] - anchor[at];
        terms[0] += residual * residual;
        terms[1] += support(supported, lower[at], upper[at]);
        terms[2] += distance * distance / scale;
        terms[3] += difference[at] * difference[at] / scale;
        terms[4] += first_difference[at] * first_difference[at] / scale;
        terms[5] += cost[at] * projection[at];
    }
};

extern "C" __global__ void __launch_bounds__(TEAM) measure_rows(
    int units, const INDEX* __restrict__ unit_table, const INDEX* __restrict__ starts,
    const INDEX* __restrict__ indices, const REAL* __restrict__ values, int width,
    const REAL* __restrict__ x_projection, const REAL* __restrict__ projection,
    const REAL* __restrict__ difference, const REAL* __restrict__ first_difference,
    const REAL* __restrict__ anchor, const REAL* __restrict__ row_lower,
    const REAL* __restrict__ row_upper, const REAL* __restrict__ metric,
    const REAL* __restrict__ control, int slots, REAL* __restrict__ partial) {
    __shared__ REAL scratch[TEAM];
    const Place place(width);
    const bool active = control[STOP * width + place.problem] == REAL(0);
    if (!__syncthreads_or(active)) return;
    const Rows rows = {unit_table, starts, indices, values, width, nullptr, nullptr};
    RowTerms owner = {width, projection, difference, first_difference, anchor,
                      row_lower, row_upper, metric, {0, 0, 0, 0, 0, 0}};
    for (int unit = blockIdx.x; unit < units; unit += slots) {
        run_unit(unit, rows, place, active, x_projection, owner, scratch);
    }
    store(place, width, owner.terms, scratch, partial);
}

extern "C" __global__ void __launch_bounds__(TEAM) measure_columns(
    int units, const INDEX* __restrict__ unit_table, const INDEX* __restrict__ starts,
    const INDEX* __restrict__ indices, const REAL* __restrict__ values, int width,
    const REAL* __restrict__ y_projection, const REAL* __restrict__ projection,
    const REAL* __restrict__ difference, const REAL* __restrict__ first_difference,
    const REAL* __restrict__ anchor, const REAL* __restrict__ cost,
    const REAL* __restrict__ lower, const REAL* __restrict__ upper,
    const REAL* __restrict__ metric, const REAL* __restrict__ control, int slots,
    REAL* __restrict__ partial) {
    __shared__ REAL scratch[TEAM];
    const Place place(width);
    const bool active = control[STOP * width + place.problem] == REAL(0);
    if (!__syncthreads_or(active)) return;
    const Rows rows = {unit_table, starts, indices, values, width, nullptr, nullptr};
    ColumnTerms owner = {width, projection, difference, first_difference, anchor,
                         cost, lower, upper, metric, {0, 0, 0, 0, 0, 0}};
    for (int unit = blockIdx.x; unit < units; unit += slots) {
        run_unit(unit, rows, place, active, y_projection, owner, scratch);
    }
    store(place, width, owner.terms, scratch, partial);
}

__device__ __forceinline__ void add_slots(int slots, const REAL* __restrict__ partial, int width,
                                          int problem, REAL (&sums)[SUMS]) {
    REAL mine[SUMS] = {0, 0, 0, 0, 0, 0};
    for (int slot = threadIdx.x; slot < slots; slot += blockDim.x) {
#pragma unroll
        for (int s = 0; s < SUMS; ++s) {
            mine[s] += partial[((long long)slot * SUMS + s) * width + problem];
        }
    }
#pragma unroll
    for (int s = 0; s < SUMS; ++s) sums[s] = block_reduce<Sum>(mine[s]);
}

extern "C" __global__ void __launch_bounds__(TEAM) decide(
    int row_slots, const REAL* __restrict__ row_partial, int column_slots,
    const REAL* __restrict__ column_partial, int width, int count, REAL* __restrict__ control) {
    const Column column = {control, width, (int)blockIdx.x};
    const bool stopped = column[STOP] != REAL(0);
    __syncthreads();  // thread 0 may write STOP below
    if (threadIdx.x == 0) column[RESTART] = column[KEEP_BEST] = REAL(0);
    if (stopped) return;
    REAL rows[SUMS], columns[SUMS];
    add_slots(row_slots, row_partial, width, blockIdx.x, rows);
    add_slots(column_slots, column_partial, width, blockIdx.x, columns);
    if (threadIdx.x == 0) conclude(rows, columns, count, column);
}

__device__ __forceinline__ void settle_side(
    long long size, int width, REAL* point, REAL* anchor, const REAL* __restrict__ projection,
    REAL* best, const REAL* __restrict__ control) {
    const long long stride = (long long)gridDim.x * blockDim.x;
    for (long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x; at < size; at += stride) {
        const int problem = (int)(at % width);
        const bool restart = control[RESTART * width + problem] != REAL(0);
        const bool keep = control[KEEP_BEST * width + problem] != REAL(0);
        if (!restart && !keep) continue;
        const REAL projected = projection[at];
        if (restart) point[at] = anchor[at] = projected;
        if (keep) best[at] = projected;
    }
}

extern "C" __global__ void __launch_bounds__(TEAM) settle(
    int width, int columns, REAL* __restrict__ x, REAL* __restrict__ x_anchor,
    const REAL* __restrict__ x_projection, REAL* __restrict__ best_x, int rows,
    REAL* __restrict__ y, REAL* __restrict__ y_anchor, const REAL* __restrict__ y_projection,
    REAL* __restrict__ best_y, const REAL* __restrict__ control) {
    settle_side((long long)columns * width, width, x, x_anchor, x_projection, best_x, control);
    settle_side((long long)rows * width, width, y, y_anchor, y_projection, best_y, control);
}
