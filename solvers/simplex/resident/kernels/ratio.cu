// The dual ratio test in one block; ratio.py states what it computes.
//
// Warps share out the segments in which candidates stand; what is chosen of them is copied to
// `selected`, in an order that depends on nothing but the sizes, and worked on there.

#include "core.cuh"

struct Segments {
    int rows, structurals, lanes;
    const INDEX* candidates;
    const INDEX* counts;

    __device__ __forceinline__ int spread() const {
        const int per_block = BLOCK / lanes;
        return (structurals + per_block - 1) / per_block;
    }
    __device__ __forceinline__ int count() const {
        return spread() + (rows + BLOCK - 1) / BLOCK;
    }
    template <class Visit>
    __device__ __forceinline__ void each(Visit visit) const {
        const int lane = threadIdx.x & 31, warps = blockDim.x >> 5, per_block = BLOCK / lanes;
        const int logical = spread(), all = count();
        for (int s = threadIdx.x >> 5; s < all; s += warps) {
            const long long first = s < logical
                ? (long long)s * per_block : structurals + (long long)(s - logical) * BLOCK;
            const INDEX found = counts[s];
            for (INDEX place = lane; place < found; place += 32) visit(candidates[first + place]);
        }
    }
};

extern "C" __global__ void __launch_bounds__(1024) choose_column(
    int rows, int structurals, int most, int lanes, int steepest,
    const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, const INDEX* __restrict__ slot_of_row,
    const INDEX* __restrict__ reference, const REAL* __restrict__ lower,
    const REAL* __restrict__ upper, const REAL* __restrict__ alpha_rows,
    const INDEX* __restrict__ candidates, const INDEX* __restrict__ counts,
    const REAL* __restrict__ ratios, const REAL* __restrict__ squares,
    const REAL* __restrict__ dots, INDEX* status, REAL* x, REAL* cost, REAL* reduced_cost,
    INDEX* selected, INDEX* group, INDEX* flips, REAL* flip_steps, REAL* column,
    REAL* column_slots, REAL* flip_column, REAL* flip_slots, REAL* column_dots, REAL* flip_dots,
    INDEX* control, REAL* scalars) {
    __shared__ REAL best_size[MOST_GROUPS];
    __shared__ INDEX best_index[MOST_GROUPS];
    if (control[STATUS] != RUNNING) return;
    const bool first = threadIdx.x == 0;
    const INDEX made = control[PIVOTS];
    const long long variables = (long long)rows + structurals;
    const REAL* alpha = alpha_rows + made * variables;
    const REAL relax = scalars[HARRIS], excess = scalars[EXCESS];
    const Segments segments = {rows, structurals, lanes, candidates, counts};
    REAL least = INFINITE, square = REAL(0);
    for (int s = threadIdx.x; s < segments.count(); s += blockDim.x) {
        least = fmin(least, ratios[s]);
        square += squares[s];
    }
    least = block_join<Least>(least);
    square = block_join<Add>(square);
    if (least == INFINITE) {  // all have read the status
        if (first) control[STATUS] = NO_PIVOT;
        return;
    }

    // How far to look: break points up to where the slope has become negative.
    REAL slope = fabs(excess), select = fmax(REAL(10) * least, REAL(1e-7));
    REAL rest;
    int mine, length, before;
    for (;;) {
        REAL sums[3] = {REAL(0), REAL(0), REAL(0)};  // slope given up, selected, left out
        segments.each([&](INDEX j) {
            const REAL size = fabs(alpha[j]);
            const bool within = distance_of(status[j], reduced_cost[j]) + relax <= select * size;
            if (within) sums[0] += size * (upper[j] - lower[j]);
            sums[within ? 1 : 2] += REAL(1);
        });
        mine = (int)sums[1];
        block_sums<3>(sums, nothing());
        rest = sums[2];
        if (sums[0] >= slope || rest == REAL(0) || sums[1] > REAL(MOST_FLIPS)) break;
        select *= REAL(10);
    }
    before = block_before(mine, length);
    segments.each([&](INDEX j) {
        const REAL size = fabs(alpha[j]);
        if (distance_of(status[j], reduced_cost[j]) + relax <= select * size) {
            selected[before] = j;
            group[before] = -1;
            ++before;
        }
    });
    __syncthreads();

    // Groups of break points that Harris's tolerance makes equal.
    int groups = 0, passed = 0;
    REAL largest = REAL(0);
    bool enough = false;
    while (groups < MOST_GROUPS && passed < length && !enough) {
        REAL bound = INFINITE;
        for (int place = threadIdx.x; place < length; place += blockDim.x) {
            if (group[place] >= 0) continue;
            const INDEX j = selected[place];
            bound = fmin(bound, (distance_of(status[j], reduced_cost[j]) + relax) / fabs(alpha[j]));
        }
        bound = block_join<Least>(bound);
        REAL sums[2] = {REAL(0), REAL(0)};  // slope given up, break points
        Best best = nothing();
        for (int place = threadIdx.x; place < length; place += blockDim.x) {
            if (group[place] >= 0) continue;
            const INDEX j = selected[place];
            const REAL size = fabs(alpha[j]);
            if (distance_of(status[j], reduced_cost[j]) > bound * size) continue;
            group[place] = groups;
            sums[0] += size * (upper[j] - lower[j]);
            sums[1] += REAL(1);
            best = better(best, Best{size, j});
        }
        best = block_sums<2>(sums, best);
        if (first) {
            best_size[groups] = best.value;
            best_index[groups] = best.index;
        }
        slope -= sums[0];
        largest = fmax(largest, best.value);
        passed += (int)sums[1];
        enough = slope < REAL(0) || passed > MOST_FLIPS;
        ++groups;
    }
    __syncthreads();
    if (!enough && rest == REAL(0) && passed == length && slope > scalars[PRIMAL_TOLERANCE]) {
        if (first) control[STATUS] = NO_PIVOT;
        return;
    }
    int chosen = groups - 1;
    const REAL required = fmin(REAL(0.1) * largest, REAL(1));
    while (chosen > 0 && best_size[chosen] <= required) --chosen;
    const INDEX q = best_index[chosen];

    // What lies before the chosen group goes to its other bound.
    int count = 0;
    if (chosen > 0) {
        mine = 0;
        for (int place = threadIdx.x; place < length; place += blockDim.x)
            mine += group[place] >= 0 && group[place] < chosen;
        before = block_before(mine, count);
        for (int place = threadIdx.x; place < length; place += blockDim.x) {
            if (group[place] < 0 || group[place] >= chosen) continue;
            const INDEX j = selected[place];
            const bool up = status[j] == LOWER;
            flips[before] = j;
            flip_steps[before] = up ? upper[j] - lower[j] : lower[j] - upper[j];
            x[j] = up ? upper[j] : lower[j];
            status[j] = up ? UPPER : LOWER;
            ++before;
        }
        __syncthreads();
        for (int f = 0; f < count; ++f)
            load_column(flips[f], flip_steps[f], structurals, starts, indices, values, slot_of_row,
                        flip_column, flip_slots);
    }
    load_column(q, REAL(1), structurals, starts, indices, values, slot_of_row, column,
                column_slots);
    for (int e = threadIdx.x; e < made; e += blockDim.x) {
        const REAL* earlier = alpha_rows + e * variables;
        REAL total = REAL(0);
        for (int f = 0; f < count; ++f) total += earlier[flips[f]] * flip_steps[f];
        column_dots[e] = earlier[q];
        flip_dots[e] = total;
    }
    if (!first) return;
    const REAL pivot = alpha[q];
    REAL step = reduced_cost[q] / pivot;
    if (step != REAL(0) && (step < REAL(0)) != (excess < REAL(0))) {  // a cost shift makes it zero
        cost[q] -= reduced_cost[q];
        reduced_cost[q] = REAL(0);
        step = REAL(0);
    }
    const REAL norm = steepest == 1 ? dots[most]
                                    : fmax(REAL(1), square + (REAL)reference[control[LEAVING]]);
    scalars[DUAL_STEP] = step;
    scalars[PIVOT] = pivot;
    scalars[ENTERING_VALUE] = x[q];
    scalars[NORM] = norm;
    control[RESET] = steepest == 0 && scalars[WEIGHT] > REAL(3) * norm ? 1 : 0;
    control[ENTERING] = q;
    control[FLIPS] = count;
    control[ALL_FLIPS] += count;
    control[PIVOTS] = made + 1;
    control[ITERATIONS] += 1;
}
