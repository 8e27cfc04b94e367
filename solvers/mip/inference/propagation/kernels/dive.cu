// A step of 32 dives beside propagation; dive.py states what each kernel computes.

#include "lanes.cuh"
#include "values.cuh"

#define BLOCK 256
#define SELECT_BLOCK 1024

// Whether some living lane has not fixed a column.
__device__ __forceinline__ bool is_open(
    INDEX place, int binaries, unsigned live, const INDEX* masks, const REAL* wide) {
    if (place < binaries) {
        const long long at = 2 * (long long)place;
        return ((unsigned)masks[at] & (unsigned)masks[at + 1] & live) != 0;
    }
    const REAL* const own = wide + 64 * (long long)(place - binaries);
    for (unsigned left = live; left != 0; left &= left - 1) {
        const int lane = __ffs(left) - 1;
        if (own[lane] < own[lane + 32]) return true;
    }
    return false;
}

extern "C" __global__ void __launch_bounds__(SELECT_BLOCK) dive_select(
    int total, int most, const INDEX* __restrict__ order, int binaries,
    const INDEX* __restrict__ masks, const REAL* __restrict__ wide, INDEX* bulk, INDEX* control) {
    __shared__ int sums[32];
    __shared__ int first_open;
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    const unsigned live = ~(unsigned)control[DEAD];
    const int start = (int)control[CURSOR];
    int count = 0, wanted = 0;  // the same in all threads, as is the first open place
    int first = total;
    if (threadIdx.x == 0) first_open = total;
    __syncthreads();
    for (int base = start; base < total && (first == total || count < wanted);
         base += SELECT_BLOCK) {
        const int at = base + threadIdx.x;
        const bool open = at < total && is_open(order[at], binaries, live, masks, wide);
        const unsigned word = __ballot_sync(ALL_LANES, open);
        if (lane == 0) {
            sums[warp] = __popc(word);
            if (word != 0 && first == total) atomicMin(&first_open, at + __ffs(word) - 1);
        }
        __syncthreads();
        if (first == total && first_open < total) {
            first = first_open;
            const int left = total - first;
            wanted = left <= LAST_ONES ? 1 : (int)sqrt((double)left);
            if (wanted > most) wanted = most;
        }
        int before = 0, all = 0;
        for (int other = 0; other < SELECT_BLOCK / 32; ++other) {
            if (other < warp) before += sums[other];
            all += sums[other];
        }
        const int rank = count + before + __popc(word & ((1u << lane) - 1u));
        if (open && rank < wanted) bulk[rank] = order[at];
        count += all;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        control[CURSOR] = first;
        control[BULK] = count < wanted ? count : wanted;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) dive_fix(
    int lanes, int amount, int columns, int binaries, const INDEX* __restrict__ place_column,
    const INDEX* __restrict__ bulk, const INDEX* __restrict__ rule,
    const INDEX* __restrict__ seed, const REAL* __restrict__ noise,
    const INDEX* __restrict__ good, const INDEX* __restrict__ loose,
    const REAL* __restrict__ reference, INDEX* column_changed, INDEX* column_list,
    INDEX* next_masks, REAL* next_wide, INDEX* control) {
    const int lane = threadIdx.x & 31;
    const INDEX thread = (INDEX)blockIdx.x * BLOCK + threadIdx.x;
    const INDEX warps = (INDEX)gridDim.x * (BLOCK / 32);
    const ColumnChanges changes(column_changed, column_list, control, 0, columns);
    const unsigned word = (unsigned)lanes & ~(unsigned)control[DEAD];
    INDEX count = control[BULK];
    if (amount == HALF) count = (count + 1) / 2;
    if (amount >= FIRST && count > 1) count = 1;
    for (INDEX at = thread / 32; at < count; at += warps) {
        const INDEX place = bulk[at];
        const INDEX column = place_column[place];
        const bool is_binary = place < binaries;
        INDEX* const own_masks = next_masks + 2 * (long long)(is_binary ? place : 0);
        REAL* const own = next_wide + 64 * (long long)(is_binary ? 0 : place - binaries) + lane;
        REAL lower = REAL(0), upper = REAL(0);
        if (is_binary) {
            const unsigned zero = (unsigned)own_masks[0], one = (unsigned)own_masks[1];
            lower = has(zero, lane) ? REAL(0) : REAL(1);
            upper = has(one, lane) ? REAL(1) : REAL(0);
        } else {
            lower = own[0];
            upper = own[32];
        }
        const bool fixes = has(word, lane) && lower < upper;
        REAL value = REAL(0);
        if (fixes) {
            value = value_of((int)rule[lane], (unsigned)seed[lane], noise[lane], (unsigned)column,
                             (int)good[column], (int)loose[column], reference[column], lower,
                             upper);
            if (amount == OTHER) value = other_than(value, lower, upper);
            if (!is_binary) own[0] = own[32] = value;
        }
        const unsigned fixed = __ballot_sync(ALL_LANES, fixes);
        const unsigned ones = __ballot_sync(ALL_LANES, fixes && value > REAL(0.5));
        if (fixed == 0 || lane != 0) continue;
        if (is_binary) {
            if (ones != 0) fetch_and(own_masks, ~ones);
            if ((fixed & ~ones) != 0) fetch_and(own_masks + 1, ~(fixed & ~ones));
        }
        changes.mark(place, fixed);
    }
}
