// What a dual pivot changes; dual_update.py states it.
//
// The first blocks take positions, the others variables. All of them judge the pivot element for
// themselves, so that none has to wait for another's word.

#include "core.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK) update_dual(
    int rows, int structurals, int most, int steepest, const INDEX* __restrict__ slot_of_row,
    const REAL* __restrict__ lower, const REAL* __restrict__ upper,
    const REAL* __restrict__ alpha_rows, const REAL* __restrict__ alpha,
    const REAL* __restrict__ beta, const REAL* __restrict__ tau, REAL* __restrict__ etas,
    REAL* __restrict__ x_basic, REAL* __restrict__ lower_basic, REAL* __restrict__ upper_basic,
    REAL* __restrict__ weights, REAL* __restrict__ x, REAL* __restrict__ reduced_cost,
    INDEX* __restrict__ basic, INDEX* __restrict__ status, INDEX* __restrict__ reference,
    INDEX* __restrict__ pivot_log, REAL* __restrict__ column, REAL* __restrict__ column_slots,
    REAL* __restrict__ flip_column, REAL* __restrict__ flip_slots,
    REAL* __restrict__ partial_value, INDEX* __restrict__ partial_index, INDEX* control,
    REAL* scalars) {
    if (control[STATUS] != RUNNING) return;
    const INDEX made = control[PIVOTS] - 1, r = control[POSITION];
    const INDEX q = control[ENTERING], leaving = control[LEAVING];
    const REAL pivot = alpha[r], by_row = scalars[PIVOT];
    const REAL error = fabs(pivot - by_row);
    const bool accurate = error <= scalars[PIVOT_ERROR] * fmin(fabs(pivot), fabs(by_row));
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    if (first) scalars[ERROR] = error;
    if (!accurate) {  // in every block
        if (first) control[STATUS] = INACCURATE;
        return;
    }
    if (first) {
        pivot_log[3 * made] = r;
        pivot_log[3 * made + 1] = leaving;
        pivot_log[3 * made + 2] = q;
    }
    const int groups = groups_of(rows);
    const REAL bound = scalars[BOUND];
    const bool reset = control[RESET] == 1;
    if ((int)blockIdx.x >= groups) {
        const long long j = (long long)(blockIdx.x - groups) * BLOCK + threadIdx.x;
        const long long variables = (long long)rows + structurals;
        if (j >= variables) return;
        const REAL dual_step = scalars[DUAL_STEP];
        if (j == q) {
            reduced_cost[j] = REAL(0);
            status[j] = BASIC;
        } else if (j == leaving) {
            const bool below = scalars[EXCESS] < REAL(0) || lower[j] == upper[j];
            reduced_cost[j] = -dual_step;
            status[j] = below ? LOWER : UPPER;
            x[j] = bound;
        } else if (status[j] != BASIC) {
            reduced_cost[j] -= dual_step * alpha_rows[made * variables + j];
        }
        if (reset) reference[j] = status[j] == BASIC ? 1 : 0;
        return;
    }
    const REAL step = (scalars[VALUE] - beta[r] - bound) / pivot, norm = scalars[NORM];
    const REAL tolerance = scalars[PRIMAL_TOLERANCE];
    Best best = nothing();
    for (int p = blockIdx.x * BLOCK + threadIdx.x; p < rows; p += groups * BLOCK) {
        const REAL share = alpha[p] / pivot;
        REAL weight, value, low, high, eta;
        if (p == r) {
            value = scalars[ENTERING_VALUE] + step;
            low = lower[q];
            high = upper[q];
            lower_basic[p] = low;
            upper_basic[p] = high;
            basic[p] = q;
            eta = REAL(1) / pivot - REAL(1);
            weight = fmax(norm / (pivot * pivot), steepest == 1 ? REAL(1e-4) : REAL(1));
        } else {
            value = x_basic[p] - beta[p] - step * alpha[p];
            low = lower_basic[p];
            high = upper_basic[p];
            eta = -share;
            weight = steepest == 1
                ? fmax(weights[p] + share * (share * norm - REAL(2) * tau[p]), REAL(1e-4))
                : fmax(weights[p], share * share * norm);
        }
        if (reset) weight = REAL(1);
        x_basic[p] = value;
        weights[p] = weight;
        etas[(long long)p * most + made] = eta;
        column[p] = REAL(0);
        flip_column[p] = REAL(0);
        const INDEX slot = slot_of_row[p];
        if (slot >= 0) {
            column_slots[slot] = REAL(0);
            flip_slots[slot] = REAL(0);
        }
        const REAL excess = excess_of(value, low, high, tolerance);
        const REAL merit = excess * excess / weight;
        if (merit > best.value) best = Best{merit, (INDEX)p};
    }
    best = block_best(best);
    if (threadIdx.x == 0) {
        partial_value[blockIdx.x] = best.value;
        partial_index[blockIdx.x] = best.index;
    }
}
