// Break points of the dual ratio test near zero: their groups are passed by one warp.

#pragma once

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
            if (points.group[place] < 0) bound = Least::join(bound, points.ratio[place]);
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
    const REAL required = fmin(REAL(0.1) * passed.largest, REAL(1));
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
