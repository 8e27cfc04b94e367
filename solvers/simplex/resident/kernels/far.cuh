// The ratio test where many break points are near: one warp passes their groups in shared memory.

#pragma once

#include "near.cuh"

struct BreakPoints {
    REAL ratio[MOST_FLIPS], distance[MOST_FLIPS], size[MOST_FLIPS];
    REAL span[MOST_FLIPS];  // from one bound to the other, in the direction of a flip
    INDEX variable[MOST_FLIPS];
    int group[MOST_FLIPS];
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

// Choose among any number of break points; the block together.
__device__ __forceinline__ void choose_far(
    const REAL* __restrict__ least, const INDEX* __restrict__ counts, const Segments& segments,
    const Variables& of, REAL smallest, REAL slope, REAL tolerance, BreakPoints& points,
    Sides& sides, Choice& chosen) {
    __shared__ Choice choice;
    __shared__ int hit[MOST_FLIPS];
    const int tid = threadIdx.x;
    const long long variables = (long long)segments.rows + segments.structurals;
    REAL all = REAL(0);  // candidates
#pragma unroll 4
    for (int s = tid; s < segments.all; s += BLOCK) all += (REAL)counts[s];
    all = block_join<Add>(all);

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
                mine += j >= 0 && of.ratio[j] <= select;
            }
            at = block_before(mine, length);
        }
        if (hits > MOST_FLIPS || length > MOST_FLIPS) {
            if (before == REAL(0)) {  // more than there is room for: the first group alone
                Best best = nothing();
                for (long long j = tid; j < variables; j += BLOCK) {
                    const REAL own = of.ratio[j];
                    if (own == INFINITE) continue;
                    const REAL size = fabs(of.alpha[j]);
                    if (own <= smallest ||
                        distance_of(of.status[j], of.reduced_cost[j]) <= smallest * size)
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
            if (j < 0 || of.ratio[j] > select) continue;
            const INDEX kind = of.status[j];
            const REAL span = of.upper[j] - of.lower[j];
            points.ratio[at] = of.ratio[j];
            points.distance[at] = distance_of(kind, of.reduced_cost[j]);
            points.size[at] = fabs(of.alpha[j]);
            points.span[at] = kind == LOWER ? span : -span;
            points.variable[at] = (INDEX)j;
            points.group[at] = -1;
            ++at;
        }
        __syncthreads();
        if (tid < 32) {
            const bool rest = (REAL)length < all;
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
    chosen = choice;
}
