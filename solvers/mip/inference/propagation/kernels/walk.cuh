// Walking a row for 32 boxes at once: its activities, and the bounds it implies.
//
// Every function is for all lanes of a warp together, each with its own box.

#pragma once

#include "bounds.cuh"
#include "lanes.cuh"

// Maximum and minimum in place, by many threads at once. A number's bits grow with it as a signed integer where it is not
// negative, and fall with it as an unsigned integer where it is; adding zero makes -0 a 0.
__device__ __forceinline__ void raise_to(double* at, double value) {
    value += 0.0;
    if (value >= 0.0) atomicMax((long long*)at, __double_as_longlong(value));
    else atomicMin((unsigned long long*)at, (unsigned long long)__double_as_longlong(value));
}
__device__ __forceinline__ void lower_to(double* at, double value) {
    value += 0.0;
    if (value >= 0.0) atomicMin((long long*)at, __double_as_longlong(value));
    else atomicMax((unsigned long long*)at, (unsigned long long)__double_as_longlong(value));
}
__device__ __forceinline__ void raise_to(float* at, float value) {
    value += 0.0f;
    if (value >= 0.0f) atomicMax((int*)at, __float_as_int(value));
    else atomicMin((unsigned*)at, (unsigned)__float_as_int(value));
}
__device__ __forceinline__ void lower_to(float* at, float value) {
    value += 0.0f;
    if (value >= 0.0f) atomicMin((int*)at, __float_as_int(value));
    else atomicMax((unsigned*)at, (unsigned)__float_as_int(value));
}

// An entry as all lanes need it: for a binary column the words of the lanes in which its term adds
// the coefficient to the smallest and to the largest activity; for others the number among them.
struct __align__(16) Staged {
    REAL value;
    unsigned low, high;
};

struct Batch {
    INDEX binaries;
    const INDEX* __restrict__ place;
    const REAL* __restrict__ weight;
    const INDEX* __restrict__ masks;
    const REAL* __restrict__ wide;
    const INDEX* __restrict__ whole;
    INDEX* next_masks;
    REAL* next_wide;

    __device__ __forceinline__ void stage_binary(Staged* stage, INDEX k) const {
        const long long p = place[k];
        const REAL value = weight[k];
        const unsigned zero = (unsigned)masks[2 * p], one = (unsigned)masks[2 * p + 1];
        *stage = {value, value > REAL(0) ? ~zero : one, value > REAL(0) ? one : ~zero};
    }

    // Add entries [first, last) to the activity of each lane, in their order.
    __device__ __forceinline__ void sum_binaries(
        Activity& sum, INDEX first, INDEX last, Staged* stage, int lane) const {
        for (INDEX base = first; base < last; base += 32) {
            const int count = (int)(last - base < 32 ? last - base : 32);
            __syncwarp();
            if (lane < count) stage_binary(stage + lane, base + lane);
            __syncwarp();
#pragma unroll 4
            for (int at = 0; at < count; ++at) {
                const Staged entry = stage[at];
                if (has(entry.low, lane)) sum.low += entry.value;
                if (has(entry.high, lane)) sum.high += entry.value;
            }
        }
    }

    __device__ __forceinline__ void sum_wide(
        Activity& sum, INDEX first, INDEX last, int lane) const {
#pragma unroll 4
        for (INDEX k = first; k < last; ++k) {
            const REAL* const own = wide + 64 * (long long)(place[k] - binaries) + lane;
            sum.add(weight[k], own[0], own[32]);
        }
    }

    // Forbid values of binary columns that leave no room in the row, in the lanes of `active`.
    __device__ __forceinline__ void tighten_binaries(
        const Room& room, unsigned active, INDEX first, INDEX last, Staged* stage, int lane,
        const ColumnChanges& changes) const {
        const REAL above = room.above_infinite == 0 ? room.above : INFINITE;
        const REAL below = room.below_infinite == 0 ? room.below : INFINITE;
        for (INDEX base = first; base < last; base += 32) {
            const int count = (int)(last - base < 32 ? last - base : 32);
            __syncwarp();
            if (lane < count) stage_binary(stage + lane, base + lane);
            __syncwarp();
            for (int at = 0; at < count; ++at) {
                const Staged entry = stage[at];
                const bool rising = entry.value > REAL(0);
                const unsigned open =
                    active & (rising ? entry.high & ~entry.low : entry.low & ~entry.high);
                const REAL size = magnitude(entry.value);
                if (open == 0 || size < REAL(SMALLEST_ENTRY)) continue;  // the same in all lanes
                const REAL needed = times(size, REAL(1) - REAL(ROUNDING));
                const bool own = has(open, lane);
                const unsigned full_above = __ballot_sync(ALL_LANES, own && above < needed);
                const unsigned full_below = __ballot_sync(ALL_LANES, own && below < needed);
                if ((full_above | full_below) == 0 || lane != 0) continue;
                const long long p = place[base + at];
                const unsigned no_one = rising ? full_above : full_below;
                const unsigned no_zero = rising ? full_below : full_above;
                if (no_zero != 0) fetch_and(next_masks + 2 * p, ~no_zero);
                if (no_one != 0) fetch_and(next_masks + 2 * p + 1, ~no_one);
                changes.mark((INDEX)p, no_zero | no_one);
            }
        }
    }

    __device__ __forceinline__ void tighten_wide(
        const Room& room, bool active, INDEX first, INDEX last, int lane,
        const ColumnChanges& changes) const {
        for (INDEX k = first; k < last; ++k) {
            const INDEX p = place[k];
            const long long own = 64 * (long long)(p - binaries) + lane;
            bool changed = false;
            if (active) {
                const REAL lower = wide[own], upper = wide[own + 32];
                if (lower != upper) {
                    const Interval found =
                        implied(weight[k], lower, upper, room, whole[p - binaries] != 0);
                    if (found.lower > lower) raise_to(next_wide + own, found.lower);
                    if (found.upper < upper) lower_to(next_wide + own + 32, found.upper);
                    changed = found.lower > lower || found.upper < upper;
                }
            }
            const unsigned word = __ballot_sync(ALL_LANES, changed);
            if (word != 0 && lane == 0) changes.mark(p, word);
        }
    }
};

__device__ __forceinline__ Activity sum_span(
    const Batch& batch, const Stretch& span, Staged* stage, int lane) {
    Activity sum = {REAL(0), REAL(0), 0, 0};
    batch.sum_binaries(sum, span.first, span.split, stage, lane);
    batch.sum_wide(sum, span.split, span.last, lane);
    return sum;
}

// What the lanes of a warp know of a row once it is summed: whether there is anything to tighten.
struct Verdict {
    unsigned active;    // lanes to be tightened
    unsigned died;      // lanes in which the row cannot hold
    bool skip_binaries;
};

__device__ __forceinline__ Verdict verdict_of(
    const Room& room, unsigned word, REAL largest, int lane) {
    const bool own = has(word, lane);
    Verdict verdict;
    verdict.died = __ballot_sync(ALL_LANES, own && room.infeasible);
    verdict.active = __ballot_sync(ALL_LANES, own && !room.infeasible && !room.redundant);
    const REAL needed = times(largest, REAL(1) - REAL(ROUNDING));
    const bool tight = (room.above_infinite == 0 && room.above < needed) ||
                       (room.below_infinite == 0 && room.below < needed);
    verdict.skip_binaries = !__any_sync(ALL_LANES, has(verdict.active, lane) && tight);
    return verdict;
}

__device__ __forceinline__ void tighten_span(
    const Batch& batch, const Stretch& span, const Room& room, const Verdict& verdict, Staged* stage,
    int lane, const ColumnChanges& changes) {
    if (verdict.active == 0) return;
    if (!verdict.skip_binaries) {
        batch.tighten_binaries(room, verdict.active, span.first, span.split, stage, lane, changes);
    }
    batch.tighten_wide(room, has(verdict.active, lane), span.split, span.last, lane, changes);
}
