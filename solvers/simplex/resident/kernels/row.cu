// The pivot row; row.py states what the kernels compute.
//
// What one kernel leaves for all blocks of the next is a partial result for each block, which every
// block of the next one joins again for itself: cheaper than another launch, and without atomics.

#include "core.cuh"

#define CHUNK 8  // entries that a thread asks for at once

extern "C" __global__ void __launch_bounds__(BLOCK) choose_row(
    int rows, const REAL* __restrict__ x_basic, const REAL* __restrict__ lower_basic,
    const REAL* __restrict__ upper_basic, const REAL* __restrict__ weights,
    const REAL* __restrict__ scalars, REAL* __restrict__ partial_value,
    INDEX* __restrict__ partial_index) {
    const REAL tolerance = scalars[PRIMAL_TOLERANCE];
    Best best = nothing();
    for (int p = blockIdx.x * BLOCK + threadIdx.x; p < rows; p += groups_of(rows) * BLOCK) {
        const REAL excess = excess_of(x_basic[p], lower_basic[p], upper_basic[p], tolerance);
        const REAL merit = excess * excess / weights[p];
        if (merit > best.value) best = Best{merit, (INDEX)p};
    }
    best = block_best(best);
    if (threadIdx.x == 0) {
        partial_value[blockIdx.x] = best.value;
        partial_index[blockIdx.x] = best.index;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) pivot_row(
    int rows, int capacity, int most, int groups, const REAL* __restrict__ inverse,
    const INDEX* __restrict__ unit_row, const INDEX* __restrict__ slot_of_row,
    const INDEX* __restrict__ basic, const REAL* __restrict__ etas,
    const REAL* __restrict__ x_basic, const REAL* __restrict__ lower_basic,
    const REAL* __restrict__ upper_basic, const REAL* __restrict__ weights,
    const REAL* __restrict__ partial_value, const INDEX* __restrict__ partial_index,
    REAL* eta_rows, REAL* __restrict__ row_slots, INDEX* control, REAL* scalars) {
    __shared__ REAL coefficient[MOST_DELAYED];
    __shared__ REAL part[BLOCK / 32][32];
    const INDEX state = control[STATUS], flip_only = control[FLIP_ONLY];
    const INDEX made = control[PIVOTS] - (groups == 0 ? 1 : 0);
    const INDEX iterations = control[ITERATIONS], limit = control[LIMIT];
    INDEX position = control[POSITION];
    Best best = nothing();  // asked for before the status is known, which saves a wait
    if ((int)threadIdx.x < groups)
        best = Best{partial_value[threadIdx.x], partial_index[threadIdx.x]};
    if (state != RUNNING || (groups == 0 && flip_only != 0)) return;
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    // A status written here ends the kernel in every block, whether or not it sees it.
    if (groups > 0 && (made >= most || iterations >= limit)) {
        if (first) control[STATUS] = made >= most ? FOLD : OUT_OF_PIVOTS;
        return;
    }
    // A lane owns an element; the block's warps share out the delayed rows, as one thread alone
    // would wait for memory again and again. They are asked for before the position is known.
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = BLOCK / 32;
    const int i = blockIdx.x * 32 + lane;
    const bool inside = i < rows;
    const INDEX slot = inside ? slot_of_row[i] : -1;
    REAL delayed[MOST_DELAYED / warps];
#pragma unroll
    for (int u = 0; u < MOST_DELAYED / warps; ++u) {
        const int e = warp + u * warps;
        delayed[u] = inside && e < made ? eta_rows[(long long)e * rows + i] : REAL(0);
    }
    if (groups > 0) {
        best = block_best(best);
        if (best.index == NONE) {
            if (first) control[STATUS] = DONE;
            return;
        }
        position = best.index;
        if (first) {
            const REAL x = x_basic[position], low = lower_basic[position];
            const REAL high = upper_basic[position];
            const REAL excess = excess_of(x, low, high, scalars[PRIMAL_TOLERANCE]);
            control[POSITION] = position;
            control[LEAVING] = basic[position];
            scalars[VALUE] = x;
            scalars[EXCESS] = excess;
            scalars[BOUND] = excess < REAL(0) ? low : high;
            scalars[WEIGHT] = weights[position];
        }
    }
    REAL value = REAL(0);
    if (warp == 0 && inside)
        value = slot >= 0 ? inverse[(long long)position * capacity + slot]
                          : (unit_row[position] == i ? REAL(-1) : REAL(0));
    if ((int)threadIdx.x < made)
        coefficient[threadIdx.x] = etas[(long long)position * most + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int u = 0; u < MOST_DELAYED / warps; ++u) {
        const int e = warp + u * warps;
        if (e < made) value += coefficient[e] * delayed[u];
    }
    part[warp][lane] = value;
    __syncthreads();
    if (warp != 0 || !inside) return;
    value = part[0][lane];
#pragma unroll
    for (int w = 1; w < warps; ++w) value += part[w][lane];
    eta_rows[(long long)made * rows + i] = value;
    if (slot >= 0) row_slots[slot] = value;
}

// Places in the row of the entries of a chunk, or -1; `left` entries are left from k on.
template <bool full>
__device__ __forceinline__ void places_of(
    INDEX (&place)[CHUNK], INDEX k, INDEX left, INDEX begin, int lanes,
    const INDEX* __restrict__ indices) {
#pragma unroll
    for (int u = 0; u < CHUNK; ++u) {
        const bool there = u * lanes < left;
        const INDEX at = there ? k + u * lanes : 0;
        place[u] = !there ? -1 : (full ? at - begin : indices[at]);
    }
}

// A thread's share of a column times the row. A chunk of entries is asked for at once, whether or
// not the column has so many, and the indices of the next one before. Of long columns, only those
// entries are read for which the row has no zero: a wait more, but the row is sparse in many a
// pivot, and memory is what long columns wait for.
template <bool full, bool filter>
__device__ __forceinline__ REAL share_of_product(
    INDEX begin, INDEX end, int lane, int lanes, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, const REAL* __restrict__ row) {
    const INDEX stride = CHUNK * lanes;
    INDEX place[CHUNK], next[CHUNK], left = end - begin - lane;
    REAL sum = REAL(0);
    places_of<full>(next, begin + lane, left, begin, lanes, indices);
    for (INDEX k = begin + lane; left > 0; k += stride, left -= stride) {
        REAL factor[CHUNK], value[CHUNK];
#pragma unroll
        for (int u = 0; u < CHUNK; ++u) {
            place[u] = next[u];
            if (!filter) value[u] = place[u] >= 0 ? values[k + u * lanes] : REAL(0);
        }
        places_of<full>(next, k + stride, left - stride, begin, lanes, indices);
#pragma unroll
        for (int u = 0; u < CHUNK; ++u) factor[u] = place[u] >= 0 ? row[place[u]] : REAL(0);
        if (filter) {
#pragma unroll
            for (int u = 0; u < CHUNK; ++u)
                value[u] = factor[u] != REAL(0) ? values[k + u * lanes] : REAL(0);
        }
#pragma unroll
        for (int u = 0; u < CHUNK; ++u) sum += value[u] * factor[u];
    }
    return sum;
}

template <bool full>
__device__ __forceinline__ REAL share_of_product(
    INDEX begin, INDEX end, int lane, int lanes, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, const REAL* __restrict__ row) {
    return lanes == 32 ? share_of_product<full, true>(begin, end, lane, 32, indices, values, row)
                       : share_of_product<full, false>(begin, end, lane, lanes, indices, values, row);
}

// The product of the row with a delayed one, or with itself.
__device__ __forceinline__ void leave_dot(
    int e, INDEX made, int rows, int most, const REAL* __restrict__ eta_rows, REAL* dots) {
    if (e >= made && e < most) return;
    const REAL* __restrict__ row = eta_rows + (long long)made * rows;
    const REAL* __restrict__ other = e < made ? eta_rows + (long long)e * rows : row;
    REAL sum = REAL(0);
#pragma unroll 8
    for (int i = threadIdx.x; i < rows; i += BLOCK) sum += other[i] * row[i];
    sum = block_join<Add>(sum);
    if (threadIdx.x == 0) dots[e < made ? e : most] = sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK, 4) price_row(
    int rows, int structurals, int most, int lanes, int full, int dual, int steepest,
    const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, const REAL* __restrict__ eta_rows,
    const INDEX* __restrict__ status, const INDEX* __restrict__ reference,
    const REAL* __restrict__ lower, const REAL* __restrict__ upper,
    const REAL* __restrict__ reduced_cost, const INDEX* __restrict__ control,
    const REAL* __restrict__ scalars, REAL* __restrict__ alpha_rows, REAL* __restrict__ ratios,
    REAL* __restrict__ least, INDEX* __restrict__ counts, REAL* __restrict__ squares,
    REAL* __restrict__ dots) {
    __shared__ REAL ratio_of[BLOCK];
    const INDEX state = control[STATUS], flip_only = control[FLIP_ONLY];
    const INDEX made = control[PIVOTS] - (dual == 0 ? 1 : 0), leaving = control[LEAVING];
    const REAL excess = scalars[EXCESS], small = scalars[SMALL_PIVOT], relax = scalars[HARRIS];
    const int tid = threadIdx.x, block = blockIdx.x;
    const int per_block = BLOCK / lanes;
    const int spread = (structurals + per_block - 1) / per_block;
    const int owners = spread + (rows + BLOCK - 1) / BLOCK;
    const bool structural = block < spread;
    const int lane = structural ? tid % lanes : 0;
    const int at = structural ? tid / lanes : tid;  // of the block's variables
    const int i = (structural ? block * per_block : (block - spread) * BLOCK) + at;
    const bool inside = i < (structural ? structurals : rows), owner = inside && lane == 0;
    const long long j = structural ? i : (long long)structurals + i;
    // What is known of the variable is asked for at once, before anything is waited for.
    INDEX kind = BASIC, begin = 0, end = 0;
    REAL low = REAL(0), high = REAL(0), cost = REAL(0);
    bool counted = false;
    if (inside && block < owners) {
        kind = status[j];
        if (structural) {
            begin = starts[i];
            end = starts[i + 1];
        }
        if (owner && dual != 0) {
            low = lower[j];
            high = upper[j];
            cost = reduced_cost[j];
            counted = steepest == 0 && reference[j] != 0;
        }
    }
    if (state != RUNNING || (dual == 0 && flip_only != 0)) return;
    if (block >= owners) {
        leave_dot(block - owners, made, rows, most, eta_rows, dots);
        return;
    }
    const REAL* __restrict__ row = eta_rows + (long long)made * rows;
    REAL alpha = REAL(0);
    if (structural) {
        if (kind != BASIC)
            alpha = full != 0
                ? share_of_product<true>(begin, end, lane, lanes, indices, values, row)
                : share_of_product<false>(begin, end, lane, lanes, indices, values, row);
        alpha = lanes_join<Add>(alpha, lanes);
    } else if (inside) {
        alpha = -row[i];
    }
    REAL ratio = INFINITE;
    if (owner) {
        if (kind == BASIC) alpha = j == leaving ? REAL(1) : REAL(0);
        alpha_rows[made * ((long long)rows + structurals) + j] = alpha;
        if (dual != 0) {
            const REAL signed_alpha = excess < REAL(0) ? -alpha : alpha, size = fabs(alpha);
            const bool right = kind == LOWER ? signed_alpha > REAL(0)
                                             : (kind == UPPER ? signed_alpha < REAL(0) : true);
            if (kind != BASIC && size > small && low < high && right)
                ratio = (distance_of(kind, cost) + relax) / size;
            ratios[j] = ratio;
        }
    }
    if (dual == 0) return;
    if (lane == 0) ratio_of[at] = ratio;
    if (steepest == 0) {
        const REAL square = block_join<Add>(counted && kind != BASIC ? alpha * alpha : REAL(0));
        if (tid == 0) squares[block] = square;
    }
    __syncthreads();
    const int held = structural ? per_block : BLOCK, width = segment_width(lanes);
    if ((tid & ~31) >= held) return;  // a whole warp
    ratio = tid < held ? ratio_of[tid] : INFINITE;
    const REAL found = lanes_join<Add>(ratio < INFINITE ? REAL(1) : REAL(0), width);
    ratio = lanes_join<Least>(ratio, width);
    if (tid % width != 0 || tid >= held) return;
    const int segment = (structural ? block * per_block
                                    : spread * per_block + (block - spread) * BLOCK) / width
        + tid / width;
    least[segment] = ratio;
    counts[segment] = (INDEX)found;
}
