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

} // namespace native

namespace nanobind::detail {

template <class... Elements> struct type_caster<std::variant<native::Span<Elements>...>> {
    using Value = std::variant<native::Span<Elements>...>;
    Value value;
    native::HeldBuffer held;
    template <typename T_> using Cast = Value;
    template <typename T_> static constexpr bool can_cast() { return true; }
    static constexpr auto Name = union_name(array_name<Elements>()...);

    bool from_python(handle source, uint8_t, cleanup_list *) noexcept {
        constexpr bool writable = !(std::is_const_v<Elements> && ...);
        return held.take(source.ptr(), writable) && held.buffer.ndim == 1 &&
               (take<Elements>(held.buffer) || ...);
    }
    template <class Element> bool take(const Py_buffer &buffer) {
        if (!native::fits<Element>(buffer))
            return false;
        value = native::Span<Element>(static_cast<Element *>(buffer.buf), buffer.shape[0]);
        return true;
    }
    explicit operator Value() { return value; }
};

} // namespace nanobind::detail
