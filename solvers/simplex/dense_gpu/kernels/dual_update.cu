// What a dual pivot changes; dual_update.py states it.
//
// The first blocks take positions, the next ones variables, and the last one what was flipped. All
// of them judge the pivot element for themselves, so that none has to wait for another's word; what
// they need for their own work they ask for before that.

#include "core.cuh"

// What a dual pivot changes, by position and by variable.

struct Position {
    REAL alpha, beta, tau, value, low, high, weight;
};

// The values of basic variables, their bounds, and the weights of positions.
struct Basics {
    REAL* value;
    REAL* lower;
    REAL* upper;
    REAL* weights;
    INDEX* variable;
};

// The pivot: position r, variables, steps, and what becomes of weights.
struct Exchange {
    INDEX position, leaving, entering, made;  // `made` counts the pivots before
    REAL reciprocal, primal_step,  // of the pivot element
        dual_step, entering_value, norm, bound, excess, cost_shift;
    bool steepest, reset;
};

__device__ __forceinline__ void ask_basic(Position& own, int p, const Basics& basics) {
    own.value = basics.value[p];
    own.low = basics.lower[p];
    own.high = basics.upper[p];
    own.weight = basics.weights[p];
}

// Make the pivot at a position; how much it then speaks for this position to leave.
__device__ __forceinline__ REAL update_position(
    Position& own, int p, int most, const Exchange& made, const Basics& basics, const REAL* lower,
    const REAL* upper, REAL tolerance, REAL* etas) {
    const REAL reciprocal = made.reciprocal, share = own.alpha * reciprocal;
    REAL eta = -share;
    if (p == made.position) {
        own.value = made.entering_value + made.primal_step;
        own.low = lower[made.entering];
        own.high = upper[made.entering];
        basics.lower[p] = own.low;
        basics.upper[p] = own.high;
        basics.variable[p] = made.entering;
        eta = reciprocal - REAL(1);
        own.weight = fmax(made.norm * reciprocal * reciprocal,
                          made.steepest ? REAL(LEAST_WEIGHT) : REAL(1));
    } else {
        own.value = own.value - own.beta - made.primal_step * own.alpha;
        own.weight = made.steepest
            ? fmax(own.weight + share * (share * made.norm - REAL(2) * own.tau),
                   REAL(LEAST_WEIGHT))
            : fmax(own.weight, share * share * made.norm);
    }
    if (made.reset) own.weight = REAL(1);
    basics.value[p] = own.value;
    basics.weights[p] = own.weight;
    etas[(long long)p * most + made.made] = eta;
    const REAL over = excess_of(own.value, own.low, own.high, tolerance);
    return over == REAL(0) ? REAL(0) : over * over / own.weight;
}

// Prices, bounds and statuses of variables.
struct Variables {
    const REAL* lower;
    const REAL* upper;
    REAL* x;
    REAL* cost;
    REAL* reduced_cost;
    INDEX* status;
    INDEX* reference;
};

// Make the pivot at a variable, of which `change` is alpha and `d` the reduced cost if nonbasic.
__device__ __forceinline__ void update_variable(
    long long j, bool nonbasic, REAL change, REAL d, const Exchange& made, const Variables& all) {
    bool basic_now = !nonbasic;
    if (j == made.entering) {
        all.reduced_cost[j] = REAL(0);
        if (made.cost_shift != REAL(0)) all.cost[j] -= made.cost_shift;
        all.status[j] = BASIC;
        basic_now = true;
    } else if (j == made.leaving) {
        const bool below = made.excess < REAL(0) || all.lower[j] == all.upper[j];
        all.reduced_cost[j] = -made.dual_step;
        all.status[j] = below ? LOWER : UPPER;
        all.x[j] = made.bound;
        basic_now = false;
    } else if (nonbasic) {
        d -= made.dual_step * change;
        all.reduced_cost[j] = d;
    }
    if (made.reset) all.reference[j] = basic_now ? 1 : 0;
}

__device__ __forceinline__ void flip(INDEX j, REAL step, const Variables& all) {
    const bool up = step > REAL(0);
    all.x[j] = up ? all.upper[j] : all.lower[j];
    all.status[j] = up ? UPPER : LOWER;
}

__device__ __forceinline__ Position position_at(
    int p, int rows, int steepest, const REAL* alpha, const REAL* beta, const REAL* tau,
    const Basics& basics) {
    Position own = {};
    if (p >= rows) return own;
    own.alpha = alpha[p];
    own.beta = beta[p];
    if (steepest == 1) own.tau = tau[p];
    ask_basic(own, p, basics);
    return own;
}

extern "C" __global__ void __launch_bounds__(BLOCK) update_dual(
    int rows, int structurals, int most, int steepest, const REAL* __restrict__ lower,
    const REAL* __restrict__ upper, const REAL* __restrict__ alpha_rows,
    const REAL* __restrict__ alpha, const REAL* __restrict__ beta, const REAL* __restrict__ tau,
    const INDEX* __restrict__ flips, const REAL* __restrict__ flip_steps,
    REAL* __restrict__ etas, REAL* __restrict__ x_basic, REAL* __restrict__ lower_basic,
    REAL* __restrict__ upper_basic, REAL* __restrict__ weights, REAL* __restrict__ x,
    REAL* __restrict__ cost, REAL* __restrict__ reduced_cost, INDEX* __restrict__ basic,
    INDEX* status, INDEX* __restrict__ reference, INDEX* __restrict__ pivot_log,
    REAL* __restrict__ partial_value, INDEX* __restrict__ partial_index, INDEX* control,
    REAL* scalars) {
    const INDEX state = control[STATUS], made = control[MADE], r = control[POSITION];
    const INDEX q = control[ENTERING], leaving = control[LEAVING], count = control[FLIPS];
    const bool reset = control[RESET] == 1;
    const REAL by_row = scalars[PIVOT], bound = scalars[BOUND], excess = scalars[EXCESS];
    const REAL dual_step = scalars[DUAL_STEP], norm = scalars[NORM], left = scalars[VALUE];
    const REAL entering = scalars[ENTERING_VALUE], shift = scalars[COST_SHIFT];
    const REAL tolerance = scalars[PRIMAL_TOLERANCE], largest_error = scalars[PIVOT_ERROR];
    if (state != RUNNING) return;
    const int groups = groups_of(rows), own_groups = (rows + structurals + BLOCK - 1) / BLOCK;
    const int block = blockIdx.x, tid = threadIdx.x;
    const long long variables = (long long)rows + structurals;
    const bool by_position = block < groups, by_variable = !by_position && block < groups + own_groups;
    const Basics basics = {x_basic, lower_basic, upper_basic, weights, basic};
    const Variables of_variables = {lower, upper, x, cost, reduced_cost, status, reference};
    const long long j = (long long)(block - groups) * BLOCK + tid;
    const bool nonbasic = by_variable && j < variables && status[j] != BASIC;
    const REAL change = nonbasic ? alpha_rows[made * variables + j] : REAL(0);
    const REAL d = nonbasic ? reduced_cost[j] : REAL(0);
    Position own = {};
    if (by_position)
        own = position_at(block * BLOCK + tid, rows, steepest, alpha, beta, tau, basics);

    const REAL pivot = alpha[r], error = fabs(pivot - by_row);
    const REAL reciprocal = REAL(1) / pivot, step = (left - beta[r] - bound) * reciprocal;
    const bool accurate = error <= largest_error * fmin(fabs(pivot), fabs(by_row));
    if (block == 0 && tid == 0) scalars[ERROR] = error;
    if (!accurate) {  // in every block
        if (block == 0 && tid == 0) control[STATUS] = INACCURATE;
        return;
    }
    const Exchange exchange = {r, leaving, q, made, reciprocal, step, dual_step, entering, norm, bound,
                               excess, shift, steepest == 1, reset};
    if (by_variable) {
        if (j < variables) update_variable(j, nonbasic, change, d, exchange, of_variables);
        return;
    }
    if (!by_position) {
        for (int f = tid; f < count; f += BLOCK) flip(flips[f], flip_steps[f], of_variables);
        if (tid == 0) {
            pivot_log[3 * made] = r;
            pivot_log[3 * made + 1] = leaving;
            pivot_log[3 * made + 2] = q;
            control[PIVOTS] = made + 1;
            control[ITERATIONS] += 1;
            control[ALL_FLIPS] += count;
        }
        return;
    }
    Best best = nothing();
    for (int p = block * BLOCK + tid; p < rows; p += groups * BLOCK) {
        const REAL merit =
            update_position(own, p, most, exchange, basics, lower, upper, tolerance, etas);
        if (merit > best.value) best = Best{merit, (INDEX)p};
        own = position_at(p + groups * BLOCK, rows, steepest, alpha, beta, tau, basics);
    }
    best = block_best(best);
    if (tid == 0) {
        partial_value[block] = best.value;
        partial_index[block] = best.index;
    }
}
