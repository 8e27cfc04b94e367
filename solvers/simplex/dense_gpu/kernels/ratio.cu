// The dual ratio test; ratio.py states what it computes.
//
// Every block chooses for itself, from what the pricing has left. Blocks then share out the right
// sides. So that none depends on how far another is, nothing is written here that the kernel also
// reads.

#include "sides.cuh"

// The dual ratio test: which variable enters, and which are flipped before; by one block.
//
// The least ratio of each segment of variables says where break points within reach stand, usually
// in a handful of segments. Their groups are passed by one warp, in shared memory.

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

// What the choice needs beside the sides that it leaves; in shared memory.
struct Near {
    BreakPoints points;
    int hit[MOST_FLIPS];  // segments with break points within reach
};

// All variables, their share of the pivot row, and what pricing has left of them.
struct Field {
    const Variables& variables;
    const Candidates& priced;
    const REAL* alpha;
};

struct Segments {
    int rows, structurals, width, shift, logical, all;  // 2^shift variables in each

    __device__ __forceinline__ Segments(int rows_, int structurals_, int lanes)
        : rows(rows_), structurals(structurals_), width(segment_width(lanes)) {
        const int per_block = BLOCK >> (__ffs(lanes) - 1);
        shift = __ffs(width) - 1;
        logical = ((structurals + per_block - 1) / per_block * per_block) >> shift;
        all = logical + (rows + BLOCK - 1) / BLOCK * (BLOCK >> shift);
    }
    // A variable of the segments listed, or -1 beyond the last one of its kind.
    __device__ __forceinline__ long long variable(const int* listed, int place) const {
        const int segment = listed[place >> shift];
        const bool structural = segment < logical;
        const long long at = ((long long)(structural ? segment : segment - logical) << shift)
            + (place & (width - 1));
        if (at >= (structural ? structurals : rows)) return -1;
        return structural ? at : structurals + at;
    }
};

// The least ratio, the number of candidates, and the sum of squares for Devex; of a thread's share.
struct Reach {
    REAL smallest, sums[2];
};

#define REACH 2  // numbers that a thread asks for at once

__device__ __forceinline__ Reach ask_reach(
    const Segments& segments, const Field& all, bool devex, int groups) {
    Reach own = {INFINITE, {REAL(0), REAL(0)}};
#pragma unroll 1
    for (int s = threadIdx.x; s < segments.all; s += REACH * BLOCK) {
        REAL least[REACH];
        INDEX counts[REACH];
#pragma unroll
        for (int u = 0; u < REACH; ++u) {
            const bool there = s + u * BLOCK < segments.all;
            least[u] = there ? all.priced.least[s + u * BLOCK] : INFINITE;
            counts[u] = there ? all.priced.counts[s + u * BLOCK] : 0;
        }
#pragma unroll
        for (int u = 0; u < REACH; ++u) {
            own.smallest = Smallest::combine(own.smallest, least[u]);
            own.sums[0] += (REAL)counts[u];
        }
    }
#pragma unroll 1
    for (int g = threadIdx.x; devex && g < groups; g += REACH * BLOCK) {
        REAL square[REACH];
#pragma unroll
        for (int u = 0; u < REACH; ++u)
            square[u] = g + u * BLOCK < groups ? all.priced.squares[g + u * BLOCK] : REAL(0);
#pragma unroll
        for (int u = 0; u < REACH; ++u) own.sums[1] += square[u];
    }
    return own;
}

// Groups of break points that Harris's tolerance makes equal, passed while the slope stays positive.
struct Passed {
    int groups, points;
    REAL largest, slope;
};

// The largest pivot element of each group, and where it is.
struct Groups {
    REAL size[MOST_GROUPS];
    INDEX index[MOST_GROUPS];
};

// Pass groups of any number of points; one warp.
__device__ __forceinline__ Passed pass_many(
    BreakPoints& points, Groups& groups, int length, REAL slope) {
    const int lane = threadIdx.x;
    Passed so_far = {0, 0, REAL(0), slope};
#pragma unroll 1
    while (so_far.groups < MOST_GROUPS && so_far.points < length && so_far.slope >= REAL(0)) {
        REAL bound = INFINITE;
#pragma unroll 1
        for (int place = lane; place < length; place += 32)
            if (points.group[place] < 0) bound = Smallest::combine(bound, points.ratio[place]);
        bound = warp_least(bound);
        REAL lost[1] = {REAL(0)};
        Best best = nothing();
#pragma unroll 1
        for (int start = 0; start < length; start += 32) {
            const int place = start + lane;
            const bool there = place < length && points.group[place] < 0;
            const REAL size = there ? points.size[place] : REAL(0);
            const bool near = there && (points.distance[place] <= bound * size
                                        || points.ratio[place] <= bound);
            so_far.points += __popc(__ballot_sync(0xffffffffu, near));
            if (!near) continue;
            points.group[place] = so_far.groups;
            lost[0] += size * fabs(points.span[place]);
            best = better(best, Best{size, points.variable[place]});
        }
        best = warp_best(best);
        warp_sums(lost);
        if (lane == 0) {
            groups.size[so_far.groups] = best.value;
            groups.index[so_far.groups] = best.index;
        }
        so_far.largest = fmax(so_far.largest, best.value);
        so_far.slope -= lost[0];
        ++so_far.groups;
    }
    return so_far;
}

// Pass groups of no more points than the warp has lanes: they stay in registers, and of the few that
// a group has, one after the other is shown to all.
__device__ __forceinline__ Passed pass_few(
    BreakPoints& points, Groups& groups, int length, REAL slope) {
    const int lane = threadIdx.x;
    const bool there = lane < length;
    const REAL ratio = there ? points.ratio[lane] : INFINITE;
    const REAL distance = there ? points.distance[lane] : REAL(0);
    const REAL size = there ? points.size[lane] : REAL(0);
    const REAL loss = there ? size * fabs(points.span[lane]) : REAL(0);
    const INDEX variable = there ? points.variable[lane] : (INDEX)NONE;
    Passed so_far = {0, 0, REAL(0), slope};
    int group = -1;
#pragma unroll 1
    while (so_far.groups < MOST_GROUPS && so_far.points < length && so_far.slope >= REAL(0)) {
        const bool left = there && group < 0;
        const REAL bound = warp_least(left ? ratio : INFINITE);
        const bool near = left && (distance <= bound * size || ratio <= bound);
        if (near) group = so_far.groups;
        Best best = nothing();
#pragma unroll 1
        for (unsigned some = __ballot_sync(0xffffffffu, near); some != 0u; some &= some - 1u) {
            const int from = __ffs((int)some) - 1;
            const REAL other = __shfl_sync(0xffffffffu, size, from);
            const INDEX index = __shfl_sync(0xffffffffu, variable, from);
            so_far.slope -= __shfl_sync(0xffffffffu, loss, from);
            best = better(best, Best{other, index});
            ++so_far.points;
        }
        if (lane == 0) {
            groups.size[so_far.groups] = best.value;
            groups.index[so_far.groups] = best.index;
        }
        so_far.largest = best.value > so_far.largest ? best.value : so_far.largest;
        ++so_far.groups;
    }
    if (there) points.group[lane] = group;
    return so_far;
}

// Pass groups, choose among them, and list the flips; one warp. `rest` says that there are break
// points beyond.
__device__ __forceinline__ void pass_groups(
    BreakPoints& points, int length, bool rest, REAL slope, REAL tolerance, Sides& sides,
    Choice& choice) {
    __shared__ Groups groups;
    const int lane = threadIdx.x;
    const Passed passed = length <= 32 ? pass_few(points, groups, length, slope)
                                       : pass_many(points, groups, length, slope);
    __syncwarp();
    const bool stuck = passed.slope > tolerance && !rest && passed.points == length;
    int chosen = passed.groups - 1;
    const REAL required = fmin(REAL(RELATIVE_PIVOT) * passed.largest, REAL(SUFFICIENT_PIVOT));
#pragma unroll 1
    while (chosen > 0 && groups.size[chosen] <= required) --chosen;
    int count = 0;
#pragma unroll 1
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
        choice.entering = groups.index[chosen];
        choice.flips = count;
        choice.stuck = stuck;
    }
}

struct Point {
    REAL ratio, distance, size, span;
    INDEX variable;
};

__device__ __forceinline__ Point point_at(const Field& all, long long j) {
    if (j < 0) return Point{INFINITE, REAL(0), REAL(0), REAL(0), (INDEX)NONE};
    const INDEX kind = all.variables.status[j];
    const REAL span = all.variables.upper[j] - all.variables.lower[j];
    return Point{all.priced.ratios[j], distance_of(kind, all.variables.reduced_cost[j]),
                 fabs(all.alpha[j]), kind == LOWER ? span : -span, (INDEX)j};
}

__device__ __forceinline__ void hold(BreakPoints& points, int at, const Point& own) {
    points.ratio[at] = own.ratio;
    points.distance[at] = own.distance;
    points.size[at] = own.size;
    points.span[at] = own.span;
    points.variable[at] = own.variable;
    points.group[at] = -1;
}

// List the segments with break points within `select`, if there is room; how many there are.
__device__ __forceinline__ int list_segments(
    Near& near, const Segments& segments, const Field& all, REAL select) {
    int hits, mine = 0;
#pragma unroll 1
    for (int s = threadIdx.x; s < segments.all; s += REACH * BLOCK) {
        REAL least[REACH];
#pragma unroll
        for (int u = 0; u < REACH; ++u)
            least[u] = s + u * BLOCK < segments.all ? all.priced.least[s + u * BLOCK] : INFINITE;
#pragma unroll
        for (int u = 0; u < REACH; ++u) mine += s + u * BLOCK < segments.all && least[u] <= select;
    }
    int at = block_before(mine, segments.all <= BLOCK, hits);
    if (hits > MOST_FLIPS) return hits;
#pragma unroll 1
    for (int s = threadIdx.x; mine > 0 && s < segments.all; s += BLOCK)
        if (all.priced.least[s] <= select) near.hit[at++] = s;
    __syncthreads();
    return hits;
}

// Gather the break points of these segments, if there is room; how many there are. What a thread
// needs of its first variable it asks for at once, as few of them have a second one.
__device__ __forceinline__ int gather_points(
    Near& near, const Segments& segments, const Field& all, REAL select, int hits) {
    const int end = hits << segments.shift;
    int length, u = threadIdx.x;
    const Point own =
        point_at(all, u < end ? segments.variable(near.hit, u) : -1);
    int mine = own.ratio <= select;
#pragma unroll 1
    for (u += BLOCK; u < end; u += BLOCK) {
        const long long j = segments.variable(near.hit, u);
        mine += j >= 0 && all.priced.ratios[j] <= select;
    }
    int at = block_before(mine, end <= BLOCK, length);
    if (length > MOST_FLIPS) return length;
    if (own.ratio <= select) {
        hold(near.points, at++, own);
        --mine;
    }
#pragma unroll 1
    for (u = threadIdx.x + BLOCK; mine > 0 && u < end; u += BLOCK) {
        const long long j = segments.variable(near.hit, u);
        if (j >= 0 && all.priced.ratios[j] <= select) hold(near.points, at++, point_at(all, j));
    }
    __syncthreads();
    return length;
}

// The largest pivot element of the first group, where there are more break points than room.
__device__ __forceinline__ INDEX best_of_first_group(
    const Field& all, long long variables, REAL smallest) {
    Best best = nothing();
#pragma unroll 1
    for (long long j = threadIdx.x; j < variables; j += BLOCK) {
        const REAL own = all.priced.ratios[j];
        if (own == INFINITE) continue;
        const REAL size = fabs(all.alpha[j]);
        if (own <= smallest ||
            distance_of(all.variables.status[j], all.variables.reduced_cost[j]) <= smallest * size)
            best = better(best, Best{size, (INDEX)j});
    }
    return block_best(best).index;
}

// Choose, given what all threads together found in `reach`; the block together.
__device__ __forceinline__ void choose(
    Near& near, Sides& sides, Choice& choice, const Segments& segments, const Field& all,
    const Reach& reach, REAL excess, REAL tolerance) {
    // How far to look: break points up to where the slope has become negative.
    REAL select = fmax(REAL(SELECTION_GROWTH) * reach.smallest, REAL(FIRST_SELECTION));
    REAL before = REAL(0);
    bool last = false;
    for (;;) {
        const int hits = list_segments(near, segments, all, select);
        const int length =
            hits > MOST_FLIPS ? hits : gather_points(near, segments, all, select, hits);
        if (length > MOST_FLIPS) {
            if (before == REAL(0)) {  // more than there is room for: the first group alone
                const long long variables = (long long)segments.rows + segments.structurals;
                const INDEX q = best_of_first_group(all, variables, reach.smallest);
                if (threadIdx.x == 0) choice = Choice{q, 0, false, false};
                __syncthreads();
                return;
            }
            select = before;
            last = true;
            continue;
        }
        if (threadIdx.x < 32) {
            const REAL slope = fabs(excess);
            const bool rest = (REAL)length < reach.sums[0];
            REAL lost[1] = {REAL(0)};
#pragma unroll 1
            for (int place = threadIdx.x; place < length; place += 32)
                lost[0] += near.points.size[place] * fabs(near.points.span[place]);
            warp_sums(lost);
            const bool further = !last && rest && lost[0] < slope;
            if (threadIdx.x == 0) choice.further = further;
            if (!further) pass_groups(near.points, length, rest, slope, tolerance, sides, choice);
        }
        __syncthreads();
        if (!choice.further) return;
        before = select;
        select *= REAL(SELECTION_GROWTH);
        __syncthreads();  // `choice` and `near` are written anew
    }
}

__device__ __forceinline__ void choose_column(
    const Matrix& matrix, int most, int steepest, const Variables& variables,
    const REAL* alpha_rows, const Candidates& priced, const FlippedOut& passed,
    const RightSidesOut& rights, INDEX* control, REAL* scalars) {
    __shared__ Near near;
    __shared__ Sides sides;
    __shared__ Choice choice;
    const INDEX state = control[STATUS], made = control[PIVOTS], slots = control[SLOTS];
    const INDEX leaving = control[LEAVING];
    const REAL excess = scalars[EXCESS], tolerance = scalars[PRIMAL_TOLERANCE];
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    const int tid = threadIdx.x, blocks = max(1, (matrix.rows + SIDE_ROWS - 1) / SIDE_ROWS);
    const int rows = matrix.rows, structurals = matrix.structurals;
    const long long width = (long long)rows + structurals;
    const REAL* __restrict__ alpha = alpha_rows + made * width;
    const Segments segments(rows, structurals, matrix.lanes);
    const int per_block = BLOCK / matrix.lanes;
    const int groups = (structurals + per_block - 1) / per_block + (rows + BLOCK - 1) / BLOCK;
    const Field all = {variables, priced, alpha};
    Reach reach = ask_reach(segments, all, steepest == 0, groups);  // saves a wait
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
    const REAL pivot = alpha[q], cost = variables.reduced_cost[q], value = variables.x[q];
    const REAL framework = steepest == 1 ? priced.dots[most] : (REAL)variables.reference[leaving];
    const REAL weight = scalars[WEIGHT];
    if (tid == 0) {
        sides.variable[count] = q;
        sides.step[count] = REAL(1);
    }
    __syncthreads();
    // A warp takes an earlier row, whose elements it asks for before the right sides are made.
    const int lane = tid & 31, stride = blocks * (BLOCK / 32);
    const INDEX flipped = lane < count ? sides.variable[lane] : q;
    int e = blockIdx.x * (BLOCK / 32) + (tid >> 5);
    REAL entering = REAL(0), part = REAL(0);
    if (e < made) {
        entering = alpha_rows[e * width + q];
        part = alpha_rows[e * width + flipped];
    }
    make_sides(sides, count + 1, blocks, matrix, steepest == 1, slots, rights, control);
    while (e < made) {
        const REAL* __restrict__ earlier = alpha_rows + e * width;
        REAL total = lane < count ? part * sides.step[lane] : REAL(0);
        for (int f = lane + 32; f < count; f += 32)
            total += earlier[sides.variable[f]] * sides.step[f];
        if (count > 0) total = lanes_reduce<Sum>(total, 32);
        if (lane == 0) {
            rights.column_dots[e] = entering;
            rights.flip_dots[e] = total;
        }
        e += stride;
        if (e >= made) break;
        entering = alpha_rows[e * width + q];
        part = alpha_rows[e * width + flipped];
    }
    if (blockIdx.x != 0) return;
    for (int f = tid; f < count; f += BLOCK) {
        passed.flips[f] = sides.variable[f];
        passed.flip_steps[f] = sides.step[f];
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
