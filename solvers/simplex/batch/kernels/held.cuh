// The dual method with the dictionary in registers: a thread holds ENTRIES neighbouring entries of a
// row, so that a pivot moves two vectors through shared memory instead of the matrix, twice.
//
// The copy in shared memory is read at the beginning and written at the end; what happens between
// two runs of pivots works on that. Thread t has row t mod m and the (t / m)-th share of columns.
// A pivot that has all entries at hand anyway computes x_B = D x_N anew, as it does the squares for
// pricing, so that flips need no columns.

#pragma once

#include "dual.cuh"

#define SELECTED_AT_ONCE 8
#define HELD_COLUMNS 256  // the most that a held dictionary has

// Two neighbouring numbers, which are read in one access.
struct alignas(2 * sizeof(REAL)) Pair {
    REAL a, b;
};

// What the pivots of a held dictionary keep beside it in shared memory.
template <int ENTRIES>
struct Shares {
    int count, padded;
    REAL* line;   // row p, then what replaces it; zero beyond n
    REAL* point;  // nonbasic values, zero beyond n
    REAL *squares, *values;  // parts of the rows' sums, by share and row

    __device__ __forceinline__ explicit Shares(const AnyLp& lp) {
        count = (lp.n + ENTRIES - 1) / ENTRIES;
        padded = count * ENTRIES;
        const int kept = lp.leading * lp.n + COLUMN_VECTORS * lp.n + ROW_VECTORS * lp.m +
                         VARIABLE_VECTORS * (lp.m + lp.n) + (int)blockDim.x;
        const int integers = 2 * (lp.m + lp.n) + lp.n;
        const int room = (integers * (int)sizeof(int) + (int)sizeof(REAL) - 1) / (int)sizeof(REAL);
        const int first = kept + room;
        line = (REAL*)memory + (first + 1) / 2 * 2;
        point = line + padded;
        squares = point + padded;
        values = squares + blockDim.x;
    }
};

// What the first warp finds out about a pivot, for the block to read.
struct HeldPivot {
    REAL inverse, price, target, tie;
    int leaving, entering, ending;
    bool to_low;
};

__shared__ HeldPivot held_pivot;

// Return entry c of a thread's share and leave zero there.
template <int ENTRIES>
__device__ __forceinline__ REAL take_entry(REAL (&entries)[ENTRIES], int c) {
    REAL taken = REAL(0);
#pragma unroll
    for (int first = 0; first < ENTRIES; first += SELECTED_AT_ONCE) {
        if (c < first || c >= first + SELECTED_AT_ONCE) continue;
#pragma unroll
        for (int k = first; k < first + SELECTED_AT_ONCE && k < ENTRIES; ++k) {
            if (k == c) {
                taken = entries[k];
                entries[k] = REAL(0);
            }
        }
    }
    return taken;
}

// The ratios of those who may enter in the row that stands in `line`: exact in lp.price(), with
// Harris' tolerance in lp.ratio(), and infinite for the others.
__device__ __forceinline__ void held_ratios(
    const Lp<true>& lp, const REAL* line, REAL sign, REAL smallest) {
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) {
        const REAL entry = line[j];
        const REAL size = fabs(entry);
        const REAL price = fabs(lp.reduced()[j]);
        const int v = lp.nonbasic()[j];
        const int status = lp.status()[v];
        const bool fits = size > smallest && lp.low()[v] < lp.high()[v] &&
                          (status == ZERO || (sign * entry > REAL(0)) == (status == LOWER));
        const REAL scale = REAL(1) / size;
        lp.price()[j] = fits ? price * scale : infinity();
        lp.ratio()[j] = fits ? (price + lp.dual_tolerance) * scale : infinity();
    }
}

// By one warp: the row that leaves.
__device__ __noinline__ void choose_row(const Lp<true> lp) {
    const int row = leaving_row(lp);
    if (threadIdx.x == 0) choice.p = row;
}

// How many the lanes before this one have together, of at most 15 each.
__device__ __forceinline__ int before_mine(int count) {
    const unsigned before = (1u << threadIdx.x) - 1u;
    int found = 0;
#pragma unroll
    for (int bit = 0; bit < 4; ++bit) {
        found += __popc(__ballot_sync(FULL_WARP, ((count >> bit) & 1) != 0) & before) << bit;
    }
    return found;
}

// By one warp: choose_entering of dual.cuh for at most 32 COLUMNS columns, in straight code, and all
// that the block has to know of the pivot. Moves what is to be flipped.
template <int COLUMNS>
__device__ __forceinline__ void choose_held(
    const Lp<true>& lp, const REAL* line, int p, REAL smallest_wanted, int fresh) {
    const int lane = threadIdx.x;
    const int leaving = lp.basic()[p];
    const REAL value = lp.value()[p];
    const bool below = value < lp.low()[leaving];
    const REAL target = below ? lp.low()[leaving] : lp.high()[leaving];
    REAL off = fabs(target - value);
    unsigned left = 0;  // candidates not passed yet, a bit for each of this lane's columns
    REAL step = infinity();
#pragma unroll
    for (int k = 0; k < COLUMNS; ++k) {
        const int j = lane + 32 * k;
        const REAL ratio = j < lp.n ? lp.ratio()[j] : infinity();
        left |= (ratio < infinity() ? 1u : 0u) << k;
        step = smaller(step, ratio);
    }
    step = warp_least(step);
    int best = NOBODY, flips = 0, listed = 0;
    REAL best_size = REAL(0);
    bool found = false;
    while (step < infinity()) {
        const int passed = listed;
        REAL size = REAL(0), drop = REAL(0), next = infinity();
        int q = NOBODY;
        unsigned joined = 0;
#pragma unroll
        for (int k = 0; k < COLUMNS; ++k) {
            const int j = lane + 32 * k;
            const bool is_left = ((left >> k) & 1u) != 0u;
            const REAL exact = is_left ? lp.price()[j] : infinity();
            const REAL ratio = is_left ? lp.ratio()[j] : infinity();
            const bool joins = exact <= step && is_left;
            joined |= (joins ? 1u : 0u) << k;
            next = smaller(next, joins ? infinity() : ratio);
        }
        left &= ~joined;
        const unsigned lanes = __ballot_sync(FULL_WARP, joined != 0u);
        if (lanes == 0u) break;  // only where numbers are not finite
        const bool alone = (lanes & (lanes - 1u)) == 0u;  // one lane has them all, most often
        const int count = __popc(joined);
        int place = listed + (alone ? 0 : before_mine(count));
        for (unsigned rest = joined; rest != 0u; rest &= rest - 1u) {
            const int j = lane + 32 * (__ffs((int)rest) - 1);
            const int v = lp.nonbasic()[j];
            const REAL own = fabs(line[j]);
            drop += own * (lp.high()[v] - lp.low()[v]);
            lp.candidates()[place++] = j;
            if (own > size) {
                size = own;
                q = j;
            }
        }
        if (alone) {
            const int owner = __ffs((int)lanes) - 1;
            drop = __shfl_sync(FULL_WARP, drop, owner);
            size = __shfl_sync(FULL_WARP, size, owner);
            q = __shfl_sync(FULL_WARP, q, owner);
            listed += __shfl_sync(FULL_WARP, count, owner);
        } else {
            drop = lanes_reduce<Sum>(drop, 32);
            warp_best(size, q);
            listed = __shfl_sync(FULL_WARP, place, 31);
        }
        step = warp_least(next);
        if (size >= smallest_wanted || size > best_size) {
            best = q;
            best_size = size;
            flips = passed;
        }
        off -= drop;
        found = off <= lp.primal_tolerance;
        if (found) break;
    }
    __syncwarp();
    const bool accurate = best_size >= smallest_wanted || fresh == 0;
    const int ending = !found ? NO_PIVOT : (accurate ? DONE : INACCURATE);
    if (ending == DONE) {
        for (int k = lane; k < flips; k += 32) {
            const int j = lp.candidates()[k];
            const int v = lp.nonbasic()[j];
            const bool to_high = lp.status()[v] == LOWER;
            lp.status()[v] = to_high ? UPPER : LOWER;
            lp.point()[j] = to_high ? lp.high()[v] : lp.low()[v];
        }
        if (lane == 0) {
            const REAL pivot = line[best];
            REAL price = lp.reduced()[best];
            const int entering = lp.nonbasic()[best];
            held_pivot.tie = fabs(price);
            if ((below ? price : -price) * pivot < REAL(0)) {
                lp.cost()[entering] -= price;
                price = REAL(0);
            }
            held_pivot.price = price;
            held_pivot.inverse = REAL(1) / pivot;
            held_pivot.target = target;
            held_pivot.to_low = below;
            held_pivot.leaving = leaving;
            held_pivot.entering = entering;
            choice.q = best;
        }
    }
    if (lane == 0) held_pivot.ending = ending;
}

// The same for as many columns as there are.
__device__ __noinline__ void choose_pivot(
    const Lp<true> lp, const REAL* line, int p, REAL smallest_wanted, int fresh) {
    if (lp.n <= 64) {
        choose_held<2>(lp, line, p, smallest_wanted, fresh);
    } else if (lp.n <= 128) {
        choose_held<4>(lp, line, p, smallest_wanted, fresh);
    } else {
        choose_held<HELD_COLUMNS / 32>(lp, line, p, smallest_wanted, fresh);
    }
}

// What replaces row p, the reduced costs, and who is where after the pivot.
template <int ENTRIES>
__device__ __forceinline__ void turn_vectors(
    const Lp<true>& lp, const Shares<ENTRIES>& shares, int p, int q) {
    const HeldPivot pivot = held_pivot;
    for (int j = threadIdx.x; j < shares.padded; j += blockDim.x) {
        if (j >= lp.n) {
            shares.line[j] = shares.point[j] = REAL(0);
            continue;
        }
        const bool is_pivot = j == q;
        const REAL entry = is_pivot ? pivot.inverse : -pivot.inverse * shares.line[j];
        const REAL point = is_pivot ? pivot.target : lp.point()[j];
        shares.line[j] = entry;
        shares.point[j] = point;
        if (is_pivot) lp.point()[j] = point;
        lp.reduced()[j] = (is_pivot ? REAL(0) : lp.reduced()[j]) + pivot.price * entry;
    }
    if (threadIdx.x == 0) {
        lp.basic()[p] = pivot.entering;
        lp.nonbasic()[q] = pivot.leaving;
        lp.status()[pivot.entering] = BASIC;
        lp.status()[pivot.leaving] = pivot.to_low ? LOWER : UPPER;
    }
}

// Dual pivots from a dual feasible dictionary with merits, like dual() of dual.cuh.
template <int ENTRIES>
__device__ __noinline__ int dual_held(
    const Lp<true> lp, const AnyLp& plain, Counts& counts, const REAL* parameters, int* at) {
    const Shares<ENTRIES> shares(plain);
    const REAL smallest = parameters[SMALLEST_PIVOT], wanted = parameters[WANTED_PIVOT];
    const int share = (int)threadIdx.x / lp.m;
    const int i = (int)threadIdx.x - share * lp.m;
    const int first = share * ENTRIES;
    const bool holds = share < shares.count;
    REAL entries[ENTRIES];
#pragma unroll
    for (int c = 0; c < ENTRIES; ++c) {
        const bool there = holds && first + c < lp.n;
        entries[c] = there ? lp.D()[lp.at(i, first + c)] : REAL(0);
    }
    int stalled = 0, checked = 0, ending = DONE;
    while (true) {
        if (is_first_warp()) choose_row(lp);
        __syncthreads();
        const int p = choice.p;
        *at = p;
        if (p == NOBODY) break;
        if (counts.pivots >= counts.most) {
            ending = AT_LIMIT;
            break;
        }
        if (holds && i == p) {
#pragma unroll
            for (int c = 0; c < ENTRIES; c += 2) {
                *(Pair*)(shares.line + first + c) = {entries[c], entries[c + 1]};
                entries[c] = entries[c + 1] = REAL(0);  // what replaces the row is added to that
            }
        }
        const int leaves = lp.basic()[p];
        const bool below = lp.value()[p] < lp.low()[leaves];
        __syncthreads();
        held_ratios(lp, shares.line, below ? REAL(1) : REAL(-1), smallest);
        __syncthreads();
        if (is_first_warp()) choose_pivot(lp, shares.line, p, wanted, counts.fresh);
        __syncthreads();
        ending = held_pivot.ending;
        if (ending != DONE) break;
        const int q = choice.q;
        stalled = held_pivot.tie <= lp.dual_tolerance ? stalled + 1 : 0;
        if (holds && share == q / ENTRIES) lp.column()[i] = take_entry(entries, q - first);
        turn_vectors(lp, shares, p, q);
        __syncthreads();
        if (holds) {
            const REAL factor = i == p ? REAL(1) : lp.column()[i];
            REAL squares = REAL(0), other_squares = REAL(0);
            REAL value = REAL(0), other_value = REAL(0);
#pragma unroll
            for (int c = 0; c < ENTRIES; c += 2) {
                const Pair line = *(const Pair*)(shares.line + first + c);
                const Pair point = *(const Pair*)(shares.point + first + c);
                entries[c] += factor * line.a;
                entries[c + 1] += factor * line.b;
                squares += entries[c] * entries[c];
                other_squares += entries[c + 1] * entries[c + 1];
                value += entries[c] * point.a;
                other_value += entries[c + 1] * point.b;
            }
            shares.squares[threadIdx.x] = squares + other_squares;
            shares.values[threadIdx.x] = value + other_value;
        }
        __syncthreads();
        for (int row = threadIdx.x; row < lp.m; row += blockDim.x) {
            REAL squares = REAL(1), value = REAL(0);
            for (int s = 0; s < shares.count; ++s) {
                squares += shares.squares[s * lp.m + row];
                value += shares.values[s * lp.m + row];
            }
            lp.value()[row] = value;
            lp.merit()[row] = dual_merit(lp, row, squares);
        }
        __syncthreads();
        ++counts.pivots;
        ++counts.fresh;
        if (stalled > parameters[STALLED]) {
            perturb_costs(plain, ++counts.perturbed, parameters);
            stalled = 0;
        }
        if (++checked >= parameters[CHECK_EVERY]) {
            ending = PAUSED;
            break;
        }
    }
    const bool is_out = ending == NO_PIVOT || ending == INACCURATE;  // row p is, in the line
#pragma unroll
    for (int c = 0; c < ENTRIES; ++c) {
        if (!holds || first + c >= lp.n) continue;
        lp.D()[lp.at(i, first + c)] = is_out && i == *at ? shares.line[first + c] : entries[c];
    }
    __syncthreads();
    return ending;
}
