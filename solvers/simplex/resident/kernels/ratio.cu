// The dual ratio test; ratio.py states what it computes.
//
// Every block chooses for itself, from what the pricing has left: the least ratio of each segment of
// variables says where break points within reach stand, usually in a handful of segments. If there
// are few of them, near.cuh has the choice, otherwise far.cuh. Blocks then share out the right
// sides, but for one that measures Devex's weight. So that none depends on how far another is,
// nothing is written here that the kernel also reads.

#include "far.cuh"

#define EARLIER 4  // pivot rows that a warp asks for at once: all, from some 500 rows on

// Devex's weight of the leaving position as the framework has it; a block alone.
__device__ __forceinline__ void measure_weight(
    const REAL* __restrict__ squares, int count, REAL framework, REAL weight, INDEX* control,
    REAL* scalars) {
    REAL sum = REAL(0);
#pragma unroll 8
    for (int g = threadIdx.x; g < count; g += BLOCK) sum += squares[g];
    sum = block_join<Add>(sum);
    if (threadIdx.x != 0) return;
    const REAL norm = fmax(REAL(1), sum + framework);
    scalars[NORM] = norm;
    control[RESET] = weight > REAL(3) * norm ? 1 : 0;
}

// Products of the right sides with earlier pivot rows: a warp asks for elements of several at once.
struct Earlier {
    const REAL* __restrict__ rows;
    const long long variables;
    const int made, stride;
    int first;
    REAL entering[EARLIER], part[EARLIER];

    __device__ __forceinline__ Earlier(
        const REAL* rows_, long long variables_, INDEX made_, int blocks)
        : rows(rows_), variables(variables_), made((int)made_), stride(blocks * WARPS),
          first(blockIdx.x * WARPS + (threadIdx.x >> 5)) {}

    __device__ __forceinline__ void ask(INDEX q, INDEX flipped) {
#pragma unroll
        for (int k = 0; k < EARLIER; ++k) {
            const int e = first + k * stride;
            entering[k] = e < made ? rows[e * variables + q] : REAL(0);
            part[k] = e < made ? rows[e * variables + flipped] : REAL(0);
        }
    }
    // Leave the products asked for, and say whether there are more.
    __device__ __forceinline__ bool leave(
        const Sides& sides, int count, REAL* column_dots, REAL* flip_dots) {
        const int lane = threadIdx.x & 31;
#pragma unroll
        for (int k = 0; k < EARLIER; ++k) {
            const int e = first + k * stride;
            if (e >= made) continue;  // a whole warp
            REAL total = lane < count ? part[k] * sides.step[lane] : REAL(0);
            for (int f = lane + 32; f < count; f += 32)
                total += rows[e * variables + sides.variable[f]] * sides.step[f];
            if (count > 0) total = lanes_join<Add>(total, 32);
            if (lane == 0) {
                column_dots[e] = entering[k];
                flip_dots[e] = total;
            }
        }
        first += EARLIER * stride;
        return first < made;
    }
};

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
    __shared__ union {
        BreakPoints points;
        Near near;
    } found;
    __shared__ Sides sides;
    __shared__ REAL least_of[WARPS];
    const INDEX state = control[STATUS], made = control[PIVOTS], slots = control[SLOTS];
    const INDEX leaving = control[LEAVING];
    const REAL excess = scalars[EXCESS], tolerance = scalars[PRIMAL_TOLERANCE];
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    const int tid = threadIdx.x, blocks = max(1, (rows + SIDE_ROWS - 1) / SIDE_ROWS);
    const long long variables = (long long)rows + structurals;
    const Segments segments(rows, structurals, lanes);
    if ((int)blockIdx.x == blocks) {
        const int per_block = BLOCK / lanes;
        const int groups = (structurals + per_block - 1) / per_block + (rows + BLOCK - 1) / BLOCK;
        if (state == RUNNING || state == NO_PIVOT)  // which another block may have found by now
            measure_weight(squares, groups, (REAL)reference[leaving], scalars[WEIGHT], control,
                           scalars);
        return;
    }
    // Asked for before the status is known, which saves a wait.
    REAL held[HELD], low[HELD];
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
        const int s = tid + k * BLOCK;
        low[k] = held[k] = s < segments.all ? least[s] : INFINITE;
    }
    for (int s = tid + HELD * BLOCK; s < segments.all; s += BLOCK) low[0] = fmin(low[0], least[s]);
    if (state != RUNNING) return;
#pragma unroll
    for (int k = 0; k < HELD / 2; ++k) low[k] = Least::join(low[k], low[k + HELD / 2]);
#pragma unroll
    for (int k = 1; k < HELD / 2; ++k) low[0] = Least::join(low[0], low[k]);
    REAL smallest = warp_least(low[0]);
    if ((tid & 31) == 0) least_of[tid >> 5] = smallest;
    __syncthreads();
    smallest = warp_least(least_of[tid % WARPS]);
    if (smallest == INFINITE) {
        if (first) control[STATUS] = NO_PIVOT;
        return;
    }
    const REAL* __restrict__ alpha = alpha_rows + made * variables;
    const Variables of = {ratio, alpha, lower, upper, reduced_cost, status, starts};
    Choice choice;
    const bool near = segments.all <= HELD * BLOCK &&
        choose_near(held, segments, of, smallest, fabs(excess), tolerance, found.near, sides,
                    choice);
    if (!near)
        choose_far(least, counts, segments, of, smallest, fabs(excess), tolerance, found.points,
                   sides, choice);
    if (choice.stuck) {
        if (first) control[STATUS] = NO_PIVOT;
        return;
    }
    const INDEX q = choice.entering;
    const int count = choice.flips;
    const REAL pivot = alpha[q], cost = reduced_cost[q], value = x[q];
    const REAL norm = steepest == 1 ? dots[most] : REAL(0);
    const Matrix matrix = {rows, structurals, full, starts, indices, values, slot_of_row};
    if (!near && tid == 0) {
        sides.variable[count] = q;
        sides.step[count] = REAL(1);
    }
    __syncthreads();
    if (!near) number_entries(sides, count + 1, matrix);
    const Target target = {places, amounts, column, column_slots, flip_column, flip_slots};
    const INDEX flipped = (tid & 31) < count ? sides.variable[tid & 31] : q;
    Earlier earlier(alpha_rows, variables, made, blocks);
    earlier.ask(q, flipped);  // before the right sides are made
    make_sides(sides, count + 1, blocks, matrix, steepest == 1, slots, target, control);
    while (earlier.leave(sides, count, column_dots, flip_dots)) earlier.ask(q, flipped);
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
    scalars[DUAL_STEP] = step;
    scalars[COST_SHIFT] = shift;
    scalars[PIVOT] = pivot;
    scalars[ENTERING_VALUE] = value;
    if (steepest == 1) {
        scalars[NORM] = norm;
        control[RESET] = 0;
    }
    control[ENTERING] = q;
    control[FLIPS] = count;
    control[MADE] = made;
}
