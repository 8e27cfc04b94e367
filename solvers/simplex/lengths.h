// Lengths of several arrays, checked at once where Python calls.
#pragma once

#include "native/bindings.h"

namespace simplex {

/// An array's name and length.
struct Length {
    const char *name;
    std::int64_t found;

    template <class View>
    Length(const char *name, const View &array) : name(name), found(array.size()) {}
};

inline void check_lengths(std::int64_t wanted, std::initializer_list<Length> arrays) {
    for (const Length &one : arrays)
        native::check_length(one.name, one.found, wanted);
}

} // namespace simplex
