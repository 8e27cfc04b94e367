// The dual ratio test; ratio.py states what it computes.
//
// Every block chooses for itself, from what the pricing has left. Blocks then share out the right
// sides. So that none depends on how far another is, nothing is written here that the kernel also
// reads.

#include "choice.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK) choose_column(
    int rows, int structurals, int most, int lanes, int full, int steepest,
    const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, const INDEX* __restrict__ slot_of_row,
    const INDEX* __restrict__ reference, const REAL* __restrict__ lower,
    const REAL* __restrict__ upper, const REAL* __restrict__ alpha_rows,
    const REAL* __restrict__ ratio, const REAL* __restrict__ least,
    const INDEX* __restrict__ counts, const REAL* __restrict__ squares,
    const REAL* __restrict__ dots, const INDEX* __restrict__ status, const REAL* __restrict__ x,
    const REAL* __restrict__ reduced_cost, INDEX* __restrict__ flips,
    REAL* __restrict__ flip_steps, INDEX* __restrict__ places, REAL* __restrict__ amounts,
    REAL* __restrict__ column, REAL* __restrict__ column_slots, REAL* __restrict__ flip_column,
    REAL* __restrict__ flip_slots, REAL* __restrict__ column_dots, REAL* __restrict__ flip_dots,
    INDEX* control, REAL* scalars) {
    __shared__ Near near;
    __shared__ Sides sides;
    __shared__ Choice choice;
    const INDEX state = control[STATUS], made = control[PIVOTS], slots = control[SLOTS];
    const INDEX leaving = control[LEAVING];
    const REAL excess = scalars[EXCESS], tolerance = scalars[PRIMAL_TOLERANCE];
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    const int tid = threadIdx.x, blocks = max(1, (rows + SIDE_ROWS - 1) / SIDE_ROWS);
    const long long variables = (long long)rows + structurals;
    const REAL* __restrict__ alpha = alpha_rows + made * variables;
    const Segments segments(rows, structurals, lanes);
    const int per_block = BLOCK / lanes;
    const int groups = (structurals + per_block - 1) / per_block + (rows + BLOCK - 1) / BLOCK;
    const Candidates all = {lower, upper, alpha, ratio, least, counts, status, reduced_cost};
    Reach reach = ask_reach(segments, all, steepest == 0, groups, squares);  // saves a wait
    if (state != RUNNING) return;
    reach.smallest = block_least<2>(reach.smallest, reach.sums);
    if (reach.smallest == INFINITE) {
        if (first) control[STATUS] = NO_PIVOT;
        return;
    }
    choose(near, sides, choice, segments, all, reach, excess, tolerance);
    if (choice.stuck) {
        if (first) control[STATUS] = NO_PIVOT;
        return;
    }
    const INDEX q = choice.entering;
    const int count = choice.flips;
    const REAL pivot = alpha[q], cost = reduced_cost[q], value = x[q];
    const REAL framework = steepest == 1 ? dots[most] : (REAL)reference[leaving];
    const REAL weight = scalars[WEIGHT];
    if (tid == 0) {
        sides.variable[count] = q;
        sides.step[count] = REAL(1);
    }
    __syncthreads();
    const Matrix matrix = {rows, structurals, full, starts, indices, values, slot_of_row};
    const Target target = {places, amounts, column, column_slots, flip_column, flip_slots};
    // A warp takes an earlier row, whose elements it asks for before the right sides are made.
    const int lane = tid & 31, stride = blocks * (BLOCK / 32);
    const INDEX flipped = lane < count ? sides.variable[lane] : q;
    int e = blockIdx.x * (BLOCK / 32) + (tid >> 5);
    REAL entering = REAL(0), part = REAL(0);
    if (e < made) {
        entering = alpha_rows[e * variables + q];
        part = alpha_rows[e * variables + flipped];
    }
    make_sides(sides, count + 1, blocks, matrix, steepest == 1, slots, target, control);
    while (e < made) {
        const REAL* __restrict__ earlier = alpha_rows + e * variables;
        REAL total = lane < count ? part * sides.step[lane] : REAL(0);
        for (int f = lane + 32; f < count; f += 32)
            total += earlier[sides.variable[f]] * sides.step[f];
        if (count > 0) total = lanes_join<Add>(total, 32);
        if (lane == 0) {
            column_dots[e] = entering;
            flip_dots[e] = total;
        }
        e += stride;
        if (e >= made) break;
        entering = alpha_rows[e * variables + q];
        part = alpha_rows[e * variables + flipped];
    }
    if (blockIdx.x != 0) return;
    for (int f = tid; f < count; f += BLOCK) {
        flips[f] = sides.variable[f];
        flip_steps[f] = sides.step[f];
    }
    if (!first) return;
    REAL step = cost / pivot, shift = REAL(0);
    if (step != REAL(0) && (step < REAL(0)) != (excess < REAL(0))) {
        shift = cost;  // which makes the step zero
        step = REAL(0);
    }
    const REAL norm = steepest == 1 ? framework : fmax(REAL(1), reach.sums[1] + framework);
    scalars[DUAL_STEP] = step;
    scalars[COST_SHIFT] = shift;
    scalars[PIVOT] = pivot;
    scalars[ENTERING_VALUE] = value;
    scalars[NORM] = norm;
    control[RESET] = steepest == 0 && weight > REAL(DEVEX_ERROR) * norm ? 1 : 0;
    control[ENTERING] = q;
    control[FLIPS] = count;
    control[MADE] = made;
}
