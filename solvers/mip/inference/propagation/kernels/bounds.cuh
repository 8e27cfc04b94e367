// What one row implies for the bounds of its columns; for kernels and for the CPU's loops.

#pragma once

#include "both.cuh"

// A row is infeasible when its activity misses a side by more than this, absolutely ...
constexpr double ROW_TOLERANCE = 1e-6;

// ... and by more than this times the side.
constexpr double ROW_RELATIVE = 1e-9;

// An implied bound of an integer column may be this far beyond an integer.
constexpr double ROUNDING = 1e-6;

// Bounds of a continuous column that cross by no more than this become their middle.
constexpr double CROSSING = 1e-6;

// An implied bound of a continuous column moves outward by this times max(1, |bound|), so that
// rounding errors of the activities cut nothing off.
constexpr double RELAXATION = 1e-9;

// Implied bounds beyond this are no news (Sofranac et al. 2022 take 1e20, FPR 1e5).
constexpr double LARGEST_BOUND = 1e15;

// Smaller coefficients imply no bounds.
constexpr double SMALLEST_ENTRY = 1e-9;

// A bound this large makes the implied bound of the other side unreliable when that is so many
// times smaller.
constexpr double CANCELLING = 1e8, CANCELLED = 1e6;

// A continuous column's new bound has to be better by this times max(1, |bound|), and by this
// times the width of its domain; otherwise cycles of continuous columns creep on for ever.
constexpr double SIGNIFICANT = 1e-3;

// Rounding error of a row's sum, relative to it and its side: the room of a row grows by it.
constexpr double SUM_ERROR = 1e-12;

#define INFINITE (REAL(1) / REAL(0))

BOTH REAL magnitude(REAL a) { return a < REAL(0) ? -a : a; }

// Lower and upper bound of a column, read at once.
struct alignas(2 * sizeof(REAL)) Interval {
    REAL lower, upper;
};

// Smallest and largest activity of a row: finite parts, and how many terms are infinite.
struct Activity {
    REAL low, high;
    int low_infinite, high_infinite;

    BOTH void add(REAL value, REAL lower, REAL upper) {
        const REAL at_low = value > REAL(0) ? lower : upper;
        const REAL at_high = value > REAL(0) ? upper : lower;
        if (magnitude(at_low) < INFINITE) low += times(value, at_low); else ++low_infinite;
        if (magnitude(at_high) < INFINITE) high += times(value, at_high); else ++high_infinite;
    }

    BOTH void join(const Activity& other) {
        low += other.low;
        high += other.high;
        low_infinite += other.low_infinite;
        high_infinite += other.high_infinite;
    }
};

// What is left between a row's activities and its sides, of finite terms; not negative where all
// are finite.
struct Room {
    REAL above, below;  // upper side - smallest activity, largest activity - lower side
    int above_infinite, below_infinite;
    bool infeasible, redundant;
};

BOTH REAL row_tolerance(REAL side) {
    return larger(REAL(ROW_TOLERANCE), times(REAL(ROW_RELATIVE), magnitude(side)));
}

BOTH Room room_of(const Activity& activity, REAL lower, REAL upper) {
    Room room;
    const bool has_upper = upper < INFINITE, has_lower = lower > -INFINITE;
    room.above = has_upper ? upper - activity.low : INFINITE;
    room.below = has_lower ? activity.high - lower : INFINITE;
    room.above_infinite = activity.low_infinite;
    room.below_infinite = activity.high_infinite;
    room.infeasible =
        (has_upper && activity.low_infinite == 0 && room.above < -row_tolerance(upper)) ||
        (has_lower && activity.high_infinite == 0 && room.below < -row_tolerance(lower));
    const bool above_kept = !has_upper || (activity.high_infinite == 0 && activity.high <= upper);
    const bool below_kept = !has_lower || (activity.low_infinite == 0 && activity.low >= lower);
    room.redundant = above_kept && below_kept;
    if (has_upper) {
        const REAL size = larger(magnitude(upper), magnitude(activity.low));
        if (room.above_infinite == 0) room.above = larger(room.above, REAL(0));
        room.above += times(REAL(SUM_ERROR), size);
    }
    if (has_lower) {
        const REAL size = larger(magnitude(lower), magnitude(activity.high));
        if (room.below_infinite == 0) room.below = larger(room.below, REAL(0));
        room.below += times(REAL(SUM_ERROR), size);
    }
    return room;
}

// The upper bound that room for a term of this weight implies for a column with bounds
// [base, bound]; the same bound where it is no news.
BOTH REAL tightened(
    REAL base, REAL bound, REAL room, int infinite, REAL weight, bool is_integer) {
    if (infinite > 1 || !(room < INFINITE)) return bound;
    REAL found;
    if (infinite == 0) {
        if (!(room < times(weight, bound - base))) return bound;
        found = base + room / weight;
        if (magnitude(base) > REAL(CANCELLING) &&
            magnitude(base) > times(REAL(CANCELLED), magnitude(found))) return bound;
    } else {
        if (base > -INFINITE) return bound;
        found = room / weight;
    }
    if (!(found < bound) || magnitude(found) > REAL(LARGEST_BOUND)) return bound;
    if (is_integer) {
        found = floor(found + REAL(ROUNDING));
        return found < bound ? found : bound;
    }
    found += times(REAL(RELAXATION), larger(REAL(1), magnitude(found)));
    if (!(bound < INFINITE)) return found;
    REAL least = times(REAL(SIGNIFICANT), larger(REAL(1), magnitude(bound)));
    if (base > -INFINITE) least = larger(least, times(REAL(SIGNIFICANT), bound - base));
    return bound - found > least ? found : bound;
}

// The bounds that a row with this room implies for the column of an entry.
BOTH Interval implied(
    REAL value, REAL lower, REAL upper, const Room& room, bool is_integer) {
    const REAL weight = magnitude(value);
    if (weight < REAL(SMALLEST_ENTRY)) return {lower, upper};
    const bool rising = value > REAL(0);
    const REAL from_lower = rising ? room.above : room.below;
    const REAL from_upper = rising ? room.below : room.above;
    const int lower_infinite = rising ? room.above_infinite : room.below_infinite;
    const int upper_infinite = rising ? room.below_infinite : room.above_infinite;
    return {-tightened(-upper, -lower, from_upper, upper_infinite, weight, is_integer),
            tightened(lower, upper, from_lower, lower_infinite, weight, is_integer)};
}

// Whether bounds contradict each other; those that cross by a rounding error become one number.
BOTH bool crossing(REAL& lower, REAL& upper) {
    if (!(lower > upper)) return false;
    if (lower - upper > REAL(CROSSING)) return true;
    lower = upper = times(REAL(0.5), lower + upper);
    return false;
}
