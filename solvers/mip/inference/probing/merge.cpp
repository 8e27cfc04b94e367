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

/// What both sides of columns imply: columns that are narrower whichever side holds and their
/// bounds (entries + k,); for the entry of a first side (entries,) the two-valued column that
/// determines its column, or -1 as before, and how; numbers of the entries to be cached (entries,),
/// and where each side's begin (2k+1,).
struct Merged {
    Span<std::int32_t> hull;
    Span<double> hull_low, hull_high;
    Span<std::int32_t> of;
    Span<double> constant, factor;
    Span<std::int64_t> kept, kept_start;
};

/// The hull as it is filled.
struct Hull {
    const Merged &merged;
    std::int64_t size = 0;

    void add(std::int64_t j, double least, double most) {
        merged.hull[size] = static_cast<std::int32_t>(j);
        merged.hull_low[size] = least;
        merged.hull_high[size] = most;
        ++size;
    }
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
                Span<const double> upper, Span<std::int64_t> place, Hull &hull) {
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
            hull.merged.of[other] = static_cast<std::int32_t>(probed.column);
            hull.merged.factor[other] = factor;
            hull.merged.constant[other] = low[other] - factor * probed.lower;
        }
        const double least = std::min(low[entry], low[other]);
        const double most = std::max(high[entry], high[other]);
        if (least > lower[k] || most < upper[k])
            hull.add(k, least, most);
    }
    for (std::int64_t entry = probed.first; entry < probed.middle; ++entry)
        place[sides.column[entry]] = -1;
}

void check(const Sides &sides, const Merged &merged, std::int64_t k) {
    const std::int64_t entries = sides.column.size();
    for (const auto &[name, size] : {std::pair{"low", sides.low.size()},
                                     {"high", sides.high.size()},
                                     {"of", merged.of.size()},
                                     {"constant", merged.constant.size()},
                                     {"factor", merged.factor.size()},
                                     {"kept", merged.kept.size()}})
        check_length(name, size, entries);
    for (const auto &[name, size] : {std::pair{"hull", merged.hull.size()},
                                     {"hull_low", merged.hull_low.size()},
                                     {"hull_high", merged.hull_high.size()}})
        check_length(name, size, entries + k);
    check_length("infeasible", sides.infeasible.size(), 2 * k);
    check_length("start", sides.start.size(), 2 * k + 1);
    check_length("kept_start", merged.kept_start.size(), 2 * k + 1);
}

/// Compare the two sides of each of a batch of columns.
///
///     columns, first_upper, second_lower  (k,)  what was probed
///     lower, upper  (n,)  bounds from which the sides were propagated
///     place  (n,)  -1 throughout, before and after
///
/// Returns the entries of ``hull``, and whether some column has no feasible side.
std::tuple<std::int64_t, bool> merge(Span<const std::int32_t> columns,
                                     Span<const double> first_upper,
                                     Span<const double> second_lower, const Sides &sides,
                                     Span<const double> lower, Span<const double> upper,
                                     Span<std::int64_t> place, const Merged &merged) {
    const std::int64_t k = columns.size();
    check_length("first_upper", first_upper.size(), k);
    check_length("second_lower", second_lower.size(), k);
    check_length("upper", upper.size(), lower.size());
    check_length("place", place.size(), lower.size());
    check(sides, merged, k);
    const auto &[infeasible, start, column, low, high] = sides;
    Hull narrower{merged};
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
            both_sides(probed, sides, lower, upper, place, narrower);
        } else {
            narrower.add(j, without_first ? second_lower[c] : lower[j],
                         without_first ? upper[j] : first_upper[c]);
            for (std::int64_t entry = first; entry < last; ++entry)
                narrower.add(column[entry], low[entry], high[entry]);
        }
        for (int side = 0; side < 2; ++side) {
            merged.kept_start[2 * c + side] = cached;
            const std::int64_t begin = start[2 * c + side];
            const std::int64_t end = std::min(start[2 * c + side + 1], begin + MOST_IMPLIED);
            for (std::int64_t entry = begin; keeps && entry < end; ++entry) {
                merged.kept[cached] = entry;
                ++cached;
            }
        }
    }
    merged.kept_start[2 * k] = cached;
    return {narrower.size, false};
}

} // namespace
} // namespace mip::probing

NATIVE_STRUCT(mip::probing::Sides, infeasible, start, column, low, high)
NATIVE_STRUCT(mip::probing::Merged, hull, hull_low, hull_high, of, constant, factor, kept,
              kept_start)

NATIVE_MODULE(mip_inference_probing_merge) {
    native::expose(module, "merge", &mip::probing::merge, "columns", "first_upper", "second_lower",
                   "sides", "lower", "upper", "place", "merged");
}
