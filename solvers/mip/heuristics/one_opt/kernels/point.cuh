// A point, and what moves of one and of two columns from it keep all rows; for kernels and the CPU.

#pragma once

#include "both.cuh"

// Violation of a row that moves of integer columns may leave: a tenth of the tolerance.
const REAL SLOP = REAL(1e-7);
// Steps of continuous columns up to here count as none.
const REAL CLEAR = REAL(1e-9);

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

    BOTH bool whole(INDEX j) const { return is_integer[j] != (IS_INTEGER_T)0; }
    BOTH REAL above(INDEX i, REAL slop) const {
        return larger(row_upper[i] - activity[i] + slop, REAL(0));
    }
    BOTH REAL below(INDEX i, REAL slop) const {
        return larger(activity[i] - row_lower[i] + slop, REAL(0));
    }
    BOTH REAL shift_room(INDEX j) const {
        return larger(cost[j] < REAL(0) ? upper[j] - x[j] : x[j] - lower[j], REAL(0));
    }
    BOTH REAL rise(INDEX j, INDEX entry) const {
        return cost[j] < REAL(0) ? column_value[entry] : -column_value[entry];
    }
    // The largest step of column j that the row of one of its entries allows.
    BOTH REAL most(INDEX j, INDEX entry, REAL slop) const {
        const INDEX i = column_row[entry];
        const REAL way = rise(j, entry);
        const REAL size = (way > REAL(0) ? above(i, slop) : below(i, slop)) / fabs(way);
        return whole(j) ? floor(size) : size;
    }
    // By how much column j may leave rows violated.
    BOTH REAL slop(INDEX j) const { return whole(j) ? SLOP : REAL(0); }
};

// The largest step of column j up to `most` while column k moves by `move`, or -1.
BOTH REAL pair_step(const Point& p, INDEX j, REAL most, INDEX k, REAL move) {
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
            high = smaller(high, above / rise);
            low = larger(low, -below / rise);
            exact = smaller(exact, limit / rise);
        } else if (above < REAL(0) || below < REAL(0)) {
            high = REAL(-1);
        }
        if (low > high) break;
    }
    if (p.whole(j)) {
        low = ceil(low);
        high = floor(high);
    } else if (low <= high) {
        high = larger(low, smaller(exact, high));
    }
    return low <= high && high > CLEAR ? high : REAL(-1);
}

// The signed move of column k that makes way in a row; 0 if it has not as much room.
BOTH REAL partner_move(const Point& p, bool whole, REAL need, REAL rise, REAL a, INDEX k) {
    const REAL sign = (rise > REAL(0)) == (a > REAL(0)) ? REAL(-1) : REAL(1);
    REAL size = REAL(1);
    if (whole) {
        size = p.whole(k) ? ceil((need - SLOP) / fabs(a)) : need / fabs(a);
    }
    const REAL free = sign > REAL(0) ? p.upper[k] - p.x[k] : p.x[k] - p.lower[k];
    if (size <= REAL(0) || size > free || (!whole && !p.whole(k))) return REAL(0);
    return sign * size;
}
