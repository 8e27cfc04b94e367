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
    INDEX position, const Basics& basics, const REAL* weights, REAL tolerance) {
    const REAL x = basics.x_basic[position];
    const REAL low = basics.lower_basic[position], high = basics.upper_basic[position];
    const REAL excess = excess_of(x, low, high, tolerance);
    return Leaving{position, basics.basic[position], x, excess, excess < REAL(0) ? low : high,
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
    RowSums& sums, const Delayed& delayed, int unit, INDEX position, int rows, INDEX made,
    const InverseOut& basis) {
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const int i = unit * ROW_ELEMENTS + lane;
    const bool inside = i < rows;
    REAL value = REAL(0);
    if (warp == 0 && inside)
        value = delayed.slot >= 0
            ? basis.inverse[(long long)position * basis.capacity + delayed.slot]
            : (basis.unit_row[position] == i ? REAL(-1) : REAL(0));
    if ((int)threadIdx.x < made)
        sums.coefficient[threadIdx.x] =
            basis.etas[(long long)position * basis.most + threadIdx.x];
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
    basis.eta_rows[(long long)made * rows + i] = value;
    if (delayed.slot >= 0) basis.row_slots[delayed.slot] = value;
}

// A position's row of the inverse times right sides.
//
// The row, and that of the etas, is read once and in order, several elements asked for at once. The
// right sides are short and come from the caches.

struct Sums {
    REAL alpha, beta, tau;
};

// What of the inverse and of the right sides an iteration asks for: `entries` of a list, or, if
// that is negative, sums by slot and by row.
struct Asked {
    bool flipped, steepest;
    INDEX slots, made, entries, of_flips;
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
    const REAL* row, INDEX unit, int first, int stride, const Asked& asked,
    const RightSides& rights, Sums& sums) {
#pragma unroll 4
    for (INDEX u = first; u < asked.entries; u += stride) {
        const INDEX place = rights.places[u];
        const REAL amount = rights.amounts[u];
        const REAL element = place >= 0 ? row[place] : (-1 - place == unit ? REAL(-1) : REAL(0));
        if (u < asked.of_flips) sums.beta += element * amount;
        else sums.alpha += element * amount;
    }
}

// The share of thread `first` of `stride` in a position's elements of alpha and beta, and tau if
// asked for.
__device__ __forceinline__ Sums share_of_position(
    int rows, int p, INDEX unit, int first, int stride, const Asked& asked, const Inverse& inverse,
    const RightSides& rights, const REAL* dots) {
    const REAL* row = inverse.inverse + (long long)p * inverse.capacity;
    const REAL* etas = inverse.etas + (long long)p * inverse.most;
    const bool with_tau = asked.steepest;
    Sums sums = {REAL(0), REAL(0), REAL(0)};
    if (asked.entries >= 0) {
        add_list(row, unit, first, stride, asked, rights, sums);
        if (with_tau)
            add_products<OF_ROW, false, false, true>(
                row, first, stride, asked.slots, nullptr, nullptr, inverse.row_slots, sums);
    } else {
        add_vectors<OF_ROW>(row, first, stride, asked.slots, rights.column_slots,
                            rights.flip_slots, inverse.row_slots, asked.flipped, with_tau, sums);
        if (unit >= 0 && first == 0) {
            sums.alpha -= rights.column[unit];
            if (asked.flipped) sums.beta -= rights.flip_column[unit];
        }
    }
    if (unit >= 0 && first == 0 && with_tau)
        sums.tau -= inverse.eta_rows[(long long)asked.made * rows + unit];
    add_vectors<OF_ETAS>(etas, first, stride, asked.made, rights.column_dots, rights.flip_dots,
                         dots, asked.flipped, with_tau, sums);
    return sums;
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

__device__ __forceinline__ void pivot_row(
    int rows, int groups, const InverseOut& inverse, const INDEX* slot_of_row, const Basics& basics,
    const REAL* weights, const Partials& partials, INDEX* control, REAL* scalars) {
    __shared__ RowSums sums;
    const INDEX state = control[STATUS], flip_only = control[FLIP_ONLY];
    const INDEX made = control[PIVOTS] - (groups == 0 ? 1 : 0);
    const INDEX iterations = control[ITERATIONS], limit = control[LIMIT];
    INDEX position = control[POSITION];
    Best best = nothing();  // asked for before the status is known, which saves a wait
    if ((int)threadIdx.x < groups)
        best = Best{partials.partial_value[threadIdx.x], partials.partial_index[threadIdx.x]};
    if (state != RUNNING || (groups == 0 && flip_only != 0)) return;
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    // A status written here ends the kernel in every block, whether or not it sees it.
    if (groups > 0 && (made >= inverse.most || iterations >= limit)) {
        if (first) control[STATUS] = made >= inverse.most ? FOLD : OUT_OF_PIVOTS;
        return;
    }
    const Delayed delayed = ask_delayed(blockIdx.x, rows, made, inverse.eta_rows, slot_of_row);
    if (groups > 0) {
        best = block_best(best);
        if (best.index == NONE) {
            if (first) control[STATUS] = DONE;
            return;
        }
        position = best.index;
        if (first) {
            const Leaving leaving =
                leaving_at(position, basics, weights, scalars[PRIMAL_TOLERANCE]);
            control[POSITION] = position;
            control[LEAVING] = leaving.variable;
            scalars[VALUE] = leaving.value;
            scalars[EXCESS] = leaving.excess;
            scalars[BOUND] = leaving.bound;
            scalars[WEIGHT] = leaving.weight;
        }
    }
    leave_row(sums, delayed, blockIdx.x, position, rows, made, inverse);
}

__device__ __forceinline__ void price_row(
    const Matrix& columns, int most, int dual, int steepest, const REAL* eta_rows,
    const Variables& variables, const INDEX* control, const REAL* scalars, REAL* alpha_rows,
    const CandidatesOut& found) {
    __shared__ REAL ratio_of[BLOCK];
    const INDEX state = control[STATUS], flip_only = control[FLIP_ONLY];
    const INDEX made = control[PIVOTS] - (dual == 0 ? 1 : 0);
    const Pivot pivot = {
        control[LEAVING], scalars[EXCESS], scalars[SMALL_PIVOT], scalars[HARRIS]};
    const int unit = blockIdx.x, rows = columns.rows;
    const bool devex = steepest == 0;
    const Spread spread(rows, columns.structurals, columns.lanes);
    // What is known of the variable is asked for at once, before anything is waited for.
    Priced own = variable_of(unit, spread);
    own.kind = kind_of(unit, spread, variables.status);
    if (dual != 0) ask_bounds(own, devex, variables);
    const Entries entries = entries_of(unit, spread, columns.starts);
    if (state != RUNNING || (dual == 0 && flip_only != 0)) return;
    if (unit >= spread.owners) {
        leave_dot(unit - spread.owners, made, rows, most, eta_rows, found.dots);
        return;
    }
    const REAL* row = eta_rows + (long long)made * rows;
    INDEX first[CHUNK];
    ask_places(first, entries, unit, spread, columns);
    const REAL alpha = product_of(own, entries, first, spread, columns, row);
    leave_prices(ratio_of, own, unit, spread, alpha, dual != 0, devex, pivot,
                 alpha_rows + made * ((long long)rows + columns.structurals), found);
}

// A warp takes a position.
__device__ __forceinline__ void solve_column(
    int rows, int dual, int steepest, const Inverse& inverse, const RightSides& rights,
    const REAL* dots, const INDEX* control, const SolutionsOut& solved) {
    const INDEX state = control[STATUS];
    const Asked asked = {dual == 1 && control[FLIPS] > 0, steepest == 1, control[SLOTS],
                         control[PIVOTS], control[ENTRIES], control[FLIP_ENTRIES]};
    const int p = (blockIdx.x * BLOCK + threadIdx.x) >> 5;
    if (p >= rows) return;  // a whole warp
    const INDEX unit = inverse.unit_row[p];
    if (state != RUNNING) return;
    const Sums own = share_of_position(
        rows, p, unit, threadIdx.x & 31, 32, asked, inverse, rights, dots);
    REAL sums[3] = {own.alpha, own.beta, own.tau};
    warp_sums(sums);
    if ((threadIdx.x & 31) != 0) return;
    solved.alpha[p] = sums[0];
    if (dual == 1) solved.beta[p] = sums[1];
    if (steepest == 1) solved.tau[p] = sums[2];
}
