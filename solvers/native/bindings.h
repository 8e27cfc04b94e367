// Bindings between Python and compiled loops: arrays checked, the interpreter's lock released.
//
//     NATIVE_STRUCT(Box, bounds, rows, queue)            // attributes of a Python object, by name
//     NATIVE_MODULE(mip_inference_domain) {                        // becomes
//     solvers.native.mip_inference_domain
//         expose(module, "propagate", &propagate, "matrix", "box", "lenient");
//         NATIVE_CONSTANTS(module, "solvers.mip.inference.domain.state", TRAIL);
//     }
//
// Functions differ in a table of their arguments' types and in one call; everything else is
// compiled once, in bindings.cpp. A library of templates took half of the time of a build.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "threads.h"
#include "values.h"

namespace native {

/// A module of Python while it is filled.
struct Module {
    PyObject *object;
};

/// What a stub says of a function's result.
template <class Result> struct Given {
    static void name(std::vector<const char *> &parts) { Taken<Result>::name(parts); }
};
template <> struct Given<void> {
    static void name(std::vector<const char *> &parts) { parts.push_back("None"); }
};

/// The interpreter's lock, let go while a loop runs.
class Unlocked {
  public:
    Unlocked();
    ~Unlocked();
    Unlocked(const Unlocked &) = delete;
    Unlocked &operator=(const Unlocked &) = delete;

  private:
    void *state_;
};

using AnyFunction = void (*)();
PyObject *none();

/// Call a function with arguments that were read to where their layout says.
template <class Result, class... Values> PyObject *invoke(AnyFunction function, char *place) {
    using Places = Layout<std::remove_cvref_t<Values>...>;
    const auto called = reinterpret_cast<Result (*)(Values...)>(function);
    return [&]<std::size_t... at>(std::index_sequence<at...>) {
        const auto run = [&] {
            const Unlocked unlocked;
            return called(Places::template value<at, std::remove_cvref_t<Values>>(place)...);
        };
        if constexpr (std::is_void_v<Result>) {
            run();
            return none();
        } else {
            return given(run());
        }
    }(std::index_sequence_for<Values...>());
}

/// One of the functions that have a name in a module, told apart by their arguments' types.
struct Overload {
    AnyFunction function;
    PyObject *(*invoke)(AnyFunction function, char *place);
    const Type *types;
    const std::size_t *offsets;
    std::size_t count;
    void (*result)(std::vector<const char *> &parts);
};
void expose(Module &module, const char *name, const Overload &overload, const char *const *names);

/// Declare a function with the names of its arguments, or without any; it runs without the
/// interpreter's lock.
template <class Result, class... Values, class... Names>
inline void expose(Module &module, const char *name, Result (*function)(Values...),
                   Names... names) {
    static_assert(sizeof...(Names) == sizeof...(Values) || sizeof...(Names) == 0);
    using Places = Layout<std::remove_cvref_t<Values>...>;
    const char *const all[] = {names..., nullptr};
    expose(module, name,
           {reinterpret_cast<AnyFunction>(function), &invoke<Result, Values...>, Places::types,
            Places::offsets.data(), Places::count, &Given<Result>::name},
           sizeof...(Names) > 0 ? all : nullptr);
}

/// What a kernel's twin takes: the fields of each structure in its place, one after the other.
template <class... Values> struct Parameters {
    using Places = Layout<Values...>;
    template <class Value> static constexpr bool is_structure = requires { Fields<Value>::known; };
    template <class Value> static constexpr std::size_t width() {
        if constexpr (is_structure<Value>)
            return std::size(Fields<Value>::list);
        else
            return 1;
    }
    /// Whether fields are named in their order, in which device code is given them, too.
    template <class Value> static constexpr bool in_order() {
        if constexpr (is_structure<Value>)
            for (std::size_t at = 1; at < width<Value>(); ++at)
                if (Fields<Value>::list[at - 1].offset >= Fields<Value>::list[at].offset)
                    return false;
        return true;
    }
    static_assert((in_order<Values>() && ...));
    static constexpr std::size_t count = (width<Values>() + ... + 0);

    struct Table {
        std::array<Type, count + 1> types{};
        std::array<std::size_t, count + 1> offsets{};
        std::array<const char *, count + 1> fields{}; // null for what is in no structure
    };
    static constexpr Table table = [] {
        Table made;
        std::size_t at = 0, place = 0;
        const auto add = [&]<class Value>(std::type_identity<Value>) {
            const std::size_t start = Places::offsets[place++];
            if constexpr (is_structure<Value>) {
                for (const Field &field : Fields<Value>::list) {
                    made.types[at] = *field.type;
                    made.offsets[at] = start + field.offset;
                    made.fields[at++] = field.name;
                }
            } else {
                made.types[at] = type_of<Value>;
                made.offsets[at++] = start;
            }
        };
        (add(std::type_identity<Values>()), ...);
        made.offsets[at] = Places::offsets[Places::count];
        return made;
    }();
};

/// Tell of a kernel's structures' fields, in the order in which they are passed; a test compares
/// them with what Python declares.
void tell_fields(Module &module, const char *kernel, const char *const *fields, std::size_t count);

/// Declare the twin of a kernel, called with all values in their order and those of a structure in
/// the order of its fields.
template <class Result, class... Values>
inline void expose_kernel(Module &module, const char *name, Result (*function)(Values...)) {
    using Flat = Parameters<std::remove_cvref_t<Values>...>;
    expose(module, name,
           {reinterpret_cast<AnyFunction>(function), &invoke<Result, Values...>,
            Flat::table.types.data(), Flat::table.offsets.data(), Flat::count,
            &Given<Result>::name},
           nullptr);
    tell_fields(module, name, Flat::table.fields.data(), Flat::count);
}

/// Tell of constants that a Python module has, too; a test compares them.
void constants(Module &module, const char *python_module,
               std::initializer_list<std::pair<const char *, double>> named);

/// Raise ValueError.
[[noreturn]] void refuse(const char *text);

/// Raise ValueError for an array that is too short.
[[noreturn]] void refuse_length(const char *name, std::int64_t found, std::int64_t wanted);

/// Refuse arrays whose length is not what the others ask for.
inline void check_length(const char *name, std::int64_t found, std::int64_t wanted) {
    if (found < wanted)
        refuse_length(name, found, wanted);
}

/// An array's name and length.
struct Length {
    const char *name;
    std::int64_t found;

    template <class View>
    Length(const char *name, const View &array) : name(name), found(array.size()) {}
};

/// Refuse arrays of fewer or more entries, all of which must have as many.
inline void check_lengths(std::int64_t wanted, std::initializer_list<Length> arrays) {
    for (const Length &one : arrays)
        check_length(one.name, one.found, wanted);
}

/// Refuse a matrix that has not so many rows, or fewer entries than its rows say.
template <class Index>
void check_rows(const char *name, const SparseRows<Index> &rows, std::int64_t count) {
    check_length(name, rows.indptr.size(), count + 1);
    check_length(name, rows.indices.size(), rows.indptr[count]);
    check_length(name, rows.data.size(), rows.indptr[count]);
}

/// Adds a submodule to the list that the extension module goes through.
struct Registration {
    const char *name;
    void (*bind)(Module &module);
    Registration *next;
    Registration(const char *name, void (*bind)(Module &module));
};

} // namespace native

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
#define NATIVE_FIELD(structure, field)                                                             \
    {#field, offsetof(structure, field), &native::type_of<decltype(structure::field)>}

/// Let functions take a structure from a Python object that has these attributes.
#define NATIVE_STRUCT(structure, ...)                                                              \
    template <> struct native::Fields<structure> {                                                 \
        static constexpr bool known = true;                                                        \
        static constexpr native::Field list[] = {                                                  \
            NATIVE_EACH(NATIVE_FIELD, structure, __VA_ARGS__)};                                    \
    };

NATIVE_STRUCT(native::SparseRows<std::int32_t>, indptr, indices, data)
NATIVE_STRUCT(native::SparseRows<std::int64_t>, indptr, indices, data)

#define NATIVE_CONSTANT(module, name) {#name, static_cast<double>(name)}
/// Tell of constants that a Python module has by the same names.
#define NATIVE_CONSTANTS(module, python_module, ...)                                               \
    native::constants(module, python_module, {NATIVE_EACH(NATIVE_CONSTANT, module, __VA_ARGS__)})

#define NATIVE_KERNEL(module, name) native::expose_kernel(module, #name, &name)
#define NATIVE_KERNEL_BY_INDEX(module, name)                                                       \
    native::expose_kernel(module, #name, &name<std::int32_t>),                                     \
        native::expose_kernel(module, #name, &name<std::int64_t>)
/// Declare twins of kernels, which are called with all arguments in their order.
#define NATIVE_KERNELS(module, ...) NATIVE_EACH(NATIVE_KERNEL, module, __VA_ARGS__)
/// The same for twins that are templates of their index type.
#define NATIVE_KERNELS_BY_INDEX(module, ...)                                                       \
    NATIVE_EACH(NATIVE_KERNEL_BY_INDEX, module, __VA_ARGS__)

/// Define what a submodule of solvers.native holds; ``module`` is it.
#define NATIVE_MODULE(name)                                                                        \
    static void bind_##name(native::Module &);                                                     \
    static native::Registration registered_##name(#name, bind_##name);                             \
    static void bind_##name([[maybe_unused]] native::Module &module)
