// What a dual pivot changes; dual_update.py states it.
//
// The first blocks take positions, the next ones variables, and the last one what was flipped. All
// of them judge the pivot element for themselves, so that none has to wait for another's word; what
// they need for their own work they ask for before that.

#include "core.cuh"

struct Position {
    REAL alpha, beta, tau, value, low, high, weight;
};

__device__ __forceinline__ Position position_at(
    int p, int rows, int steepest, const REAL* __restrict__ alpha, const REAL* __restrict__ beta,
    const REAL* __restrict__ tau, const REAL* x_basic, const REAL* lower_basic,
    const REAL* upper_basic, const REAL* weights) {
    Position own = {};
    if (p >= rows) return own;
    own.alpha = alpha[p];
    own.beta = beta[p];
    if (steepest == 1) own.tau = tau[p];
    own.value = x_basic[p];
    own.low = lower_basic[p];
    own.high = upper_basic[p];
    own.weight = weights[p];
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
    const long long j = (long long)(block - groups) * BLOCK + tid;
    const bool nonbasic = by_variable && j < variables && status[j] != BASIC;
    const REAL change = nonbasic ? alpha_rows[made * variables + j] : REAL(0);
    REAL d = nonbasic ? reduced_cost[j] : REAL(0);
    Position own = {};
    if (by_position)
        own = position_at(block * BLOCK + tid, rows, steepest, alpha, beta, tau, x_basic,
                          lower_basic, upper_basic, weights);

    const REAL pivot = alpha[r], error = fabs(pivot - by_row);
    const REAL step = (left - beta[r] - bound) / pivot;
    const bool accurate = error <= largest_error * fmin(fabs(pivot), fabs(by_row));
    if (block == 0 && tid == 0) scalars[ERROR] = error;
    if (!accurate) {  // in every block
        if (block == 0 && tid == 0) control[STATUS] = INACCURATE;
        return;
    }
    if (by_variable) {
        if (j >= variables) return;
        bool basic_now = !nonbasic;
        if (j == q) {
            reduced_cost[j] = REAL(0);
            if (shift != REAL(0)) cost[j] -= shift;
            status[j] = BASIC;
            basic_now = true;
        } else if (j == leaving) {
            const bool below = excess < REAL(0) || lower[j] == upper[j];
            reduced_cost[j] = -dual_step;
            status[j] = below ? LOWER : UPPER;
            x[j] = bound;
            basic_now = false;
        } else if (nonbasic) {
            d -= dual_step * change;
            reduced_cost[j] = d;
        }
        if (reset) reference[j] = basic_now ? 1 : 0;
        return;
    }
    if (!by_position) {
        for (int f = tid; f < count; f += BLOCK) {
            const INDEX flipped = flips[f];
            const bool up = flip_steps[f] > REAL(0);
            x[flipped] = up ? upper[flipped] : lower[flipped];
            status[flipped] = up ? UPPER : LOWER;
        }
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
        const REAL share = own.alpha / pivot;
        REAL eta = -share;
        if (p == r) {
            own.value = entering + step;
            own.low = lower[q];
            own.high = upper[q];
            lower_basic[p] = own.low;
            upper_basic[p] = own.high;
            basic[p] = q;
            eta = REAL(1) / pivot - REAL(1);
            own.weight = fmax(norm / (pivot * pivot), steepest == 1 ? REAL(1e-4) : REAL(1));
        } else {
            own.value = own.value - own.beta - step * own.alpha;
            own.weight = steepest == 1
                ? fmax(own.weight + share * (share * norm - REAL(2) * own.tau), REAL(1e-4))
                : fmax(own.weight, share * share * norm);
        }
        if (reset) own.weight = REAL(1);
        x_basic[p] = own.value;
        weights[p] = own.weight;
        etas[(long long)p * most + made] = eta;
        const REAL over = excess_of(own.value, own.low, own.high, tolerance);
        const REAL merit = over * over / own.weight;
        if (merit > best.value) best = Best{merit, (INDEX)p};
        own = position_at(p + groups * BLOCK, rows, steepest, alpha, beta, tau, x_basic,
                          lower_basic, upper_basic, weights);
    }
    best = block_best(best);
    if (tid == 0) {
        partial_value[block] = best.value;
        partial_index[block] = best.index;
    }
}
