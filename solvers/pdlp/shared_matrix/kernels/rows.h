// A matrix by rows for several problems at once, on the CPU; ../state.py says how it is passed.
#pragma once

#include <cmath>
#include <vector>

#include "native/bindings.h"
#include "native/threads.h"

namespace {

#include "fields.cuh"

using Numbers = native::Span<const double>;
using NumbersOut = native::Span<double>;
using Ints = native::Span<const std::int32_t>;
using IntGrid = native::Grid<const std::int32_t>;
using Control = native::Grid<double>;
using ControlIn = native::Grid<const double>;

/// More problems than a block of threads has room for share no matrix.
constexpr std::int64_t MOST_PROBLEMS = 256;

/// The rows of a matrix, in units.
struct Rows {
    IntGrid unit_table;
    Ints starts, indices;
    Numbers values;
    std::int64_t units, width;

    /// Call work(row) for the rows of a unit; a row in parts is the first's.
    template <class Work> void each_row(std::int64_t unit, const Work &work) const {
        if (unit_table(unit, 2) > 0)
            return;
        const std::int64_t first = unit_table(unit, 0);
        const std::int64_t end = first + std::max(unit_table(unit, 1), 1);
        for (std::int64_t row = first; row < end; ++row)
            work(row);
    }
};

inline Rows rows_of(int units, IntGrid unit_table, Ints starts, Ints indices, Numbers values,
                    int width) {
    native::check_length("unit_table", unit_table.shape(0), units);
    native::check_length("a row of unit_table", unit_table.shape(1), 4);
    native::check_length("indices", indices.size(), starts[starts.size() - 1]);
    native::check_length("values", values.size(), indices.size());
    native::check_length("a place for problems", MOST_PROBLEMS, width);
    return {unit_table, starts, indices, values, units, width};
}

/// The products of a row with all problems' vectors, as many at a time as registers hold.
template <std::int64_t AT_ONCE>
inline void add_products(const Rows &rows, std::int64_t row, const double *vector,
                         double *products) {
    double totals[AT_ONCE] = {};
    const std::int64_t end = rows.starts[row + 1], width = rows.width;
    for (std::int64_t entry = rows.starts[row]; entry < end; ++entry) {
        const double value = rows.values[entry];
        const double *own = vector + rows.indices[entry] * width;
        for (std::int64_t problem = 0; problem < AT_ONCE; ++problem)
            totals[problem] += value * own[problem];
    }
    for (std::int64_t problem = 0; problem < AT_ONCE; ++problem)
        products[problem] = totals[problem];
}

/// Leave the products of a row with all problems' vectors in ``products`` (width,).
NATIVE_HOT void multiply_row(const Rows &rows, std::int64_t row, Numbers vector, double *products) {
    std::int64_t problem = 0;
    for (; problem + 16 <= rows.width; problem += 16)
        add_products<16>(rows, row, vector.data() + problem, products + problem);
    for (; problem + 8 <= rows.width; problem += 8)
        add_products<8>(rows, row, vector.data() + problem, products + problem);
    for (; problem < rows.width; ++problem)
        add_products<1>(rows, row, vector.data() + problem, products + problem);
}

} // namespace
