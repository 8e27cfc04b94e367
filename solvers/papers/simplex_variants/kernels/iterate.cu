// An iteration of the primal simplex method in five kernels; iterate.py states what they compute.
//
// A block reduces its own share of a search and leaves the result in a small array; every block of
// the next kernel reduces that array again, so that all hold the winner without a launch between.
// No kernel reads what one of its own blocks writes, except the stop flag: a block that sees it set
// returns, as it would have done by its own decision.

#include "paper.cuh"

__device__ __forceinline__ void price(
    int columns, int lanes, int parts, const Matrix& matrix, const Costs& costs, REAL* weight,
    REAL* reduced, REAL* offers, REAL* control) {
    if (stopped(control)) return;
    if (control[ITERATION] >= control[LIMIT]) {
        if (first_thread()) control[STOP] = REAL(BATCH_DONE);
        return;
    }
    if (first_thread()) control[COSTS_MOVED] = REAL(0);
    const REAL entered_weight = control[ENTERING_WEIGHT];
    const REAL tolerance = control[DUAL_TOLERANCE];
    const bool with_cost = control[PHASE] == REAL(2), bland = control[BLAND] != REAL(0);
    const int teams = BLOCK / lanes;
    const int lane = threadIdx.x % lanes;
    Choice best = {REAL(0), -1};
    REAL error = REAL(0);
    // The loop's bound is the same for the whole block, as the shuffles need.
    for (long long base = (long long)blockIdx.x * teams; base < columns;
         base += (long long)parts * teams) {
        const long long j = base + threadIdx.x / lanes;
        REAL with_y = REAL(0), with_row = REAL(0);
        if (j < columns) {
            for (INDEX k = matrix.starts[j] + lane; k < matrix.starts[j + 1]; k += lanes) {
                with_y += matrix.values[k] * costs.y[matrix.rows[k]];
                with_row += matrix.values[k] * costs.pivot_row[matrix.rows[k]];
            }
        }
        with_y = lanes_reduce<Sum>(with_y, lanes);
        with_row = lanes_reduce<Sum>(with_row, lanes);
        if (j >= columns || lane != 0) continue;
        const INDEX place = costs.position[j];
        const REAL nonbasic_cost = with_cost ? costs.cost[j] : REAL(0);
        const REAL own_cost = place >= 0 ? costs.basic_cost[place] : nonbasic_cost;
        const REAL s = own_cost - with_y;
        reduced[j] = s;
        if (place >= 0) {
            weight[j] = REAL(1);
            error = magnitude(s) > error ? magnitude(s) : error;
            continue;
        }
        const REAL reached = with_row * with_row * entered_weight;
        const REAL w = reached > weight[j] ? reached : weight[j];
        weight[j] = w;
        if (s < -tolerance) best.take(bland ? REAL(1) : s * s / w, (INDEX)j);
    }
    best = block_best(best);
    error = block_reduce<Largest>(error);
    if (threadIdx.x == 0) {
        offers[SLOTS * blockIdx.x] = best.key;
        offers[SLOTS * blockIdx.x + 1] = REAL(best.index);
        offers[SLOTS * blockIdx.x + 2] = error;
    }
}

__device__ __forceinline__ void direction(
    const Shape& shape, const Matrix& matrix, const Offers& found, const REAL* inverse,
    const REAL* x, const INDEX* basic, REAL* d, REAL* nearest, REAL* control) {
    if (stopped(control)) return;
    const Choice best = best_of_parts(found.offers, found.offered);
    REAL error = REAL(0);
    for (int part = threadIdx.x; part < found.offered; part += BLOCK) {
        const REAL other = found.offers[SLOTS * part + 2];
        error = other > error ? other : error;
    }
    error = block_reduce<Largest>(error);
    const bool inaccurate = error > control[ERROR_ALLOWED] && control[SINCE_INVERSE] > REAL(0);
    if (first_thread()) {
        control[DUAL_ERROR] = error;
        control[ENTERING] = REAL(best.index);
        if (best.index >= 0) {
            control[ENTERING_COST] = found.reduced[best.index];
            control[ENTERING_WEIGHT] = found.weight[best.index];
        }
        if (inaccurate) control[STOP] = REAL(INACCURATE);
        else if (best.index < 0) control[STOP] = REAL(NO_CANDIDATE);
    }
    if (inaccurate || best.index < 0) return;
    const INDEX begin = matrix.starts[best.index], end = matrix.starts[best.index + 1];
    Choice closest = {REAL(0), -1};
    for (long long i = (long long)blockIdx.x * BLOCK + threadIdx.x; i < shape.size;
         i += (long long)shape.parts * BLOCK) {
        REAL sum = REAL(0);
        for (INDEX k = begin; k < end; ++k)
            sum += matrix.values[k] * inverse[(long long)matrix.rows[k] * shape.stride + i];
        d[i] = sum;
        const Ratio ratio = ratio_of(x[i], sum, basic[i] >= shape.columns, control);
        if (ratio.blocks) closest.take(-ratio.relaxed, (INDEX)i);
    }
    closest = block_best(closest);
    if (threadIdx.x == 0) {
        nearest[SLOTS * blockIdx.x] = closest.key;
        nearest[SLOTS * blockIdx.x + 1] = REAL(closest.index);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) choose(
    int size, int columns, int parts, const REAL* __restrict__ x,
    const INDEX* __restrict__ basic, const REAL* __restrict__ d,
    const REAL* __restrict__ nearest, REAL* __restrict__ chosen, REAL* control) {
    if (stopped(control)) return;
    const Choice closest = best_of_parts(nearest, parts);
    if (closest.index < 0) {
        if (first_thread()) control[STOP] = REAL(NO_RATIO);
        return;
    }
    const REAL farthest = -closest.key;
    const bool bland = control[BLAND] != REAL(0);
    Choice best = {REAL(0), -1};
    REAL best_ratio = REAL(0);
    for (long long i = (long long)blockIdx.x * BLOCK + threadIdx.x; i < size;
         i += (long long)parts * BLOCK) {
        const Ratio ratio = ratio_of(x[i], d[i], basic[i] >= columns, control);
        if (!ratio.blocks || ratio.exact > farthest) continue;
        best.take(bland ? REAL(-basic[i]) : magnitude(d[i]), (INDEX)i);
        if (best.index == i) best_ratio = ratio.exact;
    }
    const INDEX own = best.index;
    best = block_best(best);
    if (best.index < 0 ? threadIdx.x == 0 : own == best.index) {
        chosen[SLOTS * blockIdx.x] = best.key;
        chosen[SLOTS * blockIdx.x + 1] = REAL(best.index);
        chosen[SLOTS * blockIdx.x + 2] = best_ratio;
    }
}

__device__ __forceinline__ void make_pivot(
    const Shape& shape, const REAL* __restrict__ inverse, const REAL* __restrict__ d,
    const REAL* __restrict__ cost, const REAL* __restrict__ chosen, REAL* __restrict__ x,
    INDEX* __restrict__ basic, INDEX* __restrict__ position, REAL* __restrict__ basic_cost,
    REAL* __restrict__ pivot_row, REAL* control) {
    __shared__ REAL shared_theta;
    if (stopped(control)) return;
    const Choice best = best_of_parts(chosen, shape.parts);
    for (int part = threadIdx.x; part < shape.parts; part += BLOCK) {
        if ((INDEX)chosen[SLOTS * part + 1] == best.index) shared_theta = chosen[SLOTS * part + 2];
    }
    __syncthreads();
    const INDEX r = best.index;
    const REAL theta = shared_theta, pivot = d[r];
    const bool fresh = control[SINCE_INVERSE] == REAL(0);
    const bool small = magnitude(pivot) < control[SAFE_PIVOT];
    if (small) {
        if (first_thread()) control[STOP] = REAL(fresh ? SMALL_PIVOT : INACCURATE);
        return;
    }
    const INDEX q = (INDEX)control[ENTERING];
    const bool phase_two = control[PHASE] == REAL(2);
    const REAL tolerance = control[PRIMAL_TOLERANCE];
    for (long long i = (long long)blockIdx.x * BLOCK + threadIdx.x; i < shape.size;
         i += (long long)shape.parts * BLOCK) {
        if (i == r) {
            position[basic[i]] = -1;
            position[q] = r;
            basic[i] = q;
            x[i] = theta;
            basic_cost[i] = phase_two ? cost[q] : REAL(0);
        } else {
            const REAL moved = x[i] - theta * d[i];
            x[i] = moved;
            if (!phase_two) {
                const REAL c = infeasibility_cost(moved, basic[i] >= shape.columns, tolerance);
                if (c != basic_cost[i]) control[COSTS_MOVED] = REAL(1);
                basic_cost[i] = c;
            }
        }
        pivot_row[i] = inverse[i * shape.stride + r] / pivot;
    }
    if (first_thread()) note_pivot(r, theta, pivot, control);
}

extern "C" __global__ void __launch_bounds__(BLOCK) update(
    int size, int stride, int team, const REAL* __restrict__ d,
    const REAL* __restrict__ pivot_row, const REAL* __restrict__ basic_cost,
    REAL* __restrict__ inverse, REAL* __restrict__ y, REAL* control) {
    if (stopped(control)) return;
    const long long k = ((long long)blockIdx.x * BLOCK + threadIdx.x) / team;
    const int lane = threadIdx.x % team;
    const int r = (int)control[LEAVING];
    const bool costs_moved = control[COSTS_MOVED] != REAL(0);
    const REAL rho = k < size ? pivot_row[k] : REAL(0);
    const bool skipped = k >= size || (rho == REAL(0) && !costs_moved);
    REAL* __restrict__ column = inverse + (k < size ? k : 0) * stride;
    REAL sum = REAL(0);
    if (!skipped) {
#pragma unroll 4
        for (int i = lane; i < size; i += team) {
            const REAL element = i == r ? rho : column[i] - rho * d[i];
            column[i] = element;
            sum += basic_cost[i] * element;
        }
    }
    sum = team == BLOCK ? block_reduce<Sum>(sum) : lanes_reduce<Sum>(sum, team);
    if (!skipped && lane == 0) y[k] = sum;
}
