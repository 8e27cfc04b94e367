// Primal pivots; primal.py states what the kernels compute.

#include "sides.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK) price_costs(
    int rows, int structurals, const INDEX* __restrict__ status, const REAL* __restrict__ lower,
    const REAL* __restrict__ upper, const REAL* __restrict__ reduced_cost,
    const REAL* __restrict__ weights, const REAL* __restrict__ scalars,
    REAL* __restrict__ partial_value, INDEX* __restrict__ partial_index) {
    const long long variables = (long long)rows + structurals;
    const int groups = groups_of(variables);
    const REAL tolerance = scalars[DUAL_TOLERANCE];
    Best best = nothing();
    for (long long j = blockIdx.x * BLOCK + threadIdx.x; j < variables; j += groups * BLOCK) {
        const REAL merit =
            merit_of(status[j], lower[j], upper[j], reduced_cost[j], weights[j], tolerance);
        if (merit > best.value) best = Best{merit, (INDEX)j};
    }
    best = block_best(best);
    if (threadIdx.x == 0) {
        partial_value[blockIdx.x] = best.value;
        partial_index[blockIdx.x] = best.index;
    }
}

__device__ __forceinline__ void choose_entering(
    const Matrix& matrix, int most, int groups, const Variables& variables, const REAL* weights,
    const REAL* alpha_rows, const Partials& partials, const RightSidesOut& rights, INDEX* control,
    REAL* scalars) {
    __shared__ Sides sides;
    const INDEX state = control[STATUS], made = control[PIVOTS], slots = control[SLOTS];
    const INDEX iterations = control[ITERATIONS], limit = control[LIMIT];
    if (state != RUNNING) return;
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    const bool whole = made >= most, out = iterations >= limit;
    Best best = nothing();
    for (int g = threadIdx.x; g < groups; g += BLOCK)
        best = better(best, Best{partials.partial_value[g], partials.partial_index[g]});
    best = block_best(best);
    if (whole || out || best.index == NONE) {  // every block finds the same
        if (first) control[STATUS] = whole ? FOLD : (out ? OUT_OF_PIVOTS : DONE);
        return;
    }
    const INDEX q = best.index;
    const int blocks = max(1, (matrix.rows + SIDE_ROWS - 1) / SIDE_ROWS);
    if (threadIdx.x == 0) {
        sides.variable[0] = q;
        sides.step[0] = REAL(1);
    }
    __syncthreads();
    make_sides(sides, 1, blocks, matrix, false, slots, rights, control);
    const long long width = (long long)matrix.rows + matrix.structurals;
    for (int e = blockIdx.x * BLOCK + threadIdx.x; e < made; e += blocks * BLOCK)
        rights.column_dots[e] = alpha_rows[e * width + q];
    if (!first) return;
    control[ENTERING] = q;
    control[DIRECTION] = variables.reduced_cost[q] < REAL(0) ? 1 : -1;
    scalars[ENTERING_VALUE] = variables.x[q];
    scalars[WEIGHT] = weights[q];
}

extern "C" __global__ void __launch_bounds__(1024) choose_leaving(
    int rows, const INDEX* __restrict__ basic, const REAL* __restrict__ lower,
    const REAL* __restrict__ upper, const REAL* __restrict__ reduced_cost,
    const REAL* __restrict__ alpha, const REAL* __restrict__ x_basic,
    const REAL* __restrict__ lower_basic, const REAL* __restrict__ upper_basic, INDEX* control,
    REAL* scalars) {
    if (control[STATUS] != RUNNING) return;
    const INDEX q = control[ENTERING];
    const REAL direction = (REAL)control[DIRECTION];
    const REAL smallest = scalars[SMALL_PIVOT], relax = scalars[HARRIS];
    REAL bound = INFINITE;
#pragma unroll 4
    for (int p = threadIdx.x; p < rows; p += blockDim.x) {
        const REAL rate = direction * alpha[p];
        if (fabs(rate) <= smallest) continue;
        const REAL room = fmax(room_of(rate, x_basic[p], lower_basic[p], upper_basic[p]), REAL(0));
        bound = fmin(bound, (room + relax) / fabs(rate));
    }
    bound = block_reduce<Smallest>(bound);
    Best best = nothing();
    const int some = bound < INFINITE ? rows : 0;
    bound = nextafter(bound, INFINITE);  // lest rounding leave out the nearest, where relax is lost
#pragma unroll 4
    for (int p = threadIdx.x; p < some; p += blockDim.x) {
        const REAL rate = direction * alpha[p], size = fabs(rate);
        if (size <= smallest) continue;
        const REAL room = fmax(room_of(rate, x_basic[p], lower_basic[p], upper_basic[p]), REAL(0));
        if (room <= bound * size) best = better(best, Best{size, (INDEX)p});
    }
    best = block_best(best);
    if (threadIdx.x != 0) return;
    const INDEX r = best.index;
    const REAL span = upper[q] - lower[q];
    REAL step = INFINITE, rate = REAL(0), room = REAL(0);
    if (r != NONE) {
        rate = direction * alpha[r];
        room = room_of(rate, x_basic[r], lower_basic[r], upper_basic[r]);
        step = fmax(room, REAL(0)) / best.value;
    }
    control[FLIP_ONLY] = 0;
    if (span <= step) {
        if (span == INFINITE) {
            control[STATUS] = NO_PIVOT;
            return;
        }
        control[FLIP_ONLY] = 1;
        control[ALL_FLIPS] += 1;
        scalars[PRIMAL_STEP] = span;
    } else {
        const REAL value = x_basic[r];
        control[POSITION] = r;
        control[LEAVING] = basic[r];
        control[TO_UPPER] = rate > REAL(0) ? 0 : 1;
        control[PIVOTS] += 1;
        scalars[VALUE] = value;
        scalars[BOUND] = room < REAL(0) ? value : (rate > REAL(0) ? lower_basic[r] : upper_basic[r]);
        scalars[PRIMAL_STEP] = step;
        scalars[PIVOT] = alpha[r];
        scalars[DUAL_STEP] = reduced_cost[q] / alpha[r];
    }
    control[ITERATIONS] += 1;
}

// What a pivot changes by variable.
struct Changed {
    REAL* lower;
    REAL* upper;
    REAL* x;
    REAL* reduced_cost;
    REAL* weights;
    INDEX* status;
};

__device__ __forceinline__ void update_primal(
    int rows, int structurals, int most, const REAL* alpha_rows, const REAL* alpha,
    const Changed& all, const BasicsOut& basics, REAL* etas, INDEX* pivot_log,
    const PartialsOut& partials, INDEX* control, REAL* scalars) {
    if (control[STATUS] != RUNNING) return;
    const bool flip = control[FLIP_ONLY] == 1, to_upper = control[TO_UPPER] == 1;
    const INDEX made = control[PIVOTS] - 1, r = control[POSITION];
    const INDEX q = control[ENTERING], leaving = control[LEAVING];
    const long long width = (long long)rows + structurals;
    const REAL* pivot_row = alpha_rows + (flip ? 0 : made * width);
    const REAL pivot = flip ? REAL(1) : scalars[PIVOT];
    if (!flip) {  // every block judges for itself
        const REAL by_row = pivot_row[q], error = fabs(pivot - by_row);
        const bool first = blockIdx.x == 0 && threadIdx.x == 0;
        const bool accurate = error <= scalars[PIVOT_ERROR] * fmin(fabs(pivot), fabs(by_row));
        if (first) scalars[ERROR] = error;
        if (!accurate) {
            if (first) control[STATUS] = INACCURATE;
            return;
        }
        if (first) {
            pivot_log[3 * made] = r;
            pivot_log[3 * made + 1] = leaving;
            pivot_log[3 * made + 2] = q;
        }
    }
    const int groups = groups_of(width);
    if ((int)blockIdx.x >= groups) {
        const int p = (blockIdx.x - groups) * BLOCK + threadIdx.x;
        if (p >= rows) return;
        const REAL step = (REAL)control[DIRECTION] * scalars[PRIMAL_STEP];
        if (p == r && !flip) {
            basics.x_basic[p] = scalars[ENTERING_VALUE] + step;
            basics.lower_basic[p] = all.lower[q];
            basics.upper_basic[p] = all.upper[q];
            basics.basic[p] = q;
            etas[(long long)p * most + made] = REAL(1) / pivot - REAL(1);
        } else {
            basics.x_basic[p] -= step * alpha[p];
            if (!flip) etas[(long long)p * most + made] = -alpha[p] / pivot;
        }
        return;
    }
    const REAL dual_step = scalars[DUAL_STEP], weight = scalars[WEIGHT];
    const REAL tolerance = scalars[DUAL_TOLERANCE], bound = scalars[BOUND];
    Best best = nothing();
    for (long long j = blockIdx.x * BLOCK + threadIdx.x; j < width; j += groups * BLOCK) {
        if (flip) {
            if (j == q) {
                const bool up = all.status[j] == LOWER;
                all.x[j] = up ? all.upper[j] : all.lower[j];
                all.status[j] = up ? UPPER : LOWER;
            }
        } else if (j == q) {
            all.reduced_cost[j] = REAL(0);
            all.status[j] = BASIC;
        } else if (j == leaving) {
            all.reduced_cost[j] = -dual_step;
            all.x[j] = bound;
            if (to_upper) all.upper[j] = bound; else all.lower[j] = bound;
            all.status[j] = to_upper && all.lower[j] != all.upper[j] ? UPPER : LOWER;
            all.weights[j] = fmax(weight / (pivot * pivot), REAL(1));
        } else if (all.status[j] != BASIC) {
            const REAL share = pivot_row[j] / pivot;
            all.reduced_cost[j] -= dual_step * pivot_row[j];
            all.weights[j] = fmax(all.weights[j], share * share * weight);
        }
        if (weight > REAL(LARGEST_DEVEX_WEIGHT)) all.weights[j] = REAL(1);
        const REAL merit = merit_of(all.status[j], all.lower[j], all.upper[j], all.reduced_cost[j],
                                    all.weights[j], tolerance);
        if (merit > best.value) best = Best{merit, (INDEX)j};
    }
    best = block_best(best);
    if (threadIdx.x == 0) {
        partials.partial_value[blockIdx.x] = best.value;
        partials.partial_index[blockIdx.x] = best.index;
    }
}
