// Array arguments of several element types: which one came is told by the array, once for a call,
// where an overload for each combination would take long to compile and to choose from.
//
//     void fill(AnySpan<float, double> values) {
//         std::visit([](auto values) { ... }, values);
//     }
#pragma once

#include <variant>

#include "bindings.h"

namespace native {

/// A contiguous vector of one of these types.
template <class... Elements> using AnySpan = std::variant<Span<Elements>...>;

template <class... Elements> struct Taken<std::variant<Span<Elements>...>> {
    static constexpr Element elements[] = {element_of<Elements>()...};
    static bool take(PyObject *source, void *place, Held &held) {
        using Value = AnySpan<Elements...>;
        constexpr bool writable = !(std::is_const_v<Elements> && ...);
        void *data;
        std::int64_t size;
        const int found =
            take_array(source, held, elements, sizeof...(Elements), writable, 1, data, &size);
        int at = 0;
        ((at++ == found && new (place) Value(Span<Elements>(static_cast<Elements *>(data), size))),
         ...);
        return found >= 0;
    }
    static void name(std::vector<const char *> &parts) {
        for (const Element &element : elements) {
            if (&element != elements)
                parts.push_back(" | ");
            parts.push_back(name_of(element));
        }
    }
};

} // namespace native
