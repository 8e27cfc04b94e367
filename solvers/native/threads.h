// Long loops: ending one from outside by a flag that the calling thread watches, and sharing one
// out over the cores, so that the result has the same bits for any number of threads: each owner is
// worked on by one thread, and nothing is summed across owners.
#pragma once

#include <cstdint>
#include <functional>

#include "arrays.h"

namespace native {

/// Thrown where a loop was told to end; becomes solvers.native.Interrupted in Python.
struct Interrupted {};

/// The flag that loops of this thread look at, or null.
extern thread_local const volatile std::uint8_t *stop_flag;

/// The flag of this thread, found once for a loop.
///
/// To look again costs a load: 2 to 3 % of propagation, where each row asks.
class Watch {
  public:
    /// Throw Interrupted where somebody asked this thread's loops to end.
    void poll() const {
        if (flag_ != nullptr && *flag_ != 0)
            throw Interrupted();
    }

  private:
    const volatile std::uint8_t *flag_ = stop_flag;
};

/// Look once: a nanosecond, for steps of some hundred and more.
inline void poll() { Watch().poll(); }

/// Whether another thread has set a flag (1,) since.
inline bool is_set(Span<const std::int8_t> flag) {
    return *static_cast<const volatile std::int8_t *>(flag.data()) != 0;
}

/// Call work(first, last) for pieces of [0, count), on up to ``threads`` threads.
///
/// One loop at a time has the helpers; who comes second runs on its own thread alone. Pieces are
/// taken in turn, so that owners of different length even out. An exception of any piece is
/// thrown here once all have ended.
void share_out(int threads, std::int64_t count,
               const std::function<void(std::int64_t, std::int64_t)> &work);

/// Call body(i) for every i in [0, count), on up to ``threads`` threads.
template <class Body> inline void parallel_for(int threads, std::int64_t count, const Body &body) {
    auto piece = [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i)
            body(i);
    };
    if (threads < 2 || count < 2)
        piece(0, count);
    else
        share_out(threads, count, piece);
}

} // namespace native
