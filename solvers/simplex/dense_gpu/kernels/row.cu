// The pivot row; row.py states what the kernels compute.
//
// What one kernel leaves for all blocks of the next is a partial result for each block, which every
// block of the next one joins again for itself: cheaper than another launch, and without atomics.
//
// Solving with the basis; row.py states what it computes.

#include "core.cuh"
#include "pricing.cuh"

// The leaving position, and its row of the inverse: the stored one, and the delayed pivots' part.

#define ROW_WARPS (BLOCK / 32)
#define ROW_ELEMENTS 32  // that a block computes at once: a lane each, and every warp a part of it

struct RowSums {
    REAL coefficient[MOST_DELAYED];
    REAL part[ROW_WARPS][ROW_ELEMENTS];
};

// What of the delayed rows a thread reads, which does not depend on the position.
struct Delayed {
    REAL element[MOST_DELAYED / ROW_WARPS];
    INDEX slot;
};

struct Leaving {
    INDEX position, variable;
    REAL value, excess, bound, weight;
};

__device__ __forceinline__ Leaving leaving_at(
    INDEX position, const REAL* x_basic, const REAL* lower_basic, const REAL* upper_basic,
    const REAL* weights, const INDEX* basic, REAL tolerance) {
    const REAL x = x_basic[position], low = lower_basic[position], high = upper_basic[position];
    const REAL excess = excess_of(x, low, high, tolerance);
    return Leaving{position, basic[position], x, excess, excess < REAL(0) ? low : high,
                   weights[position]};
}

// Of the elements of a unit. Threads wait for memory once, not once for each delayed row.
__device__ __forceinline__ Delayed ask_delayed(
    int unit, int rows, INDEX made, const REAL* eta_rows, const INDEX* slot_of_row) {
    const int i = unit * ROW_ELEMENTS + (threadIdx.x & 31), warp = threadIdx.x >> 5;
    const bool inside = i < rows;
    Delayed found;
    found.slot = inside ? slot_of_row[i] : -1;
#pragma unroll
    for (int u = 0; u < MOST_DELAYED / ROW_WARPS; ++u) {
        const int e = warp + u * ROW_WARPS;
        found.element[u] = inside && e < made ? eta_rows[(long long)e * rows + i] : REAL(0);
    }
    return found;
}

// A unit's elements of the row; the block together.
__device__ __forceinline__ void leave_row(
    RowSums& sums, const Delayed& delayed, int unit, INDEX position, int rows, int capacity,
    int most, INDEX made, const REAL* inverse, const INDEX* unit_row, const REAL* etas,
    REAL* eta_rows, REAL* row_slots) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int i = unit * ROW_ELEMENTS + lane;
    const bool inside = i < rows;
    REAL value = REAL(0);
    if (warp == 0 && inside)
        value = delayed.slot >= 0 ? inverse[(long long)position * capacity + delayed.slot]
                                  : (unit_row[position] == i ? REAL(-1) : REAL(0));
    if ((int)threadIdx.x < made)
        sums.coefficient[threadIdx.x] = etas[(long long)position * most + threadIdx.x];
    __syncthreads();
#pragma unroll
    for (int u = 0; u < MOST_DELAYED / ROW_WARPS; ++u) {
        const int e = warp + u * ROW_WARPS;
        if (e < made) value += sums.coefficient[e] * delayed.element[u];
    }
    sums.part[warp][lane] = value;
    __syncthreads();
    if (warp != 0) return;
    value = sums.part[0][lane];
#pragma unroll
    for (int w = 1; w < ROW_WARPS; ++w) value += sums.part[w][lane];
    if (!inside) return;
    eta_rows[(long long)made * rows + i] = value;
    if (delayed.slot >= 0) row_slots[delayed.slot] = value;
}

// A position's row of the inverse times right sides; by one warp, or by a whole block.
//
// The row, and that of the etas, is read once and in order, several elements asked for at once. The
// right sides are short and come from the caches.

struct Sums {
    REAL alpha, beta, tau;
};

// The inverse, with its delayed pivots.
struct Inverse {
    int rows, capacity, most;
    INDEX slots, made;
    const REAL* stored;
    const INDEX* unit_row;
    const REAL* etas;
    const REAL* eta_rows;
    const REAL* row_slots;
};

// The right sides: `entries` of a list, or, if that is negative, sums by slot and by row; and their
// products with the delayed pivot rows.
struct Rights {
    bool flipped, steepest;
    INDEX entries, of_flips;
    const INDEX* places;
    const REAL* amounts;
    const REAL* column;
    const REAL* column_slots;
    const REAL* flip_column;
    const REAL* flip_slots;
    const REAL* column_dots;
    const REAL* flip_dots;
    const REAL* dots;
};

#define OF_ROW 8   // elements that a thread asks for at once, of a row of the inverse
#define OF_ETAS 4  // of the etas, of which there are fewer

// Sums of a row's elements, from `first` on at distances of `stride`, times up to three vectors.
template <int WIDE, bool with_alpha, bool with_beta, bool with_tau>
__device__ __forceinline__ void add_products(
    const REAL* row, int first, int stride, INDEX count, const REAL* alpha_of, const REAL* beta_of,
    const REAL* tau_of, Sums& sums) {
#pragma unroll 1
    for (INDEX s = first; s < count; s += WIDE * stride) {
        REAL element[WIDE], of_alpha[WIDE], of_beta[WIDE], of_tau[WIDE];
#pragma unroll
        for (int u = 0; u < WIDE; ++u) {
            const INDEX at = s + u * stride;
            const bool there = at < count;
            element[u] = there ? row[at] : REAL(0);
            if (with_alpha) of_alpha[u] = there ? alpha_of[at] : REAL(0);
            if (with_beta) of_beta[u] = there ? beta_of[at] : REAL(0);
            if (with_tau) of_tau[u] = there ? tau_of[at] : REAL(0);
        }
#pragma unroll
        for (int u = 0; u < WIDE; ++u) {
            if (with_alpha) sums.alpha += element[u] * of_alpha[u];
            if (with_beta) sums.beta += element[u] * of_beta[u];
            if (with_tau) sums.tau += element[u] * of_tau[u];
        }
    }
}

template <int WIDE>
__device__ __forceinline__ void add_vectors(
    const REAL* row, int first, int stride, INDEX count, const REAL* alpha_of, const REAL* beta_of,
    const REAL* tau_of, bool flipped, bool steepest, Sums& sums) {
    if (flipped && steepest)
        add_products<WIDE, true, true, true>(row, first, stride, count, alpha_of, beta_of, tau_of, sums);
    else if (flipped)
        add_products<WIDE, true, true, false>(row, first, stride, count, alpha_of, beta_of, tau_of, sums);
    else if (steepest)
        add_products<WIDE, true, false, true>(row, first, stride, count, alpha_of, beta_of, tau_of, sums);
    else
        add_products<WIDE, true, false, false>(row, first, stride, count, alpha_of, beta_of, tau_of, sums);
}

// A thread's share of the list's products with a row of the stored inverse.
__device__ __forceinline__ void add_list(
    const REAL* row, INDEX unit, int first, int stride, const Rights& rights, Sums& sums) {
#pragma unroll 4
    for (INDEX u = first; u < rights.entries; u += stride) {
        const INDEX place = rights.places[u];
        const REAL amount = rights.amounts[u];
        const REAL element = place >= 0 ? row[place] : (-1 - place == unit ? REAL(-1) : REAL(0));
        if (u < rights.of_flips) sums.beta += element * amount;
        else sums.alpha += element * amount;
    }
}

// The share of thread `first` of `stride` in a position's elements of alpha and beta, and tau if
// asked for.
__device__ __forceinline__ Sums share_of_position(
    int p, INDEX unit, int first, int stride, bool with_tau, const Inverse& inverse,
    const Rights& rights) {
    const REAL* row = inverse.stored + (long long)p * inverse.capacity;
    const REAL* etas = inverse.etas + (long long)p * inverse.most;
    Sums sums = {REAL(0), REAL(0), REAL(0)};
    if (rights.entries >= 0) {
        add_list(row, unit, first, stride, rights, sums);
        if (with_tau)
            add_products<OF_ROW, false, false, true>(
                row, first, stride, inverse.slots, nullptr, nullptr, inverse.row_slots, sums);
    } else {
        add_vectors<OF_ROW>(row, first, stride, inverse.slots, rights.column_slots, rights.flip_slots,
                    inverse.row_slots, rights.flipped, with_tau, sums);
        if (unit >= 0 && first == 0) {
            sums.alpha -= rights.column[unit];
            if (rights.flipped) sums.beta -= rights.flip_column[unit];
        }
    }
    if (unit >= 0 && first == 0 && with_tau)
        sums.tau -= inverse.eta_rows[(long long)inverse.made * inverse.rows + unit];
    add_vectors<OF_ETAS>(etas, first, stride, inverse.made, rights.column_dots, rights.flip_dots,
                rights.dots, rights.flipped, with_tau, sums);
    return sums;
}

// A position's elements; the whole warp.
__device__ __forceinline__ Sums solve_position(
    int p, INDEX unit, const Inverse& inverse, const Rights& rights) {
    const Sums own =
        share_of_position(p, unit, threadIdx.x & 31, 32, rights.steepest, inverse, rights);
    REAL sums[3] = {own.alpha, own.beta, own.tau};
    warp_sums(sums);
    return Sums{sums[0], sums[1], sums[2]};
}

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
    __shared__ RowSums sums;
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
    const Delayed delayed = ask_delayed(blockIdx.x, rows, made, eta_rows, slot_of_row);
    if (groups > 0) {
        best = block_best(best);
        if (best.index == NONE) {
            if (first) control[STATUS] = DONE;
            return;
        }
        position = best.index;
        if (first) {
            const Leaving leaving = leaving_at(position, x_basic, lower_basic, upper_basic, weights,
                                               basic, scalars[PRIMAL_TOLERANCE]);
            control[POSITION] = position;
            control[LEAVING] = leaving.variable;
            scalars[VALUE] = leaving.value;
            scalars[EXCESS] = leaving.excess;
            scalars[BOUND] = leaving.bound;
            scalars[WEIGHT] = leaving.weight;
        }
    }
    leave_row(sums, delayed, blockIdx.x, position, rows, capacity, most, made, inverse, unit_row,
              etas, eta_rows, row_slots);
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
    const int unit = blockIdx.x;
    const bool devex = steepest == 0;
    const Spread spread(rows, structurals, lanes);
    // What is known of the variable is asked for at once, before anything is waited for.
    Priced own = variable_of(unit, spread);
    own.kind = kind_of(unit, spread, status);
    if (dual != 0) ask_bounds(own, devex, reference, lower, upper, reduced_cost);
    const Entries entries = entries_of(unit, spread, starts);
    if (state != RUNNING || (dual == 0 && flip_only != 0)) return;
    if (unit >= spread.owners) {
        leave_dot(unit - spread.owners, made, rows, most, eta_rows, dots);
        return;
    }
    const REAL* row = eta_rows + (long long)made * rows;
    const Columns columns = {full != 0, starts, indices, values};
    INDEX first[CHUNK];
    ask_places(first, entries, unit, spread, columns);
    const REAL alpha = product_of(own, entries, first, spread, columns, row);
    leave_prices(ratio_of, own, unit, spread, alpha, dual != 0, devex, leaving, excess, small, relax,
                 alpha_rows + made * ((long long)rows + structurals), ratios, least, counts,
                 squares);
}

extern "C" __global__ void __launch_bounds__(BLOCK) solve_column(
    int rows, int capacity, int most, int dual, int steepest, const REAL* __restrict__ inverse,
    const INDEX* __restrict__ unit_row, const REAL* __restrict__ etas,
    const REAL* __restrict__ eta_rows, const REAL* __restrict__ row_slots,
    const INDEX* __restrict__ places, const REAL* __restrict__ amounts,
    const REAL* __restrict__ column, const REAL* __restrict__ column_slots,
    const REAL* __restrict__ flip_column, const REAL* __restrict__ flip_slots,
    const REAL* __restrict__ column_dots, const REAL* __restrict__ flip_dots,
    const REAL* __restrict__ dots, const INDEX* __restrict__ control, REAL* __restrict__ alpha,
    REAL* __restrict__ beta, REAL* __restrict__ tau) {
    const INDEX state = control[STATUS], slots = control[SLOTS], made = control[PIVOTS];
    const INDEX entries = control[ENTRIES], of_flips = control[FLIP_ENTRIES];
    const bool flipped = dual == 1 && control[FLIPS] > 0;
    const int p = (blockIdx.x * BLOCK + threadIdx.x) >> 5;
    if (p >= rows) return;  // a whole warp
    const INDEX unit = unit_row[p];
    if (state != RUNNING) return;
    const Inverse basis = {rows, capacity, most, slots, made, inverse, unit_row, etas, eta_rows,
                           row_slots};
    const Rights rights = {flipped, steepest == 1, entries, of_flips, places, amounts, column,
                           column_slots, flip_column, flip_slots, column_dots, flip_dots, dots};
    const Sums sums = solve_position(p, unit, basis, rights);
    if ((threadIdx.x & 31) != 0) return;
    alpha[p] = sums.alpha;
    if (dual == 1) beta[p] = sums.beta;
    if (steepest == 1) tau[p] = sums.tau;
}
