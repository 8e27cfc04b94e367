// The pivot row; row.py states what the kernels compute.
//
// What one kernel leaves for all blocks of the next is a partial result for each block, which every
// block of the next one joins again for itself: cheaper than another launch, and without atomics.
//
// Solving with the basis; row.py states what it computes.

#include "pivot.cuh"
#include "pricing.cuh"
#include "solving.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK) choose_row(
    int rows, const REAL* __restrict__ x_basic, const REAL* __restrict__ lower_basic,
    const REAL* __restrict__ upper_basic, const REAL* __restrict__ weights,
    const REAL* __restrict__ scalars, REAL* __restrict__ partial_value,
    INDEX* __restrict__ partial_index) {
    const REAL tolerance = scalars[PRIMAL_TOLERANCE];
    Best best = nothing();
    for (int p = blockIdx.x * BLOCK + threadIdx.x; p < rows; p += groups_of(rows) * BLOCK) {
        const REAL excess = excess_of(x_basic[p], lower_basic[p], upper_basic[p], tolerance);
        const REAL merit = excess * excess / weights[p];
        if (merit > best.value) best = Best{merit, (INDEX)p};
    }
    best = block_best(best);
    if (threadIdx.x == 0) {
        partial_value[blockIdx.x] = best.value;
        partial_index[blockIdx.x] = best.index;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) pivot_row(
    int rows, int capacity, int most, int groups, const REAL* __restrict__ inverse,
    const INDEX* __restrict__ unit_row, const INDEX* __restrict__ slot_of_row,
    const INDEX* __restrict__ basic, const REAL* __restrict__ etas,
    const REAL* __restrict__ x_basic, const REAL* __restrict__ lower_basic,
    const REAL* __restrict__ upper_basic, const REAL* __restrict__ weights,
    const REAL* __restrict__ partial_value, const INDEX* __restrict__ partial_index,
    REAL* eta_rows, REAL* __restrict__ row_slots, INDEX* control, REAL* scalars) {
    __shared__ RowSums sums;
    const INDEX state = control[STATUS], flip_only = control[FLIP_ONLY];
    const INDEX made = control[PIVOTS] - (groups == 0 ? 1 : 0);
    const INDEX iterations = control[ITERATIONS], limit = control[LIMIT];
    INDEX position = control[POSITION];
    Best best = nothing();  // asked for before the status is known, which saves a wait
    if ((int)threadIdx.x < groups)
        best = Best{partial_value[threadIdx.x], partial_index[threadIdx.x]};
    if (state != RUNNING || (groups == 0 && flip_only != 0)) return;
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    // A status written here ends the kernel in every block, whether or not it sees it.
    if (groups > 0 && (made >= most || iterations >= limit)) {
        if (first) control[STATUS] = made >= most ? FOLD : OUT_OF_PIVOTS;
        return;
    }
    const Delayed delayed = ask_delayed(blockIdx.x, rows, made, eta_rows, slot_of_row);
    if (groups > 0) {
        best = block_best(best);
        if (best.index == NONE) {
            if (first) control[STATUS] = DONE;
            return;
        }
        position = best.index;
        if (first) {
            const Leaving leaving = leaving_at(position, x_basic, lower_basic, upper_basic, weights,
                                               basic, scalars[PRIMAL_TOLERANCE]);
            control[POSITION] = position;
            control[LEAVING] = leaving.variable;
            scalars[VALUE] = leaving.value;
            scalars[EXCESS] = leaving.excess;
            scalars[BOUND] = leaving.bound;
            scalars[WEIGHT] = leaving.weight;
        }
    }
    leave_row(sums, delayed, blockIdx.x, position, rows, capacity, most, made, inverse, unit_row,
              etas, eta_rows, row_slots);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4) price_row(
    int rows, int structurals, int most, int lanes, int full, int dual, int steepest,
    const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, const REAL* __restrict__ eta_rows,
    const INDEX* __restrict__ status, const INDEX* __restrict__ reference,
    const REAL* __restrict__ lower, const REAL* __restrict__ upper,
    const REAL* __restrict__ reduced_cost, const INDEX* __restrict__ control,
    const REAL* __restrict__ scalars, REAL* __restrict__ alpha_rows, REAL* __restrict__ ratios,
    REAL* __restrict__ least, INDEX* __restrict__ counts, REAL* __restrict__ squares,
    REAL* __restrict__ dots) {
    __shared__ REAL ratio_of[BLOCK];
    const INDEX state = control[STATUS], flip_only = control[FLIP_ONLY];
    const INDEX made = control[PIVOTS] - (dual == 0 ? 1 : 0), leaving = control[LEAVING];
    const REAL excess = scalars[EXCESS], small = scalars[SMALL_PIVOT], relax = scalars[HARRIS];
    const int unit = blockIdx.x;
    const bool devex = steepest == 0;
    const Spread spread(rows, structurals, lanes);
    // What is known of the variable is asked for at once, before anything is waited for.
    Priced own = variable_of(unit, spread);
    own.kind = kind_of(unit, spread, status);
    if (dual != 0) ask_bounds(own, devex, reference, lower, upper, reduced_cost);
    const Entries entries = entries_of(unit, spread, starts);
    if (state != RUNNING || (dual == 0 && flip_only != 0)) return;
    if (unit >= spread.owners) {
        leave_dot(unit - spread.owners, made, rows, most, eta_rows, dots);
        return;
    }
    const REAL* row = eta_rows + (long long)made * rows;
    const Columns columns = {full != 0, starts, indices, values};
    INDEX first[CHUNK];
    ask_places(first, entries, unit, spread, columns);
    const REAL alpha = product_of(own, entries, first, spread, columns, row);
    leave_prices(ratio_of, own, unit, spread, alpha, dual != 0, devex, leaving, excess, small, relax,
                 alpha_rows + made * ((long long)rows + structurals), ratios, least, counts,
                 squares);
}

extern "C" __global__ void __launch_bounds__(BLOCK) solve_column(
    int rows, int capacity, int most, int dual, int steepest, const REAL* __restrict__ inverse,
    const INDEX* __restrict__ unit_row, const REAL* __restrict__ etas,
    const REAL* __restrict__ eta_rows, const REAL* __restrict__ row_slots,
    const INDEX* __restrict__ places, const REAL* __restrict__ amounts,
    const REAL* __restrict__ column, const REAL* __restrict__ column_slots,
    const REAL* __restrict__ flip_column, const REAL* __restrict__ flip_slots,
    const REAL* __restrict__ column_dots, const REAL* __restrict__ flip_dots,
    const REAL* __restrict__ dots, const INDEX* __restrict__ control, REAL* __restrict__ alpha,
    REAL* __restrict__ beta, REAL* __restrict__ tau) {
    const INDEX state = control[STATUS], slots = control[SLOTS], made = control[PIVOTS];
    const INDEX entries = control[ENTRIES], of_flips = control[FLIP_ENTRIES];
    const bool flipped = dual == 1 && control[FLIPS] > 0;
    const int p = (blockIdx.x * BLOCK + threadIdx.x) >> 5;
    if (p >= rows) return;  // a whole warp
    const INDEX unit = unit_row[p];
    if (state != RUNNING) return;
    const Inverse basis = {rows, capacity, most, slots, made, inverse, unit_row, etas, eta_rows,
                           row_slots};
    const Rights rights = {flipped, steepest == 1, entries, of_flips, places, amounts, column,
                           column_slots, flip_column, flip_slots, column_dots, flip_dots, dots};
    const Sums sums = solve_position(p, unit, basis, rights);
    if ((threadIdx.x & 31) != 0) return;
    alpha[p] = sums.alpha;
    if (dual == 1) beta[p] = sums.beta;
    if (steepest == 1) tau[p] = sums.tau;
}
