// The dual ratio test; ratio.py states what it computes.
//
// Every block chooses for itself, from what the pricing has left: the least ratio of each segment of
// variables says where break points within reach stand, usually in a handful of segments. Their
// groups are passed by one warp, in shared memory. Blocks then share out the right sides. So that
// none depends on how far another is, nothing is written here that the kernel also reads.

#include "sides.cuh"

struct BreakPoints {
    REAL ratio[MOST_FLIPS], distance[MOST_FLIPS], size[MOST_FLIPS];
    REAL span[MOST_FLIPS];  // from one bound to the other, in the direction of a flip
    INDEX variable[MOST_FLIPS];
    int group[MOST_FLIPS];
};

struct Choice {
    INDEX entering;
    int flips;
    bool further, stuck;
};

struct Segments {
    int rows, structurals, width, logical, all;

    __device__ __forceinline__ Segments(int rows_, int structurals_, int lanes)
        : rows(rows_), structurals(structurals_), width(segment_width(lanes)) {
        const int per_block = BLOCK / lanes;
        logical = (structurals + per_block - 1) / per_block * (per_block / width);
        all = logical + (rows + BLOCK - 1) / BLOCK * (BLOCK / width);
    }
    // A variable of a segment, or -1 beyond the last one.
    __device__ __forceinline__ long long variable(int segment, int place) const {
        const bool structural = segment < logical;
        const long long at = (long long)(structural ? segment : segment - logical) * width + place;
        if (at >= (structural ? structurals : rows)) return -1;
        return structural ? at : structurals + at;
    }
};

// Pass groups of break points that Harris's tolerance makes equal while the slope stays positive,
// choose among them, and list the flips; one warp. `rest` says that there are break points beyond.
__device__ __forceinline__ void pass_groups(
    BreakPoints& points, int length, bool rest, REAL slope, REAL tolerance, Sides& sides,
    Choice& choice) {
    __shared__ REAL best_size[MOST_GROUPS];
    __shared__ INDEX best_index[MOST_GROUPS];
    const int lane = threadIdx.x;
    int groups = 0, passed = 0;
    REAL largest = REAL(0);
    while (groups < MOST_GROUPS && passed < length && slope >= REAL(0)) {
        REAL bound = INFINITE;
        for (int place = lane; place < length; place += 32)
            if (points.group[place] < 0) bound = fmin(bound, points.ratio[place]);
        bound = lanes_join<Least>(bound, 32);
        REAL lost = REAL(0), found = REAL(0);
        Best best = nothing();
        for (int place = lane; place < length; place += 32) {
            if (points.group[place] >= 0) continue;
            const REAL size = points.size[place];
            if (points.distance[place] > bound * size && points.ratio[place] > bound) continue;
            points.group[place] = groups;
            lost += size * fabs(points.span[place]);
            found += REAL(1);
            best = better(best, Best{size, points.variable[place]});
        }
        lost = lanes_join<Add>(lost, 32);
        found = lanes_join<Add>(found, 32);
        best = warp_best(best);
        if (lane == 0) {
            best_size[groups] = best.value;
            best_index[groups] = best.index;
        }
        slope -= lost;
        largest = fmax(largest, best.value);
        passed += (int)found;
        ++groups;
    }
    __syncwarp();
    const bool stuck = slope > tolerance && !rest && passed == length;
    int chosen = groups - 1;
    const REAL required = fmin(REAL(0.1) * largest, REAL(1));
    while (chosen > 0 && best_size[chosen] <= required) --chosen;
    int count = 0;
    for (int start = 0; chosen > 0 && start < length; start += 32) {
        const int place = start + lane;
        const int group = place < length ? points.group[place] : -1;
        const bool flip = group >= 0 && group < chosen;
        const unsigned flips = __ballot_sync(0xffffffffu, flip);
        if (flip) {
            const int at = count + __popc(flips & ((1u << lane) - 1u));
            sides.variable[at] = points.variable[place];
            sides.step[at] = points.span[place];
        }
        count += __popc(flips);
    }
    if (lane == 0) {
        choice.entering = best_index[chosen];
        choice.flips = count;
        choice.stuck = stuck;
    }
}

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
    __shared__ BreakPoints points;
    __shared__ Sides sides;
    __shared__ Choice choice;
    __shared__ int hit[MOST_FLIPS];
    const INDEX state = control[STATUS], made = control[PIVOTS], slots = control[SLOTS];
    const INDEX leaving = control[LEAVING];
    const REAL excess = scalars[EXCESS], tolerance = scalars[PRIMAL_TOLERANCE];
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    const int tid = threadIdx.x, blocks = max(1, (rows + SIDE_ROWS - 1) / SIDE_ROWS);
    const long long variables = (long long)rows + structurals;
    const REAL* __restrict__ alpha = alpha_rows + made * variables;
    const Segments segments(rows, structurals, lanes);
    // Asked for before the status is known, which saves a wait.
    REAL smallest = INFINITE, sums[2] = {REAL(0), REAL(0)};  // candidates, squares
#pragma unroll 4
    for (int s = tid; s < segments.all; s += BLOCK) {
        smallest = fmin(smallest, least[s]);
        sums[0] += (REAL)counts[s];
    }
    if (steepest == 0) {
        const int per_block = BLOCK / lanes;
        const int groups = (structurals + per_block - 1) / per_block + (rows + BLOCK - 1) / BLOCK;
#pragma unroll 4
        for (int g = tid; g < groups; g += BLOCK) sums[1] += squares[g];
    }
    if (state != RUNNING) return;
    smallest = block_least<2>(smallest, sums);
    if (smallest == INFINITE) {
        if (first) control[STATUS] = NO_PIVOT;
        return;
    }

    // How far to look: break points up to where the slope has become negative.
    REAL select = fmax(REAL(10) * smallest, REAL(1e-7)), before = REAL(0);
    bool last = false;
    for (;;) {
        int hits, length = 0, mine = 0;
#pragma unroll 4
        for (int s = tid; s < segments.all; s += BLOCK) mine += least[s] <= select;
        int at = block_before(mine, hits);
        if (hits <= MOST_FLIPS) {
            for (int s = tid; mine > 0 && s < segments.all; s += BLOCK)
                if (least[s] <= select) hit[at++] = s;
            __syncthreads();
            mine = 0;
            for (int u = tid; u < hits * segments.width; u += BLOCK) {
                const long long j = segments.variable(hit[u / segments.width], u % segments.width);
                mine += j >= 0 && ratio[j] <= select;
            }
            at = block_before(mine, length);
        }
        if (hits > MOST_FLIPS || length > MOST_FLIPS) {
            if (before == REAL(0)) {  // more than there is room for: the first group alone
                Best best = nothing();
                for (long long j = tid; j < variables; j += BLOCK) {
                    const REAL own = ratio[j];
                    if (own == INFINITE) continue;
                    const REAL size = fabs(alpha[j]);
                    if (own <= smallest ||
                        distance_of(status[j], reduced_cost[j]) <= smallest * size)
                        best = better(best, Best{size, (INDEX)j});
                }
                best = block_best(best);
                if (tid == 0) choice = Choice{best.index, 0, false, false};
                __syncthreads();
                break;
            }
            select = before;
            last = true;
            continue;
        }
        for (int u = tid; mine > 0 && u < hits * segments.width; u += BLOCK) {
            const long long j = segments.variable(hit[u / segments.width], u % segments.width);
            if (j < 0 || ratio[j] > select) continue;
            const INDEX kind = status[j];
            const REAL span = upper[j] - lower[j];
            points.ratio[at] = ratio[j];
            points.distance[at] = distance_of(kind, reduced_cost[j]);
            points.size[at] = fabs(alpha[j]);
            points.span[at] = kind == LOWER ? span : -span;
            points.variable[at] = (INDEX)j;
            points.group[at] = -1;
            ++at;
        }
        __syncthreads();
        if (tid < 32) {
            const REAL slope = fabs(excess);
            const bool rest = (REAL)length < sums[0];
            REAL lost = REAL(0);
            for (int place = tid; place < length; place += 32)
                lost += points.size[place] * fabs(points.span[place]);
            lost = lanes_join<Add>(lost, 32);
            const bool further = !last && rest && lost < slope;
            if (tid == 0) choice.further = further;
            if (!further) pass_groups(points, length, rest, slope, tolerance, sides, choice);
        }
        __syncthreads();
        if (!choice.further) break;
        before = select;
        select *= REAL(10);
        __syncthreads();  // `choice` and `hit` are written anew
    }
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
    const REAL norm = steepest == 1 ? framework : fmax(REAL(1), sums[1] + framework);
    scalars[DUAL_STEP] = step;
    scalars[COST_SHIFT] = shift;
    scalars[PIVOT] = pivot;
    scalars[ENTERING_VALUE] = value;
    scalars[NORM] = norm;
    control[RESET] = steepest == 0 && weight > REAL(3) * norm ? 1 : 0;
    control[ENTERING] = q;
    control[FLIPS] = count;
    control[MADE] = made;
}
