// The LPs of a batch as they were given, and pricing one of their rows.
#pragma once

#include <cmath>

#include "native/bindings.h"
#include "native/threads.h"

namespace {

using Numbers = native::Span<const double>;
using NumbersOut = native::Span<double>;
using Ints = native::Span<const std::int32_t>;

using REAL = double;
using INDEX = std::int32_t;
#include "batch.cuh"

/// The pattern that all LPs have, and how many there are.
struct Pattern {
    std::int64_t count, rows, columns;
    Ints starts, indices;
    bool is_full;

    std::int64_t nonzeros() const { return indices.size(); }
};

inline Pattern pattern_of(std::int64_t count, std::int64_t rows, std::int64_t columns, Ints starts,
                          Ints indices, int is_full) {
    native::check_length("starts", starts.size(), rows + 1);
    native::check_length("indices", indices.size(), starts[rows]);
    return {count, rows, columns, starts, indices, is_full != 0};
}

/// An array with a row for each LP, or one for all.
template <class Element> struct OfEach {
    native::Span<const Element> values;
    std::int64_t width;
    bool varies;

    OfEach(const char *name, native::Span<const Element> values, std::int64_t width, int varying,
           int bit, std::int64_t count)
        : values(values), width(width), varies((varying >> bit) & 1) {
        native::check_length(name, values.size(), varies ? count * width : width);
    }
    native::Span<const Element> of(std::int64_t k) const {
        const std::int64_t first = varies ? k * width : 0;
        return values.part(first, first + width);
    }
};

/// The product of two vectors, by four sums that a processor makes at once.
inline double product_of(const double *line, const double *x, std::int64_t size) {
    double sums[4] = {};
    const std::int64_t whole = size - size % 4;
    for (std::int64_t j = 0; j < whole; j += 4)
        for (int k = 0; k < 4; ++k)
            sums[k] += line[j + k] * x[j + k];
    for (std::int64_t j = whole; j < size; ++j)
        sums[0] += line[j] * x[j];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/// The activity of a full row, whose part is taken from the reduced costs.
NATIVE_HOT double price_full_row(const double *line, std::int64_t size, double price,
                                 const double *x, double *__restrict reduced) {
    const double total = product_of(line, x, size);
    if (price != 0.0)
        for (std::int64_t j = 0; j < size; ++j)
            reduced[j] -= line[j] * price;
    return total;
}

/// Return the activity of row i, and take its part from the reduced costs.
///
/// The matrix is read once for both.
inline double price_row(const Pattern &pattern, Numbers values, std::int64_t i, double price,
                        Numbers x, NumbersOut reduced) {
    const std::int64_t first = pattern.starts[i], end = pattern.starts[i + 1];
    if (pattern.is_full)
        return price_full_row(values.data() + first, end - first, price, x.data(), reduced.data());
    double total = 0.0;
    for (std::int64_t entry = first; entry < end; ++entry) {
        const std::int64_t j = pattern.indices[entry];
        total += values[entry] * x[j];
        reduced[j] -= values[entry] * price;
    }
    return total;
}

} // namespace
