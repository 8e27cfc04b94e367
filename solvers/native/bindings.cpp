// What all bindings share: functions by name, choosing between overloads, raising exceptions.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "bindings.h"
#include "held.h"

#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>

namespace native {

PyObject *interrupted_type = nullptr;

namespace {

/// All functions of one name in a module.
struct Exposed {
    struct Named : Overload {
        std::vector<const char *> names; // none where only places tell arguments apart
    };
    const char *name;
    std::vector<Named> overloads;
    std::string signatures;
    PyMethodDef definition;
};

/// Put texts together; with + between literals GCC 12 warns of what is not there.
template <class... Parts> std::string joined(const Parts &...parts) {
    std::string text;
    (text.append(parts), ...);
    return text;
}

std::string text_of(void (*name)(std::vector<const char *> &)) {
    std::vector<const char *> parts;
    name(parts);
    std::string text;
    for (const char *part : parts)
        text.append(part);
    return text;
}

std::string name_of(const Exposed::Named &overload, std::size_t at) {
    return overload.names.empty() ? joined("arg", std::to_string(at)) : overload.names[at];
}

std::string signature(const char *name, const Exposed::Named &overload) {
    std::string text = joined(name, "(");
    for (std::size_t at = 0; at < overload.count; ++at)
        text.append(joined(at > 0 ? ", " : "", name_of(overload, at), ": ",
                           text_of(overload.types[at].name)));
    return joined(text, overload.names.empty() && overload.count > 0 ? ", /) -> " : ") -> ",
                  text_of(overload.result));
}

/// The arguments of a call, from where Python's vector call has them.
struct CallArguments {
    PyObject *const *values;
    std::size_t positional;
    PyObject *names; // of what comes after the positional ones, or null

    std::size_t count() const {
        return positional + (names == nullptr ? 0 : PyTuple_GET_SIZE(names));
    }
    /// The argument of a place or name, or null.
    PyObject *find(const Exposed::Named &overload, std::size_t at) const {
        if (at < positional)
            return values[at];
        for (std::size_t other = positional; other < count() && !overload.names.empty(); ++other)
            if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, other - positional),
                                                 overload.names[at]) == 0)
                return values[other];
        return nullptr;
    }
};

/// Read all arguments; on failure return the number of the first that does not fit.
std::size_t read(const Exposed::Named &overload, const CallArguments &given, char *place,
                 Held &held) {
    for (std::size_t at = 0; at < overload.count; ++at) {
        PyObject *source = given.find(overload, at);
        if (source == nullptr ||
            !overload.types[at].take(source, place + overload.offsets[at], held))
            return at;
    }
    return overload.count;
}

/// Set the Python exception that stands for the one in flight.
void translate() {
    try {
        throw;
    } catch (const Interrupted &) {
        PyErr_SetString(interrupted_type, "The loop was told to end.");
    } catch (const std::invalid_argument &failure) {
        PyErr_SetString(PyExc_ValueError, failure.what());
    } catch (const std::out_of_range &failure) {
        PyErr_SetString(PyExc_IndexError, failure.what());
    } catch (const std::bad_alloc &) {
        PyErr_NoMemory();
    } catch (const std::exception &failure) {
        PyErr_SetString(PyExc_RuntimeError, failure.what());
    }
}

/// Set TypeError, which says for each overload which argument does not fit.
PyObject *refuse_arguments(const Exposed &exposed, const CallArguments &given) {
    std::string text = joined(exposed.name, "(): incompatible function arguments");
    for (const Exposed::Named &overload : exposed.overloads) {
        text.append(joined("\n", signature(exposed.name, overload), ": "));
        if (given.count() != overload.count) {
            text.append(joined(std::to_string(given.count()), " arguments were given"));
            continue;
        }
        const auto place = std::make_unique<char[]>(overload.offsets[overload.count]);
        Held held;
        const std::size_t at = read(overload, given, place.get(), held);
        if (at == overload.count)
            continue;
        PyObject *source = given.find(overload, at);
        text.append(joined("'", name_of(overload, at), "' ",
                           source == nullptr ? "is missing" : "does not fit: "));
        if (source != nullptr)
            text.append(Py_TYPE(source)->tp_name);
    }
    PyErr_SetString(PyExc_TypeError, text.c_str());
    return nullptr;
}

constexpr std::size_t PLACE_BYTES = 4096;

PyObject *call(PyObject *self, PyObject *const *values, Py_ssize_t positional, PyObject *names) {
    const auto &exposed = *static_cast<const Exposed *>(PyCapsule_GetPointer(self, nullptr));
    const CallArguments given{values, static_cast<std::size_t>(positional), names};
    try {
        for (const Exposed::Named &overload : exposed.overloads) {
            if (given.count() != overload.count)
                continue;
            alignas(16) char small[PLACE_BYTES];
            std::unique_ptr<char[]> large;
            char *place = small;
            if (overload.offsets[overload.count] > PLACE_BYTES) {
                large = std::make_unique<char[]>(overload.offsets[overload.count]);
                place = large.get();
            }
            Held held;
            if (read(overload, given, place, held) == overload.count)
                return overload.invoke(overload.function, place);
        }
        return refuse_arguments(exposed, given);
    } catch (...) {
        translate();
        return nullptr;
    }
}

/// What is left to the interpreter's end: functions by module and name.
std::map<std::pair<PyObject *, std::string_view>, Exposed> &all_exposed() {
    static auto *all = new std::map<std::pair<PyObject *, std::string_view>, Exposed>();
    return *all;
}

/// Let a failure of Python's end the import.
template <class T> T checked(T found) {
    if (!found)
        throw std::runtime_error("a module could not be filled");
    return found;
}

/// Put a value into a dictionary that a module has under a name.
void tell(Module &module, const char *name, PyObject *key, PyObject *value) {
    PyObject *known = PyModule_GetDict(module.object);
    PyObject *told = PyDict_GetItemString(known, name);
    if (told == nullptr) {
        told = checked(PyDict_New());
        checked(PyDict_SetItemString(known, name, told) == 0);
        Py_DECREF(told);
    }
    checked(PyDict_SetItem(told, checked(key), checked(value)) == 0);
    Py_DECREF(key);
    Py_DECREF(value);
}

} // namespace

PyObject *none() { return Py_NewRef(Py_None); }

Unlocked::Unlocked() : state_(PyEval_SaveThread()) {}
Unlocked::~Unlocked() { PyEval_RestoreThread(static_cast<PyThreadState *>(state_)); }

void expose(Module &module, const char *name, const Overload &overload, const char *const *names) {
    Exposed &exposed = all_exposed()[{module.object, name}];
    exposed.name = name;
    exposed.overloads.push_back({overload, {}});
    if (names != nullptr)
        exposed.overloads.back().names.assign(names, names + overload.count);
    exposed.signatures.append(
        joined(exposed.signatures.empty() ? "" : "\n", signature(name, exposed.overloads.back())));
    exposed.definition = {name, reinterpret_cast<PyCFunction>(reinterpret_cast<AnyFunction>(&call)),
                          METH_FASTCALL | METH_KEYWORDS, exposed.signatures.c_str()};
    if (exposed.overloads.size() > 1)
        return;
    PyObject *self = checked(PyCapsule_New(&exposed, nullptr, nullptr));
    PyObject *module_name = checked(PyModule_GetNameObject(module.object));
    PyObject *made = checked(PyCFunction_NewEx(&exposed.definition, self, module_name));
    Py_DECREF(self);
    Py_DECREF(module_name);
    checked(PyModule_AddObjectRef(module.object, name, made) == 0);
    Py_DECREF(made);
}

void constants(Module &module, const char *python_module,
               std::initializer_list<std::pair<const char *, double>> named) {
    PyObject *told = checked(PyDict_New());
    for (const auto &[name, value] : named) {
        PyObject *number = checked(PyFloat_FromDouble(value));
        checked(PyDict_SetItemString(told, name, number) == 0);
        Py_DECREF(number);
    }
    tell(module, "constants", PyUnicode_FromString(python_module), told);
}

void tell_fields(Module &module, const char *kernel, const char *const *fields, std::size_t count) {
    PyObject *told = checked(PyTuple_New(static_cast<Py_ssize_t>(count)));
    for (std::size_t at = 0; at < count; ++at) {
        PyObject *name = fields[at] == nullptr ? none() : checked(PyUnicode_FromString(fields[at]));
        PyTuple_SET_ITEM(told, static_cast<Py_ssize_t>(at), name);
    }
    tell(module, "fields", PyUnicode_FromString(kernel), told);
}

void refuse(const char *text) { throw std::invalid_argument(text); }

void refuse_length(const char *name, std::int64_t found, std::int64_t wanted) {
    refuse(joined("'", name, "' has ", std::to_string(found), " entries where ",
                  std::to_string(wanted), " are needed")
               .c_str());
}

} // namespace native
