// Reading what the lanes of a batch of boxes have narrowed.
#include "native/bindings.h"

namespace mip::probing {
namespace {

using native::check_length;
using native::Cube;
using native::Grid;
using native::Span;

constexpr int LANES = 32;

/// Boxes of 32 lanes, of which two each probe a column, and the bounds that they began with.
struct Lanes {
    Grid<const std::int32_t> masks;
    Cube<const double> wide;
    Span<const std::int32_t> column;
    Span<const std::uint8_t> is_integer;
    Span<const double> lower;
    Span<const double> upper;
    Span<const std::int32_t> probed;
    std::uint32_t live;

    std::int64_t binaries() const { return masks.shape(0); }
    std::int64_t places() const { return masks.shape(0) + wide.shape(0); }

    /// Return the word of lanes in which a binary column differs from its bounds.
    std::uint32_t changed_binary(std::int64_t place, double low, double high) const {
        std::uint32_t may_be_zero = masks(place, 0), may_be_one = masks(place, 1);
        if (low == 0.0)
            may_be_zero = ~may_be_zero;
        if (high == 1.0)
            may_be_one = ~may_be_one;
        return may_be_zero | may_be_one;
    }

    /// Return the word of live lanes in which the column at a place is narrower than globally.
    std::uint32_t changed(std::int64_t place) const {
        const std::int64_t j = column[place];
        if (place < binaries())
            return changed_binary(place, lower[j], upper[j]) & live;
        const std::int64_t at = place - binaries();
        std::uint32_t found = 0;
        for (int lane = 0; lane < LANES; ++lane) {
            if (wide(at, 0, lane) > lower[j] || wide(at, 1, lane) < upper[j])
                found |= std::uint32_t{1} << lane;
        }
        return found & live;
    }

    /// Call visit(place, lane) for every integer column that a lane has narrowed, but the probed.
    template <class Visit> void each(const Visit &visit) const {
        for (std::int64_t place = 0; place < places(); ++place) {
            const std::int32_t j = column[place];
            if (is_integer[j] == 0)
                continue;
            int lane = 0;
            for (std::uint32_t word = changed(place); word != 0; word >>= 1, ++lane) {
                if ((word & 1) != 0 && probed[lane / 2] != j)
                    visit(place, lane);
            }
        }
    }
};

/// Check the arrays of a batch whose first ``sides`` lanes are in use, without those in ``dead``.
Lanes lanes_of(Grid<const std::int32_t> masks, Cube<const double> wide,
               Span<const std::int32_t> column, Span<const std::uint8_t> is_integer,
               Span<const double> lower, Span<const double> upper, Span<const std::int32_t> probed,
               std::int64_t dead, std::int64_t sides) {
    check_length("masks", masks.shape(1), 2);
    check_length("wide", wide.shape(1), 2);
    check_length("wide", wide.shape(2), LANES);
    check_length("column", column.size(), masks.shape(0) + wide.shape(0));
    check_length("lower", lower.size(), is_integer.size());
    check_length("upper", upper.size(), is_integer.size());
    check_length("probed", 2 * probed.size(), sides);
    const std::uint64_t used = (std::uint64_t{1} << std::min<std::int64_t>(sides, LANES)) - 1;
    const auto live = static_cast<std::uint32_t>(used & ~static_cast<std::uint64_t>(dead));
    return {masks, wide, column, is_integer, lower, upper, probed, live};
}

/// Count the integer columns that each live lane (one to a side) has narrowed.
///
/// The number of lane k goes to ``start[k+1]``; the column that the lane probes does not count.
void count(Grid<const std::int32_t> masks, Cube<const double> wide, Span<const std::int32_t> column,
           Span<const std::uint8_t> is_integer, Span<const double> lower, Span<const double> upper,
           Span<const std::int32_t> probed, std::int64_t dead, Span<std::int64_t> start) {
    const Lanes lanes =
        lanes_of(masks, wide, column, is_integer, lower, upper, probed, dead, start.size() - 1);
    lanes.each([&](std::int64_t, int lane) { start[lane + 1] += 1; });
}

/// Write what ``count`` has counted, lane by lane, from the places in ``place_of`` on.
void fill(Grid<const std::int32_t> masks, Cube<const double> wide, Span<const std::int32_t> column,
          Span<const std::uint8_t> is_integer, Span<const double> lower, Span<const double> upper,
          Span<const std::int32_t> probed, std::int64_t dead, Span<std::int64_t> place_of,
          Span<std::int32_t> out, Span<double> low, Span<double> high) {
    const Lanes lanes =
        lanes_of(masks, wide, column, is_integer, lower, upper, probed, dead, place_of.size());
    check_length("low", low.size(), out.size());
    check_length("high", high.size(), out.size());
    lanes.each([&](std::int64_t place, int lane) {
        const std::int64_t at = place_of[lane];
        out[at] = column[place];
        if (place < lanes.binaries()) {
            low[at] = 1.0 - ((masks(place, 0) >> lane) & 1);
            high[at] = (masks(place, 1) >> lane) & 1;
        } else {
            low[at] = wide(place - lanes.binaries(), 0, lane);
            high[at] = wide(place - lanes.binaries(), 1, lane);
        }
        place_of[lane] = at + 1;
    });
}

} // namespace
} // namespace mip::probing

NATIVE_MODULE(mip_inference_probing_lanes) {
    using namespace mip::probing;
    native::expose(module, "count", &count, "masks", "wide", "column", "is_integer", "lower",
                   "upper", "probed", "dead", "start");
    native::expose(module, "fill", &fill, "masks", "wide", "column", "is_integer", "lower", "upper",
                   "probed", "dead", "place_of", "out", "low", "high");
}
