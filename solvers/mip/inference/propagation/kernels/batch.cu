// Rounds of bound propagation for 32 boxes side by side; batch.py states what each kernel computes.
//
// A warp walks a row, each lane for its own box: no shuffles, no divergence, and every word or
// bound is loaded once for all lanes. 32 entries at a time are staged in shared memory - one lane
// each loads coefficient and words - and then read by all as broadcasts.

#include "walk.cuh"

#define BLOCK 256
#define WARPS (BLOCK / 32)

extern "C" __global__ void __launch_bounds__(BLOCK) batch_rows(
    int parity, int rows, int columns, int binaries, const INDEX* __restrict__ row_start,
    const INDEX* __restrict__ row_split, const INDEX* __restrict__ row_place,
    const REAL* __restrict__ row_weight, const REAL* __restrict__ row_largest,
    const REAL* __restrict__ row_lower, const REAL* __restrict__ row_upper,
    const INDEX* __restrict__ whole, INDEX* row_changed, INDEX* row_list, INDEX* column_changed,
    INDEX* column_list, const INDEX* __restrict__ masks, const REAL* __restrict__ wide,
    INDEX* next_masks, REAL* next_wide, INDEX* control) {
    __shared__ Staged stages[WARPS][32];
    __shared__ REAL part_low[PARTS][32], part_high[PARTS][32];
    __shared__ int part_infinite[PARTS][32];
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    const int later = 1 - parity;
    const Batch batch = {binaries, row_place, row_weight, masks, wide, whole, next_masks,
                         next_wide};
    const ColumnChanges changes(column_changed, column_list, control, later, columns);
    const unsigned live = ~(unsigned)control[DEAD + parity];
    const INDEX short_rows = control[NUM_ROWS + parity];
    const INDEX long_rows = control[NUM_LONG_ROWS + parity];
    const INDEX changed_columns = control[NUM_COLUMNS + parity];
    const INDEX thread = (INDEX)blockIdx.x * BLOCK + threadIdx.x;
    const INDEX threads = (INDEX)gridDim.x * BLOCK;
    if (thread == 0) {
        control[NUM_ROWS + later] = 0;
        control[NUM_LONG_ROWS + later] = 0;
        if (short_rows + long_rows > 0) control[ROUNDS] += 1;
    }
    for (INDEX at = thread; at < changed_columns; at += threads) {
        const long long side = (long long)parity * columns;
        column_changed[side + column_list[side + at]] = 0;
    }
    unsigned died = 0;
    int work = 0;

    for (INDEX at = blockIdx.x; at < long_rows; at += gridDim.x) {
        const INDEX row = row_list[rows - 1 - at];
        const unsigned word = (unsigned)row_changed[row] & live;
        const Stretch span = {row_start[row], row_split[row], row_start[row + 1]};
        __syncthreads();  // all have read the word, and the sums of the row before
        if (threadIdx.x == 0) row_changed[row] = 0;
        if (word == 0) continue;
        for (int part = warp; part < PARTS; part += WARPS) {
            const Activity sum = sum_span(batch, span.part(part), stages[warp], lane);
            part_low[part][lane] = sum.low;
            part_high[part][lane] = sum.high;
            part_infinite[part][lane] = (sum.low_infinite < 2 ? sum.low_infinite : 2) +
                                        ((sum.high_infinite < 2 ? sum.high_infinite : 2) << 16);
        }
        __syncthreads();
        Activity sum = {REAL(0), REAL(0), 0, 0};
        for (int part = 0; part < PARTS; ++part) {
            const int infinite = part_infinite[part][lane];
            sum.join({part_low[part][lane], part_high[part][lane], infinite & 0xffff,
                      infinite >> 16});
        }
        const Room room = room_of(sum, row_lower[row], row_upper[row]);
        const Verdict verdict = verdict_of(room, word, row_largest[row], lane);
        died |= verdict.died;
        for (int part = warp; part < PARTS; part += WARPS) {
            tighten_span(batch, span.part(part), room, verdict, stages[warp], lane, changes);
        }
        if (warp == 0) work += (int)((span.last - span.first + 31) / 32);
    }

    for (INDEX at = thread / 32; at < short_rows; at += threads / 32) {
        const INDEX row = row_list[at];
        const unsigned word = (unsigned)row_changed[row] & live;
        __syncwarp();
        if (lane == 0) row_changed[row] = 0;
        if (word == 0) continue;
        const Stretch span = {row_start[row], row_split[row], row_start[row + 1]};
        const Activity sum = sum_span(batch, span, stages[warp], lane);
        const Room room = room_of(sum, row_lower[row], row_upper[row]);
        const Verdict verdict = verdict_of(room, word, row_largest[row], lane);
        died |= verdict.died;
        tighten_span(batch, span, room, verdict, stages[warp], lane, changes);
        work += (int)((span.last - span.first + 31) / 32);
    }

    if (lane == 0) {
        if (died != 0) fetch_or(control + DEAD + later, died);
        if (work != 0) fetch_add(control + WORK, work);
    }
}

// Add lanes to the word of a row, and list it if it had none; all threads of a warp together.
__device__ __forceinline__ void wake_row(
    bool any, INDEX row, unsigned word, int rows, const INDEX* __restrict__ row_start,
    INDEX* row_changed, INDEX* row_list, INDEX* num_rows, INDEX* num_long) {
    bool fresh = false, is_long = false;
    if (any) {
        fresh = fetch_or(row_changed + row, word) == 0;
        is_long = fresh && row_start[row + 1] - row_start[row] > LONG_ROW;
    }
    if (is_long) row_list[rows - 1 - fetch_add(num_long, 1)] = row;
    const unsigned listed = __ballot_sync(ALL_LANES, fresh && !is_long);
    if (listed == 0) return;
    const int lane = threadIdx.x & 31;
    INDEX first = 0;
    if (lane == 0) first = fetch_add(num_rows, __popc(listed));
    first = __shfl_sync(ALL_LANES, first, 0);
    if (fresh && !is_long) row_list[first + __popc(listed & ((1u << lane) - 1u))] = row;
}

// Take over a column's next bounds in the lanes of a word; returns the lanes that contradict.
__device__ __forceinline__ unsigned take_over(
    INDEX place, int binaries, unsigned word, int lane, INDEX* masks, REAL* wide,
    INDEX* next_masks, REAL* next_wide) {
    if (place < binaries) {
        const long long at = 2 * (long long)place;
        const unsigned zero = (unsigned)next_masks[at], one = (unsigned)next_masks[at + 1];
        if (lane == 0) {
            masks[at] = next_masks[at];
            masks[at + 1] = next_masks[at + 1];
        }
        return word & ~(zero | one);
    }
    bool contradicts = false;
    if (has(word, lane)) {
        const long long at = 64 * (long long)(place - binaries) + lane;
        REAL lower = next_wide[at], upper = next_wide[at + 32];
        contradicts = crossing(lower, upper);
        wide[at] = next_wide[at] = lower;
        wide[at + 32] = next_wide[at + 32] = upper;
    }
    return __ballot_sync(ALL_LANES, contradicts);
}

extern "C" __global__ void __launch_bounds__(BLOCK) batch_columns(
    int parity, int rows, int columns, int binaries, const INDEX* __restrict__ place_column,
    const INDEX* __restrict__ column_start, const INDEX* __restrict__ column_row,
    const INDEX* __restrict__ long_columns, int num_long, const INDEX* __restrict__ row_start,
    INDEX* row_changed, INDEX* row_list, INDEX* column_changed, INDEX* column_list, INDEX* masks,
    REAL* wide, INDEX* next_masks, REAL* next_wide, INDEX* control) {
    const int lane = threadIdx.x & 31;
    const int later = 1 - parity;
    const INDEX thread = (INDEX)blockIdx.x * BLOCK + threadIdx.x;
    const INDEX threads = (INDEX)gridDim.x * BLOCK;
    const unsigned dead = (unsigned)control[DEAD + parity];
    const INDEX count = control[NUM_COLUMNS + parity];
    const INDEX* const words = column_changed + (long long)parity * columns;
    const INDEX* const list = column_list + (long long)parity * columns;
    INDEX* const num_rows = control + NUM_ROWS + parity;
    INDEX* const num_long_rows = control + NUM_LONG_ROWS + parity;
    if (thread == 0) {
        control[NUM_COLUMNS + later] = 0;
        fetch_or(control + DEAD + later, dead);
    }
    if (count == 0) return;
    unsigned died = 0;
    for (INDEX at = thread / 32; at < count; at += threads / 32) {
        const INDEX place = list[at];
        const unsigned word = (unsigned)words[place] & ~dead;
        if (word == 0) continue;
        died |= take_over(place, binaries, word, lane, masks, wide, next_masks, next_wide);
        const INDEX column = place_column[place];
        const INDEX first = column_start[column], last = column_start[column + 1];
        if (last - first > LONG_COLUMN) continue;
        for (INDEX base = first; base < last; base += 32) {
            const bool any = base + lane < last;
            const INDEX row = any ? column_row[base + lane] : 0;
            wake_row(any, row, word, rows, row_start, row_changed, row_list, num_rows,
                     num_long_rows);
        }
    }
    if (died != 0 && lane == 0) fetch_or(control + DEAD + later, died);
    for (int which = 0; which < num_long; ++which) {
        const INDEX place = long_columns[which];
        const unsigned word = (unsigned)words[place] & ~dead;
        if (word == 0) continue;
        const INDEX column = place_column[place];
        const INDEX last = column_start[column + 1];
        for (INDEX base = column_start[column] + (thread - lane); base < last; base += threads) {
            const bool any = base + lane < last;
            const INDEX row = any ? column_row[base + lane] : 0;
            wake_row(any, row, word, rows, row_start, row_changed, row_list, num_rows,
                     num_long_rows);
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) batch_tighten(
    int items, const INDEX* __restrict__ item_lane, const INDEX* __restrict__ item_place,
    const REAL* __restrict__ item_lower, const REAL* __restrict__ item_upper, int columns,
    int binaries, INDEX* column_changed, INDEX* column_list, INDEX* next_masks, REAL* next_wide,
    INDEX* control) {
    const INDEX item = (INDEX)blockIdx.x * BLOCK + threadIdx.x;
    if (item >= items) return;
    const ColumnChanges changes(column_changed, column_list, control, 0, columns);
    const INDEX place = item_place[item];
    const unsigned bit = 1u << (int)item_lane[item];
    const REAL lower = item_lower[item], upper = item_upper[item];
    bool changed = false;
    if (place < binaries) {
        INDEX* const own = next_masks + 2 * (long long)place;
        if (lower > REAL(0)) changed = ((unsigned)fetch_and(own, ~bit) & bit) != 0;
        if (upper < REAL(1)) changed |= ((unsigned)fetch_and(own + 1, ~bit) & bit) != 0;
    } else {
        REAL* const own = next_wide + 64 * (long long)(place - binaries) + item_lane[item];
        changed = lower > own[0] || upper < own[32];
        if (changed) {
            raise_to(own, lower);
            lower_to(own + 32, upper);
        }
    }
    if (changed) changes.mark(place, bit);
}

extern "C" __global__ void __launch_bounds__(BLOCK) batch_load(
    int lanes, int columns, int binaries, const INDEX* __restrict__ place_column,
    const REAL* __restrict__ lower, const REAL* __restrict__ upper, INDEX* masks, REAL* wide,
    INDEX* next_masks, REAL* next_wide, INDEX* control) {
    const INDEX thread = (INDEX)blockIdx.x * BLOCK + threadIdx.x;
    const INDEX place = thread / 32;
    const int lane = threadIdx.x & 31;
    const unsigned word = (unsigned)lanes;
    if (thread == 0) {
        fetch_and(control + DEAD, ~word);
        fetch_and(control + DEAD + 1, ~word);
    }
    if (place >= columns) return;
    const INDEX column = place_column[place];
    const REAL low = lower[column], high = upper[column];
    if (place >= binaries) {
        const long long at = 64 * (long long)(place - binaries) + lane;
        if (has(word, lane)) {
            wide[at] = next_wide[at] = low;
            wide[at + 32] = next_wide[at + 32] = high;
        }
    } else if (lane == 0) {
        const long long at = 2 * (long long)place;
        const unsigned zero = low <= REAL(0) ? word : 0u, one = high >= REAL(1) ? word : 0u;
        masks[at] = next_masks[at] = (INDEX)(int)(((unsigned)masks[at] & ~word) | zero);
        masks[at + 1] = next_masks[at + 1] =
            (INDEX)(int)(((unsigned)masks[at + 1] & ~word) | one);
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) batch_wake(
    int lanes, int rows, const INDEX* __restrict__ row_start, INDEX* row_changed, INDEX* row_list,
    INDEX* control) {
    const INDEX row = (INDEX)blockIdx.x * BLOCK + threadIdx.x;
    wake_row(row < rows, row, (unsigned)lanes, rows, row_start, row_changed, row_list,
             control + NUM_ROWS, control + NUM_LONG_ROWS);
}

// A warp has all lanes' values of a column before it writes any: source and target may be one.
extern "C" __global__ void __launch_bounds__(BLOCK) batch_assign(
    const INDEX* __restrict__ source, int columns, int binaries, const INDEX* __restrict__ whole,
    const INDEX* from_masks, const REAL* from_wide, INDEX* masks, REAL* wide, INDEX* next_masks,
    REAL* next_wide, INDEX* control) {
    const INDEX thread = (INDEX)blockIdx.x * BLOCK + threadIdx.x;
    const INDEX place = thread / 32;
    const int lane = threadIdx.x & 31;
    const int from = (int)source[lane];
    const unsigned word = __ballot_sync(ALL_LANES, from >= 0);
    if (thread == 0) {
        fetch_and(control + DEAD, ~word);
        fetch_and(control + DEAD + 1, ~word);
    }
    if (place >= columns) return;
    if (place < binaries) {
        const long long at = 2 * (long long)place;
        const unsigned from_zero = (unsigned)from_masks[at];
        const unsigned from_one = (unsigned)from_masks[at + 1];
        const unsigned zero = __ballot_sync(ALL_LANES, from >= 0 && has(from_zero, from & 31));
        const unsigned one = __ballot_sync(ALL_LANES, from >= 0 && has(from_one, from & 31));
        if (lane == 0) {
            masks[at] = next_masks[at] = (INDEX)(int)(((unsigned)masks[at] & ~word) | zero);
            masks[at + 1] = next_masks[at + 1] =
                (INDEX)(int)(((unsigned)masks[at + 1] & ~word) | one);
        }
        return;
    }
    const long long at = 64 * (long long)(place - binaries);
    REAL lower = REAL(0), upper = REAL(0);
    if (from >= 0) {
        lower = from_wide[at + from];
        upper = from_wide[at + 32 + from];
    }
    __syncwarp();
    if (from >= 0) {
        wide[at + lane] = next_wide[at + lane] = lower;
        wide[at + lane + 32] = next_wide[at + lane + 32] = upper;
    }
}
