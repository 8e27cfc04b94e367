// Ending a long loop from outside: a flag that the calling thread watches.
#pragma once

#include <cstdint>

#include "arrays.h"

namespace native {

/// Thrown by poll(); becomes solvers.native.Interrupted in Python.
struct Interrupted {};

/// The flag that loops of this thread look at, or null.
extern thread_local const volatile std::uint8_t *stop_flag;

/// Throw Interrupted where somebody asked this thread's loops to end.
///
/// Costs two loads: call it once in some thousand elementary steps.
inline void poll() {
    if (stop_flag != nullptr && *stop_flag != 0)
        throw Interrupted();
}

/// Whether another thread has set a flag (1,) since.
inline bool is_set(Span<const std::int8_t> flag) {
    return *static_cast<const volatile std::int8_t *>(flag.data()) != 0;
}

} // namespace native
