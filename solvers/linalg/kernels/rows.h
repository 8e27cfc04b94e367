// What the CPU kernels of this folder share: rows of a compressed matrix, and the places of the
// scalars in ``control`` (iteration.py explains both).
#pragma once

#include <cmath>

#include "native/bindings.h"
#include "native/threads.h"

namespace linalg {

using native::check_length;
using native::parallel_for;
using native::Span;

enum Control { ALPHA, BETA, RZ, RR, ITERATIONS, STOP, TARGET, LIMIT, FRESH, CONTROL_SIZE };

enum Reason { RUNNING, CONVERGED, BREAKDOWN, OUT_OF_ITERATIONS };

/// Rows of a compressed matrix; the device's arguments about long rows say nothing here.
template <class Index> struct Rows {
    std::int64_t rows;
    Span<const Index> starts, indices;
    Span<const double> values;

    Rows(std::int64_t rows, Span<const Index> starts, Span<const Index> indices,
         Span<const double> values)
        : rows(rows), starts(starts), indices(indices), values(values) {
        check_length("starts", starts.size(), rows + 1);
        check_length("indices", indices.size(), starts[rows]);
        check_length("values", values.size(), starts[rows]);
    }

    /// The sum of term(value, column) over the entries of row i.
    template <class Term> double sum(std::int64_t i, const Term &term) const {
        const std::int64_t end = starts[i + 1];
        double total = 0.0;
        for (std::int64_t k = starts[i]; k < end; ++k)
            total += term(values[k], indices[k]);
        return total;
    }

    /// Row i times a vector.
    double product(std::int64_t i, Span<const double> vector) const {
        return sum(i, [&](double value, Index column) { return value * vector[column]; });
    }
};

} // namespace linalg
