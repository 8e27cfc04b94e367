// Residuals of points and duals of many LPs, a block for each; check.py says which.
//
// A warp reads a row at a time, its lanes neighbouring entries. Reduced costs are computed by
// columns: of a full matrix each thread has a column, whose entries lie beside its neighbours';
// of others a warp reads one through its places among the rows. The second time the matrix comes
// from a cache. Sums follow fixed trees.

#include "batch.cuh"
#include "reduce.cuh"

#define OBJECTIVE 0
#define DUAL_OBJECTIVE 1
#define PRIMAL 2
#define PRIMAL_RELATIVE 3
#define DUAL 4
#define DUAL_RELATIVE 5
#define GAP_RELATIVE 6
#define INSIDE 7
#define FIGURES 8

#define WARP 32
#define BLOCK 128

__device__ __forceinline__ REAL unlimited() { return REAL(1) / REAL(0); }

__device__ __forceinline__ bool is_limit(REAL side) { return fabs(side) < unlimited(); }

__device__ __forceinline__ REAL larger_or_nan(REAL a, REAL b) { return a > b ? a : b; }

// The pattern of all LPs, and the numbers of one.
struct Lp {
    INDEX rows, columns;
    const INDEX* starts;
    const INDEX* indices;
    const INDEX* column_starts;
    const INDEX* column_rows;
    const INDEX* column_entries;
    bool is_full;
    const REAL* values;
    const REAL* cost;
    const REAL* lower;
    const REAL* upper;
    const REAL* row_lower;
    const REAL* row_upper;
    REAL offset;
};

// A thread's parts of the sums, or its largest, over rows or columns.
struct Parts {
    REAL value, support, squares, sizes, largest;
};

__device__ __forceinline__ Parts over_block(Parts own) {
    Parts all;
    all.value = block_reduce<Sum>(own.value);
    all.support = block_reduce<Sum>(own.support);
    all.squares = block_reduce<Sum>(own.squares);
    all.sizes = block_reduce<Sum>(own.sizes);
    all.largest = block_reduce<Largest>(own.largest);
    return all;
}

// A lane's part of the activity of row i.
__device__ __forceinline__ REAL row_part(const Lp& lp, INDEX i, int lane, const REAL* x) {
    const INDEX first = lp.starts[i], last = lp.starts[i + 1];
    REAL total = REAL(0);
    if (lp.is_full) {
        for (INDEX j = lane; j < lp.columns; j += WARP) total += lp.values[first + j] * x[j];
    } else {
        for (INDEX e = first + lane; e < last; e += WARP) {
            total += lp.values[e] * x[lp.indices[e]];
        }
    }
    return total;
}

// Every `lanes`-th entry of column j from the `lane`-th on, times its dual.
__device__ __forceinline__ REAL column_part(
    const Lp& lp, INDEX j, int lane, int lanes, const REAL* y) {
    REAL total = REAL(0);
    if (lp.is_full) {
        for (INDEX i = lane; i < lp.rows; i += lanes) {
            total += lp.values[i * lp.columns + j] * y[i];
        }
    } else {
        const INDEX last = lp.column_starts[j + 1];
        for (INDEX e = lp.column_starts[j] + lane; e < last; e += lanes) {
            total += lp.values[lp.column_entries[e]] * y[lp.column_rows[e]];
        }
    }
    return total;
}

// Clip the duals to the signs that finite sides allow, and grade the rows.
__device__ __forceinline__ Parts check_rows(const Lp& lp, const REAL* x, REAL* y) {
    Parts parts = {REAL(0), REAL(0), REAL(0), REAL(0), REAL(0)};
    const int lane = threadIdx.x % WARP;
    for (INDEX i = threadIdx.x / WARP; i < lp.rows; i += blockDim.x / WARP) {
        const REAL total = lanes_reduce<Sum>(row_part(lp, i, lane, x), WARP);
        if (lane != 0) continue;
        const REAL low = lp.row_lower[i], high = lp.row_upper[i];
        const REAL side = y[i] > REAL(0) ? low : high;
        if (!is_limit(side)) y[i] = REAL(0);
        const REAL price = y[i];
        if (price != REAL(0)) parts.support += price * side;
        const REAL outside = larger_or_nan(larger_or_nan(REAL(0), low - total), total - high);
        parts.squares += outside * outside;
        parts.largest = larger_or_nan(parts.largest, outside);
        REAL size = is_limit(low) ? fabs(low) : REAL(0);
        if (is_limit(high)) size = larger_or_nan(size, fabs(high));
        parts.sizes += size * size;
    }
    return parts;
}

// Grade the columns, whose duals are clipped; *inside is whether the thread's are within bounds.
__device__ __forceinline__ Parts check_columns(
    const Lp& lp, const REAL* x, const REAL* y, bool* inside) {
    Parts parts = {REAL(0), REAL(0), REAL(0), REAL(0), REAL(0)};
    const int lanes = lp.is_full && lp.columns >= WARP ? 1 : WARP;
    const int lane = threadIdx.x % lanes;
    for (INDEX j = threadIdx.x / lanes; j < lp.columns; j += blockDim.x / lanes) {
        const REAL priced = lanes_reduce<Sum>(column_part(lp, j, lane, lanes, y), lanes);
        if (lane != 0) continue;
        const REAL cost = lp.cost[j], point = x[j];
        const REAL reduced = cost - priced;
        *inside = *inside && lp.lower[j] <= point && point <= lp.upper[j];
        parts.value += cost * point;
        parts.sizes += cost * cost;
        const REAL side = reduced > REAL(0) ? lp.lower[j] : lp.upper[j];
        if (is_limit(side)) {
            parts.support += reduced * side;
        } else {
            parts.squares += reduced * reduced;
            parts.largest = larger_or_nan(parts.largest, fabs(reduced));
        }
    }
    return parts;
}

__device__ __forceinline__ void check(
    INDEX count, INDEX rows, INDEX columns, const GivenLps& lps, int claims, const INDEX* ending,
    const REAL* x, REAL* y, REAL* figures) {
    const long long k = blockIdx.x;
    REAL* const found = figures + k * FIGURES;
    const int how = (int)ending[k];
    if (k >= count || how < 0 || ((claims >> how) & 1) == 0) {
        const REAL unknown = unlimited() - unlimited();
        if (threadIdx.x < FIGURES) found[threadIdx.x] = unknown;
        return;
    }
    const long long nonzeros = lps.starts[rows];
    const int varying = lps.varying;
    const Lp lp = {
        rows, columns, lps.starts, lps.indices, lps.column_starts, lps.column_rows,
        lps.column_entries, lps.is_full != 0,
        own_row(lps.values, nonzeros, k, varying, 0), own_row(lps.cost, columns, k, varying, 1),
        own_row(lps.lower, columns, k, varying, 2), own_row(lps.upper, columns, k, varying, 3),
        own_row(lps.row_lower, rows, k, varying, 4), own_row(lps.row_upper, rows, k, varying, 5),
        *own_row(lps.offset, 1, k, varying, 6)};
    const REAL* const point = x + k * columns;
    REAL* const duals = y + k * rows;
    const Parts of_rows = over_block(check_rows(lp, point, duals));  // and the duals are written
    bool inside = true;
    const Parts of_columns = over_block(check_columns(lp, point, duals, &inside));
    const REAL outside = block_reduce<Largest>(inside ? REAL(0) : REAL(1));
    if (threadIdx.x != 0) return;
    const REAL value = of_columns.value + lp.offset;
    const REAL support = of_rows.support + of_columns.support + lp.offset;
    found[OBJECTIVE] = value;
    found[DUAL_OBJECTIVE] = support;
    found[PRIMAL] = of_rows.largest;
    found[PRIMAL_RELATIVE] = sqrt(of_rows.squares) / (REAL(1) + sqrt(of_rows.sizes));
    found[DUAL] = of_columns.largest;
    found[DUAL_RELATIVE] = sqrt(of_columns.squares) / (REAL(1) + sqrt(of_columns.sizes));
    found[GAP_RELATIVE] = fabs(value - support) / (REAL(1) + fabs(value) + fabs(support));
    found[INSIDE] = outside > REAL(0) ? REAL(0) : REAL(1);
}

// Numbers in a narrower type, a thread for each.
extern "C" __global__ void narrow(
    INDEX count, const INDEX* __restrict__ wide, NARROWED_T* __restrict__ narrowed) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) narrowed[i] = (NARROWED_T)wide[i];
}
