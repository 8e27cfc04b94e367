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

// The pivot: position r, variables, steps, and what becomes of weights.
struct Exchange {
    INDEX position, leaving, entering, made;  // `made` counts the pivots before
    REAL reciprocal, primal_step,  // of the pivot element
        dual_step, entering_value, norm, bound, excess, cost_shift;
    bool steepest, reset;
};

// Prices, bounds and statuses of variables.
struct Changed {
    const REAL* lower;
    const REAL* upper;
    REAL* x;
    REAL* cost;
    REAL* reduced_cost;
    INDEX* status;
    INDEX* reference;
};

// Make the pivot at a position; how much it then speaks for this position to leave.
__device__ __forceinline__ REAL update_position(
    Position& own, int p, int most, const Exchange& made, const Changed& all,
    const BasicsOut& basics, REAL* weights, REAL tolerance, REAL* etas) {
    const REAL reciprocal = made.reciprocal, share = own.alpha * reciprocal;
    REAL eta = -share;
    if (p == made.position) {
        own.value = made.entering_value + made.primal_step;
        own.low = all.lower[made.entering];
        own.high = all.upper[made.entering];
        basics.lower_basic[p] = own.low;
        basics.upper_basic[p] = own.high;
        basics.basic[p] = made.entering;
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
    basics.x_basic[p] = own.value;
    weights[p] = own.weight;
    etas[(long long)p * most + made.made] = eta;
    const REAL over = excess_of(own.value, own.low, own.high, tolerance);
    return over == REAL(0) ? REAL(0) : over * over / own.weight;
}

// Make the pivot at a variable, of which `change` is alpha and `d` the reduced cost if nonbasic.
__device__ __forceinline__ void update_variable(
    long long j, bool nonbasic, REAL change, REAL d, const Exchange& made, const Changed& all) {
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

__device__ __forceinline__ void flip(INDEX j, REAL step, const Changed& all) {
    const bool up = step > REAL(0);
    all.x[j] = up ? all.upper[j] : all.lower[j];
    all.status[j] = up ? UPPER : LOWER;
}

__device__ __forceinline__ Position position_at(
    int p, int rows, int steepest, const Solutions& solved, const BasicsOut& basics,
    const REAL* weights) {
    Position own = {};
    if (p >= rows) return own;
    own.alpha = solved.alpha[p];
    own.beta = solved.beta[p];
    if (steepest == 1) own.tau = solved.tau[p];
    own.value = basics.x_basic[p];
    own.low = basics.lower_basic[p];
    own.high = basics.upper_basic[p];
    own.weight = weights[p];
    return own;
}

__device__ __forceinline__ void update_dual(
    int rows, int structurals, int most, int steepest, const REAL* alpha_rows, const Changed& all,
    const Solutions& solved, const Flipped& flipped, const BasicsOut& basics, REAL* etas,
    REAL* weights, INDEX* pivot_log, const PartialsOut& partials, INDEX* control, REAL* scalars) {
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
    const long long j = (long long)(block - groups) * BLOCK + tid;
    const bool nonbasic = by_variable && j < variables && all.status[j] != BASIC;
    const REAL change = nonbasic ? alpha_rows[made * variables + j] : REAL(0);
    const REAL d = nonbasic ? all.reduced_cost[j] : REAL(0);
    Position own = {};
    if (by_position)
        own = position_at(block * BLOCK + tid, rows, steepest, solved, basics, weights);

    const REAL pivot = solved.alpha[r], error = fabs(pivot - by_row);
    const REAL reciprocal = REAL(1) / pivot, step = (left - solved.beta[r] - bound) * reciprocal;
    const bool accurate = error <= largest_error * fmin(fabs(pivot), fabs(by_row));
    if (block == 0 && tid == 0) scalars[ERROR] = error;
    if (!accurate) {  // in every block
        if (block == 0 && tid == 0) control[STATUS] = INACCURATE;
        return;
    }
    const Exchange exchange = {r, leaving, q, made, reciprocal, step, dual_step, entering, norm, bound,
                               excess, shift, steepest == 1, reset};
    if (by_variable) {
        if (j < variables) update_variable(j, nonbasic, change, d, exchange, all);
        return;
    }
    if (!by_position) {
        for (int f = tid; f < count; f += BLOCK) flip(flipped.flips[f], flipped.flip_steps[f], all);
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
            update_position(own, p, most, exchange, all, basics, weights, tolerance, etas);
        if (merit > best.value) best = Best{merit, (INDEX)p};
        own = position_at(p + groups * BLOCK, rows, steepest, solved, basics, weights);
    }
    best = block_best(best);
    if (tid == 0) {
        partials.partial_value[block] = best.value;
        partials.partial_index[block] = best.index;
    }
}
