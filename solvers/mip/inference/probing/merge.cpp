// What the two sides of a probed column imply together.
#include "native/bindings.h"

namespace mip::probing {
namespace {

using native::check_length;
using native::Span;

/// Entries kept for a side of a column.
constexpr std::int64_t MOST_IMPLIED = 64;

/// What the sides of columns imply, as Probes has it.
struct Sides {
    Span<const std::uint8_t> infeasible;
    Span<const std::int64_t> start;
    Span<const std::int32_t> column;
    Span<const double> low;
    Span<const double> high;
};

/// Columns that are narrower whichever side holds, and their bounds.
struct Hull {
    Span<std::int32_t> column;
    Span<double> low;
    Span<double> high;
    std::int64_t size = 0;

    void add(std::int64_t j, double least, double most) {
        column[size] = static_cast<std::int32_t>(j);
        low[size] = least;
        high[size] = most;
        ++size;
    }
};

/// For the entry of a first side: the two-valued column that determines its column, and how.
struct Aggregations {
    Span<std::int32_t> of;
    Span<double> constant;
    Span<double> factor;
};

/// A probed column, its bounds and where its sides' entries begin and end.
struct Probed {
    std::int64_t column;
    double lower, upper;
    bool is_two_valued;
    std::int64_t first, middle, last;
};

/// Take over what both sides imply, and aggregations; ``place`` is -1 before and after.
void both_sides(const Probed &probed, const Sides &sides, Span<const double> lower,
                Span<const double> upper, Span<std::int64_t> place, Hull &hull,
                const Aggregations &aggregations) {
    const auto low = sides.low, high = sides.high;
    for (std::int64_t entry = probed.first; entry < probed.middle; ++entry)
        place[sides.column[entry]] = entry;
    for (std::int64_t entry = probed.middle; entry < probed.last; ++entry) {
        const std::int64_t k = sides.column[entry], other = place[k];
        if (other < 0)
            continue;
        const bool fixed = low[entry] == high[entry] && low[other] == high[other];
        if (probed.is_two_valued && fixed && low[entry] != low[other]) {
            const double factor = (low[entry] - low[other]) / (probed.upper - probed.lower);
            aggregations.of[other] = static_cast<std::int32_t>(probed.column);
            aggregations.factor[other] = factor;
            aggregations.constant[other] = low[other] - factor * probed.lower;
        }
        const double least = std::min(low[entry], low[other]);
        const double most = std::max(high[entry], high[other]);
        if (least > lower[k] || most < upper[k])
            hull.add(k, least, most);
    }
    for (std::int64_t entry = probed.first; entry < probed.middle; ++entry)
        place[sides.column[entry]] = -1;
}

/// Compare the two sides of each of a batch of columns.
///
///     columns, first_upper, second_lower  (k,)  what was probed
///     infeasible, start, column, low, high  the fields of Probes
///     lower, upper  (n,)  bounds from which the sides were propagated
///     place  (n,)  -1 throughout, before and after
///     hull, hull_low, hull_high  (entries + k,) out  columns that are narrower whichever side
///         holds, and their bounds
///     of, constant, factor  (entries,) out  for the entry of a first side: the two-valued column
///         that determines its column, or -1 as before, and how
///     kept  (entries,) out  entries to be cached, side by side: their numbers
///     kept_start  (2k+1,) out  where each side's begin
///
/// Returns the entries of ``hull``, and whether some column has no feasible side.
std::tuple<std::int64_t, bool>
merge(Span<const std::int32_t> columns, Span<const double> first_upper,
      Span<const double> second_lower, Span<const std::uint8_t> infeasible,
      Span<const std::int64_t> start, Span<const std::int32_t> column, Span<const double> low,
      Span<const double> high, Span<const double> lower, Span<const double> upper,
      Span<std::int64_t> place, Span<std::int32_t> hull, Span<double> hull_low,
      Span<double> hull_high, Span<std::int32_t> of, Span<double> constant, Span<double> factor,
      Span<std::int64_t> kept, Span<std::int64_t> kept_start) {
    const std::int64_t k = columns.size(), entries = column.size();
    check_length("first_upper", first_upper.size(), k);
    check_length("second_lower", second_lower.size(), k);
    check_length("infeasible", infeasible.size(), 2 * k);
    check_length("start", start.size(), 2 * k + 1);
    check_length("low", low.size(), entries);
    check_length("high", high.size(), entries);
    check_length("upper", upper.size(), lower.size());
    check_length("place", place.size(), lower.size());
    check_length("hull", hull.size(), entries + k);
    check_length("hull_low", hull_low.size(), entries + k);
    check_length("hull_high", hull_high.size(), entries + k);
    check_length("of", of.size(), entries);
    check_length("constant", constant.size(), entries);
    check_length("factor", factor.size(), entries);
    check_length("kept", kept.size(), entries);
    check_length("kept_start", kept_start.size(), 2 * k + 1);
    const Sides sides{infeasible, start, column, low, high};
    const Aggregations aggregations{of, constant, factor};
    Hull narrower{hull, hull_low, hull_high};
    std::int64_t cached = 0;
    for (std::int64_t c = 0; c < k; ++c) {
        const std::int64_t j = columns[c];
        const bool without_first = infeasible[2 * c] != 0, without_second = infeasible[2 * c + 1];
        if (without_first && without_second)
            return {narrower.size, true};
        const std::int64_t first = start[2 * c], middle = start[2 * c + 1], last = start[2 * c + 2];
        const bool keeps = !without_first && !without_second;
        if (keeps) {
            const bool two_valued = first_upper[c] == lower[j] && second_lower[c] == upper[j];
            const Probed probed{j, lower[j], upper[j], two_valued, first, middle, last};
            both_sides(probed, sides, lower, upper, place, narrower, aggregations);
        } else {
            narrower.add(j, without_first ? second_lower[c] : lower[j],
                         without_first ? upper[j] : first_upper[c]);
            for (std::int64_t entry = first; entry < last; ++entry)
                narrower.add(column[entry], low[entry], high[entry]);
        }
        for (int side = 0; side < 2; ++side) {
            kept_start[2 * c + side] = cached;
            const std::int64_t begin = start[2 * c + side];
            const std::int64_t end = std::min(start[2 * c + side + 1], begin + MOST_IMPLIED);
            for (std::int64_t entry = begin; keeps && entry < end; ++entry) {
                kept[cached] = entry;
                ++cached;
            }
        }
    }
    kept_start[2 * k] = cached;
    return {narrower.size, false};
}

} // namespace
} // namespace mip::probing

NATIVE_MODULE(mip_inference_probing_merge) {
    native::expose(module, "merge", &mip::probing::merge, "columns", "first_upper", "second_lower",
                   "infeasible", "start", "column", "low", "high", "lower", "upper", "place",
                   "hull", "hull_low", "hull_high", "of", "constant", "factor", "kept",
                   "kept_start");
}
