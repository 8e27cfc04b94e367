// The extension module: one submodule for each NATIVE_MODULE of the project.
#include <Python.h>

#include "bindings.h"

#include <chrono>
#include <exception>
#include <string>
#include <thread>

namespace native {

extern PyObject *interrupted_type;

namespace {

constexpr const char *PACKAGE = "solvers.native";

Registration *&first_registration() {
    static Registration *first = nullptr;
    return first;
}

/// Let the loops of this thread look at a flag, and return to the one before with null.
void watch(std::uintptr_t address) {
    stop_flag = reinterpret_cast<const volatile std::uint8_t *>(address);
}

/// Let no other thread abort the process while the interpreter ends. Before Python 3.14 a thread
/// that asks for the lock by then is unwound, which destructors like those of pybind11 don't let
/// through; the process ends without it all the same.
void hold_other_threads() {
    static const std::thread::id ending = std::this_thread::get_id();
    static const std::terminate_handler before = std::get_terminate();
    std::set_terminate([] {
        if (std::this_thread::get_id() == ending)
            before();
        for (;;)
            std::this_thread::sleep_for(std::chrono::hours(1));
    });
}

void fill(PyObject *core) {
    interrupted_type = PyErr_NewException("solvers.native.Interrupted", nullptr, nullptr);
    PyModule_AddObjectRef(core, "Interrupted", interrupted_type);
    Module whole{core};
    expose(whole, "watch", &watch, "address");
    expose(whole, "hold_other_threads", &hold_other_threads);
    for (Registration *one = first_registration(); one != nullptr; one = one->next) {
        Module made{PyModule_New((std::string(PACKAGE) + "." + one->name).c_str())};
        PyModule_AddObject(core, one->name, made.object); // which the core owns from here on
        one->bind(made);
    }
}

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "solvers.native._core",
                          nullptr,
                          -1,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

} // namespace

Registration::Registration(const char *name, void (*bind)(Module &))
    : name(name), bind(bind), next(first_registration()) {
    first_registration() = this;
}

} // namespace native

PyMODINIT_FUNC PyInit__core() {
    PyObject *core = PyModule_Create(&native::definition);
    if (core == nullptr)
        return nullptr;
    try {
        native::fill(core);
    } catch (const std::exception &failure) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ImportError, failure.what());
        Py_DECREF(core);
        return nullptr;
    }
    return core;
}
