// Half iterations of several problems at once; step.py states what they compute.
//
// A block owns a unit of rows (team.cuh). The vectors of a row's K problems are neighbours, so
// that everything a group reads and writes comes in whole sectors.

#include "team.cuh"

#define KEEP_FIRST 1
#define KEEP_LAST 2

__device__ __forceinline__ REAL between(REAL low, REAL value, REAL high) {
    return value < low ? low : (value > high ? high : value);
}

// What all rows of one problem have in common in one half iteration.
struct Iteration {
    REAL step, weight;
    int keep, width;

    __device__ Iteration(const REAL* control, int side, int offset, int keep, int width,
                         int problem)
        : keep(keep), width(width) {
        const REAL k = control[ITERATIONS_SINCE_RESTART * width + problem] + (REAL)offset;
        step = control[side * width + problem];
        weight = (k + REAL(1)) / (k + REAL(2));
    }
};

struct Kept {
    REAL *projection, *difference, *first_difference;

    __device__ __forceinline__ void store(const Iteration& iteration, long long at,
                                          REAL projected, REAL moved) const {
        if (iteration.keep & KEEP_FIRST) first_difference[at] = moved;
        if (iteration.keep & KEEP_LAST) {
            projection[at] = projected;
            difference[at] = moved;
        }
    }
};

struct PrimalOwner {
    const Iteration iteration;
    const Kept kept;
    REAL* x;
    const REAL *anchor, *cost, *lower, *upper, *metric;
    REAL* reflected;

    __device__ __forceinline__ void finish(INDEX row, int problem, REAL product) const {
        const long long at = (long long)row * iteration.width + problem;
        const REAL current = x[at], step = iteration.step * metric[row];
        const REAL projected =
            between(lower[at], current - step * (cost[at] - product), upper[at]);
        const REAL mirrored = REAL(2) * projected - current;
        reflected[at] = mirrored;
        x[at] = iteration.weight * mirrored + (REAL(1) - iteration.weight) * anchor[at];
        kept.store(iteration, at, projected, mirrored - current);
    }
};

struct DualOwner {
    const Iteration iteration;
    const Kept kept;
    REAL* y;
    const REAL *anchor, *lower, *upper, *metric;

    __device__ __forceinline__ void finish(INDEX row, int problem, REAL product) const {
        const long long at = (long long)row * iteration.width + problem;
        const REAL current = y[at], step = iteration.step * metric[row];
        const REAL moved = current - step * product;
        const REAL projected = moved - between(-step * upper[at], moved, -step * lower[at]);
        const REAL mirrored = REAL(2) * projected - current;
        y[at] = iteration.weight * mirrored + (REAL(1) - iteration.weight) * anchor[at];
        kept.store(iteration, at, projected, mirrored - current);
    }
};

extern "C" __global__ void __launch_bounds__(TEAM) primal_step(
    int units, const INDEX* __restrict__ unit_table, const INDEX* __restrict__ starts,
    const INDEX* __restrict__ indices, const REAL* __restrict__ values, int width,
    REAL* __restrict__ partials, INDEX* __restrict__ tickets, const REAL* __restrict__ y,
    REAL* __restrict__ x, const REAL* __restrict__ anchor,
    const REAL* __restrict__ cost, const REAL* __restrict__ lower,
    const REAL* __restrict__ upper, const REAL* __restrict__ metric,
    REAL* __restrict__ reflected, REAL* __restrict__ projection, REAL* __restrict__ difference,
    REAL* __restrict__ first_difference, const REAL* __restrict__ control, int offset, int keep) {
    __shared__ REAL scratch[TEAM];
    const Place place(width);
    const bool active = control[STOP * width + place.problem] == REAL(0);
    if (!__syncthreads_or(active)) return;
    const Rows rows = {unit_table, starts, indices, values, width, partials, tickets};
    const Iteration iteration(control, TAU, offset, keep, width, place.problem);
    PrimalOwner owner = {iteration, {projection, difference, first_difference},
                         x, anchor, cost, lower, upper, metric, reflected};
    run_unit(blockIdx.x, rows, place, active, y, owner, scratch);
}

extern "C" __global__ void __launch_bounds__(TEAM) dual_step(
    int units, const INDEX* __restrict__ unit_table, const INDEX* __restrict__ starts,
    const INDEX* __restrict__ indices, const REAL* __restrict__ values, int width,
    REAL* __restrict__ partials, INDEX* __restrict__ tickets,
    const REAL* __restrict__ reflected, REAL* __restrict__ y, const REAL* __restrict__ anchor,
    const REAL* __restrict__ row_lower, const REAL* __restrict__ row_upper,
    const REAL* __restrict__ metric, REAL* __restrict__ projection,
    REAL* __restrict__ difference, REAL* __restrict__ first_difference,
    const REAL* __restrict__ control, int offset, int keep) {
    __shared__ REAL scratch[TEAM];
    const Place place(width);
    const bool active = control[STOP * width + place.problem] == REAL(0);
    if (!__syncthreads_or(active)) return;
    const Rows rows = {unit_table, starts, indices, values, width, partials, tickets};
    const Iteration iteration(control, SIGMA, offset, keep, width, place.problem);
    DualOwner owner = {iteration, {projection, difference, first_difference},
                       y, anchor, row_lower, row_upper, metric};
    run_unit(blockIdx.x, rows, place, active, reflected, owner, scratch);
}
