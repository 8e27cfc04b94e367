// The long loops of probing: what a side, or each lane of a batch of boxes, has narrowed, and
// values for a bulk.
#include "mip/inference/domain/state.h"

namespace mip::probing {
namespace {

using domain::Box;
using native::check_length;
using native::Cube;
using native::Grid;
using native::Span;

/// What the sides of probed columns imply, as ProbingCache has it.
struct Cache {
    Span<const double> first_upper;
    Span<const double> second_lower;
    Span<const std::int32_t> start;
    Span<const std::int32_t> column;
    Span<const double> low;
    Span<const double> high;

    bool was_probed(std::int64_t j) const { return !std::isnan(first_upper[j]); }
    /// The place of the side of column j that holds a value.
    std::int64_t side(std::int64_t j, double value) const {
        return 2 * j + (value > first_upper[j] ? 1 : 0);
    }
};

/// Bounds so far.
struct Bounds {
    Span<double> lower;
    Span<double> upper;

    double clipped(std::int64_t j, double value) const {
        return std::min(std::max(value, lower[j]), upper[j]);
    }
};

/// Count the entries of the side that holds ``value`` which the bounds contradict.
std::int64_t conflicts(const Cache &cache, const Bounds &bounds, std::int64_t j, double value) {
    std::int64_t found = value < bounds.lower[j] || value > bounds.upper[j] ? 1 : 0;
    if (!cache.was_probed(j))
        return found;
    const std::int64_t side = cache.side(j, value);
    for (std::int64_t entry = cache.start[side]; entry < cache.start[side + 1]; ++entry) {
        const std::int64_t k = cache.column[entry];
        if (cache.low[entry] > bounds.upper[k] || cache.high[entry] < bounds.lower[k])
            ++found;
    }
    return found;
}

/// Return the nearest value of the other side within the bounds, or the same value.
double other_value(const Cache &cache, const Bounds &bounds, std::int64_t j, double value) {
    if (!cache.was_probed(j))
        return value;
    if (value > cache.first_upper[j])
        return cache.first_upper[j] >= bounds.lower[j] ? cache.first_upper[j] : value;
    return cache.second_lower[j] <= bounds.upper[j] ? cache.second_lower[j] : value;
}

/// Intersect the bounds with what the side that holds ``value`` implies.
void take_implied(const Cache &cache, const Bounds &bounds, std::int64_t j, double value) {
    const std::int64_t side = cache.side(j, value);
    for (std::int64_t entry = cache.start[side]; entry < cache.start[side + 1]; ++entry) {
        const std::int64_t k = cache.column[entry];
        bounds.lower[k] = std::max(bounds.lower[k], cache.low[entry]);
        bounds.upper[k] = std::min(bounds.upper[k], cache.high[entry]);
    }
}

/// Choose the two values of column j.
void choose_one(const Cache &cache, const Bounds &bounds, std::int64_t j, double &first,
                double &second) {
    double value = bounds.clipped(j, first), other = bounds.clipped(j, second);
    std::int64_t found = conflicts(cache, bounds, j, value);
    if (found > 0 && other == value)
        other = other_value(cache, bounds, j, value);
    if (found > 0 && other != value) {
        const std::int64_t rest = conflicts(cache, bounds, j, other);
        if (rest < found) {
            std::swap(value, other);
            found = rest;
        }
    }
    first = value;
    second = other;
    if (found == 0 && cache.was_probed(j))
        take_implied(cache, bounds, j, value);
    bounds.lower[j] = bounds.upper[j] = value;
}

/// Round a bulk; ``ProbingCache.choose`` says how. Writes to the first five but ``columns``.
void choose(Span<const std::int32_t> columns, Span<double> first, Span<double> second,
            Span<double> lower, Span<double> upper, Span<const double> first_upper,
            Span<const double> second_lower, Span<const std::int32_t> start,
            Span<const std::int32_t> column, Span<const double> low, Span<const double> high) {
    const std::int64_t n = lower.size();
    check_length("first", first.size(), columns.size());
    check_length("second", second.size(), columns.size());
    check_length("upper", upper.size(), n);
    check_length("first_upper", first_upper.size(), n);
    check_length("second_lower", second_lower.size(), n);
    check_length("start", start.size(), 2 * n + 1);
    check_length("low", low.size(), column.size());
    check_length("high", high.size(), column.size());
    const Cache cache{first_upper, second_lower, start, column, low, high};
    const Bounds bounds{lower, upper};
    for (std::int64_t at = 0; at < columns.size(); ++at)
        choose_one(cache, bounds, columns[at], first[at], second[at]);
}

/// Write the integer columns that a box has narrowed since ``place``, with their bounds.
///
/// They go to place ``at`` of the last three and on; returns the end.
std::int64_t collect(const Matrix &matrix, const Box &box, std::int64_t place, std::int64_t probed,
                     std::int64_t at, Span<std::int32_t> column, Span<double> low,
                     Span<double> high) {
    domain::check_shapes(matrix, box);
    const std::int64_t n = matrix.is_integer.size();
    for (std::int64_t entry = place; entry < box.counts[domain::TRAIL]; ++entry) {
        const std::int32_t code = box.trail_code[entry];
        if (code < 0 || code >= 2 * n)
            continue;
        const std::int64_t k = code % n;
        if (matrix.is_integer[k] == 0 || k == probed)
            continue;
        if (code >= n && box.stamp[k] == box.counts[domain::LEVEL])
            continue; // its lower bound changed at this level, too, and stands for both
        column[at] = static_cast<std::int32_t>(k);
        low[at] = box.bounds(0, k);
        high[at] = box.bounds(1, k);
        ++at;
    }
    return at;
}

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

NATIVE_MODULE(mip_inference_probing) {
    using namespace mip::probing;
    native::expose(module, "choose", &choose, "columns", "first", "second", "lower", "upper",
                   "first_upper", "second_lower", "start", "column", "low", "high");
    native::expose(module, "collect", &collect, "matrix", "box", "place", "probed", "at", "column",
                   "low", "high");
    native::expose(module, "count", &count, "masks", "wide", "column", "is_integer", "lower",
                   "upper", "probed", "dead", "start");
    native::expose(module, "fill", &fill, "masks", "wide", "column", "is_integer", "lower", "upper",
                   "probed", "dead", "place_of", "out", "low", "high");
}
