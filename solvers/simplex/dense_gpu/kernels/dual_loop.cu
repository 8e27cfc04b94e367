// Dual iterations by blocks that stay; dual_loop.py states what they compute.
//
// Blocks meet three times in an iteration: after the pivot row, after pricing, and at its end; and
// once more where right sides are too long for each block to have them for itself. What follows
// from what all blocks have read, each of them decides alone: the leaving position, the ratio test,
// the right sides, and by a row of the inverse more than its own, the pivot element. What a pivot
// changes for variables is written in the next iteration, after all blocks have left the ratio test.

#include "dual_steps.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK, 2) iterate_dual(
    int rows, int structurals, int capacity, int most, int lanes, int full, int steepest,
    const INDEX* starts, const INDEX* indices, const REAL* values, const REAL* inverse,
    const INDEX* unit_row, const INDEX* slot_of_row, const REAL* lower, const REAL* upper,
    REAL* eta_rows, REAL* row_slots, INDEX* row_mask, REAL* etas, REAL* alpha_rows, REAL* ratios,
    REAL* least, INDEX* counts, REAL* squares, REAL* dots, INDEX* places, REAL* amounts, REAL* column,
    REAL* column_slots, REAL* flip_column, REAL* flip_slots, REAL* alpha, REAL* beta, REAL* tau,
    REAL* x_basic, REAL* lower_basic, REAL* upper_basic, REAL* weights, REAL* x, REAL* cost,
    REAL* reduced_cost, INDEX* basic, INDEX* status, INDEX* reference, INDEX* pivot_log,
    REAL* partial_value, INDEX* partial_index, INDEX* control, const REAL* scalars,
    INDEX* arrivals, int blocks, int count) {
    __shared__ Kept kept;
    INDEX state = control[STATUS], made = control[PIVOTS], iterations = control[ITERATIONS];
    const INDEX limit = control[LIMIT];
    const Loop loop = {
        rows, structurals, capacity, most, (int)((long long)rows * blockIdx.x / gridDim.x),
        (int)((long long)rows * (blockIdx.x + 1) / gridDim.x), control[SLOTS], steepest == 0,
        (long long)rows + structurals, scalars[PRIMAL_TOLERANCE], scalars[SMALL_PIVOT],
        scalars[HARRIS], scalars[PIVOT_ERROR], {full != 0, starts, indices, values},
        Spread(rows, structurals, lanes), Segments(rows, structurals, lanes),
        {rows, structurals, full, starts, indices, values, slot_of_row},
        {places, amounts, column, column_slots, flip_column, flip_slots},
        {x_basic, lower_basic, upper_basic, weights, basic},
        {lower, upper, x, cost, reduced_cost, status, reference}, inverse, unit_row, slot_of_row,
        eta_rows, row_slots, row_mask, etas, alpha_rows, ratios, least, counts, squares, dots, alpha,
        beta, tau, partial_value, partial_index};
    if (state != RUNNING) return;
    const int tid = threadIdx.x;
    const bool devex = loop.devex, first = blockIdx.x == 0 && tid == 0;
    INDEX position = NONE, all_flips = 0;
    int flips = 0;

    Meetings meetings(arrivals);
    leave_first_best(loop);
    meetings.meet();
    for (int turn = 0;; ++turn) {
        INDEX found = NONE;
        const Best seen = ask_best(loop);
        const Delayed delayed = ask_delayed(blockIdx.x, rows, made, eta_rows, slot_of_row);
        if (turn < count) {
            if (made >= most) state = FOLD;
            else if (iterations >= limit) state = OUT_OF_PIVOTS;
            else found = block_best(seen).index;
            if (state == RUNNING && found == NONE) state = DONE;
        }
        Leaving leaving = {};
        if (found != NONE) {
            position = found;
            leaving = leaving_at(position, x_basic, lower_basic, upper_basic, weights, basic,
                                 loop.primal_tolerance);
            compute_row(kept, loop, delayed, position, made);
        }
        if (turn > 0)
            update_variables(kept.exchange, kept.sides.variable, kept.sides.step, flips,
                             loop.variables, alpha_rows + (made - 1) * loop.variables, loop.of);
        if (found == NONE) break;
        Ahead ahead;
        look_ahead(ahead, loop);
        meetings.meet();

        price(kept, loop, ahead, leaving, made);
        meetings.meet();

        const REAL* alpha_row = alpha_rows + made * loop.variables;
        const Candidates all = {lower, upper, alpha_row, ratios, least, counts, status, reduced_cost};
        Reach reach = ask_reach(loop.segments, all, devex, loop.spread.owners, squares);
        reach.smallest = block_least<2>(reach.smallest, reach.sums);
        if (reach.smallest == INFINITE) {
            state = NO_PIVOT;
            break;
        }
        choose(kept.room.near, kept.sides, kept.choice, loop.segments, all, reach, leaving.excess,
               loop.primal_tolerance);
        if (kept.choice.stuck) {
            state = NO_PIVOT;
            break;
        }
        const INDEX q = kept.choice.entering;
        flips = kept.choice.flips;
        if (tid == 0) {
            kept.sides.variable[flips] = q;
            kept.sides.step[flips] = REAL(1);
        }
        __syncthreads();
        // Asked for together: of the entering variable, of the right sides, and of positions.
        const REAL by_row = alpha_row[q], price_of = reduced_cost[q], value = x[q];
        const REAL framework = devex ? (REAL)reference[leaving.variable] : dots[most];
        Position own = {};
        if (loop.from + tid < loop.to) ask_basic(own, loop.from + tid, loop.basics);
        SideDots side_dots = {alpha_rows + tid * loop.variables, REAL(0), {}};
        if (tid < made) side_dots.entering = side_dots.earlier[q];
        ask_side_dots(side_dots, kept.sides, 0, flips, made);
        number_entries(kept.sides, flips + 1, loop.matrix);
        leave_side_dots(kept.column_dots, kept.flip_dots, side_dots, kept.sides, flips, made);
        REAL dual_step = price_of / by_row, shift = REAL(0);
        if (dual_step != REAL(0) && (dual_step < REAL(0)) != (leaving.excess < REAL(0))) {
            shift = price_of;  // which makes the step zero
            dual_step = REAL(0);
        }
        const REAL norm = devex ? fmax(REAL(1), reach.sums[1] + framework) : framework;
        const Rights rights = prepare_sides(kept, loop, meetings, flips);
        const Sums at_leaving = solve(kept, loop, rights, position, made);
        const REAL pivot = at_leaving.alpha;
        if (!(fabs(pivot - by_row) <= loop.largest_error * fmin(fabs(pivot), fabs(by_row)))) {
            state = INACCURATE;
            break;
        }

        const REAL reciprocal = REAL(1) / pivot;
        const Exchange now = {
            position, leaving.variable, q, made, reciprocal,
            (leaving.value - at_leaving.beta - leaving.bound) * reciprocal, dual_step, value, norm,
            leaving.bound, leaving.excess, shift, !devex,
            devex && leaving.weight > REAL(DEVEX_ERROR) * norm};
        update_positions(kept, loop, own, now);
        if (tid == 0) kept.exchange = now;
        if (first) {
            pivot_log[3 * made] = position;
            pivot_log[3 * made + 1] = leaving.variable;
            pivot_log[3 * made + 2] = q;
        }
        made += 1;
        iterations += 1;
        all_flips += flips;
        meetings.meet();
    }
    if (!first) return;
    control[STATUS] = state;
    control[PIVOTS] = made;
    control[ITERATIONS] = iterations;
    control[ALL_FLIPS] += all_flips;
    if (position != NONE) control[POSITION] = position;
}
