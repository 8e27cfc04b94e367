// How values are read from Python's objects, and made of what a function returns.
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "held.h"
#include "values.h"

#include <cstring>

namespace native {

namespace {

/// Whether the format of a buffer stands for an element.
bool fits(const Py_buffer &buffer, Element element) {
    const char *format = buffer.format == nullptr ? "B" : buffer.format;
    if (buffer.itemsize != static_cast<Py_ssize_t>(element.bytes))
        return false;
    if (element.kind == 'V')
        return format[0] == 'T';
    const char letter =
        (*format == '=' || *format == '<' || *format == '@') ? format[1] : format[0];
    switch (element.kind) {
    case 'b':
        return letter == '?';
    case 'f':
        return letter == (element.bytes == 8 ? 'd' : 'f');
    case 'i':
        return std::strchr("bhilq", letter) != nullptr;
    default:
        return std::strchr("BHILQ", letter) != nullptr || (element.bytes == 1 && letter == '?');
    }
}

} // namespace

const char *name_of(Element element) {
    static constexpr std::pair<const char *, Element> names[] = {
        {"numpy.typing.NDArray[numpy.bool_]", {'b', 1}},
        {"numpy.typing.NDArray[numpy.float32]", {'f', 4}},
        {"numpy.typing.NDArray[numpy.float64]", {'f', 8}},
        {"numpy.typing.NDArray[numpy.int8]", {'i', 1}},
        {"numpy.typing.NDArray[numpy.int16]", {'i', 2}},
        {"numpy.typing.NDArray[numpy.int32]", {'i', 4}},
        {"numpy.typing.NDArray[numpy.int64]", {'i', 8}},
        {"numpy.typing.NDArray[numpy.uint8]", {'u', 1}},
        {"numpy.typing.NDArray[numpy.uint16]", {'u', 2}},
        {"numpy.typing.NDArray[numpy.uint32]", {'u', 4}},
        {"numpy.typing.NDArray[numpy.uint64]", {'u', 8}},
    };
    for (const auto &[name, one] : names)
        if (one.kind == element.kind && one.bytes == element.bytes)
            return name;
    return "numpy.typing.NDArray[numpy.void]";
}

bool take_bool(PyObject *source, bool &value) {
    value = source == Py_True;
    return value || source == Py_False;
}

bool take_integer(PyObject *source, std::int64_t least, std::int64_t most, std::int64_t &value) {
    if (PyLong_CheckExact(source)) {
        int overflow;
        value = PyLong_AsLongLongAndOverflow(source, &overflow);
        return overflow == 0 && least <= value && value <= most;
    }
    PyObject *number = PyIndex_Check(source) ? PyNumber_Index(source) : nullptr;
    if (number == nullptr)
        PyErr_Clear();
    const bool fits =
        number != nullptr && PyLong_CheckExact(number) && take_integer(number, least, most, value);
    Py_XDECREF(number);
    return fits;
}

bool take_unsigned(PyObject *source, std::uint64_t most, std::uint64_t &value) {
    PyObject *number = PyIndex_Check(source) ? PyNumber_Index(source) : nullptr;
    value = number == nullptr ? 0 : PyLong_AsUnsignedLongLong(number);
    Py_XDECREF(number);
    const bool fits = number != nullptr && !PyErr_Occurred() && value <= most;
    PyErr_Clear();
    return fits;
}

bool take_real(PyObject *source, double &value) {
    value = PyFloat_AsDouble(source);
    if (value == -1.0 && PyErr_Occurred()) {
        PyErr_Clear();
        return false;
    }
    return true;
}

int take_array(PyObject *source, Held &held, const Element *elements, int count, bool writable,
               int dimensions, void *&data, std::int64_t *shape) {
    const Py_buffer *buffer = held.take(source, writable);
    if (buffer == nullptr || buffer->ndim != dimensions)
        return -1;
    int found = 0;
    while (found < count && !fits(*buffer, elements[found]))
        ++found;
    if (found == count)
        return -1;
    data = buffer->buf;
    for (int axis = 0; axis < dimensions; ++axis)
        shape[axis] = buffer->shape[axis];
    return found;
}

bool take_items(PyObject *source, char *place, Held &held, const Type *types,
                const std::size_t *offsets, std::size_t count) {
    if (!(PyTuple_Check(source) || PyList_Check(source)) ||
        static_cast<std::size_t>(PySequence_Fast_GET_SIZE(source)) != count)
        return false;
    for (std::size_t at = 0; at < count; ++at)
        if (!types[at].take(PySequence_Fast_GET_ITEM(source, at), place + offsets[at], held))
            return false;
    return true;
}

void name_items(std::vector<const char *> &parts, const Type *types, std::size_t count) {
    parts.push_back("tuple[");
    for (std::size_t at = 0; at < count; ++at) {
        if (at > 0)
            parts.push_back(", ");
        types[at].name(parts);
    }
    parts.push_back("]");
}

bool take_fields(PyObject *source, char *place, Held &held, const Field *fields,
                 std::size_t count) {
    for (std::size_t at = 0; at < count; ++at) {
        const Field &field = fields[at];
        PyObject *found = PyObject_GetAttrString(source, field.name);
        if (found == nullptr) {
            PyErr_Clear();
            return false;
        }
        const bool fits = field.type->take(found, place + field.offset, held);
        Py_DECREF(found); // the structure of the call keeps it alive
        if (!fits)
            return false;
    }
    return true;
}

PyObject *given(bool value) { return PyBool_FromLong(value); }
PyObject *given(double value) { return PyFloat_FromDouble(value); }
PyObject *given_integer(std::int64_t value) { return PyLong_FromLongLong(value); }
PyObject *given_unsigned(std::uint64_t value) { return PyLong_FromUnsignedLongLong(value); }

PyObject *given_tuple(std::initializer_list<PyObject *> items) {
    PyObject *made = PyTuple_New(static_cast<Py_ssize_t>(items.size()));
    Py_ssize_t at = 0;
    for (PyObject *item : items)
        PyTuple_SET_ITEM(made, at++, item);
    return made;
}

} // namespace native
