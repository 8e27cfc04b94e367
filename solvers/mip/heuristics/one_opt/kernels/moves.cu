// Scores of moves from a feasible point; moves.py states what they compute.
//
// A warp takes a column. For single shifts its lanes share the column's entries and meet in minima,
// which are exact in any order. For pairs each lane takes a partner in the blocking row and walks
// through the rows of both columns by itself: partners are many and columns short. The warp then
// agrees on the best pair, ties going to the earlier partner. Products and sums are rounded one by
// one (no fused multiply-add), so that the bits are those of the twin.

#include "point.cuh"
#include "reduce.cuh"

const int WARP = 32;
const unsigned ALL = 0xffffffffu;
const unsigned long long NO_ROW = ~0ull;

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
    const REAL slop = p.slop(j);
    REAL best = p.shift_room(j);
    unsigned long long row = NO_ROW;
    for (INDEX entry = column_start[j] + lane; entry < column_start[j + 1]; entry += WARP) {
        const INDEX i = column_row[entry];
        const REAL most = p.most(j, entry, slop);
        best = smaller(best, most);
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
