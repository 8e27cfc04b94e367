// What held pivots keep in shared memory. The LP itself stands there too: registers are for entries
// of the dictionary, and what does not fit them would go to memory that is far away while shared
// memory takes the cache's place.

#pragma once

#include "pivots.cuh"

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
