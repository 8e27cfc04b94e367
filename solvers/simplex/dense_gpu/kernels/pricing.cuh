// Products of the pivot row with columns, and which of them bound the dual step.

#pragma once

#include "core.cuh"

#define CHUNK 8  // entries that a thread asks for at once

// Places in the row of the entries of a chunk, or -1; `left` entries are left from k on.
template <bool full>
__device__ __forceinline__ void places_of(
    INDEX (&place)[CHUNK], INDEX k, INDEX left, INDEX begin, int lanes, const INDEX* indices) {
#pragma unroll
    for (int u = 0; u < CHUNK; ++u) {
        const INDEX at = k + u * lanes;
        place[u] = u * lanes >= left ? -1 : (full ? at - begin : indices[at]);
    }
}

// A thread's share of a column times the row, of which `next` has the first places. A chunk of
// entries is asked for at once, whether or not the column has so many, and the indices of the next
// one before. With `sparse` entries are read only where the row is not zero, which costs another wait:
// the row is sparse in many a pivot, and memory is what long columns wait for.
template <bool full, bool sparse>
__device__ __forceinline__ REAL share_of_product(
    INDEX (&next)[CHUNK], INDEX begin, INDEX end, int lane, int lanes, const INDEX* indices,
    const REAL* values, const REAL* row) {
    const INDEX stride = CHUNK * lanes;
    INDEX place[CHUNK], left = end - begin - lane;
    REAL sum = REAL(0);
#pragma unroll 1
    for (INDEX k = begin + lane; left > 0; k += stride, left -= stride) {
        REAL factor[CHUNK], value[CHUNK];
#pragma unroll
        for (int u = 0; u < CHUNK; ++u) {
            place[u] = next[u];
            const bool wanted = place[u] >= 0;
            factor[u] = wanted ? row[place[u]] : REAL(0);
            if (!sparse) value[u] = wanted ? values[k + u * lanes] : REAL(0);
        }
        places_of<full>(next, k + stride, left - stride, begin, lanes, indices);
        if (sparse) {
#pragma unroll
            for (int u = 0; u < CHUNK; ++u)
                value[u] = factor[u] != REAL(0) ? values[k + u * lanes] : REAL(0);
        }
#pragma unroll
        for (int u = 0; u < CHUNK; ++u) sum += value[u] * factor[u];
    }
    return sum;
}

// The product of the row with a delayed one, or with itself; the block together.
__device__ __forceinline__ void leave_dot(
    int e, INDEX made, int rows, int most, const REAL* eta_rows, REAL* dots) {
    if (e >= made && e < most) return;
    const REAL* row = eta_rows + (long long)made * rows;
    const REAL* other = e < made ? eta_rows + (long long)e * rows : row;
    REAL sum = REAL(0);
#pragma unroll 1
    for (int i = threadIdx.x; i < rows; i += CHUNK * BLOCK) {
        REAL one[CHUNK], two[CHUNK];
#pragma unroll
        for (int u = 0; u < CHUNK; ++u) {
            const bool inside = i + u * BLOCK < rows;
            one[u] = inside ? other[i + u * BLOCK] : REAL(0);
            two[u] = inside ? row[i + u * BLOCK] : REAL(0);
        }
#pragma unroll
        for (int u = 0; u < CHUNK; ++u) sum += one[u] * two[u];
    }
    sum = block_reduce<Sum>(sum);
    if (threadIdx.x == 0) dots[e < made ? e : most] = sum;
}

// How variables are shared out: first blocks of structurals, then of logicals.
struct Spread {
    int rows, structurals, lanes, shift, per_block, structural, owners;  // lanes are 2^shift

    __device__ __forceinline__ Spread(int rows_, int structurals_, int lanes_)
        : rows(rows_), structurals(structurals_), lanes(lanes_), shift(__ffs(lanes_) - 1) {
        per_block = BLOCK >> shift;
        structural = (structurals + per_block - 1) / per_block;
        owners = structural + (rows + BLOCK - 1) / BLOCK;
    }
};

// A thread's variable in a unit, and what bounds the dual step there.
struct Priced {
    long long variable;
    int i, at, lane;  // among those of its kind; among those of the block; of its lanes
    bool structural, inside, owner, counted;
    INDEX kind;
    REAL low, high, cost;
};

__device__ __forceinline__ Priced variable_of(int unit, const Spread& spread) {
    Priced own = {};
    own.structural = unit < spread.structural;
    own.lane = own.structural ? threadIdx.x & (spread.lanes - 1) : 0;
    own.at = own.structural ? threadIdx.x >> spread.shift : threadIdx.x;
    own.i = (own.structural ? unit * spread.per_block : (unit - spread.structural) * BLOCK) + own.at;
    own.inside =
        unit < spread.owners && own.i < (own.structural ? spread.structurals : spread.rows);
    own.owner = own.inside && own.lane == 0;
    own.variable = own.structural ? own.i : (long long)spread.structurals + own.i;
    own.kind = BASIC;
    return own;
}

__device__ __forceinline__ INDEX kind_of(
    int unit, const Spread& spread, const INDEX* status) {
    const Priced own = variable_of(unit, spread);
    return own.inside ? status[own.variable] : (INDEX)BASIC;
}

__device__ __forceinline__ void ask_bounds(Priced& own, bool devex, const Variables& all) {
    if (!own.owner) return;
    own.low = all.lower[own.variable];
    own.high = all.upper[own.variable];
    own.cost = all.reduced_cost[own.variable];
    own.counted = devex && all.reference[own.variable] != 0;
}

// Where the entries of a thread's column are; none for a logical.
struct Entries {
    INDEX begin, end;
};

__device__ __forceinline__ Entries entries_of(
    int unit, const Spread& spread, const INDEX* starts) {
    const Priced own = variable_of(unit, spread);
    if (!own.structural || !own.inside) return Entries{0, 0};
    return Entries{starts[own.i], starts[own.i + 1]};
}

// Ask for the first places of a thread's share of its column.
__device__ __forceinline__ void ask_places(
    INDEX (&place)[CHUNK], Entries of, int unit, const Spread& spread, const Matrix& columns) {
    const int lane = variable_of(unit, spread).lane;
    const INDEX left = of.end - of.begin - lane;
    if (columns.full)
        places_of<true>(place, of.begin + lane, left, of.begin, spread.lanes, columns.indices);
    else
        places_of<false>(place, of.begin + lane, left, of.begin, spread.lanes, columns.indices);
}

// Of columns that a whole warp takes not all entries are read.
__device__ __forceinline__ REAL product_of(
    const Priced& own, Entries of, INDEX (&first)[CHUNK], const Spread& spread,
    const Matrix& columns, const REAL* row) {
    if (!own.structural) return own.inside ? -row[own.i] : REAL(0);
    // Of short columns also those that are basic: to know it would be waited for.
    const int lane = own.lane, lanes = spread.lanes;
    const INDEX begin = of.begin, end = lanes == 32 && own.kind == BASIC ? of.begin : of.end;
    const INDEX* indices = columns.indices;
    const REAL* values = columns.values;
    REAL alpha;
    if (lanes == 32)
        alpha = columns.full
            ? share_of_product<true, true>(first, begin, end, lane, 32, indices, values, row)
            : share_of_product<false, true>(first, begin, end, lane, 32, indices, values, row);
    else
        alpha = columns.full
            ? share_of_product<true, false>(first, begin, end, lane, lanes, indices, values, row)
            : share_of_product<false, false>(
                  first, begin, end, lane, lanes, indices, values, row);
    return lanes_reduce<Sum>(alpha, lanes);
}

// What decides whether a variable is a candidate for entering, beside itself.
struct Pivot {
    INDEX leaving;
    REAL excess, small, relax;
};

// What a unit of variables leaves: alpha, and, in the dual method, ratios; the block together.
__device__ __forceinline__ void leave_prices(
    REAL* ratio_of, const Priced& own, int unit, const Spread& spread, REAL alpha, bool dual,
    bool devex, const Pivot& pivot, REAL* alpha_row, const CandidatesOut& found) {
    const int tid = threadIdx.x;
    const long long j = own.variable;
    REAL ratio = INFINITE;
    if (own.owner) {
        if (own.kind == BASIC) alpha = j == pivot.leaving ? REAL(1) : REAL(0);
        alpha_row[j] = alpha;
        if (dual) {
            const REAL signed_alpha = pivot.excess < REAL(0) ? -alpha : alpha, size = fabs(alpha);
            const bool right = may_enter(own.kind, signed_alpha);
            if (own.kind != BASIC && size > pivot.small && own.low < own.high && right)
                ratio = (distance_of(own.kind, own.cost) + pivot.relax) / size;
            found.ratios[j] = ratio;
        }
    }
    if (!dual) return;
    if (own.lane == 0) ratio_of[own.at] = ratio;
    if (devex) {
        const REAL square =
            block_reduce<Sum>(own.counted && own.kind != BASIC ? alpha * alpha : REAL(0));
        if (tid == 0) found.squares[unit] = square;
    }
    __syncthreads();
    const int held = own.structural ? spread.per_block : BLOCK;
    const int width = segment_width(spread.lanes);
    if ((tid & ~31) >= held) return;  // a whole warp
    ratio = tid < held ? ratio_of[tid] : INFINITE;
    const unsigned candidates = __ballot_sync(0xffffffffu, ratio < INFINITE);
    const int many = __popc(candidates >> (tid & 31 & ~(width - 1)) & (0xffffffffu >> (32 - width)));
    ratio = width == 32 ? warp_least(ratio) : lanes_reduce<Smallest>(ratio, width);
    if ((tid & (width - 1)) != 0 || tid >= held) return;
    const int first = own.structural
        ? unit * spread.per_block
        : spread.structural * spread.per_block + (unit - spread.structural) * BLOCK;
    const int segment = first / width + tid / width;
    found.least[segment] = ratio;
    found.counts[segment] = (INDEX)many;
}
