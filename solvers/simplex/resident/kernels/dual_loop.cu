// Dual iterations by blocks that stay; dual_loop.py states what they compute.
//
// Blocks meet three times in an iteration: after the pivot row, after pricing, and at its end; and
// once more where right sides are too long for each block to have them for itself. What follows
// from what all blocks have read, each of them decides alone: the leaving position, the ratio test,
// the right sides, and by a row of the inverse more than its own, the pivot element. What a pivot
// changes for variables is written in the next iteration, after all blocks have left the ratio test.

#include "choice.cuh"
#include "grid.cuh"
#include "pivot.cuh"
#include "pricing.cuh"
#include "solving.cuh"
#include "update.cuh"

#define WARPS (BLOCK / 32)
#define MASK_WORDS 2048  // of a mask in shared memory; longer rows do without
#define LIST_MOST 1536  // entries of right sides that a block lists for itself

struct List {
    INDEX place[LIST_MOST];
    REAL amount[LIST_MOST];
};

struct Pricing {
    REAL ratio_of[BLOCK];
    unsigned mask[MASK_WORDS];  // of the pivot row, a bit for each element that is not zero
};

// Shared memory of the steps, of which no two go on at once.
union Room {
    RowSums row;
    Pricing pricing;
    Near near;
    List list;
    REAL tile[SIDE_COLUMNS * SIDE_ROWS];
};

__device__ __forceinline__ void load_mask(unsigned* mask, int rows, const INDEX* row_mask) {
    for (int w = threadIdx.x; w < (rows + 31) / 32; w += BLOCK) mask[w] = (unsigned)row_mask[w];
    __syncthreads();
}

// The best of the block's positions, for all blocks to see.
__device__ __forceinline__ void leave_best(Best best, REAL* partial_value, INDEX* partial_index) {
    best = block_best(best);
    if (threadIdx.x == 0) {
        partial_value[blockIdx.x] = best.value;
        partial_index[blockIdx.x] = best.index;
    }
}

__device__ __forceinline__ INDEX best_of_all(
    const REAL* partial_value, const INDEX* partial_index) {
    Best best = nothing();
    for (int g = threadIdx.x; g < (int)gridDim.x; g += BLOCK)
        best = better(best, Best{partial_value[g], partial_index[g]});
    return block_best(best).index;
}

// Products of the right sides' columns with the delayed pivot rows, a thread for each of these.
__device__ __forceinline__ void leave_side_dots(
    REAL* column_dots, REAL* flip_dots, const Sides& sides, int flips, INDEX made,
    long long variables, const REAL* alpha_rows) {
    const int e = threadIdx.x;
    if (e >= made) return;
    const REAL* earlier = alpha_rows + e * variables;
    const REAL entering = earlier[sides.variable[flips]];
    REAL total = REAL(0);
#pragma unroll 4
    for (int f = 0; f < flips; ++f) total += earlier[sides.variable[f]] * sides.step[f];
    column_dots[e] = entering;
    flip_dots[e] = total;
}

// What the pivot changes for variables; blocks from the last one on, as the first ones are busy.
__device__ __forceinline__ void update_variables(
    const Exchange& made, const Sides& sides, int flips, long long variables,
    const REAL* alpha_rows, const Variables& all) {
    const int back = gridDim.x - 1 - blockIdx.x;
    const REAL* row = alpha_rows + made.made * variables;
    for (long long j = (long long)back * BLOCK + threadIdx.x; j < variables;
         j += (long long)gridDim.x * BLOCK) {
        const INDEX kind = all.status[j];
        const REAL change = row[j], d = all.reduced_cost[j];
        update_variable(j, kind != BASIC, change, d, made, all);
    }
    if (back != 0) return;
    for (int f = threadIdx.x; f < flips; f += BLOCK) flip(sides.variable[f], sides.step[f], all);
}

extern "C" __global__ void __launch_bounds__(BLOCK, 2) iterate_dual(
    int rows, int structurals, int capacity, int most, int lanes, int full, int steepest,
    const INDEX* starts, const INDEX* indices, const REAL* values, const REAL* inverse,
    const INDEX* unit_row, const INDEX* slot_of_row, const REAL* lower, const REAL* upper,
    REAL* eta_rows, REAL* row_slots, INDEX* row_mask, REAL* etas, REAL* alpha_rows, REAL* ratios, REAL* least,
    INDEX* counts, REAL* squares, REAL* dots, INDEX* places, REAL* amounts, REAL* column,
    REAL* column_slots, REAL* flip_column, REAL* flip_slots, REAL* alpha, REAL* beta, REAL* tau,
    REAL* x_basic, REAL* lower_basic, REAL* upper_basic, REAL* weights, REAL* x, REAL* cost,
    REAL* reduced_cost, INDEX* basic, INDEX* status, INDEX* reference, INDEX* pivot_log,
    REAL* partial_value, INDEX* partial_index, INDEX* control, const REAL* scalars,
    INDEX* arrivals, int blocks, int count) {
    __shared__ Room room;
    __shared__ Sides sides;
    __shared__ Choice choice;
    __shared__ Exchange exchange;
    __shared__ REAL column_dots[MOST_DELAYED], flip_dots[MOST_DELAYED];
    __shared__ REAL of_row[2][WARPS];
    INDEX state = control[STATUS], made = control[PIVOTS], iterations = control[ITERATIONS];
    const INDEX limit = control[LIMIT], slots = control[SLOTS];
    const REAL tolerance = scalars[PRIMAL_TOLERANCE], small = scalars[SMALL_PIVOT];
    const REAL relax = scalars[HARRIS], largest_error = scalars[PIVOT_ERROR];
    if (state != RUNNING) return;
    const int tid = threadIdx.x, warp = tid >> 5, grid = gridDim.x;
    const int from = (int)((long long)rows * blockIdx.x / grid);
    const int to = (int)((long long)rows * (blockIdx.x + 1) / grid);
    const long long variables = (long long)rows + structurals;
    const bool devex = steepest == 0;
    const Basics basics = {x_basic, lower_basic, upper_basic, weights, basic};
    const Variables of_variables = {lower, upper, x, cost, reduced_cost, status, reference};
    const Matrix matrix = {rows, structurals, full, starts, indices, values, slot_of_row};
    const Target target = {places, amounts, column, column_slots, flip_column, flip_slots};
    const Columns columns = {full != 0, starts, indices, values};
    const Spread spread(rows, structurals, lanes);
    const bool masked = lanes == 32 && rows <= 32 * MASK_WORDS;
    const Segments segments(rows, structurals, lanes);
    const int priced = spread.owners + (devex ? 0 : most + 1);
    INDEX position = NONE, all_flips = 0;
    int flips = 0;

    Best best = nothing();
    for (int p = from + tid; p < to; p += BLOCK) {
        const REAL over = excess_of(x_basic[p], lower_basic[p], upper_basic[p], tolerance);
        const REAL merit = over * over / weights[p];
        if (merit > best.value) best = Best{merit, (INDEX)p};
    }
    leave_best(best, partial_value, partial_index);
    meet(arrivals);
    for (int turn = 0;; ++turn) {
        // The leaving position, and its row of the inverse.
        INDEX found = NONE;
        Delayed delayed = ask_delayed(blockIdx.x, rows, made, eta_rows, slot_of_row);
        if (turn < count) {
            if (made >= most) state = FOLD;
            else if (iterations >= limit) state = OUT_OF_PIVOTS;
            else found = best_of_all(partial_value, partial_index);
            if (state == RUNNING && found == NONE) state = DONE;
        }
        const bool going = found != NONE;
        Leaving leaving = {};
        if (going) {
            position = found;
            leaving = leaving_at(
                position, x_basic, lower_basic, upper_basic, weights, basic, tolerance);
            for (int unit = blockIdx.x; unit * ROW_ELEMENTS < rows; unit += grid) {
                if (unit >= grid) delayed = ask_delayed(unit, rows, made, eta_rows, slot_of_row);
                leave_row(room.row, delayed, unit, position, rows, capacity, most, made, inverse,
                          unit_row, etas, eta_rows, row_slots, row_mask);
                __syncthreads();
            }
        }
        if (turn > 0)
            update_variables(exchange, sides, flips, variables, alpha_rows, of_variables);
        if (!going) break;
        // What pricing can ask for before the row is there.
        int unit = blockIdx.x;
        Entries entries_here = entries_of(unit, spread, starts);
        Entries entries_next = entries_of(unit + grid, spread, starts);
        INDEX places_here[CHUNK];
        ask_places(places_here, entries_here, unit, spread, columns);
        meet(arrivals);

        // Its products with all columns.
        REAL* alpha_row = alpha_rows + made * variables;
        const REAL* row = eta_rows + (long long)made * rows;
        if (masked) load_mask(room.pricing.mask, rows, row_mask);
        INDEX kind = kind_of(unit, spread, status);
        for (; unit < spread.owners; unit += grid) {
            Priced own = variable_of(unit, spread);
            own.kind = kind;
            ask_bounds(own, devex, reference, lower, upper, reduced_cost);
            // The next unit's places, and the entries of the one after, before this one is waited
            // for.
            INDEX places_next[CHUNK];
            const Entries entries_later = entries_of(unit + 2 * grid, spread, starts);
            kind = kind_of(unit + grid, spread, status);
            ask_places(places_next, entries_next, unit + grid, spread, columns);
            const REAL product = product_of(own, entries_here, places_here, spread, columns, row,
                                            masked ? room.pricing.mask : nullptr);
            leave_prices(room.pricing.ratio_of, own, unit, spread, product, true, devex,
                         leaving.variable, leaving.excess, small, relax, alpha_row, ratios, least,
                         counts, squares);
            entries_here = entries_next;
            entries_next = entries_later;
#pragma unroll
            for (int u = 0; u < CHUNK; ++u) places_here[u] = places_next[u];
            __syncthreads();
        }
        for (; unit < priced; unit += grid)
            leave_dot(unit - spread.owners, made, rows, most, eta_rows, dots);
        meet(arrivals);

        // The entering column, and flips.
        const Candidates all = {lower, upper, alpha_row, ratios, least, counts, status, reduced_cost};
        Reach reach = ask_reach(segments, all, devex, spread.owners, squares);
        reach.smallest = block_least<2>(reach.smallest, reach.sums);
        if (reach.smallest == INFINITE) {
            state = NO_PIVOT;
            break;
        }
        choose(room.near, sides, choice, segments, all, reach, leaving.excess, tolerance);
        if (choice.stuck) {
            state = NO_PIVOT;
            break;
        }
        const INDEX q = choice.entering;
        flips = choice.flips;
        if (tid == 0) {
            sides.variable[flips] = q;
            sides.step[flips] = REAL(1);
        }
        __syncthreads();
        const REAL by_row = alpha_row[q], price = reduced_cost[q], value = x[q];
        const REAL framework = devex ? (REAL)reference[leaving.variable] : dots[most];
        leave_side_dots(column_dots, flip_dots, sides, flips, made, variables, alpha_rows);
        number_entries(sides, flips + 1, matrix);
        const int entries = sides.offset[flips + 1];
        const bool list = is_list(entries, !devex, slots, rows);
        Rights rights = {flips > 0, !devex, list ? (INDEX)entries : -1,
                         (INDEX)sides.offset[flips], places, amounts, column, column_slots,
                         flip_column, flip_slots, column_dots, flip_dots, dots};
        if (list && entries <= LIST_MOST) {
            rights.places = room.list.place;
            rights.amounts = room.list.amount;
            leave_list(sides, flips + 1, tid, BLOCK, matrix, room.list.place, room.list.amount);
            __syncthreads();
        } else {
            if (list)
                leave_list(sides, flips + 1, blockIdx.x * BLOCK + tid, grid * BLOCK, matrix,
                           places, amounts);
            else
                for (int unit = blockIdx.x; unit * SIDE_ROWS < rows; unit += grid)
                    lay_out(room.tile, sides, flips + 1, unit, matrix, target);
            meet(arrivals);
        }

        // Its elements at the block's positions, and at the leaving one.
        const Inverse basis_now = {rows, capacity, most, slots, made, inverse, unit_row, etas,
                                   eta_rows, row_slots};
        Position own = {};
        if (from + tid < to) ask_basic(own, from + tid, basics);  // before it is needed
        const INDEX unit_of = unit_row[position];
        REAL share[2] = {REAL(0), REAL(0)};
        if (rights.entries < 0 || warp == WARPS - 1) {  // a list is too short for more
            const int stride = rights.entries < 0 ? BLOCK : 32;
            const Sums sums =
                share_of_position(position, unit_of, tid % stride, stride, false, basis_now, rights);
            share[0] = sums.alpha;
            share[1] = sums.beta;
            warp_sums(share);
        }
        if ((tid & 31) == 0) {
            of_row[0][warp] = share[0];
            of_row[1][warp] = share[1];
        }
        for (int p = from + warp; p < to; p += WARPS) {
            const Sums sums = solve_position(p, unit_row[p], basis_now, rights);
            if ((tid & 31) != 0) continue;
            alpha[p] = sums.alpha;
            beta[p] = sums.beta;
            if (!devex) tau[p] = sums.tau;
        }
        __syncthreads();
        REAL pivot = REAL(0), flipped = REAL(0);
        for (int w = 0; w < WARPS; ++w) {
            pivot += of_row[0][w];
            flipped += of_row[1][w];
        }
        if (!(fabs(pivot - by_row) <= largest_error * fmin(fabs(pivot), fabs(by_row)))) {
            state = INACCURATE;
            break;
        }

        // The pivot.
        REAL dual_step = price / by_row, shift = REAL(0);
        if (dual_step != REAL(0) && (dual_step < REAL(0)) != (leaving.excess < REAL(0))) {
            shift = price;  // which makes the step zero
            dual_step = REAL(0);
        }
        const REAL norm = devex ? fmax(REAL(1), reach.sums[1] + framework) : framework;
        const Exchange now = {
            position, leaving.variable, q, made, pivot,
            (leaving.value - flipped - leaving.bound) / pivot, dual_step, value, norm,
            leaving.bound, leaving.excess, shift, !devex, devex && leaving.weight > REAL(3) * norm};
        best = nothing();
        for (int p = from + tid; p < to; p += BLOCK) {
            if (p != from + tid) ask_basic(own, p, basics);
            own.alpha = alpha[p];
            own.beta = beta[p];
            if (!devex) own.tau = tau[p];
            const REAL merit =
                update_position(own, p, most, now, basics, lower, upper, tolerance, etas);
            if (merit > best.value) best = Best{merit, (INDEX)p};
        }
        leave_best(best, partial_value, partial_index);
        if (tid == 0) exchange = now;
        if (blockIdx.x == 0 && tid == 0) {
            pivot_log[3 * made] = position;
            pivot_log[3 * made + 1] = leaving.variable;
            pivot_log[3 * made + 2] = q;
        }
        made += 1;
        iterations += 1;
        all_flips += flips;
        meet(arrivals);
    }
    if (blockIdx.x != 0 || tid != 0) return;
    control[STATUS] = state;
    control[PIVOTS] = made;
    control[ITERATIONS] = iterations;
    control[ALL_FLIPS] += all_flips;
    if (position != NONE) control[POSITION] = position;
}
