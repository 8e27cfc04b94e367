// The choice of who enters in a dual pivot, for the few columns that held dictionaries have: the
// same as choose_entering of pivots.cuh. One warp works alone here while the block waits, so what it
// does from group to group stands in its registers and is compared as whole numbers.
//
// What held pivots keep in shared memory comes first. The LP itself stands there too: registers are
// for entries of the dictionary, and what does not fit them would go to memory that is far away
// while shared memory takes the cache's place.

#pragma once

#include "dictionary.cuh"

#define MOST_WARPS 16
#define OFFERS_AT_ONCE 4
#define HELD_ENTRIES 40   // neighbouring entries of a row that a thread holds
#define HELD_COLUMNS 256  // the most that a held dictionary has
#define TIED 5            // an ending: too many steps of no length

// What is found out about a pivot, for the block to read: of row p by the first thread, of column q
// by the first warp.
struct HeldPivot {
    REAL off, target;  // how far the row is outside its bounds, and the bound to which it goes
    REAL inverse, price, flip_until;
    int q, leaving, entering, ending;
    bool to_low, is_tie;
};

// The LP, as Lp<true> has it, with the places of its vectors ready: counted from `memory`.
struct HeldLp {
    int m, n, leading;
    int by_column, by_row, by_variable;  // in numbers
    int by_status;                       // in integers
    REAL primal_tolerance, dual_tolerance;

    __device__ __forceinline__ REAL* D() const { return (REAL*)memory; }
    __device__ __forceinline__ int at(int i, int j) const { return j * leading + i; }
    __device__ __forceinline__ REAL* reduced() const { return D() + by_column; }
    __device__ __forceinline__ REAL* point() const { return reduced() + n; }
    __device__ __forceinline__ REAL* price() const { return reduced() + 2 * n; }
    __device__ __forceinline__ REAL* row() const { return reduced() + 3 * n; }
    __device__ __forceinline__ REAL* ratio() const { return reduced() + 4 * n; }
    __device__ __forceinline__ REAL* value() const { return D() + by_row; }
    __device__ __forceinline__ REAL* merit() const { return value() + m; }
    __device__ __forceinline__ REAL* column() const { return value() + 2 * m; }
    __device__ __forceinline__ REAL* cost() const { return D() + by_variable; }
    __device__ __forceinline__ REAL* low() const { return cost() + (n + m); }
    __device__ __forceinline__ REAL* high() const { return cost() + 2 * (n + m); }
    __device__ __forceinline__ int* status() const { return (int*)memory + by_status; }
    __device__ __forceinline__ int* basic() const { return status() + (n + m); }
    __device__ __forceinline__ int* nonbasic() const { return basic() + m; }
};

struct HeldState {
    HeldLp lp;
    REAL smallest, wanted;  // of parameters
    int most_ties;          // of them too
    int until_limit, until_pause;  // pivots that this run of them may have
    int fresh;              // pivots since the dictionary was built, before this run
    int count, padded;      // shares of a row, and entries of all of them
    int first;              // number of `memory` from which vectors stand
    REAL merit[MOST_WARPS];  // the largest of each 32 rows, none for no rows, and where it is
    int row[MOST_WARPS];
    HeldPivot pivot;

    // Row p, then what replaces it; zero beyond n.
    __device__ __forceinline__ REAL* line() const { return (REAL*)memory + first; }
    // Nonbasic values, zero beyond n; before, by how much the row's slope drops where one is passed.
    __device__ __forceinline__ REAL* point() const { return line() + padded; }
    __device__ __forceinline__ REAL* drop() const { return line() + padded; }
    // Parts of the rows' sums, by share and row.
    __device__ __forceinline__ REAL* squares() const { return line() + 2 * padded; }
    __device__ __forceinline__ REAL* values() const { return squares() + blockDim.x; }
};

__shared__ HeldState held;

// By one thread, with everything else behind a barrier: make ready for pivots.
__device__ __forceinline__ void set_up_held(
    const Lp<true>& lp, const REAL* parameters, const Counts& counts, int checked) {
    const int by_column = lp.leading * lp.n;
    const int by_row = by_column + COLUMN_VECTORS * lp.n;
    const int by_variable = by_row + ROW_VECTORS * lp.m;
    const int numbers = by_variable + VARIABLE_VECTORS * (lp.m + lp.n) + (int)blockDim.x;
    const int integers = 2 * (lp.m + lp.n) + lp.n;
    const int room = (integers * (int)sizeof(int) + (int)sizeof(REAL) - 1) / (int)sizeof(REAL);
    held.lp = {lp.m, lp.n, lp.leading, by_column, by_row, by_variable,
               numbers * (int)(sizeof(REAL) / sizeof(int)), lp.primal_tolerance,
               lp.dual_tolerance};
    held.smallest = parameters[SMALLEST_PIVOT];
    held.wanted = parameters[WANTED_PIVOT];
    held.most_ties = (int)parameters[STALLED];
    held.until_limit = counts.most - counts.pivots;
    held.until_pause = (int)parameters[CHECK_EVERY] - checked;
    held.fresh = counts.fresh;
    held.count = (lp.n + HELD_ENTRIES - 1) / HELD_ENTRIES;
    held.padded = held.count * HELD_ENTRIES;
    held.first = (numbers + room + 1) / 2 * 2;
    for (int w = 0; w < MOST_WARPS; ++w) held.merit[w] = REAL(0);
}

// Tell the block of the best of a warp's rows, of which each thread has one, up to m.
__device__ __forceinline__ void offer_row(REAL merit) {
    if ((int)(threadIdx.x & ~31u) >= held.lp.m) return;
    int row = threadIdx.x;
    warp_best(merit, row);
    if ((threadIdx.x & 31) == 0) {
        held.merit[threadIdx.x >> 5] = merit;
        held.row[threadIdx.x >> 5] = row;
    }
}

// The best row of all that were offered, the lowest of equal ones, or NOBODY.
__device__ __forceinline__ int best_row() {
    REAL best = REAL(0);
    int found = NOBODY;
    for (int first = 0; first * 32 < held.lp.m; first += OFFERS_AT_ONCE) {
#pragma unroll
        for (int w = first; w < first + OFFERS_AT_ONCE; ++w) {
            const REAL merit = held.merit[w];
            const int row = held.row[w];
            found = merit > best ? row : found;
            best = larger(merit, best);
        }
    }
    return found;
}

#define NO_KEY 0x7ff00000u  // of infinity; what is not a number has a larger one

// Upper halves of numbers that are not negative, which are ordered as the numbers are or equal.
__device__ __forceinline__ unsigned key_of(REAL value) { return halves_of(value).high; }

// For those who may enter in the row that stands in the line: exact ratios in lp.price(), those with
// Harris' tolerance in lp.ratio(), both infinite for the others, what the slope drops by, and
// inverse entries in lp.row().
__device__ __forceinline__ void held_ratios() {
    const HeldLp& lp = held.lp;
    const bool below = held.pivot.to_low;
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) {
        const REAL entry = held.line()[j];
        const REAL size = fabs(entry);
        const REAL price = fabs(lp.reduced()[j]);
        const int v = lp.nonbasic()[j];
        const int status = lp.status()[v];
        const REAL low = lp.low()[v], high = lp.high()[v];
        const bool fits = size > held.smallest && low < high &&
                          (status == ZERO || (below == (entry > REAL(0))) == (status == LOWER));
        const REAL inverse = REAL(1) / entry;
        const REAL scale = fabs(inverse);
        lp.row()[j] = inverse;
        lp.price()[j] = fits ? price * scale : infinity();
        lp.ratio()[j] = fits ? (price + lp.dual_tolerance) * scale : infinity();
        held.drop()[j] = size * (high - low);
    }
}

// A group of equal ratio: the step at which it is passed, by how much the slope drops there, and
// its largest entry.
struct Group {
    REAL step, drop, size;
    int q;
};

// By one warp: the group among several candidates, `several` a bit for each of a lane's columns.
// Returns those of them that belong to it.
__device__ __forceinline__ unsigned find_group(unsigned several, Group& group) {
    const HeldLp& lp = held.lp;
    group = {infinity(), REAL(0), REAL(0), NOBODY};
#pragma unroll 1
    for (unsigned rest = several; rest != 0u; rest &= rest - 1u) {
        const int j = (int)threadIdx.x + 32 * (__ffs((int)rest) - 1);
        group.step = smaller(group.step, lp.ratio()[j]);
    }
    __syncwarp();
    group.step = warp_least(group.step);
    unsigned joined = 0u;
#pragma unroll 1
    for (unsigned rest = several; rest != 0u; rest &= rest - 1u) {
        const int j = (int)threadIdx.x + 32 * (__ffs((int)rest) - 1);
        if (!(lp.price()[j] <= group.step)) continue;
        const REAL own = fabs(held.line()[j]);
        joined |= rest & (0u - rest);
        group.drop += held.drop()[j];
        if (own > group.size) {
            group.size = own;
            group.q = j;
        }
    }
    __syncwarp();
    group.drop = lanes_reduce<Sum>(group.drop, 32);
    warp_best(group.size, group.q);
    return joined;
}

// By one warp: tell the block of the pivot in column q; candidates with exact ratios up to
// `flip_until` are to be flipped.
__device__ __forceinline__ void tell_pivot(int q, REAL flip_until) {
    if (threadIdx.x != 0) return;
    const HeldLp& lp = held.lp;
    const REAL inverse = lp.row()[q];
    const int entering = lp.nonbasic()[q];
    const bool below = held.pivot.to_low;
    REAL price = lp.reduced()[q];
    held.pivot.is_tie = fabs(price) <= lp.dual_tolerance;
    if (price != REAL(0) && (below == (price > REAL(0))) != (inverse > REAL(0))) {
        lp.cost()[entering] -= price;
        price = REAL(0);
    }
    held.pivot.price = price;
    held.pivot.inverse = inverse;
    held.pivot.flip_until = flip_until;
    held.pivot.entering = entering;
    held.pivot.q = q;
}

// By one warp: choose_entering of pivots.cuh for at most 32 COLUMNS columns, and what follows from it.
// Most groups are of one candidate, which keys tell apart from the others.
template <int COLUMNS>
__device__ __forceinline__ void choose_held(bool is_fresh) {
    const HeldLp& lp = held.lp;
    const int lane = threadIdx.x;
    unsigned exact[COLUMNS], relaxed[COLUMNS];  // keys of candidates that are not passed yet
#pragma unroll
    for (int k = 0; k < COLUMNS; ++k) {
        const int j = lane + 32 * k;
        relaxed[k] = j < lp.n ? key_of(lp.ratio()[j]) : NO_KEY;
        exact[k] = j < lp.n ? key_of(lp.price()[j]) : NO_KEY;
    }
#pragma unroll
    for (int k = 0; k < COLUMNS; ++k) exact[k] = relaxed[k] < NO_KEY ? exact[k] : NO_KEY;
    REAL off = held.pivot.off;
    REAL best_size = REAL(0), passed = REAL(-1), flip_until = REAL(-1);
    int best = NOBODY;
    bool found = false;
    while (true) {
        unsigned least = NO_KEY;
#pragma unroll
        for (int k = 0; k < COLUMNS; ++k) least = relaxed[k] < least ? relaxed[k] : least;
        least = __reduce_min_sync(FULL_WARP, least);
        if (least >= NO_KEY) break;
        // Whose ratio has the least key is among these, as exact ratios are not above the others.
        unsigned mine = 0u;
#pragma unroll
        for (int k = 0; k < COLUMNS; ++k) mine |= (exact[k] <= least ? 1u : 0u) << k;
        const unsigned lanes = __ballot_sync(FULL_WARP, mine != 0u);
        const int owner = __ffs((int)lanes) - 1;
        const unsigned those = __shfl_sync(FULL_WARP, mine, owner);
        Group group;
        if ((lanes & (lanes - 1u)) == 0u && (those & (those - 1u)) == 0u) {
            const int q = owner + 32 * (__ffs((int)those) - 1);
            group = {lp.ratio()[q], held.drop()[q], fabs(held.line()[q]), q};
        } else {
            mine = find_group(mine, group);
            if (group.q == NOBODY) break;  // only where numbers are not finite
        }
#pragma unroll
        for (int k = 0; k < COLUMNS; ++k) {
            if ((mine >> k) & 1u) relaxed[k] = exact[k] = NO_KEY;
        }
        if (group.size >= held.wanted || group.size > best_size) {
            best = group.q;
            best_size = group.size;
            flip_until = passed;
        }
        off -= group.drop;
        found = off <= lp.primal_tolerance;
        if (found) break;
        passed = group.step;
    }
    const bool accurate = best_size >= held.wanted || is_fresh;
    const int ending = !found ? NO_PIVOT : (accurate ? DONE : INACCURATE);
    if (ending == DONE) tell_pivot(best, flip_until);
    if (lane == 0) held.pivot.ending = ending;
}

// The same for as many columns as there are.
__device__ __noinline__ void choose_pivot(bool is_fresh) {
    if (held.lp.n <= 64) {
        choose_held<2>(is_fresh);
    } else if (held.lp.n <= 128) {
        choose_held<4>(is_fresh);
    } else {
        choose_held<HELD_COLUMNS / 32>(is_fresh);
    }
}
