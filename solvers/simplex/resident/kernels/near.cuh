// The ratio test where few break points are near, as in most pivots: each is held by a lane.
//
// Threads keep the least ratios of segments, and ask for all that may matter of the variables in
// those within reach at once. Then every warp comes to the same choice from its own registers: so
// the block waits for memory twice, and for its warps three times.

#pragma once

#include "sides.cuh"

#define WARPS (BLOCK / 32)
#define HELD 12  // segments whose least ratio a thread keeps
#define BATCH 4  // variables that a thread asks for at once; 32 segments of 32 fill it
#define ALL 0xffffffffu

struct Segments {
    int rows, structurals, width, shift, logical, all;

    __device__ __forceinline__ Segments(int rows_, int structurals_, int lanes)
        : rows(rows_), structurals(structurals_), width(segment_width(lanes)), shift(0) {
        const int per_block = BLOCK / lanes;
        while ((1 << shift) < width) ++shift;
        logical = ((structurals + per_block - 1) / per_block * per_block) >> shift;
        all = logical + ((rows + BLOCK - 1) / BLOCK * BLOCK >> shift);
    }
    // A variable of a segment, or -1 beyond the last one.
    __device__ __forceinline__ long long variable(int segment, int place) const {
        const bool structural = segment < logical;
        const long long at =
            ((long long)(structural ? segment : segment - logical) << shift) + place;
        if (at >= (structural ? structurals : rows)) return -1;
        return structural ? at : structurals + at;
    }
};

struct Variables {
    const REAL* __restrict__ ratio;
    const REAL* __restrict__ alpha;
    const REAL* __restrict__ lower;
    const REAL* __restrict__ upper;
    const REAL* __restrict__ reduced_cost;
    const INDEX* __restrict__ status;
    const INDEX* __restrict__ starts;
};

struct Choice {
    INDEX entering;
    int flips;
    bool further, stuck;
};

struct Point {
    REAL ratio, distance, size;
    REAL span;  // from one bound to the other, in the direction of a flip
    INDEX variable, begin;  // `begin` of its entries in the matrix, or -1 for a logical
    int entries;
};

// What each warp has found: no more than there is room for is kept.
struct Near {
    Point point[WARPS][32];
    int segment[WARPS][32];
    int segments[WARPS], points[WARPS], beyond[WARPS];
};

// Where the place-th of what warps have listed stands: in whose list, and where there.
__device__ __forceinline__ int place_in(const int (&listed)[WARPS], int place, int& warp, int& all) {
    int start = 0;
    warp = all = 0;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) {
        if (place >= all) {
            warp = w;
            start = all;
        }
        all += listed[w];
    }
    return place - start;
}

__device__ __forceinline__ int list_segments(
    const REAL (&held)[HELD], int segments, REAL select, Near& near, bool& beyond) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int listed = 0;
#pragma unroll
    for (int k = 0; k < HELD; ++k) {
        if (k * BLOCK >= segments) continue;
        const bool within = held[k] <= select;
        const unsigned those = __ballot_sync(ALL, within);
        const int place = listed + __popc(those & ((1u << lane) - 1u));
        if (within && place < 32) near.segment[warp][place] = threadIdx.x + k * BLOCK;
        listed += __popc(those);
        beyond = beyond || (!within && held[k] < INFINITE);
    }
    if (lane == 0) near.segments[warp] = listed;
    __syncthreads();
    int from, total;
    place_in(near.segments, 0, from, total);
    return total;
}

// All that may matter of a variable; what depends on its status is made of it later.
struct Seen {
    REAL ratio, alpha, low, high, cost;
    INDEX variable, kind, begin, end;
};

__device__ __forceinline__ Seen see(
    int at, int listed, const Segments& segments, const Variables& of, const Near& near) {
    Seen seen = {};
    seen.ratio = INFINITE;
    if (at >> segments.shift >= listed) return seen;
    int warp, total;
    const int place = place_in(near.segments, at >> segments.shift, warp, total);
    const long long j = segments.variable(near.segment[warp][place], at & (segments.width - 1));
    if (j < 0) return seen;
    const bool structural = j < segments.structurals;
    seen.ratio = of.ratio[j];
    seen.alpha = of.alpha[j];
    seen.low = of.lower[j];
    seen.high = of.upper[j];
    seen.cost = of.reduced_cost[j];
    seen.kind = of.status[j];
    seen.begin = structural ? of.starts[j] : -1;
    seen.end = structural ? of.starts[j + 1] : 0;  // a logical has one entry
    seen.variable = (INDEX)j;
    return seen;
}

// How many break points are within reach, and a lane's own; or more than lanes if so many are.
__device__ __forceinline__ int find_near(
    const REAL (&held)[HELD], const Segments& segments, const Variables& of, REAL select,
    Near& near, Point& own, bool& rest) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    bool beyond = false;
    const int listed = list_segments(held, segments.all, select, near, beyond);
    if (listed > 32) return listed;
    Seen seen[BATCH];
#pragma unroll
    for (int b = 0; b < BATCH; ++b)
        seen[b] = see(threadIdx.x + b * BLOCK, listed, segments, of, near);
    int found = 0;
#pragma unroll
    for (int b = 0; b < BATCH; ++b) {
        if (b * BLOCK >= listed << segments.shift) continue;
        const Seen& one = seen[b];
        const bool within = one.ratio <= select;
        const unsigned those = __ballot_sync(ALL, within);
        const int place = found + __popc(those & ((1u << lane) - 1u));
        if (within && place < 32) {
            const REAL span = one.high - one.low;
            near.point[warp][place] = Point{
                one.ratio, distance_of(one.kind, one.cost), (REAL)fabs(one.alpha),
                one.kind == LOWER ? span : -span, one.variable, one.begin,
                (int)(one.end - one.begin)};
        }
        found += __popc(those);
        beyond = beyond || (!within && one.ratio < INFINITE);
    }
    const bool others = __ballot_sync(ALL, beyond) != 0u;
    if (lane == 0) {
        near.points[warp] = found;
        near.beyond[warp] = others ? 1 : 0;
    }
    __syncthreads();
    int from, total;
    const int place = place_in(near.points, lane, from, total);
    own = Point{INFINITE, INFINITE, REAL(0), REAL(0), (INDEX)NONE, -1, 0};
    if (total <= 32 && lane < total) own = near.point[from][place];
    rest = false;
#pragma unroll
    for (int w = 0; w < WARPS; ++w) rest = rest || near.beyond[w] != 0;
    return total;
}

// What the slope loses at break points of a warp; no sum is needed if a bound is missing.
__device__ __forceinline__ REAL warp_loss(const Point& own, bool counts) {
    const REAL loss = counts ? own.size * fabs(own.span) : REAL(0);
    if (__ballot_sync(ALL, loss == INFINITE) != 0u) return INFINITE;
    return lanes_join<Add>(loss, 32);
}

// Leave the flipped columns and the entering one; one warp.
__device__ __forceinline__ void leave_sides(
    Sides& sides, const Point& own, bool flip, unsigned flips, bool entering) {
    const int lane = threadIdx.x & 31, count = __popc(flips);
    const int before = __popc(flips & ((1u << lane) - 1u));
    int sum = flip ? own.entries : 0;
    if (count > 0) {
        for (int distance = 1; distance < 32; distance <<= 1) {
            const int other = __shfl_sync(ALL, sum, lane < distance ? lane : lane - distance);
            if (lane >= distance) sum += other;
        }
    }
    const int flipped = count > 0 ? __shfl_sync(ALL, sum, 31) : 0;
    if (!flip && !entering) return;
    const int at = flip ? before : count;
    sides.variable[at] = own.variable;
    sides.step[at] = flip ? own.span : REAL(1);
    sides.begin[at] = own.begin;
    sides.offset[at] = flip ? sum - own.entries : flipped;
    if (entering) sides.offset[count + 1] = flipped + own.entries;
}

// Choose if no more break points than lanes come into it, else return false: the block together.
// `sides` may be read by all after the next wait.
__device__ __forceinline__ bool choose_near(
    const REAL (&held)[HELD], const Segments& segments, const Variables& of, REAL smallest,
    REAL slope, REAL tolerance, Near& near, Sides& sides, Choice& choice) {
    const int lane = threadIdx.x & 31;
    REAL select = fmax(REAL(10) * smallest, REAL(1e-7));
    Point own;
    bool rest;
    int length;
    for (;; select *= REAL(10)) {
        length = find_near(held, segments, of, select, near, own, rest);
        if (length > 32) return false;
        if (!rest || warp_loss(own, lane < length) >= slope) break;
    }
    bool open = lane < length;
    unsigned left = __ballot_sync(ALL, open);
    int group = -1, groups = 0;
    REAL largest = REAL(0);
    Best best = nothing();  // of the group whose number the lane has
    while (left != 0u && slope >= REAL(0)) {
        const REAL bound = warp_least(open ? own.ratio : INFINITE);
        const bool equal = open && (own.ratio <= bound || own.distance <= bound * own.size);
        const REAL size = warp_greatest(equal ? own.size : REAL(0));
        const bool first = equal && own.size == size;
        const unsigned index = ~__reduce_max_sync(ALL, first ? ~(unsigned)own.variable : 0u);
        if (lane == groups) best = Best{size, (INDEX)index};
        if (equal) group = groups;
        open = open && !equal;
        left = __ballot_sync(ALL, open);
        slope -= warp_loss(own, equal);
        largest = fmax(largest, size);
        ++groups;
    }
    const REAL required = fmin(REAL(0.1) * largest, REAL(1));
    const bool enough = lane < groups && best.value > required;
    const int chosen = (int)__reduce_max_sync(ALL, enough ? (unsigned)lane : 0u);
    const bool flip = group >= 0 && group < chosen;
    const unsigned flips = __ballot_sync(ALL, flip);
    const INDEX q = __shfl_sync(ALL, best.index, chosen);
    choice = Choice{q, __popc(flips), false, slope > tolerance && !rest && left == 0u};
    if (threadIdx.x < 32) leave_sides(sides, own, flip, flips, group >= 0 && own.variable == q);
    return true;
}
