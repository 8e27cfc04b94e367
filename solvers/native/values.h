// Values that pass between Python and C++: numbers, arrays, tuples, and attributes as structures.
//
// A type of C++ says by functions how it is read; what these do is compiled once, in values.cpp.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "arrays.h"
#include "numbers.h"

typedef struct _object PyObject; // its header is for a few .cpp files alone

namespace native {

/// Buffers of Python's objects, which a call holds until it ends.
class Held;

/// What Python objects are taken for: how one is read into ``place``, and what a stub says of it.
struct Type {
    std::size_t size;
    bool (*take)(PyObject *source, void *place, Held &held);
    void (*name)(std::vector<const char *> &parts);
};

/// How a type of C++ is read from a Python object; specialised below.
template <class T> struct Taken;
template <class T> inline constexpr Type type_of = {sizeof(T), &Taken<T>::take, &Taken<T>::name};

/// An element of an array: its kind in NumPy's letters, and its bytes.
struct Element {
    char kind;
    std::size_t bytes;
};
template <class T> constexpr Element element_of() {
    using Plain = std::remove_const_t<T>;
    const char kind = std::is_same_v<Plain, bool>       ? 'b'
                      : std::is_floating_point_v<Plain> ? 'f'
                      : !std::is_arithmetic_v<Plain>    ? 'V'
                      : std::is_signed_v<Plain>         ? 'i'
                                                        : 'u';
    return {kind, sizeof(Plain)};
}
const char *name_of(Element element);

bool take_bool(PyObject *source, bool &value);
bool take_integer(PyObject *source, std::int64_t least, std::int64_t most, std::int64_t &value);
bool take_unsigned(PyObject *source, std::uint64_t most, std::uint64_t &value);
bool take_real(PyObject *source, double &value);
/// Read a contiguous array of one of several elements and return which one it is, or -1.
int take_array(PyObject *source, Held &held, const Element *elements, int count, bool writable,
               int dimensions, void *&data, std::int64_t *shape);

template <class T>
    requires std::is_arithmetic_v<T>
struct Taken<T> {
    static bool take(PyObject *source, void *place, Held &) {
        T &value = *new (place) T();
        if constexpr (std::is_same_v<T, bool>)
            return take_bool(source, value);
        else if constexpr (std::is_floating_point_v<T>) {
            double found;
            const bool fits = take_real(source, found);
            value = static_cast<T>(found);
            return fits;
        } else if constexpr (std::is_signed_v<T>) {
            std::int64_t found;
            using Limits = std::numeric_limits<T>;
            const bool fits = take_integer(source, Limits::min(), Limits::max(), found);
            value = static_cast<T>(found);
            return fits;
        } else {
            std::uint64_t found;
            const bool fits = take_unsigned(source, std::numeric_limits<T>::max(), found);
            value = static_cast<T>(found);
            return fits;
        }
    }
    static void name(std::vector<const char *> &parts) {
        parts.push_back(std::is_same_v<T, bool>       ? "bool"
                        : std::is_floating_point_v<T> ? "float"
                                                      : "int");
    }
};

template <class View> struct TakenView {
    static constexpr Element element = element_of<typename View::Element>();
    static bool take(PyObject *source, void *place, Held &held) {
        void *data;
        std::array<std::int64_t, View::dimensions> shape;
        constexpr bool writable = !std::is_const_v<typename View::Element>;
        if (take_array(source, held, &element, 1, writable, View::dimensions, data, shape.data()) <
            0)
            return false;
        new (place) View(static_cast<typename View::Element *>(data), shape);
        return true;
    }
    static void name(std::vector<const char *> &parts) { parts.push_back(name_of(element)); }
};
template <class T> struct Taken<Span<T>> : TakenView<Span<T>> {};
template <class T> struct Taken<Grid<T>> : TakenView<Grid<T>> {};
template <class T> struct Taken<Cube<T>> : TakenView<Cube<T>> {};

// Array arguments of several element types: which one came is told by the array, once for a call,
// where an overload for each combination would take long to compile and to choose from.
//
//     void fill(AnySpan<float, double> values) {
//         std::visit([](auto values) { ... }, values);
//     }
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

bool take_items(PyObject *source, char *place, Held &held, const Type *types,
                const std::size_t *offsets, std::size_t count);
void name_items(std::vector<const char *> &parts, const Type *types, std::size_t count);

/// Where each of several values stands in memory that holds them all, and how much that is.
template <class... Values> struct Layout {
    static constexpr std::size_t count = sizeof...(Values);
    static constexpr Type types[count + 1] = {type_of<Values>..., {}};
    static constexpr auto offsets = [] {
        std::array<std::size_t, count + 1> found{};
        for (std::size_t at = 0; at < count; ++at)
            found[at + 1] = found[at] + (types[at].size + 15) / 16 * 16;
        return found;
    }();
    static_assert(((alignof(Values) <= 16 && std::is_trivially_destructible_v<Values>) && ...));

    template <std::size_t at, class Value> static Value &value(char *place) {
        return *std::launder(reinterpret_cast<Value *>(place + offsets[at]));
    }
};

/// Arguments of another function, from a tuple of Python's.
template <class... Values> struct Arguments {
    using Places = Layout<Values...>;
    alignas(16) char place[Places::offsets[Places::count]];

    /// Call a function with them.
    template <class Function> auto apply(Function function) const {
        return [&]<std::size_t... at>(std::index_sequence<at...>) {
            return function(Places::template value<at, Values>(const_cast<char *>(place))...);
        }(std::index_sequence_for<Values...>());
    }
};
template <class... Values> struct Taken<Arguments<Values...>> {
    using Places = Layout<Values...>;
    static bool take(PyObject *source, void *place, Held &held) {
        return take_items(source, (new (place) Arguments<Values...>)->place, held, Places::types,
                          Places::offsets.data(), Places::count);
    }
    static void name(std::vector<const char *> &parts) {
        name_items(parts, Places::types, Places::count);
    }
};

template <class... Values> struct Taken<std::tuple<Values...>> {
    using Read = Arguments<Values...>;
    static bool take(PyObject *source, void *place, Held &held) {
        Read read;
        if (!Taken<Read>::take(source, &read, held))
            return false;
        new (place) std::tuple<Values...>(
            read.apply([](const Values &...value) { return std::tuple<Values...>(value...); }));
        return true;
    }
    static void name(std::vector<const char *> &parts) { Taken<Read>::name(parts); }
};

/// A field of a structure, an attribute of its name in Python.
struct Field {
    const char *name;
    std::size_t offset;
    const Type *type;
};
/// The fields of a structure; specialised by NATIVE_STRUCT.
template <class Structure> struct Fields;
bool take_fields(PyObject *source, char *place, Held &held, const Field *fields, std::size_t count);

template <class Structure>
    requires(Fields<Structure>::known)
struct Taken<Structure> {
    static bool take(PyObject *source, void *place, Held &held) {
        new (place) Structure();
        return take_fields(source, static_cast<char *>(place), held, Fields<Structure>::list,
                           std::size(Fields<Structure>::list));
    }
    static void name(std::vector<const char *> &parts) { parts.push_back("typing.Any"); }
};

PyObject *given(bool value);
PyObject *given(double value);
PyObject *given_integer(std::int64_t value);
PyObject *given_unsigned(std::uint64_t value);
PyObject *given_tuple(std::initializer_list<PyObject *> items);

template <class T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
PyObject *given(T value) {
    if constexpr (std::is_signed_v<T>)
        return given_integer(value);
    else
        return given_unsigned(value);
}
template <class... Values> PyObject *given(const std::tuple<Values...> &values) {
    return std::apply([](const Values &...value) { return given_tuple({given(value)...}); },
                      values);
}

} // namespace native
