// The extension module: one submodule for each NATIVE_MODULE of the project.
#include "bindings.h"

#include <string>

namespace native {
namespace {

Registration *&first_registration() {
    static Registration *first = nullptr;
    return first;
}

PyObject *interrupted_type = nullptr;

/// Let the loops of this thread look at a flag, and return to the one before with null.
void watch(std::uintptr_t address) {
    stop_flag = reinterpret_cast<const volatile std::uint8_t *>(address);
}

} // namespace

Registration::Registration(const char *name, Binder bind)
    : name(name), bind(bind), next(first_registration()) {
    first_registration() = this;
}

void refuse_length(const char *name, std::int64_t found, std::int64_t wanted) {
    std::string text = "'";
    text.append(name).append("' has ").append(std::to_string(found));
    text.append(" entries where ").append(std::to_string(wanted)).append(" are needed");
    throw nb::value_error(text.c_str());
}

} // namespace native

NB_MODULE(_core, core) {
    using namespace native;
    interrupted_type = PyErr_NewException("solvers.native.Interrupted", nullptr, nullptr);
    core.attr("Interrupted") = nb::steal(interrupted_type);
    nb::register_exception_translator([](const std::exception_ptr &failure, void *) {
        try {
            std::rethrow_exception(failure);
        } catch (const Interrupted &) {
            PyErr_SetString(interrupted_type, "The loop was told to end.");
        }
    });
    core.def("watch", &watch, nb::arg("address"));
    for (Registration *one = first_registration(); one != nullptr; one = one->next) {
        nb::module_ made = core.def_submodule(one->name);
        one->bind(made);
    }
}
