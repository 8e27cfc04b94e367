// Many small LPs, a block each, from the first scaling to the last check; solve.py says what for.
//
// A block takes LPs from a queue until there are none. The LP's matrix, scaled, stays in shared
// memory: as rows padded to `leading` so that neither rows nor columns meet bank conflicts, or as
// two copies of the entries, by rows and by columns; or, where it does not fit, in global memory.
// `lanes` threads own a row and add along a fixed tree; sums over the block are added in a fixed
// order, and every thread keeps the same scalars, so that all take the same decisions without
// asking. What is not done in every iteration stands out of line, to keep the loop's registers and
// the compiler's time within bounds. Which block solves an LP makes no difference to its answer.

#include "load.cuh"
#include "lp.cuh"
#include "rays.cuh"
#include "steps.cuh"
#include "vertex.cuh"

struct Weight {
    REAL value, best, imbalance, sum;
};

__device__ __forceinline__ REAL imbalance(const Errors& found) {
    if (!(found.primal > REAL(0) && found.dual > REAL(0))) return REAL(-1);
    return fabs(log10(found.dual / found.primal));
}

__device__ __forceinline__ void note_balance(Weight& weight, const Errors& found) {
    const REAL now = imbalance(found);
    if (now >= REAL(0) && now < weight.imbalance) {
        weight.best = weight.value;
        weight.imbalance = now;
    }
}

__device__ __forceinline__ bool telling(REAL distance) {
    return distance > REAL(1e-16) && distance < REAL(1e12);
}

__device__ __forceinline__ void next_weight(
    Weight& weight, const Sums& sums, const Errors& found, const REAL* parameters) {
    const REAL x_travel = sqrt(sums.x_travel);
    const REAL y_travel = sqrt(sums.y_travel);
    if (!telling(x_travel) || !telling(y_travel) || imbalance(found) > REAL(8)) {
        weight.value = weight.best;
        weight.sum = REAL(0);
        return;
    }
    const REAL error = log(y_travel) - log(x_travel) - log(weight.value);
    weight.sum = parameters[MEMORY] * weight.sum + error;
    weight.value *= exp(parameters[PROPORTIONAL] * error + parameters[INTEGRAL] * weight.sum);
}

__device__ __noinline__ void restart(const Lp& lp) {
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) lp.x[j] = lp.x_anchor[j] = lp.x_hat[j];
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) lp.y[i] = lp.y_anchor[i] = lp.y_hat[i];
    __syncthreads();
}

__device__ __noinline__ void take_trial(const Lp& lp, bool primal) {
    for (int j = threadIdx.x; primal && j < lp.n; j += blockDim.x) lp.x_hat[j] = lp.x_step[j];
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) lp.y_hat[i] = lp.y_trial[i];
    __syncthreads();
}

// Try the basis unless it is not square, moving or known; whether its vertex meets the criteria.
template <int STORAGE>
__device__ __noinline__ bool vertex_converged(
    const Lp& lp, const REAL* parameters, int vertex_limit, unsigned long long* before,
    unsigned long long* tried) {
    const Basis basis = find_basis(lp);
    const bool stands = basis.signature == *before;
    *before = basis.signature;
    if (!stands || basis.columns != basis.rows || basis.columns > vertex_limit) return false;
    if (basis.signature == *tried) return false;
    *tried = basis.signature;
    if (!vertex<STORAGE>(lp, basis.columns, parameters[PIVOT])) return false;
    Sums sums;
    const Errors found = errors<STORAGE>(lp, lp.x_step, lp.y_trial, sums);
    return found.is_finite() && found.worst() <= parameters[TOLERANCE];
}

// Iterate to the end; the point is in x_hat and y_hat. `hot` is a copy of `lp` whose address no
// function out of line gets to see, so that the compiler knows which of it is in shared memory.
template <int STORAGE>
__device__ __forceinline__ int run(
    const Lp& lp, const Lp& hot, REAL omega, REAL eta, const REAL* parameters,
    int iteration_limit, int check_interval, int vertex_limit, int* iterations) {
    constexpr int COLD = STORAGE == DENSE ? DENSE : SPARSE;
    Weight weight = {omega, omega, REAL(1) / REAL(0), REAL(0)};
    Sums sums;
    REAL first = REAL(1) / REAL(0), previous = first;
    unsigned long long before = NO_SIGNATURE, tried = NO_SIGNATURE;
    int total = 0, k = 0;
    for (int checks = 1; total < iteration_limit; ++checks) {
        const int left = iteration_limit - total;
        const int count = left < check_interval ? left : check_interval;
        for (int step = 0; step < count; ++step) {
            iterate<STORAGE>(hot, eta / weight.value, eta * weight.value, k);
            if (k == 0) {
                sum_steps<COLD>(lp, sums);
                first = sqrt(larger(REAL(0), metric_squared(sums, weight.value, eta)));
                previous = REAL(1) / REAL(0);
            }
            ++k;
        }
        total += count;
        *iterations = total;
        const Errors found = errors<COLD>(lp, lp.x_hat, lp.y_hat, sums);
        sum_steps<COLD>(lp, sums);
        const REAL squared = metric_squared(sums, weight.value, eta);
        if (!found.is_finite() || !is_finite(squared)) return TROUBLE;
        if (found.worst() <= parameters[TOLERANCE]) return CONVERGED;
        if (checks % 5 == 0 && total >= parameters[RAY_FROM]) {
            if (dual_ray<COLD>(lp, parameters)) {
                take_trial(lp, false);
                return DUAL_RAY;
            }
            if (primal_ray<COLD>(lp, parameters)) return PRIMAL_RAY;
        }
        if (found.worst() <= parameters[VERTEX_FROM] &&
            vertex_converged<COLD>(lp, parameters, vertex_limit, &before, &tried)) {
            take_trial(lp, true);
            return VERTEX;
        }
        note_balance(weight, found);
        const REAL metric = sqrt(larger(REAL(0), squared));
        if (squared < REAL(0)) eta /= parameters[NORM_MARGIN];
        const bool due = checks == 1 || metric <= parameters[SUFFICIENT] * first ||
                         (metric <= parameters[NECESSARY] * first && metric > previous) ||
                         k >= parameters[ARTIFICIAL] * total;
        previous = metric;
        if (due) {
            next_weight(weight, sums, found, parameters);
            restart(lp);
            k = 0;
        }
    }
    return LIMIT;
}

// Share a piece of memory out over the vectors of an LP; return what is left of it.
__device__ __forceinline__ REAL* place_vectors(Lp& lp, REAL* memory) {
    REAL** const of_columns[9] = {&lp.x, &lp.x_anchor, &lp.x_hat, &lp.x_bar, &lp.x_step,
                                  &lp.cost, &lp.lower, &lp.upper, &lp.column_scale};
    REAL** const of_rows[10] = {&lp.y, &lp.y_anchor, &lp.y_hat, &lp.product, &lp.y_step,
                                &lp.y_trial, &lp.row_lower, &lp.row_upper, &lp.row_scale,
                                &lp.residual};
    for (int v = 0; v < 9; ++v, memory += lp.n) *of_columns[v] = memory;
    for (int v = 0; v < 10; ++v, memory += lp.m) *of_rows[v] = memory;
    lp.inside = (int*)memory;
    lp.place = lp.inside + lp.n;
    lp.active = lp.place + lp.n;
    const long long bytes = 4LL * (2LL * lp.n + lp.m);
    return memory + (bytes + sizeof(REAL) - 1) / sizeof(REAL);
}

__device__ __forceinline__ int take(int* queue) { return atomicAdd(queue, 1); }
__device__ __forceinline__ long long take(long long* queue) {
    return (long long)atomicAdd((unsigned long long*)queue, 1ull);
}

// The row that LP p has of an array, by the array's bit.
__device__ __forceinline__ const REAL* own_row(
    const REAL* values, long long width, INDEX p, int varying, int bit) {
    return values + (((varying >> bit) & 1) ? (long long)p * width : 0LL);
}

// Where everything stands. What is known at compile time to be in shared memory is read as such.
template <int STORAGE>
__device__ __forceinline__ void place(
    Lp& lp, REAL* near, REAL* far, REAL* ready, INDEX nonzeros, bool large, bool vertex_shared) {
    if constexpr (STORAGE == DENSE) {
        near = place_vectors(lp, near);
        lp.partial = near;
        lp.by_rows = near + blockDim.x;
        lp.by_columns = near;
        near = lp.by_rows + lp.m * lp.leading;
    } else if constexpr (STORAGE == SPARSE) {
        near = place_vectors(lp, near);
        lp.by_rows = near;
        lp.by_columns = near + nonzeros;
        lp.partial = near;
        near += 2 * nonzeros;
    } else {
        if (large) {
            far = place_vectors(lp, far);
        } else {
            near = place_vectors(lp, near);
        }
        lp.by_rows = ready ? ready : far;
        lp.by_columns = lp.by_rows + nonzeros;
        lp.partial = near;
        if (!ready) far += 2 * (long long)nonzeros;
    }
    lp.M = vertex_shared ? near : far;
}

template <int STORAGE>
__device__ __forceinline__ void solve_all(
    Lp hot, REAL* near, REAL* far, REAL* prepared, bool large, bool vertex_shared, INDEX count, const INDEX* column_entries, int varying, const REAL* values,
    const REAL* cost, const REAL* lower, const REAL* upper, const REAL* row_lower,
    const REAL* row_upper, const REAL* offset, const REAL* x0, const REAL* y0,
    const REAL* row_scale, const REAL* column_scale, const REAL* parameters, int ruiz_passes,
    int power_iterations, int iteration_limit, int check_interval, int vertex_limit,
    INDEX nonzeros, INDEX* queue, REAL* x, REAL* y, INDEX* status, INDEX* iterations) {
    __shared__ INDEX next;
    place<STORAGE>(hot, near, far, prepared, nonzeros, large, vertex_shared);
    Lp lp = hot;
    constexpr int COLD = STORAGE == DENSE ? DENSE : SPARSE;
    const int m = hot.m, n = hot.n;
    while (true) {
        if (threadIdx.x == 0) next = take(queue);
        __syncthreads();
        const INDEX p = next;
        __syncthreads();
        if (p >= count) return;
        for (int j = threadIdx.x; j < n; j += blockDim.x) lp.column_scale[j] = column_scale[j];
        for (int i = threadIdx.x; i < m; i += blockDim.x) lp.row_scale[i] = row_scale[i];
        __syncthreads();
        REAL norm = parameters[NORM];
        const bool scaled = norm > REAL(0);
        if (prepared == nullptr) {
            load_matrix<COLD>(
                lp, column_entries, own_row(values, nonzeros, p, varying, 0), nonzeros);
            for (int pass = 0; !scaled && pass < ruiz_passes; ++pass) {
                scale_once<COLD, Largest>(lp);
            }
            if (!scaled) scale_once<COLD, Sum>(lp);
            scale_matrix<COLD>(lp);
        }
        if (!scaled) norm = find_norm<COLD>(lp, power_iterations, parameters[NORM_MARGIN]);
        const REAL* low = own_row(lower, n, p, varying, 2);
        const REAL* high = own_row(upper, n, p, varying, 3);
        const REAL omega = load_vectors(
            lp, own_row(cost, n, p, varying, 1), low, high, own_row(row_lower, m, p, varying, 4),
            own_row(row_upper, m, p, varying, 5), own_row(x0, n, p, varying, 7),
            own_row(y0, m, p, varying, 8));
        lp.offset = own_row(offset, 1, p, varying, 6)[0];
        int made = 0;
        const int how = run<STORAGE>(
            lp, hot, omega, parameters[STEP_FRACTION] / norm, parameters, iteration_limit,
            check_interval, vertex_limit, &made);
        for (int j = threadIdx.x; j < n; j += blockDim.x) {
            x[(long long)p * n + j] = between(low[j], lp.x_hat[j] * lp.column_scale[j], high[j]);
        }
        for (int i = threadIdx.x; i < m; i += blockDim.x) {
            y[(long long)p * m + i] = lp.y_hat[i] * lp.row_scale[i];
        }
        if (threadIdx.x == 0) {
            status[p] = how;
            iterations[p] = made;
        }
        __syncthreads();
    }
}

// Blocks of up to 512 threads, with as many registers as these can have.
extern "C" __launch_bounds__(512) __global__ void solve(
    INDEX, INDEX, INDEX, const INDEX*, const INDEX*, const INDEX*, const INDEX*, const INDEX*, int,
    const REAL*, const REAL*, const REAL*, const REAL*, const REAL*, const REAL*, const REAL*,
    const REAL*, const REAL*, const REAL*, const REAL*, const REAL*, int, int, int, int, int, int,
    int, int, int, int, int, INDEX, REAL*, INDEX*, REAL*, REAL*, INDEX*, INDEX*);

extern "C" __global__ void solve(
    INDEX count, INDEX rows, INDEX columns, const INDEX* __restrict__ starts,
    const INDEX* __restrict__ indices, const INDEX* __restrict__ column_starts,
    const INDEX* __restrict__ column_rows, const INDEX* __restrict__ column_entries, int varying,
    const REAL* __restrict__ values, const REAL* __restrict__ cost,
    const REAL* __restrict__ lower, const REAL* __restrict__ upper,
    const REAL* __restrict__ row_lower, const REAL* __restrict__ row_upper,
    const REAL* __restrict__ offset, const REAL* __restrict__ x0, const REAL* __restrict__ y0,
    const REAL* __restrict__ row_scale, const REAL* __restrict__ column_scale,
    const REAL* __restrict__ parameters, int ruiz_passes, int power_iterations,
    int iteration_limit, int check_interval, int vertex_limit, int storage, int leading,
    int vertex_shared, int block, int blocks, int shared, INDEX scratch_step,
    REAL* __restrict__ scratch, INDEX* __restrict__ queue, REAL* __restrict__ x,
    REAL* __restrict__ y, INDEX* __restrict__ status, INDEX* __restrict__ iterations) {
    extern __shared__ double memory[];
    REAL* near = (REAL*)memory;
    REAL* far = scratch + (long long)blockIdx.x * scratch_step;
    const INDEX nonzeros = starts[rows];
    // A matrix that all share stands behind what the blocks have for themselves.
    const bool one_for_all = storage >= MIXED && !(varying & 1);
    REAL* prepared = one_for_all ? scratch + (long long)blocks * scratch_step : nullptr;
    Lp lp;
    lp.m = (int)rows;
    lp.n = (int)columns;
    lp.starts = starts;
    lp.indices = indices;
    lp.column_starts = column_starts;
    lp.column_rows = column_rows;
    lp.leading = leading;
    lp.row_lanes = lanes_for(lp.m, storage == DENSE ? (long long)rows * columns : nonzeros);
    lp.column_lanes = lanes_for(lp.n, nonzeros);
    lp.groups = lp.n < (int)blockDim.x ? (int)blockDim.x / lp.n : 1;
    lp.group = threadIdx.x / lp.n;
    lp.column = threadIdx.x - lp.group * lp.n;
#define SOLVE_ALL(STORAGE)                                                                      \
    solve_all<STORAGE>(                                                                         \
        lp, near, far, prepared, storage == LARGE, vertex_shared != 0, count, column_entries,   \
        varying, values, cost, lower, upper, row_lower, row_upper, offset, x0, y0, row_scale,   \
        column_scale, parameters, ruiz_passes, power_iterations, iteration_limit,               \
        check_interval, vertex_limit, nonzeros, queue, x, y, status, iterations)
    if (storage == DENSE) {
        SOLVE_ALL(DENSE);
    } else if (storage == SPARSE) {
        SOLVE_ALL(SPARSE);
    } else {
        SOLVE_ALL(MIXED);
    }
#undef SOLVE_ALL
}
