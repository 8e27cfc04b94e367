// Cliques from pairs of literals.
#include "native/bindings.h"

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

} // namespace
} // namespace mip::probing

NATIVE_MODULE(mip_inference_probing_grow) {
    using namespace mip::probing;
    native::expose(module, "apart", &apart, "pairs", "literal_start", "literal_clique", "found");
    native::expose(module, "grow", &grow, "start", "other", "covered", "sizes", "members");
    native::constants(module, "solvers.mip.inference.probing.build", {{"LONGEST", LONGEST}});
}
