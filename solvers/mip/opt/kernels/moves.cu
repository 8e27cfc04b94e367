// Scores of moves from a feasible point; moves.py states what they compute.
//
// A warp takes a column. For single shifts its lanes share the column's entries and meet in minima,
// which are exact in any order. For pairs each lane takes a partner in the blocking row and walks
// through the rows of both columns by itself: partners are many and columns short. The warp then
// agrees on the best pair, ties going to the earlier partner. Products and sums are rounded one by
// one (no fused multiply-add), so that the bits are those of the twin.

#include "reduce.cuh"

const int WARP = 32;
const unsigned ALL = 0xffffffffu;
const unsigned long long NO_ROW = ~0ull;
const REAL SLOP = REAL(1e-7);
const REAL CLEAR = REAL(1e-9);

__device__ __forceinline__ double times(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ float times(float a, float b) { return __fmul_rn(a, b); }

// The matrix by columns, the rows' sides and the point.
struct Point {
    const INDEX* column_start;
    const INDEX* column_row;
    const REAL* column_value;
    const REAL* row_lower;
    const REAL* row_upper;
    const REAL* activity;
    const REAL* cost;
    const REAL* lower;
    const REAL* upper;
    const REAL* x;
    const IS_INTEGER_T* is_integer;

    __device__ bool whole(INDEX j) const { return is_integer[j] != (IS_INTEGER_T)0; }
    __device__ REAL above(INDEX i, REAL slop) const {
        return fmax(row_upper[i] - activity[i] + slop, REAL(0));
    }
    __device__ REAL below(INDEX i, REAL slop) const {
        return fmax(activity[i] - row_lower[i] + slop, REAL(0));
    }
    __device__ REAL shift_room(INDEX j) const {
        return fmax(cost[j] < REAL(0) ? upper[j] - x[j] : x[j] - lower[j], REAL(0));
    }
    __device__ REAL rise(INDEX j, INDEX entry) const {
        return cost[j] < REAL(0) ? column_value[entry] : -column_value[entry];
    }
};

// The largest step of column j up to `most` while column k moves by `move`, or -1.
__device__ REAL pair_step(const Point& p, INDEX j, REAL most, INDEX k, REAL move) {
    REAL low = REAL(0), high = most, exact = most;
    INDEX one = p.column_start[j], two = p.column_start[k];
    const INDEX end_one = p.column_start[j + 1], end_two = p.column_start[k + 1];
    while (one < end_one || two < end_two) {
        const INDEX row_one = one < end_one ? p.column_row[one] : (INDEX)(2147483647);
        const INDEX row_two = two < end_two ? p.column_row[two] : (INDEX)(2147483647);
        const INDEX i = row_one < row_two ? row_one : row_two;
        REAL change = REAL(0);
        if (row_two == i) {
            change = times(p.column_value[two], move);
            ++two;
        }
        REAL above = p.above(i, SLOP) - change;
        REAL below = p.below(i, SLOP) + change;
        if (row_one == i) {
            REAL rise = p.rise(j, one);
            REAL limit;
            ++one;
            if (rise > REAL(0)) {
                limit = p.above(i, REAL(0)) - change;
            } else {
                limit = p.below(i, REAL(0)) + change;
                const REAL swap = above;
                above = below;
                below = swap;
                rise = -rise;
            }
            high = fmin(high, above / rise);
            low = fmax(low, -below / rise);
            exact = fmin(exact, limit / rise);
        } else if (above < REAL(0) || below < REAL(0)) {
            high = REAL(-1);
        }
        if (low > high) break;
    }
    if (p.whole(j)) {
        low = ceil(low);
        high = floor(high);
    } else if (low <= high) {
        high = fmax(low, fmin(exact, high));
    }
    return low <= high && high > CLEAR ? high : REAL(-1);
}

// The signed move of column k that makes way in a row; 0 if it has not as much room.
__device__ REAL partner_move(const Point& p, bool whole, REAL need, REAL rise, REAL a, INDEX k) {
    const REAL sign = (rise > REAL(0)) == (a > REAL(0)) ? REAL(-1) : REAL(1);
    REAL size = REAL(1);
    if (whole) {
        size = p.whole(k) ? ceil((need - SLOP) / fabs(a)) : need / fabs(a);
    }
    const REAL free = sign > REAL(0) ? p.upper[k] - p.x[k] : p.x[k] - p.lower[k];
    if (size <= REAL(0) || size > free || (!whole && !p.whole(k))) return REAL(0);
    return sign * size;
}

extern "C" __global__ void __launch_bounds__(256) score_shifts(
    int count, const INDEX* __restrict__ columns, const INDEX* __restrict__ row_start,
    const INDEX* __restrict__ column_start, const INDEX* __restrict__ column_row,
    const REAL* __restrict__ column_value, const REAL* __restrict__ row_lower,
    const REAL* __restrict__ row_upper, const REAL* __restrict__ activity,
    const REAL* __restrict__ cost, const REAL* __restrict__ lower, const REAL* __restrict__ upper,
    const REAL* __restrict__ x, const IS_INTEGER_T* __restrict__ is_integer,
    REAL* __restrict__ step, INDEX* __restrict__ blocking) {
    const int at = (int)(((long long)blockIdx.x * blockDim.x + threadIdx.x) / WARP);
    const int lane = threadIdx.x % WARP;
    if (at >= count) return;  // a whole warp at once
    const Point p = {column_start, column_row, column_value, row_lower, row_upper, activity,
                     cost, lower, upper, x, is_integer};
    const INDEX j = columns[at];
    const bool whole = p.whole(j);
    const REAL slop = whole ? SLOP : REAL(0);
    REAL best = p.shift_room(j);
    unsigned long long row = NO_ROW;
    for (INDEX entry = column_start[j] + lane; entry < column_start[j + 1]; entry += WARP) {
        const INDEX i = column_row[entry];
        const REAL rise = p.rise(j, entry);
        const REAL free = rise > REAL(0) ? p.above(i, slop) : p.below(i, slop);
        if (isinf(free)) continue;
        REAL most = free / fabs(rise);
        if (whole) most = floor(most);
        best = fmin(best, most);
        const unsigned long long entries = (unsigned long long)(row_start[i + 1] - row_start[i]);
        const unsigned long long key = entries << 32 | (unsigned long long)i;
        if (most <= CLEAR && key < row) row = key;
    }
    __syncwarp(ALL);
    best = lanes_reduce<Smallest>(best, WARP);
    for (int distance = WARP / 2; distance > 0; distance >>= 1) {
        const unsigned long long other = __shfl_xor_sync(ALL, row, distance);
        row = other < row ? other : row;
    }
    if (lane == 0) {
        step[at] = best;
        blocking[at] = row == NO_ROW ? (INDEX)(-1) : (INDEX)(row & 0xffffffffull);
    }
}

extern "C" __global__ void __launch_bounds__(256) score_pairs(
    int count, const INDEX* __restrict__ columns, const INDEX* __restrict__ blocking, int offset,
    int limit, const INDEX* __restrict__ row_start, const INDEX* __restrict__ row_column,
    const REAL* __restrict__ row_value, const INDEX* __restrict__ column_start,
    const INDEX* __restrict__ column_row, const REAL* __restrict__ column_value,
    const REAL* __restrict__ row_lower, const REAL* __restrict__ row_upper,
    const REAL* __restrict__ activity, const REAL* __restrict__ cost,
    const REAL* __restrict__ lower, const REAL* __restrict__ upper, const REAL* __restrict__ x,
    const IS_INTEGER_T* __restrict__ is_integer, INDEX* __restrict__ partner,
    REAL* __restrict__ step, REAL* __restrict__ partner_step, REAL* __restrict__ gain) {
    const int at = (int)(((long long)blockIdx.x * blockDim.x + threadIdx.x) / WARP);
    const int lane = threadIdx.x % WARP;
    if (at >= count) return;  // a whole warp at once
    const Point p = {column_start, column_row, column_value, row_lower, row_upper, activity,
                     cost, lower, upper, x, is_integer};
    const INDEX j = columns[at];
    const INDEX row = blocking[at];
    REAL best_gain = REAL(0), best_size = REAL(0), best_move = REAL(0);
    int best_trial = 2147483647;
    if (row >= 0) {  // the same for the whole warp
        REAL own = REAL(0);
        for (INDEX entry = column_start[j] + lane; entry < column_start[j + 1]; entry += WARP) {
            if (column_row[entry] == row) own = column_value[entry];
        }
        __syncwarp(ALL);
        for (int distance = WARP / 2; distance > 0; distance >>= 1) {
            own += __shfl_xor_sync(ALL, own, distance);  // one lane has it, the others 0
        }
        const REAL rise = cost[j] < REAL(0) ? own : -own;
        const bool whole = p.whole(j);
        const REAL most = p.shift_room(j);
        const REAL free = rise > REAL(0) ? p.above(row, REAL(0)) : p.below(row, REAL(0));
        const REAL need = fabs(rise) - free;
        const INDEX first = row_start[row], length = row_start[row + 1] - first;
        const int tried = length < (INDEX)(limit) ? (int)length : limit;
        for (int trial = lane; trial < tried; trial += WARP) {
            const INDEX entry = first + ((INDEX)(offset) + trial) % length;
            const INDEX k = row_column[entry];
            if (k == j) continue;
            const REAL move = partner_move(p, whole, need, rise, row_value[entry], k);
            if (move == REAL(0)) continue;
            const REAL lost = times(cost[k], move);
            if (times(fabs(cost[j]), most) - lost <= REAL(0)) continue;
            const REAL size = pair_step(p, j, most, k, move);
            if (size < REAL(0) || isinf(size)) continue;
            const REAL gained = times(fabs(cost[j]), size) - lost;
            if (gained > best_gain) {
                best_gain = gained;
                best_size = size;
                best_move = move;
                best_trial = trial;
            }
        }
        __syncwarp(ALL);
    }
    const REAL own_gain = best_gain;
    const int own_trial = best_trial;
    for (int distance = WARP / 2; distance > 0; distance >>= 1) {
        const REAL other_gain = __shfl_xor_sync(ALL, best_gain, distance);
        const int other_trial = __shfl_xor_sync(ALL, best_trial, distance);
        if (other_gain > best_gain || (other_gain == best_gain && other_trial < best_trial)) {
            best_gain = other_gain;
            best_trial = other_trial;
        }
    }
    const bool found = best_trial != 2147483647;
    if (found ? own_trial == best_trial : lane == 0) {
        const INDEX entry = found ? row_start[row] + ((INDEX)(offset) + best_trial)
                                        % (row_start[row + 1] - row_start[row])
                                  : (INDEX)(0);
        partner[at] = found ? row_column[entry] : (INDEX)(-1);
        step[at] = cost[j] < REAL(0) ? best_size : REAL(0) - best_size;
        partner_step[at] = best_move;
        gain[at] = own_gain;
    }
}
