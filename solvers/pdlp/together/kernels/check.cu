// The check after a window, for several problems; check.py states it.
//
// Sums: a block takes every gridDim.x-th unit and keeps its terms in registers, each thread those
// of its problem; at the end the groups' terms are added in their order into the block's slot.
// Decisions: a block for each problem.

#include "team.cuh"
#include "reduce.cuh"

#define SUMS 6

#define SHORTEST_DISTANCE REAL(1e-16)
#define LONGEST_DISTANCE REAL(1e12)
#define LARGEST_IMBALANCE REAL(8)

__device__ __forceinline__ REAL support(REAL multiplier, REAL low, REAL high) {
    if (multiplier > REAL(0)) return multiplier * low;
    if (multiplier < REAL(0)) return multiplier * high;
    return REAL(0);
}

__device__ __forceinline__ bool finite(REAL value) { return value - value == REAL(0); }

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

// One problem's column of the control array.
struct Column {
    REAL* control;
    int width, problem;

    __device__ __forceinline__ REAL& operator[](int field) const {
        return control[field * width + problem];
    }
};

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

__device__ __forceinline__ REAL imbalance(REAL primal, REAL dual) {
    return primal <= REAL(0) || dual <= REAL(0) ? REAL(-1) : fabs(log10(dual / primal));
}

__device__ __forceinline__ REAL metric_of(REAL weight, REAL dx, REAL dy) {
    return sqrt(weight * dx + dy / weight);
}

__device__ void update_weight(const Column& control, REAL primal, REAL dual) {
    const REAL from_x = control[PRIMAL_DISTANCE], from_y = control[DUAL_DISTANCE];
    const bool telling = SHORTEST_DISTANCE < from_x && from_x < LONGEST_DISTANCE &&
                         SHORTEST_DISTANCE < from_y && from_y < LONGEST_DISTANCE &&
                         imbalance(primal, dual) <= LARGEST_IMBALANCE;
    if (!telling) {
        control[WEIGHT] = control[BEST_WEIGHT];
        return;
    }
    const REAL error = log(from_y) - log(from_x) - log(control[WEIGHT]);
    control[WEIGHT] *= exp(control[PROPORTIONAL] * error);
}

__device__ bool restart_is_due(const Column& control, REAL metric, REAL iterations) {
    const REAL first = control[FIRST_METRIC];
    return control[CHECKS] == REAL(1) || metric <= control[SUFFICIENT] * first ||
           (metric <= control[NECESSARY] * first && metric > control[PREVIOUS_METRIC]) ||
           iterations >= control[ARTIFICIAL] * control[ITERATIONS];
}

__device__ void conclude(const REAL* rows, const REAL* columns, int count, const Column& control) {
    const REAL iterations = control[EPOCH_ITERATIONS] + (REAL)count;
    control[ITERATIONS] += (REAL)count;
    control[CHECKS] += REAL(1);
    if (control[EPOCH_ITERATIONS] == REAL(0)) {
        control[FIRST_METRIC] = metric_of(control[WEIGHT], columns[4], rows[4]);
        control[PREVIOUS_METRIC] = REAL(1) / REAL(0);
    }
    const REAL metric = metric_of(control[WEIGHT], columns[3], rows[3]);
    const REAL primal_objective = columns[5], dual_objective = rows[1] + columns[1];
    control[PRIMAL_RESIDUAL] = sqrt(rows[0]);
    control[DUAL_RESIDUAL] = sqrt(columns[0]);
    control[PRIMAL_OBJECTIVE] = primal_objective;
    control[DUAL_OBJECTIVE] = dual_objective;
    control[PRIMAL_DISTANCE] = sqrt(columns[2]);
    control[DUAL_DISTANCE] = sqrt(rows[2]);
    const REAL primal = control[PRIMAL_RESIDUAL] / (REAL(1) + control[SIDE_NORM]);
    const REAL dual = control[DUAL_RESIDUAL] / (REAL(1) + control[COST_NORM]);
    const REAL gap = fabs(primal_objective - dual_objective) /
                     (REAL(1) + fabs(primal_objective) + fabs(dual_objective));
    control[EPOCH_ITERATIONS] = iterations;
    if (!finite(primal + dual + gap + metric)) {
        control[STOP] = STOP_BROKEN;
        return;
    }
    const REAL worst = fmax(primal, fmax(dual, gap));
    const bool optimal = worst <= control[TOLERANCE];
    if (optimal || worst < control[BEST_ERROR]) {
        control[BEST_ERROR] = worst;
        control[KEEP_BEST] = REAL(1);
    }
    const REAL found = imbalance(primal, dual);
    if (found >= REAL(0) && found < control[BEST_IMBALANCE]) {
        control[BEST_IMBALANCE] = found;
        control[BEST_WEIGHT] = control[WEIGHT];
    }
    if (optimal) {
        control[STOP] = STOP_OPTIMAL;
        return;
    }
    const bool restart = restart_is_due(control, metric, iterations);
    control[PREVIOUS_METRIC] = metric;
    if (restart) {
        update_weight(control, primal, dual);
        control[EPOCH_ITERATIONS] = REAL(0);
        control[RESTARTS] += REAL(1);
        control[RESTART] = REAL(1);
    }
    control[TAU] = control[STEP] / control[WEIGHT];
    control[SIGMA] = control[STEP] * control[WEIGHT];
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
