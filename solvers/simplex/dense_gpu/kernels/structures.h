// What the loops of the dense GPU core take: views of arrays by what stands in them, fields for the
// binding, checks of lengths, and groups.
#pragma once

#include "native/bindings.h"
#include "native/threads.h"

namespace simplex::dense_gpu {
using REAL = double;
using INDEX = std::int32_t;
} // namespace simplex::dense_gpu

#include "structures.cuh"

NATIVE_STRUCT(simplex::dense_gpu::Matrix, rows, structurals, lanes, full, starts, indices, values,
              slot_of_row)
NATIVE_STRUCT(simplex::dense_gpu::Variables, status, reference, lower, upper, x, reduced_cost)
NATIVE_STRUCT(simplex::dense_gpu::Basics, basic, x_basic, lower_basic, upper_basic)
NATIVE_STRUCT(simplex::dense_gpu::BasicsOut, basic, x_basic, lower_basic, upper_basic)
NATIVE_STRUCT(simplex::dense_gpu::Inverse, capacity, most, inverse, unit_row, etas, eta_rows,
              row_slots)
NATIVE_STRUCT(simplex::dense_gpu::InverseOut, capacity, most, inverse, unit_row, etas, eta_rows,
              row_slots)
NATIVE_STRUCT(simplex::dense_gpu::Candidates, ratios, least, counts, squares, dots)
NATIVE_STRUCT(simplex::dense_gpu::CandidatesOut, ratios, least, counts, squares, dots)
NATIVE_STRUCT(simplex::dense_gpu::Flipped, flips, flip_steps)
NATIVE_STRUCT(simplex::dense_gpu::FlippedOut, flips, flip_steps)
NATIVE_STRUCT(simplex::dense_gpu::RightSides, places, amounts, column, column_slots, flip_column,
              flip_slots, column_dots, flip_dots)
NATIVE_STRUCT(simplex::dense_gpu::RightSidesOut, places, amounts, column, column_slots, flip_column,
              flip_slots, column_dots, flip_dots)
NATIVE_STRUCT(simplex::dense_gpu::Solutions, alpha, beta, tau)
NATIVE_STRUCT(simplex::dense_gpu::SolutionsOut, alpha, beta, tau)
NATIVE_STRUCT(simplex::dense_gpu::Partials, partial_value, partial_index)
NATIVE_STRUCT(simplex::dense_gpu::PartialsOut, partial_value, partial_index)

namespace simplex::dense_gpu {

using native::check_lengths;
using native::INF;

using Index = INDEX;
using Reals = native::Span<const double>;
using Ints = native::Span<const Index>;
using RealsOut = native::Span<double>;
using IntsOut = native::Span<Index>;

/// A partial result: the largest merit, and the lowest place that has it.
struct Best {
    double value = 0.0;
    Index index = NONE;

    void take(double other, std::int64_t place) {
        if (other > value)
            *this = {other, static_cast<Index>(place)};
    }
};

/// Leave the best of each group's share of ``owners``; ``merit`` says how much speaks for one.
template <class Merit>
inline void leave_best(int threads, std::int64_t owners, std::int64_t groups, RealsOut value,
                       IntsOut index, const Merit &merit) {
    native::parallel_for(threads, groups, [&](std::int64_t group) {
        Best best;
        for (std::int64_t first = group * BLOCK; first < owners; first += groups * BLOCK) {
            const std::int64_t end = std::min<std::int64_t>(first + BLOCK, owners);
            for (std::int64_t one = first; one < end; ++one)
                best.take(merit(one), one);
        }
        value[group] = best.value;
        index[group] = best.index;
    });
}

/// The best of what groups have left.
inline Best best_of(Reals value, Ints index, std::int64_t groups) {
    Best best;
    for (std::int64_t g = 0; g < groups; ++g)
        if (value[g] > best.value || (value[g] == best.value && index[g] < best.index))
            best = {value[g], index[g]};
    return best;
}

/// Words that a loop reads or writes by name.
inline constexpr std::int64_t CONTROL_WORDS = 20, SCALAR_WORDS = 20;

inline std::int64_t count_variables(const Matrix &matrix) {
    return static_cast<std::int64_t>(matrix.rows) + matrix.structurals;
}

inline void check(const Matrix &matrix) {
    check_lengths(matrix.structurals + 1, {{"starts", matrix.starts}});
    check_lengths(matrix.starts[matrix.structurals],
                  {{"indices", matrix.indices}, {"values", matrix.values}});
    check_lengths(matrix.rows, {{"slot_of_row", matrix.slot_of_row}});
}

inline void check(const Variables &all, std::int64_t variables) {
    check_lengths(variables, {{"status", all.status},
                              {"reference", all.reference},
                              {"lower", all.lower},
                              {"upper", all.upper},
                              {"x", all.x},
                              {"reduced_cost", all.reduced_cost}});
}

template <class Real, class Int> void check(const BasicsOf<Real, Int> &basics, std::int64_t rows) {
    check_lengths(rows, {{"basic", basics.basic},
                         {"x_basic", basics.x_basic},
                         {"lower_basic", basics.lower_basic},
                         {"upper_basic", basics.upper_basic}});
}

template <class Real> void check(const InverseOf<Real> &inverse, std::int64_t rows) {
    check_lengths(rows, {{"unit_row", inverse.unit_row}});
    check_lengths(rows * inverse.capacity, {{"inverse", inverse.inverse}});
    check_lengths(rows * inverse.most, {{"etas", inverse.etas}, {"eta_rows", inverse.eta_rows}});
    check_lengths(inverse.capacity, {{"row_slots", inverse.row_slots}});
}

template <class Real, class Int>
void check(const RightSidesOf<Real, Int> &sides, std::int64_t rows, std::int64_t most,
           Ints control) {
    check_lengths(CONTROL_WORDS, {{"control", control}});
    check_lengths(rows, {{"column", sides.column}, {"flip_column", sides.flip_column}});
    check_lengths(control[SLOTS],
                  {{"column_slots", sides.column_slots}, {"flip_slots", sides.flip_slots}});
    check_lengths(rows / std::min(SPARSE_BELOW, GATHER_BELOW),
                  {{"places", sides.places}, {"amounts", sides.amounts}});
    check_lengths(most, {{"column_dots", sides.column_dots}, {"flip_dots", sides.flip_dots}});
}

template <class Real> void check(const SolutionsOf<Real> &solved, std::int64_t rows) {
    check_lengths(rows, {{"alpha", solved.alpha}, {"beta", solved.beta}, {"tau", solved.tau}});
}

template <class Real, class Int>
void check(const PartialsOf<Real, Int> &partials, std::int64_t groups) {
    check_lengths(groups, {{"partial_value", partials.partial_value},
                           {"partial_index", partials.partial_index}});
}

} // namespace simplex::dense_gpu
