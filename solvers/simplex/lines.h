// Sums of vectors, compiled for the width of vectors that the processor has.
#pragma once

#include "native/numbers.h"

namespace simplex {

/// Add a multiple of a vector to another one.
[[maybe_unused]] NATIVE_HOT static void add_multiple(double *__restrict line, double factor,
                                                     const double *__restrict other,
                                                     std::int64_t size) {
    for (std::int64_t i = 0; i < size; ++i)
        line[i] += factor * other[i];
}

} // namespace simplex
