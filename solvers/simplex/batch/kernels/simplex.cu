// Many small LPs by the simplex method, a block each, from the data to the vertex; simplex.py says
// what for.
//
// A block takes LPs from a queue until there are none. The dictionary, m x n by columns, stands in
// shared memory where it fits. A pivot is one pass over it, in which each lane owns a row and all
// lanes of a warp read the same entry of the pivot row, so that the squares of the rows, the
// weights of dual steepest edge, come with it for nothing; simplex_held has the dictionary in
// registers meanwhile. The first warp makes a pivot's choices,
// without the block having to meet for each of their steps; sums follow fixed trees, and every
// thread keeps the same scalars. Which block solves an LP makes no difference to its answer.

#include "batch.cuh"
#include "dictionary.cuh"
#include "held.cuh"
#include "pivots.cuh"

// Start at the dictionary that all share, or at the basis that the statuses name.
__device__ __forceinline__ void begin(
    const AnyLp& lp, const Given& given, const INDEX* statuses, const REAL* dictionary,
    const INDEX* heads, int start) {
    for (int v = threadIdx.x; v < lp.n + lp.m; v += blockDim.x) {
        lp.status()[v] = start == SLACK && v >= lp.n ? BASIC : (int)statuses[v];
    }
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) lp.reduced()[j] = REAL(0);
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) lp.value()[i] = REAL(0);
    __syncthreads();
    if (start != DICTIONARY) {
        build(lp, given);
        return;
    }
    REAL* const D = lp.D();
    const int lane = threadIdx.x & 31;
    for (int j = threadIdx.x >> 5; j < lp.n; j += blockDim.x >> 5) {
        const REAL* from = dictionary + (long long)j * lp.m;
        for (int i = lane; i < lp.m; i += 32) D[lp.at(i, j)] = from[i];
    }
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) lp.basic()[i] = (int)heads[i];
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) {
        lp.nonbasic()[j] = (int)heads[lp.m + j];
    }
    __syncthreads();
}

// The point, on or within its bounds, the row duals, and what proves that there is no optimum; what
// no ratio test looks at is rounding.
__device__ __noinline__ void write_answer(
    const AnyLp lp, const Given given, int how, int at, REAL* x, REAL* y, REAL* ray) {
    const REAL* D = lp.D();
    const int n = lp.n;
    const REAL smallest = given.parameters[SMALLEST_PIVOT];
    const bool infeasible = how == INFEASIBLE, unbounded = how == UNBOUNDED;
    REAL sign = REAL(0), direction = REAL(0);
    if (infeasible) sign = lp.value()[at] < lp.low()[lp.basic()[at]] ? REAL(1) : REAL(-1);
    if (unbounded) direction = lp.reduced()[at] > REAL(0) ? REAL(-1) : REAL(1);
    for (int j = threadIdx.x; j < n; j += blockDim.x) {
        const int v = lp.nonbasic()[j];
        if (v >= n) {
            const REAL entry = infeasible ? D[lp.at(at, j)] : REAL(0);
            const REAL farkas = fabs(entry) > smallest ? -sign * entry : REAL(0);
            y[v - n] = (infeasible ? farkas : lp.reduced()[j]) * given.row_scale[v - n];
            continue;
        }
        const int status = lp.status()[v];
        x[v] = status == LOWER ? given.lower[v] : (status == UPPER ? given.upper[v] : REAL(0));
        ray[v] = unbounded && j == at ? direction * given.column_scale[v] : REAL(0);
    }
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) {
        const int v = lp.basic()[i];
        if (v >= n) {
            y[v - n] = infeasible && i == at ? sign * given.row_scale[v - n] : REAL(0);
            continue;
        }
        const REAL value = lp.value()[i] * given.column_scale[v];
        x[v] = smaller(larger(value, given.lower[v]), given.upper[v]);
        const REAL entry = unbounded ? D[lp.at(i, at)] : REAL(0);
        ray[v] = fabs(entry) > smallest ? direction * entry * given.column_scale[v] : REAL(0);
    }
    __syncthreads();
}

// The scaled cost and bounds of the LP, and what their tolerances are: costs are measured by their
// geometric mean, as a power of two, so that penalties do not make all others small.
__device__ __forceinline__ void restore(AnyLp& lp, const Given& given) {
    REAL bound_size = REAL(0), largest = REAL(0), exponents = REAL(0), costs = REAL(0);
    for (int v = threadIdx.x; v < lp.n + lp.m; v += blockDim.x) {
        REAL cost = REAL(0), low, high;
        if (v < lp.n) {
            cost = given.cost[v] * given.column_scale[v];
            low = given.lower[v] / given.column_scale[v];
            high = given.upper[v] / given.column_scale[v];
        } else {
            const int i = v - lp.n;
            low = given.row_lower[i] * given.row_scale[i];
            high = given.row_upper[i] * given.row_scale[i];
        }
        lp.cost()[v] = cost;
        lp.low()[v] = low;
        lp.high()[v] = high;
        if (cost != REAL(0)) {
            int exponent;
            frexp(fabs(cost), &exponent);
            largest = larger(largest, fabs(cost));
            exponents += REAL(exponent - 1);
            costs += REAL(1);
        }
        if (fabs(low) < infinity()) bound_size = larger(bound_size, fabs(low));
        if (fabs(high) < infinity()) bound_size = larger(bound_size, fabs(high));
    }
    largest = block_reduce<Largest>(largest);
    exponents = block_reduce<Sum>(exponents);
    costs = block_reduce<Sum>(costs);
    bound_size = block_reduce<Largest>(bound_size);
    const REAL tolerance = given.parameters[TOLERANCE];
    lp.cost_size = ldexp(REAL(1), (int)floor(exponents / larger(costs, REAL(1))));
    lp.dual_tolerance = larger(tolerance * lp.cost_size, ROUNDING * largest);
    lp.primal_tolerance = tolerance * smaller(larger(bound_size, REAL(1)), MOST_SIZE);
}

__device__ __noinline__ bool is_primal_feasible(const AnyLp lp) {
    bool off = false;
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) {
        off = off || !(outside(lp, i) <= lp.primal_tolerance);
    }
    return !block_any(off);
}

__device__ __noinline__ bool is_dual_feasible(const AnyLp lp) {
    bool off = false;
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) {
        const int v = lp.nonbasic()[j];
        off = off || is_attractive(
            lp.reduced()[j], lp.status()[v], lp.low()[v], lp.high()[v], lp.dual_tolerance);
    }
    return !block_any(off);
}

// Flip what has two bounds to the right one, and shift the costs of what has not.
__device__ __noinline__ void make_dual_feasible(const AnyLp lp) {
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) {
        const int v = lp.nonbasic()[j];
        const REAL price = lp.reduced()[j];
        const REAL low = lp.low()[v];
        const REAL high = lp.high()[v];
        if (!is_attractive(price, lp.status()[v], low, high, lp.dual_tolerance)) continue;
        if (low > -infinity() && high < infinity()) {
            lp.status()[v] = price < REAL(0) ? UPPER : LOWER;
            lp.point()[j] = price < REAL(0) ? high : low;
        } else {
            lp.cost()[v] -= price;
            lp.reduced()[j] = REAL(0);
        }
    }
    __syncthreads();
}

__device__ __noinline__ void first_prices(const AnyLp lp) {
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) lp.price()[j] = REAL(1);
    __syncthreads();
}

// Dual pivots with the dictionary in registers.
__device__ __forceinline__ int pivot_held(
    const AnyLp& lp, Counts& counts, const REAL* parameters, int* at) {
    int checked = 0, ending = TIED;
    while (true) {
        ending = dual_held(as_near(lp), counts, parameters, checked, at);
        if (ending != TIED) return ending;
        perturb_costs(lp, ++counts.perturbed, parameters);
    }
}

// Pivots of one kind, with a look at the accuracy from time to time.
template <bool HELD>
__device__ __forceinline__ int pivot_on(
    const AnyLp& lp, const Given& given, Counts& counts, bool use_dual, int* at) {
    first_prices(lp);
    while (true) {
        int ending;
        if (use_dual) {
            weigh_rows(lp);
            if constexpr (HELD) {
                ending = pivot_held(lp, counts, given.parameters, at);
            } else {
                ending = lp.near ? dual(as_near(lp), lp, counts, given.parameters, at)
                                 : dual(lp, lp, counts, given.parameters, at);
            }
        } else {
            ending = lp.near ? primal(as_near(lp), lp, counts, given.parameters, at)
                             : primal(lp, lp, counts, given.parameters, at);
        }
        if (ending != PAUSED) return ending;
        basic_values(lp);
        if (!is_accurate(lp, given)) {
            build(lp, given);
            counts.fresh = 0;
            to_bounds(lp);
            basic_values(lp);
            first_prices(lp);
        }
        reduced_costs(lp);
    }
}

// Turns of the two methods on true cost and bounds.
template <bool HELD>
__device__ __forceinline__ int run(
    AnyLp& lp, const Given& given, Counts& counts, int* at) {
    const int rounds = (int)given.parameters[ROUNDS];
    for (int round = 0; round < rounds; ++round) {
        restore(lp, given);
        to_bounds(lp);
        basic_values(lp);
        reduced_costs(lp);
        const bool feasible = is_primal_feasible(lp);
        int ending = DONE;
        if (!feasible) {
            make_dual_feasible(lp);
            basic_values(lp);
        }
        if (!(feasible && is_dual_feasible(lp))) {
            ending = pivot_on<HELD>(lp, given, counts, !feasible, at);
            if (ending == AT_LIMIT) return LIMIT;
            if (ending == DONE) continue;
        }
        basic_values(lp);
        if (ending != INACCURATE && (is_accurate(lp, given) || counts.fresh == 0)) {
            if (ending == DONE) return OPTIMAL;
            return feasible ? UNBOUNDED : INFEASIBLE;
        }
        build(lp, given);
        counts.fresh = 0;
    }
    return TROUBLE;
}

__device__ __forceinline__ int take(int* queue) { return atomicAdd(queue, 1); }
__device__ __forceinline__ long long take(long long* queue) {
    return (long long)atomicAdd((unsigned long long*)queue, 1ull);
}

// Where an LP of the block stands; `far` is the block's own part of global memory.
__device__ __forceinline__ AnyLp place_lp(
    int m, int n, int leading, int place, REAL* far) {
    REAL* const matrix = place == ALL_NEAR ? (REAL*)memory : far;
    REAL* rest = (REAL*)memory;
    if (place != MATRIX_FAR) rest = matrix + (long long)leading * n;
    return {m, n, leading, place == ALL_NEAR, matrix, rest, REAL(0), REAL(0), REAL(0)};
}

template <bool HELD>
__device__ __forceinline__ void solve_all(
    INDEX count, INDEX rows, INDEX columns, const Batch& batch, const StartBasis& start,
    const REAL* parameters, int limit, const Room& room, INDEX* queue, const Answers& answers) {
    AnyLp lp = place_lp(
        (int)rows, (int)columns, room.leading, room.place,
        room.scratch + (long long)blockIdx.x * room.scratch_step);
    const int m = lp.m, n = lp.n, varying = batch.varying;
    __shared__ INDEX next;
    const long long width = n, height = m, all = width + height;
    const long long nonzeros = batch.starts[m];
    while (true) {
        if (threadIdx.x == 0) next = take(queue);
        __syncthreads();
        const INDEX k = next;
        __syncthreads();
        if (k >= count) return;
        const Given given = {
            batch.starts, batch.indices, own_row(batch.values, nonzeros, k, varying, 0),
            start.row_scale, start.column_scale, own_row(batch.cost, width, k, varying, 1),
            own_row(batch.lower, width, k, varying, 2), own_row(batch.upper, width, k, varying, 3),
            own_row(batch.row_lower, height, k, varying, 4),
            own_row(batch.row_upper, height, k, varying, 5), parameters};
        Counts counts = {0, limit, 0, 0};
        begin(lp, given, own_row(batch.given, all, k, varying, 6), start.dictionary, start.heads,
              start.start);
        int at = -1;
        const int how = run<HELD>(lp, given, counts, &at);
        write_answer(lp, given, how, at, answers.x + k * width, answers.y + k * height,
                     answers.ray + k * width);
        for (int v = threadIdx.x; v < n + m; v += blockDim.x) {
            answers.basis[k * all + v] = (INDEX)lp.status()[v];
        }
        if (threadIdx.x == 0) {
            answers.ending[k] = how;
            answers.iterations[k] = counts.pivots;
        }
        __syncthreads();
    }
}

__device__ __forceinline__ void simplex(
    INDEX count, INDEX rows, INDEX columns, const Batch& batch, const StartBasis& start,
    const REAL* parameters, int limit, const Room& room, INDEX* queue, const Answers& answers) {
    solve_all<false>(count, rows, columns, batch, start, parameters, limit, room, queue, answers);
}

__device__ __forceinline__ void simplex_held(
    INDEX count, INDEX rows, INDEX columns, const Batch& batch, const StartBasis& start,
    const REAL* parameters, int limit, const Room& room, INDEX* queue, const Answers& answers) {
    solve_all<true>(count, rows, columns, batch, start, parameters, limit, room, queue, answers);
}
