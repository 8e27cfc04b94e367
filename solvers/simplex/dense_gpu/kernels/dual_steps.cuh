// The parts of an iteration of blocks that stay; all blocks meet between them.

#pragma once

#include "choice.cuh"
#include "core.cuh"
#include "pivot.cuh"
#include "pricing.cuh"
#include "solving.cuh"
#include "update.cuh"

#define TURN 0x80000000u  // the bit that each meeting turns over

// What blocks wrote before they came is seen by those that have seen all of them come.
__device__ __forceinline__ void come(unsigned* arrivals, unsigned share) {
#ifdef __CUDA_ARCH__
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(arrivals), "r"(share) : "memory");
#else
    __atomic_fetch_add(arrivals, share, __ATOMIC_ACQ_REL);
#endif
}

__device__ __forceinline__ unsigned look(const unsigned* arrivals) {
#ifdef __CUDA_ARCH__
    unsigned seen;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(arrivals) : "memory");
    return seen;
#else
    __nanosleep(20);
    return __atomic_load_n(arrivals, __ATOMIC_ACQUIRE);
#endif
}

// Meetings of all blocks of a launch whose blocks run all at once. The first block adds what makes
// all shares turn the upper bit over, so that the counter needs no zero: neither before a launch
// nor between meetings.
struct Meetings {
    unsigned* arrivals;
    unsigned now;  // the bit, as it is before the next meeting

    // Before the block comes to the first one, which until then cannot end.
    __device__ __forceinline__ explicit Meetings(INDEX* counter) : arrivals((unsigned*)counter) {
        now = look(arrivals) & TURN;
    }

    __device__ __forceinline__ void meet() {
        __syncthreads();
        if (threadIdx.x == 0) {
            come(arrivals, blockIdx.x == 0 ? TURN - (gridDim.x - 1u) : 1u);
            while ((look(arrivals) & TURN) == now) {}
        }
        now ^= TURN;
        __syncthreads();
    }
};

#define WARPS (BLOCK / 32)
#define MASK_WORDS 2048  // of a mask in shared memory; longer rows do without
#define HELD 128         // positions of a block whose elements stay in shared memory
#define LIST_MOST 1536   // entries of right sides that a block lists for itself

struct Pricing {
    REAL ratio_of[BLOCK];
    unsigned mask[MASK_WORDS];  // of the pivot row, a bit for each element that is not zero
};

struct List {
    INDEX place[LIST_MOST];
    REAL amount[LIST_MOST];
};

// Shared memory of the parts, of which no two go on at once.
union Room {
    RowSums row;
    Pricing pricing;
    Near near;
    List list;
    REAL tile[SIDE_COLUMNS * SIDE_ROWS];
};

// What a block keeps in shared memory from one part to the next.
struct Kept {
    Room room;
    Sides sides;
    Choice choice;
    Exchange exchange;
    REAL column_dots[MOST_DELAYED], flip_dots[MOST_DELAYED];
    REAL of_row[2][WARPS];  // of the leaving position's alpha and beta, by warp
    Sums solved[HELD];      // of the block's first positions
};

// What all iterations of a launch read and write; `from` and `to` bound the block's positions.
struct Loop {
    int rows, structurals, capacity, most, from, to;
    INDEX slots;
    bool devex;
    long long variables;
    REAL primal_tolerance, small_pivot, relax, largest_error;
    Columns columns;
    Spread spread;
    Segments segments;
    Matrix matrix;
    Target target;
    Basics basics;
    Variables of;
    const REAL* inverse;
    const INDEX* unit_row;
    const INDEX* slot_of_row;
    REAL* eta_rows;
    REAL* row_slots;
    INDEX* row_mask;
    REAL* etas;
    REAL* alpha_rows;
    REAL* ratios;
    REAL* least;
    INDEX* counts;
    REAL* squares;
    REAL* dots;
    REAL* alpha;
    REAL* beta;
    REAL* tau;
    REAL* partial_value;
    INDEX* partial_index;
};

// The best of the block's positions, for all blocks to see.
__device__ __forceinline__ void leave_best(Best best, const Loop& loop) {
    best = block_best(best);
    if (threadIdx.x == 0) {
        loop.partial_value[blockIdx.x] = best.value;
        loop.partial_index[blockIdx.x] = best.index;
    }
}

__device__ __forceinline__ void leave_first_best(const Loop& loop) {
    const Basics& all = loop.basics;
    Best best = nothing();
#pragma unroll 1
    for (int p = loop.from + threadIdx.x; p < loop.to; p += BLOCK) {
        const REAL over =
            excess_of(all.value[p], all.lower[p], all.upper[p], loop.primal_tolerance);
        const REAL merit = over * over / all.weights[p];
        if (merit > best.value) best = Best{merit, (INDEX)p};
    }
    leave_best(best, loop);
}

// A thread's share of what all blocks have left.
__device__ __forceinline__ Best ask_best(const Loop& loop) {
    Best best = nothing();
#pragma unroll 1
    for (int g = threadIdx.x; g < (int)gridDim.x; g += 2 * BLOCK) {  // two asked for at once
        const bool there = g + BLOCK < (int)gridDim.x;
        const Best one = {loop.partial_value[g], loop.partial_index[g]};
        const Best other = {there ? loop.partial_value[g + BLOCK] : REAL(0),
                            there ? loop.partial_index[g + BLOCK] : (INDEX)NONE};
        best = better(best, better(one, other));
    }
    return best;
}

// The leaving position's row of the inverse; `delayed` is that of the block's first unit.
__device__ __forceinline__ void compute_row(
    Kept& kept, const Loop& loop, Delayed delayed, INDEX position, INDEX made) {
#pragma unroll 1
    for (int unit = blockIdx.x; unit * ROW_ELEMENTS < loop.rows; unit += gridDim.x) {
        if (unit >= (int)gridDim.x)
            delayed = ask_delayed(unit, loop.rows, made, loop.eta_rows, loop.slot_of_row);
        leave_row(kept.room.row, delayed, unit, position, loop.rows, loop.capacity, loop.most, made,
                  loop.inverse, loop.unit_row, loop.etas, loop.eta_rows, loop.row_slots,
                  loop.row_mask);
        __syncthreads();
    }
}

// What pricing can ask for before the row is there: entries of the first two units, and places.
struct Ahead {
    Entries entries, next;
    INDEX places[CHUNK];
};

__device__ __forceinline__ void look_ahead(Ahead& ahead, const Loop& loop) {
    const int unit = blockIdx.x;
    ahead.entries = entries_of(unit, loop.spread, loop.columns.starts);
    ahead.next = entries_of(unit + gridDim.x, loop.spread, loop.columns.starts);
    ask_places(ahead.places, ahead.entries, unit, loop.spread, loop.columns);
}

// Its products with all columns; for steepest edge also those with the delayed rows, and itself.
__device__ __forceinline__ void price(
    Kept& kept, const Loop& loop, Ahead& ahead, const Leaving& leaving, INDEX made) {
    const Spread& spread = loop.spread;
    const Variables& of = loop.of;
    Pricing& room = kept.room.pricing;
    const REAL* row = loop.eta_rows + (long long)made * loop.rows;
    const bool masked = spread.lanes == 32 && loop.rows <= 32 * MASK_WORDS;
    if (masked) {
        for (int w = threadIdx.x; w < (loop.rows + 31) / 32; w += BLOCK)
            room.mask[w] = (unsigned)loop.row_mask[w];
        __syncthreads();
    }
    int unit = blockIdx.x;
    INDEX kind = kind_of(unit, spread, of.status);
#pragma unroll 1
    for (; unit < spread.owners; unit += gridDim.x) {
        Priced own = variable_of(unit, spread);
        own.kind = kind;
        ask_bounds(own, loop.devex, of.reference, of.lower, of.upper, of.reduced_cost);
        // The next unit's places, and the entries of the one after, before this one is waited for.
        INDEX places[CHUNK];
        const int next = unit + gridDim.x;
        const Entries later = entries_of(next + gridDim.x, spread, loop.columns.starts);
        kind = kind_of(next, spread, of.status);
        ask_places(places, ahead.next, next, spread, loop.columns);
        const REAL product = masked
            ? product_of<BY_MASK>(own, ahead.entries, ahead.places, spread, loop.columns, row,
                                  room.mask)
            : product_of<BY_ROW>(own, ahead.entries, ahead.places, spread, loop.columns, row,
                                 nullptr);
        leave_prices(room.ratio_of, own, unit, spread, product, true, loop.devex, leaving.variable,
                     leaving.excess, loop.small_pivot, loop.relax,
                     loop.alpha_rows + made * loop.variables, loop.ratios, loop.least, loop.counts,
                     loop.squares);
        ahead.entries = ahead.next;
        ahead.next = later;
#pragma unroll
        for (int u = 0; u < CHUNK; ++u) ahead.places[u] = places[u];
        __syncthreads();
    }
#pragma unroll 1
    for (; unit < spread.owners + (loop.devex ? 0 : loop.most + 1); unit += gridDim.x)
        leave_dot(unit - spread.owners, made, loop.rows, loop.most, loop.eta_rows, loop.dots);
}

// Right sides of the solves, their flips and entering column in `kept.sides`: as a list of the
// block's own, or, where that is too long, by all blocks together.
__device__ __forceinline__ Rights prepare_sides(
    Kept& kept, const Loop& loop, Meetings& meetings, int flips) {
    const Sides& sides = kept.sides;
    const Target& target = loop.target;
    const int columns = flips + 1, entries = sides.offset[columns];
    const bool list = is_list(entries, !loop.devex, loop.slots, loop.rows);
    Rights rights = {flips > 0, !loop.devex, list ? (INDEX)entries : -1, (INDEX)sides.offset[flips],
                     target.places, target.amounts, target.column, target.column_slots,
                     target.flip_column, target.flip_slots, kept.column_dots, kept.flip_dots,
                     loop.dots};
    if (list && entries <= LIST_MOST) {
        List& own = kept.room.list;
        leave_list(sides, columns, threadIdx.x, BLOCK, loop.matrix, own.place, own.amount);
        rights.places = own.place;
        rights.amounts = own.amount;
        __syncthreads();
        return rights;
    }
    if (list)
        leave_list(sides, columns, blockIdx.x * BLOCK + threadIdx.x, gridDim.x * BLOCK, loop.matrix,
                   target.places, target.amounts);
    else
#pragma unroll 1
        for (int unit = blockIdx.x; unit * SIDE_ROWS < loop.rows; unit += gridDim.x)
            lay_out(kept.room.tile, sides, columns, unit, loop.matrix, target);
    meetings.meet();
    return rights;
}

// The elements at the block's positions, and the leaving position's, of which all blocks make the
// same sums. Returns its alpha and beta.
__device__ __forceinline__ Sums solve(
    Kept& kept, const Loop& loop, const Rights& rights, INDEX position, INDEX made) {
    const Inverse inverse = {loop.rows, loop.capacity, loop.most, loop.slots, made, loop.inverse,
                             loop.unit_row, loop.etas, loop.eta_rows, loop.row_slots};
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const bool list = rights.entries >= 0;
    REAL share[2] = {REAL(0), REAL(0)};
    if (!list || warp == WARPS - 1) {  // a list is too short for more than a warp
        const Sums sums = share_of_position(
            position, loop.unit_row[position], list ? lane : (int)threadIdx.x, list ? 32 : BLOCK,
            false, inverse, rights);
        share[0] = sums.alpha;
        share[1] = sums.beta;
        warp_sums(share);
    }
    if (lane == 0) {
        kept.of_row[0][warp] = share[0];
        kept.of_row[1][warp] = share[1];
    }
#pragma unroll 1
    for (int p = loop.from + warp; p < loop.to; p += WARPS) {
        const Sums sums = solve_position(p, loop.unit_row[p], inverse, rights);
        if (lane == 0 && p < loop.from + HELD) {
            kept.solved[p - loop.from] = sums;
        } else if (lane == 0) {
            loop.alpha[p] = sums.alpha;
            loop.beta[p] = sums.beta;
            loop.tau[p] = sums.tau;
        }
    }
    __syncthreads();
    Sums found = {REAL(0), REAL(0), REAL(0)};
    for (int w = 0; w < WARPS; ++w) {
        found.alpha += kept.of_row[0][w];
        found.beta += kept.of_row[1][w];
    }
    return found;
}

// Make the pivot at the block's positions, of which `own` is the thread's first.
__device__ __forceinline__ void update_positions(
    const Kept& kept, const Loop& loop, Position own, const Exchange& now) {
    Best best = nothing();
#pragma unroll 1
    for (int p = loop.from + threadIdx.x; p < loop.to; p += BLOCK) {
        Sums sums;
        if (p < loop.from + HELD) {
            sums = kept.solved[p - loop.from];
        } else {
            sums = Sums{loop.alpha[p], loop.beta[p], loop.tau[p]};
        }
        if (p >= loop.from + BLOCK) ask_basic(own, p, loop.basics);
        own.alpha = sums.alpha;
        own.beta = sums.beta;
        own.tau = sums.tau;
        const REAL merit = update_position(own, p, loop.most, now, loop.basics, loop.of.lower,
                                           loop.of.upper, loop.primal_tolerance, loop.etas);
        if (merit > best.value) best = Best{merit, (INDEX)p};
    }
    leave_best(best, loop);
}

// Make the pivot at all variables, and the flips; blocks from the last one on, as the first ones
// have more to do beside.
__device__ __forceinline__ void update_variables(
    const Exchange& made, const INDEX* flipped, const REAL* steps, int flips, long long variables,
    const REAL* alpha_row, const Variables& all) {
    const int back = gridDim.x - 1 - blockIdx.x;
#pragma unroll 1
    for (long long j = (long long)back * BLOCK + threadIdx.x; j < variables;
         j += (long long)gridDim.x * BLOCK) {
        const INDEX kind = all.status[j];
        const REAL change = alpha_row[j], d = all.reduced_cost[j];
        update_variable(j, kind != BASIC, change, d, made, all);
    }
    if (back != 0) return;
#pragma unroll 1
    for (int f = threadIdx.x; f < flips; f += BLOCK) flip(flipped[f], steps[f], all);
}
