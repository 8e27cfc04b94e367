// What the kernels of an iteration take together, on both devices; structures.py says what it is.

#pragma once

#include "words.cuh"

namespace simplex::dense_gpu {

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
