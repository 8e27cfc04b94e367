// Stored values and column indices of a matrix, on the CPU.
//
// A stored value is a double, an exact float, or an unsigned code of 8 or 16 bits into a
// dictionary. A stored index is of 32 or 64 bits, or of 16 where these suffice. Which it is follows
// from the type.
#pragma once

#include <type_traits>

#include "native/bindings.h"

/// Values of a matrix as they may be stored.
using StoredValues =
    native::AnySpan<const double, const float, const std::uint8_t, const std::uint16_t>;

/// Column indices as they may be stored where the others of the matrix are of type Index.
template <class Index> using StoredIndices = native::AnySpan<const Index, const std::uint16_t>;

/// A stored number: itself, or what its code means in the dictionary.
template <class Value>
inline double value_at(native::Span<const Value> values, std::int64_t entry,
                       native::Span<const double> dictionary) {
    if constexpr (std::is_integral_v<Value>)
        return dictionary[values[entry]];
    else
        return values[entry];
}
