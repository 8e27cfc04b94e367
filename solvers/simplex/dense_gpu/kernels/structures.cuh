// Words that steer the kernels (control.py explains them), what rules.py has for the host, and what the
// kernels of an iteration take together.

#pragma once

#include "both.cuh"

namespace simplex::dense_gpu {

constexpr int BLOCK = 256, MOST_DELAYED = 128, MOST_FLIPS = 512, SIDE_ROWS = 128, SEGMENT = 32;
constexpr int SPARSE_BELOW = 8, GATHER_BELOW = 4, NONE = 2147483647;

// Groups of break points that a ratio test passes at most; a shorter step is valid as well.
constexpr int MOST_GROUPS = 128;

// Factor by which the step grows until enough break points are within it, and the least step up to
// which they are looked at (as in HiGHS).
constexpr double SELECTION_GROWTH = 10.0, FIRST_SELECTION = 1e-7;

// An entering column's pivot element must exceed the smaller of this share of the largest one there
// is, and this number.
constexpr double RELATIVE_PIVOT = 0.1, SUFFICIENT_PIVOT = 1.0;

// Smallest weight of dual steepest edge.
constexpr double LEAST_WEIGHT = 1e-4;

// A Devex weight this many times too large starts a new reference framework (as in HiGHS).
constexpr double DEVEX_ERROR = 3.0;

// Primal Devex weight beyond which all start again at one.
constexpr double LARGEST_DEVEX_WEIGHT = 1e7;

enum Word {
    STATUS, PIVOTS, ITERATIONS, LIMIT, POSITION, LEAVING, ENTERING, FLIPS,
    SLOTS, RESET, FLIP_ONLY, DIRECTION, TO_UPPER, ALL_FLIPS, MADE, ENTRIES, FLIP_ENTRIES
};
enum Status { RUNNING, DONE, NO_PIVOT, OUT_OF_PIVOTS, FOLD, INACCURATE };
enum Scalar {
    VALUE, BOUND, EXCESS, WEIGHT, DUAL_STEP, PIVOT, ENTERING_VALUE, NORM,
    PRIMAL_STEP, LARGEST, ERROR, COST_SHIFT,
    PRIMAL_TOLERANCE, DUAL_TOLERANCE, SMALL_PIVOT, PIVOT_ERROR, HARRIS
};
enum Kind { LOWER = 0, BASIC = 1, UPPER = 2, ZERO = 3 };

// Blocks that leave a partial result each.
BOTH int groups_of(long long owners) {
    const long long blocks = (owners + BLOCK - 1) / BLOCK;
    return blocks < 1 ? 1 : (blocks < BLOCK ? (int)blocks : BLOCK);
}

// Variables for which the ratio test has one least ratio, if `lanes` threads share out a column.
BOTH int segment_width(int lanes) { return SEGMENT < BLOCK / lanes ? SEGMENT : BLOCK / lanes; }

// Whether so many entries are listed. `streamed` says that the solve reads the whole inverse anyway.
BOTH bool is_list(long long entries, bool streamed, long long slots, long long rows) {
    return streamed ? entries * SPARSE_BELOW < slots : entries * GATHER_BELOW < rows;
}

// How far a value is beyond its bounds: negative below, zero within the tolerance.
BOTH REAL excess_of(REAL x, REAL lower, REAL upper, REAL tolerance) {
    if (x < lower - tolerance) return x - lower;
    if (x > upper + tolerance) return x - upper;
    return REAL(0);
}

// How far a reduced cost is from the sign it must not take.
BOTH REAL distance_of(int kind, REAL reduced_cost) {
    if (kind == LOWER) return reduced_cost < REAL(0) ? REAL(0) : reduced_cost;
    if (kind == UPPER) return -reduced_cost < REAL(0) ? REAL(0) : -reduced_cost;
    return fabs(reduced_cost);
}

// Whether a nonbasic variable may enter by its share of the pivot row, turned so that the leaving
// one falls.
BOTH bool may_enter(int kind, REAL turned) {
    return kind == LOWER ? turned > REAL(0) : (kind == UPPER ? turned < REAL(0) : true);
}

// d^2 / weight where a reduced cost has the wrong sign, else zero.
BOTH REAL merit_of(int kind, REAL lower, REAL upper, REAL d, REAL weight, REAL tolerance) {
    if (kind == BASIC || lower == upper) return REAL(0);
    const REAL wrong = kind == LOWER ? -d : (kind == UPPER ? d : fabs(d));
    return wrong > tolerance ? d * d / weight : REAL(0);
}

// How far a basic value is from the bound it moves to.
BOTH REAL room_of(REAL rate, REAL x, REAL lower, REAL upper) {
    return rate > REAL(0) ? x - lower : upper - x;
}

// What the kernels of an iteration take together; structures.py says what it is.

struct Matrix {
    int rows, structurals, lanes, full;
    Array<const INDEX> starts, indices;
    Array<const REAL> values;
    Array<const INDEX> slot_of_row;
};

struct Variables {
    Array<const INDEX> status, reference;
    Array<const REAL> lower, upper, x, reduced_cost;
};

// Others are read by some kernels and written by others: Real and Int are constant then, or not.

template <class Real, class Int> struct BasicsOf {
    Array<Int> basic;
    Array<Real> x_basic, lower_basic, upper_basic;
};
using Basics = BasicsOf<const REAL, const INDEX>;
using BasicsOut = BasicsOf<REAL, INDEX>;

template <class Real> struct InverseOf {
    int capacity, most;
    Table<const REAL> inverse;
    Array<const INDEX> unit_row;
    Table<const REAL> etas;
    Table<Real> eta_rows;
    Array<Real> row_slots;
};
using Inverse = InverseOf<const REAL>;
using InverseOut = InverseOf<REAL>;

template <class Real, class Int> struct CandidatesOf {
    Array<Real> ratios, least;
    Array<Int> counts;
    Array<Real> squares, dots;
};
using Candidates = CandidatesOf<const REAL, const INDEX>;
using CandidatesOut = CandidatesOf<REAL, INDEX>;

template <class Real, class Int> struct FlippedOf {
    Array<Int> flips;
    Array<Real> flip_steps;
};
using Flipped = FlippedOf<const REAL, const INDEX>;
using FlippedOut = FlippedOf<REAL, INDEX>;

template <class Real, class Int> struct RightSidesOf {
    Array<Int> places;
    Array<Real> amounts, column, column_slots, flip_column, flip_slots, column_dots, flip_dots;
};
using RightSides = RightSidesOf<const REAL, const INDEX>;
using RightSidesOut = RightSidesOf<REAL, INDEX>;

template <class Real> struct SolutionsOf {
    Array<Real> alpha, beta, tau;
};
using Solutions = SolutionsOf<const REAL>;
using SolutionsOut = SolutionsOf<REAL>;

template <class Real, class Int> struct PartialsOf {
    Array<Real> partial_value;
    Array<Int> partial_index;
};
using Partials = PartialsOf<const REAL, const INDEX>;
using PartialsOut = PartialsOf<REAL, INDEX>;

}  // namespace simplex::dense_gpu
