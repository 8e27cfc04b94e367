// Buffers of Python's objects, which a call holds until it ends.
#pragma once

#include <array>
#include <memory>
#include <vector>

namespace native {

/// Most buffers of calls are in here, without memory asked for.
class Held {
  public:
    Held() = default;
    Held(const Held &) = delete;
    Held &operator=(const Held &) = delete;
    ~Held() {
        for (std::size_t at = 0; at < count_; ++at)
            PyBuffer_Release(&first_[at]);
        for (const auto &buffer : more_)
            PyBuffer_Release(buffer.get());
    }

    /// Hold an object's memory, or return null where it has none that is contiguous.
    const Py_buffer *take(PyObject *source, bool writable) {
        const int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
        const bool fits = count_ < first_.size();
        Py_buffer &buffer =
            fits ? first_[count_] : *more_.emplace_back(std::make_unique<Py_buffer>());
        if (PyObject_GetBuffer(source, &buffer, flags) != 0) {
            PyErr_Clear();
            if (!fits)
                more_.pop_back();
            return nullptr;
        }
        count_ += fits;
        return &buffer;
    }

  private:
    std::array<Py_buffer, 48> first_; // left as it is: clearing it would cost as much as a call
    std::size_t count_ = 0;
    std::vector<std::unique_ptr<Py_buffer>> more_;
};

} // namespace native
