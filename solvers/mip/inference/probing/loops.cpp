// The long loops of probing on the CPU: what a side has narrowed, and values for a bulk.
#include "mip/inference/domain/state.h"

namespace mip::probing {
namespace {

using domain::Box;
using native::check_length;
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

} // namespace
} // namespace mip::probing

NATIVE_MODULE(mip_inference_probing) {
    using namespace mip::probing;
    native::expose(module, "choose", &choose, "columns", "first", "second", "lower", "upper",
                   "first_upper", "second_lower", "start", "column", "low", "high");
    native::expose(module, "collect", &collect, "matrix", "box", "place", "probed", "at", "column",
                   "low", "high");
}
