// The arrays that propagation works on, as domain.py lays them out.
#pragma once

#include "mip/model.h"

namespace mip::domain {

/// Places in Box::counts.
inline constexpr int QUEUE_HEAD = 0, QUEUE_SIZE = 1, TRAIL = 2, LEVEL = 3, INFEASIBLE = 4,
                     CONFLICT = 5, WORK = 6, CAPPED = 7, NUM_COUNTS = 8;

/// Places in a row of Box::rows.
inline constexpr int SMALLEST = 0, LARGEST = 1, INFINITE = 2, UPPER = 4, LOWER = 5, WIDEST = 6,
                     NOISE = 7, ROW_SIZE = 8;

/// Bounds of the n columns, and the activities of the m rows that follow from them.
struct Box {
    native::Grid<double> bounds;
    native::Grid<double> rows;
    native::Span<std::int32_t> queue;
    native::Span<std::uint8_t> queued;
    native::Span<std::int32_t> trail_code;
    native::Span<double> trail_old;
    native::Span<std::int32_t> stamp;
    native::Span<std::int64_t> counts;
};

/// Box::rows, whose length of a row is known.
class Rows {
  public:
    explicit Rows(const Box &box) : data_(box.rows.data()), count_(box.rows.shape(0)) {}

    double &operator()(std::int64_t i, int place) const {
        native::check_index(i, count_);
        return data_[i * ROW_SIZE + place];
    }
    std::int64_t count() const { return count_; }

  private:
    double *data_;
    std::int64_t count_;
};

/// Refuse arrays that do not belong together.
inline void check_shapes(const Box &box) {
    const std::int64_t m = box.rows.shape(0), n = box.bounds.shape(1);
    native::check_length("bounds", box.bounds.shape(0), 2);
    native::check_length("rows", box.rows.shape(1), ROW_SIZE);
    native::check_length("queue", box.queue.size(), m);
    native::check_length("queued", box.queued.size(), m);
    native::check_length("trail_old", box.trail_old.size(), box.trail_code.size());
    native::check_length("stamp", box.stamp.size(), 2 * n + m);
    native::check_length("counts", box.counts.size(), NUM_COUNTS);
}

inline void check_shapes(const Matrix &matrix, const Box &box) {
    const std::int64_t m = box.rows.shape(0), n = box.bounds.shape(1);
    check_shapes(box);
    mip::check_shapes(matrix, m, n);
}

} // namespace mip::domain

NATIVE_STRUCT(mip::domain::Box, bounds, rows, queue, queued, trail_code, trail_old, stamp, counts)
