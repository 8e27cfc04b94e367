// Bindings between Python and compiled loops: arrays checked, the interpreter's lock released.
//
//     NATIVE_STRUCT(Box, bounds, rows, queue)            // fields of a Python tuple, by name
//     NATIVE_MODULE(mip_inference_domain) {                        // becomes
//     solvers.native.mip_inference_domain
//         expose(module, "propagate", &propagate, "matrix", "box", "lenient");
//         NATIVE_CONSTANTS(module, "solvers.mip.inference.domain.state", TRAIL);
//     }
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>

#include "arrays.h"
#include "interrupt.h"
#include "numbers.h"

namespace native {

namespace nb = nanobind;

/// Names and members of a structure whose fields a Python object has as attributes.
template <class Structure> struct Fields {
    static constexpr bool known = false;
};

/// Whether the format of a buffer stands for T.
template <class T> inline bool fits(const Py_buffer &buffer) {
    using Plain = std::remove_const_t<T>;
    const char *format = buffer.format == nullptr ? "B" : buffer.format;
    if (buffer.itemsize != static_cast<Py_ssize_t>(sizeof(Plain)))
        return false;
    if constexpr (!std::is_arithmetic_v<Plain>)
        return format[0] == 'T';
    const char kind = (*format == '=' || *format == '<' || *format == '@') ? format[1] : format[0];
    if constexpr (std::is_same_v<Plain, bool>)
        return kind == '?';
    else if constexpr (std::is_floating_point_v<Plain>)
        return kind == (sizeof(Plain) == 8 ? 'd' : 'f');
    else if constexpr (std::is_signed_v<Plain>)
        return kind == 'b' || kind == 'h' || kind == 'i' || kind == 'l' || kind == 'q';
    else
        return kind == 'B' || kind == 'H' || kind == 'I' || kind == 'L' || kind == 'Q' ||
               (sizeof(Plain) == 1 && kind == '?');
}

/// A buffer of Python's held for the length of a call.
struct HeldBuffer {
    Py_buffer buffer{};
    bool held = false;

    HeldBuffer() = default;
    HeldBuffer(const HeldBuffer &) = delete;
    HeldBuffer &operator=(const HeldBuffer &) = delete;
    ~HeldBuffer() { release(); }

    // not put into every binding: that took a third of the time to compile them
    [[gnu::noinline]] bool take(PyObject *object, bool writable) {
        release();
        const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
        if (PyObject_GetBuffer(object, &buffer, flags) != 0) {
            PyErr_Clear();
            return false;
        }
        held = true;
        return true;
    }
    void release() {
        if (held)
            PyBuffer_Release(&buffer);
        held = false;
    }
};

/// Declare a function with the names of its arguments; it runs without the interpreter's lock.
template <class Function, class... Names>
inline void expose(nb::module_ &module, const char *name, Function function, Names... names) {
    module.def(name, function, nb::arg(names)..., nb::call_guard<nb::gil_scoped_release>());
}

/// Tell of constants that a Python module has, too; a test compares them.
inline void constants(nb::module_ &module, const char *python_module,
                      std::initializer_list<std::pair<const char *, double>> named) {
    if (!nb::hasattr(module, "constants"))
        module.attr("constants") = nb::dict();
    nb::dict told;
    for (const auto &[name, value] : named)
        told[name] = value;
    nb::cast<nb::dict>(module.attr("constants"))[python_module] = told;
}

/// Tell of a structure of bytes that a Python module has as a NumPy type; a test compares them.
inline void record(nb::module_ &module, const char *python_module, const char *type_name,
                   std::size_t size,
                   std::initializer_list<std::pair<const char *, std::size_t>> offsets) {
    if (!nb::hasattr(module, "records"))
        module.attr("records") = nb::dict();
    nb::dict told;
    for (const auto &[name, offset] : offsets)
        told[name] = offset;
    nb::cast<nb::dict>(module.attr("records"))[nb::make_tuple(python_module, type_name)] =
        nb::make_tuple(size, told);
}

/// Raises ValueError for an array that is too short.
[[noreturn]] void refuse_length(const char *name, std::int64_t found, std::int64_t wanted);

/// Refuse arrays whose length is not what the others ask for.
inline void check_length(const char *name, std::int64_t found, std::int64_t wanted) {
    if (found < wanted)
        refuse_length(name, found, wanted);
}

/// Refuse a matrix that has not so many rows, or fewer entries than its rows say.
template <class Index>
void check_rows(const char *name, const SparseRows<Index> &rows, std::int64_t count) {
    check_length(name, rows.indptr.size(), count + 1);
    check_length(name, rows.indices.size(), rows.indptr[count]);
    check_length(name, rows.data.size(), rows.indptr[count]);
}

using Binder = void (*)(nb::module_ &);

/// Adds a submodule to the list that module.cpp goes through.
struct Registration {
    const char *name;
    Binder bind;
    Registration *next;
    Registration(const char *name, Binder bind);
};

} // namespace native

namespace nanobind::detail {

/// What a stub says of an array of T.
template <class T> constexpr auto array_name() {
    using Plain = std::remove_const_t<T>;
    if constexpr (std::is_same_v<Plain, bool>)
        return const_name("numpy.typing.NDArray[numpy.bool_]");
    else if constexpr (std::is_floating_point_v<Plain>)
        return const_name("numpy.typing.NDArray[numpy.float") + const_name<sizeof(T) * 8>() +
               const_name("]");
    else if constexpr (std::is_integral_v<Plain>)
        return const_name("numpy.typing.NDArray[numpy.") +
               const_name<std::is_signed_v<Plain>>("int", "uint") + const_name<sizeof(T) * 8>() +
               const_name("]");
    else
        return const_name("numpy.typing.NDArray[numpy.void]");
}

template <class View> struct view_caster {
    using Element = typename View::Element;
    View value;
    native::HeldBuffer held;
    template <typename T_> using Cast = View;
    template <typename T_> static constexpr bool can_cast() { return true; }
    static constexpr auto Name = array_name<Element>();

    [[gnu::noinline]] bool from_python(handle source, uint8_t, cleanup_list *) noexcept {
        if (!held.take(source.ptr(), !std::is_const_v<Element>))
            return false;
        const Py_buffer &buffer = held.buffer;
        if (buffer.ndim != View::dimensions || !native::fits<Element>(buffer))
            return false;
        std::array<std::int64_t, View::dimensions> shape;
        for (int axis = 0; axis < View::dimensions; ++axis)
            shape[axis] = buffer.shape[axis];
        value = View(static_cast<Element *>(buffer.buf), shape);
        return true;
    }
    explicit operator View() { return value; }
};

template <class T> struct type_caster<native::Span<T>> : view_caster<native::Span<T>> {};
template <class T> struct type_caster<native::Grid<T>> : view_caster<native::Grid<T>> {};
template <class T> struct type_caster<native::Cube<T>> : view_caster<native::Cube<T>> {};

/// A structure from an object with attributes of its fields' names: a named tuple, a dataclass.
template <class Structure>
    requires(native::Fields<Structure>::known)
struct type_caster<Structure> {
    using Layout = native::Fields<Structure>;
    Structure value;
    typename Layout::Casters casters;
    template <typename T_> using Cast = Structure;
    template <typename T_> static constexpr bool can_cast() { return true; }
    static constexpr auto Name = const_name("typing.Any");

    [[gnu::noinline]] bool from_python(handle source, uint8_t flags,
                                       cleanup_list *cleanup) noexcept {
        return take(source, flags, cleanup,
                    std::make_index_sequence<std::tuple_size_v<decltype(Layout::members)>>());
    }
    template <std::size_t... at>
    bool take(handle source, uint8_t flags, cleanup_list *cleanup, std::index_sequence<at...>) {
        return (take_one<at>(source, flags, cleanup) && ...);
    }
    template <std::size_t at>
    bool take_one(handle source, uint8_t flags, cleanup_list *cleanup) noexcept {
        PyObject *found = PyObject_GetAttrString(source.ptr(), Layout::names[at]);
        if (found == nullptr) {
            PyErr_Clear();
            return false;
        }
        auto &caster = std::get<at>(casters);
        const bool fits = caster.from_python(found, flags, cleanup);
        Py_DECREF(found); // the structure of the call keeps it alive
        if (!fits)
            return false;
        auto member = std::get<at>(Layout::members);
        using Field = std::remove_reference_t<decltype(value.*member)>;
        value.*member = static_cast<Field>(
            caster.
            operator typename std::remove_reference_t<decltype(caster)>::template Cast<Field>());
        return true;
    }
    explicit operator Structure() { return value; }
};

} // namespace nanobind::detail

#define NATIVE_EXPAND(...)                                                                         \
    NATIVE_EXPAND3(NATIVE_EXPAND3(NATIVE_EXPAND3(NATIVE_EXPAND3(__VA_ARGS__))))
#define NATIVE_EXPAND3(...)                                                                        \
    NATIVE_EXPAND2(NATIVE_EXPAND2(NATIVE_EXPAND2(NATIVE_EXPAND2(__VA_ARGS__))))
#define NATIVE_EXPAND2(...)                                                                        \
    NATIVE_EXPAND1(NATIVE_EXPAND1(NATIVE_EXPAND1(NATIVE_EXPAND1(__VA_ARGS__))))
#define NATIVE_EXPAND1(...) __VA_ARGS__
#define NATIVE_AGAIN() NATIVE_EACH_HELPER
#define NATIVE_PARENS ()
#define NATIVE_EACH_HELPER(macro, structure, first, ...)                                           \
    macro(structure, first) __VA_OPT__(, NATIVE_AGAIN NATIVE_PARENS(macro, structure, __VA_ARGS__))
#define NATIVE_EACH(macro, structure, ...)                                                         \
    __VA_OPT__(NATIVE_EXPAND(NATIVE_EACH_HELPER(macro, structure, __VA_ARGS__)))
#define NATIVE_NAME(structure, field) #field
#define NATIVE_MEMBER(structure, field) &structure::field
#define NATIVE_CASTER(structure, field) nanobind::detail::make_caster<decltype(structure::field)>

/// Let functions take a structure from a Python object that has these attributes.
#define NATIVE_STRUCT(structure, ...)                                                              \
    template <> struct native::Fields<structure> {                                                 \
        static constexpr bool known = true;                                                        \
        static constexpr const char *names[] = {NATIVE_EACH(NATIVE_NAME, structure, __VA_ARGS__)}; \
        static constexpr auto members =                                                            \
            std::make_tuple(NATIVE_EACH(NATIVE_MEMBER, structure, __VA_ARGS__));                   \
        using Casters = std::tuple<NATIVE_EACH(NATIVE_CASTER, structure, __VA_ARGS__)>;            \
    };

NATIVE_STRUCT(native::SparseRows<std::int32_t>, indptr, indices, data)
NATIVE_STRUCT(native::SparseRows<std::int64_t>, indptr, indices, data)

#define NATIVE_CONSTANT(module, name) {#name, static_cast<double>(name)}
/// Tell of constants that a Python module has by the same names.
#define NATIVE_CONSTANTS(module, python_module, ...)                                               \
    native::constants(module, python_module, {NATIVE_EACH(NATIVE_CONSTANT, module, __VA_ARGS__)})

#define NATIVE_OFFSET(structure, field) {#field, offsetof(structure, field)}
/// Tell of a structure that a Python module has as a NumPy type with fields of the same names.
#define NATIVE_RECORD(module, python_module, type_name, structure, ...)                            \
    native::record(module, python_module, type_name, sizeof(structure),                            \
                   {NATIVE_EACH(NATIVE_OFFSET, structure, __VA_ARGS__)})

#define NATIVE_KERNEL(module, name) native::expose(module, #name, &name)
#define NATIVE_KERNEL_BY_INDEX(module, name)                                                       \
    native::expose(module, #name, &name<std::int32_t>),                                            \
        native::expose(module, #name, &name<std::int64_t>)
/// Declare twins of kernels, which are called with all arguments in their order.
#define NATIVE_KERNELS(module, ...) NATIVE_EACH(NATIVE_KERNEL, module, __VA_ARGS__)
/// The same for twins that are templates of their index type.
#define NATIVE_KERNELS_BY_INDEX(module, ...)                                                       \
    NATIVE_EACH(NATIVE_KERNEL_BY_INDEX, module, __VA_ARGS__)

/// Define what a submodule of solvers.native holds; ``module`` is it.
#define NATIVE_MODULE(name)                                                                        \
    static void bind_##name(nanobind::module_ &);                                                  \
    static native::Registration registered_##name(#name, bind_##name);                             \
    static void bind_##name([[maybe_unused]] nanobind::module_ &module)
