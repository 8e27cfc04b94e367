// Cliques from pairs of literals.
//
// What the two sides of a probed column imply together.
//
// The numbers that columns are prioritised by.
#include "mip/model.h"
#include "native/bindings.h"

#include <vector>

namespace mip::probing {
namespace {

using native::check_length;
using native::Grid;
using native::Span;

/// Literals of a clique put together from pairs: testing a literal takes a search for each.
constexpr std::int64_t LONGEST = 64;

/// Later literals tried for a clique, so that one in very many pairs does not take forever.
constexpr std::int64_t TRIED = 256;

/// Places of cliques looked at when pairs are compared with those of the rows: about a second.
constexpr std::int64_t MOST_WORK = 300'000'000;

/// Whether two literals share no clique; adds to ``work`` the places looked at.
bool are_apart(Span<const std::int32_t> literal_start, Span<const std::int32_t> literal_clique,
               std::int64_t first, std::int64_t second, std::int64_t &work) {
    std::int64_t one = literal_start[first], two = literal_start[second];
    const std::int64_t end_one = literal_start[first + 1], end_two = literal_start[second + 1];
    while (one < end_one && two < end_two) {
        ++work;
        if (literal_clique[one] == literal_clique[two])
            return false;
        if (literal_clique[one] < literal_clique[two])
            ++one;
        else
            ++two;
    }
    return true;
}

/// Tell which pairs (p,) of literals share no clique; too many of them are not looked at.
void apart(Grid<const std::int64_t> pairs, Span<const std::int32_t> literal_start,
           Span<const std::int32_t> literal_clique, Span<bool> found) {
    check_length("found", found.size(), pairs.shape(0));
    check_length("pairs", pairs.shape(1), 2);
    std::fill(found.begin(), found.end(), false);
    std::int64_t work = 0;
    for (std::int64_t at = 0; at < pairs.shape(0) && work <= MOST_WORK; ++at) {
        if (at % 256 == 0)
            native::poll();
        found[at] = are_apart(literal_start, literal_clique, pairs(at, 0), pairs(at, 1), work);
    }
}

/// Literal l excludes ``other[start[l]:start[l+1]]``, rising, and they exclude it.
struct Exclusions {
    Span<const std::int64_t> start;
    Span<const std::int64_t> other;

    /// Return the place of ``two`` among what ``one`` excludes, or -1.
    std::int64_t find(std::int64_t one, std::int64_t two) const {
        std::int64_t low = start[one], high = start[one + 1];
        const std::int64_t end = high;
        while (low < high) {
            const std::int64_t middle = (low + high) / 2;
            if (other[middle] < two)
                low = middle + 1;
            else
                high = middle;
        }
        return low < end && other[low] == two ? low : -1;
    }
};

/// Add to a clique of two what later entries exclude all of it; return its size.
///
/// The first literal's entries end before ``last``, and there is room for the clique in
/// ``members``.
std::int64_t extend(const Exclusions &exclusions, std::int64_t entry, std::int64_t last,
                    Span<std::int32_t> members) {
    std::int64_t size = 2;
    const std::int64_t end = std::min(last, entry + 1 + TRIED);
    for (std::int64_t next = entry + 1; next < end && size < members.size(); ++next) {
        const std::int64_t literal = exclusions.other[next];
        bool fits = true;
        for (std::int64_t at = 1; at < size && fits; ++at)
            fits = exclusions.find(members[at], literal) >= 0;
        if (fits) {
            members[size] = static_cast<std::int32_t>(literal);
            ++size;
        }
    }
    return size;
}

/// Write sizes and literals of cliques that together hold every pair not covered yet.
///
/// ``covered`` tells the pairs that need no clique; it is written to. A clique begins with such a
/// pair and takes in other literals as long as there is room: cliques may overlap. ``sizes`` has a
/// place for each such pair, and ``members`` at least two. Returns how many of both were written.
std::tuple<std::int64_t, std::int64_t> grow(Span<const std::int64_t> start,
                                            Span<const std::int64_t> other, Span<bool> covered,
                                            Span<std::int64_t> sizes, Span<std::int32_t> members) {
    check_length("covered", covered.size(), other.size());
    check_length("members", members.size(), 2 * sizes.size());
    const Exclusions exclusions{start, other};
    std::int64_t cliques = 0, used = 0;
    for (std::int64_t literal = 0; literal < start.size() - 1; ++literal) {
        native::poll();
        for (std::int64_t entry = start[literal]; entry < start[literal + 1]; ++entry) {
            if (covered[entry] || other[entry] < literal)
                continue;
            members[used] = static_cast<std::int32_t>(literal);
            members[used + 1] = static_cast<std::int32_t>(other[entry]);
            const std::int64_t most =
                std::min(LONGEST, members.size() - used - 2 * (sizes.size() - cliques));
            const auto clique = members.part(used, used + std::max<std::int64_t>(most, 2));
            const std::int64_t size = extend(exclusions, entry, start[literal + 1], clique);
            for (std::int64_t at = 0; at < size; ++at) { // its pairs need no clique of their own
                for (std::int64_t later = at + 1; later < size; ++later)
                    covered[exclusions.find(clique[at], clique[later])] = true;
            }
            used += size;
            sizes[cliques] = size;
            ++cliques;
        }
    }
    return {cliques, used};
}

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

namespace mip::probing {
namespace {

/// Write the number (k,) of entries of other integer columns in each column's rows.
void neighbours(Span<const std::int32_t> columns, const Model &model, Span<std::int64_t> found) {
    check_shapes(model);
    check_length("found", found.size(), columns.size());
    std::vector<std::int64_t> integers(model.row_lower.size());
    for (std::size_t i = 0; i < integers.size(); ++i) {
        for (std::int64_t p = model.rows.indptr[i]; p < model.rows.indptr[i + 1]; ++p)
            integers[i] += model.is_integer[model.rows.indices[p]];
    }
    for (std::int64_t at = 0; at < columns.size(); ++at) {
        const std::int64_t j = columns[at];
        found[at] = 0;
        for (std::int64_t p = model.columns.indptr[j]; p < model.columns.indptr[j + 1]; ++p)
            found[at] += integers[model.columns.indices[p]] - 1;
    }
}

} // namespace
} // namespace mip::probing

NATIVE_MODULE(mip_inference_probing_store) {
    using namespace mip::probing;
    native::expose(module, "apart", &apart, "pairs", "literal_start", "literal_clique", "found");
    native::expose(module, "grow", &grow, "start", "other", "covered", "sizes", "members");
    NATIVE_CONSTANTS(module, "solvers.mip.inference.probing.build", LONGEST);
    native::expose(module, "merge", &mip::probing::merge, "columns", "first_upper", "second_lower",
                   "sides", "lower", "upper", "place", "merged");
    native::expose(module, "neighbours", &neighbours, "columns", "model", "found");
}
