// Codes of pairs of bounds; bounds.py says what they are for.
#include <algorithm>
#include <atomic>
#include <bit>
#include <vector>

#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

/// The code of pairs that are read from where they are, and how many others there are.
constexpr int OTHERS = 255;

/// Elements among which the most frequent pairs are looked for, and those coded together.
constexpr std::int64_t LOOKED_AT = 1 << 16, PART = 1 << 16;

/// Places for each pair in a table.
constexpr std::uint64_t SPARE = 4;

constexpr std::uint64_t MIX = 0x9E3779B97F4A7C15;

struct Pair {
    std::uint64_t lower, upper;

    Pair(double low, double high)
        : lower(std::bit_cast<std::uint64_t>(low)), upper(std::bit_cast<std::uint64_t>(high)) {}
    bool operator==(const Pair &) const = default;

    std::uint64_t mixed() const {
        const std::uint64_t product = (lower ^ std::rotl(upper, 29)) * MIX;
        return product ^ product >> 32;
    }
};

/// Pairs, so many at the most, numbered as they come, in an open hash table.
class Pairs {
  public:
    explicit Pairs(std::uint64_t most) : numbers_(std::bit_ceil(SPARE * most), -1) {}

    /// The number of a pair, or -1 if it has none.
    int find(const Pair &pair) const { return numbers_[place_of(pair)]; }

    int find_or_add(const Pair &pair) {
        int &number = numbers_[place_of(pair)];
        if (number < 0) {
            number = static_cast<int>(all.size());
            all.push_back(pair);
        }
        return number;
    }

    std::vector<Pair> all;

  private:
    std::uint64_t place_of(const Pair &pair) const {
        const std::uint64_t mask = numbers_.size() - 1;
        std::uint64_t place = pair.mixed() & mask;
        while (numbers_[place] >= 0 && all[numbers_[place]] != pair)
            place = (place + 1) & mask;
        return place;
    }

    std::vector<int> numbers_;
};

/// The most frequent pairs of a sample, of those as frequent the ones that come first.
Pairs frequent_pairs(Span<const double> lower, Span<const double> upper) {
    Pairs seen(LOOKED_AT);
    std::vector<std::int64_t> counts;
    const std::int64_t samples = std::min(lower.size(), LOOKED_AT);
    for (std::int64_t sample = 0; sample < samples; ++sample) {
        const std::int64_t at = sample * lower.size() / samples;
        const std::size_t number = seen.find_or_add(Pair(lower[at], upper[at]));
        counts.resize(seen.all.size(), 0);
        ++counts[number];
    }
    std::vector<std::size_t> order(counts.size());
    for (std::size_t number = 0; number < order.size(); ++number)
        order[number] = number;
    std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
        return counts[one] > counts[other];
    });
    Pairs chosen(OTHERS);
    for (std::size_t rank = 0; rank < std::min<std::size_t>(order.size(), OTHERS); ++rank)
        chosen.find_or_add(seen.all[order[rank]]);
    return chosen;
}

/// Write the code of each pair of bounds, and the pairs (255, 2) that codes stand for; return how
/// many elements have other bounds.
std::int64_t code_bounds(Span<const double> lower, Span<const double> upper,
                         Span<std::uint8_t> codes, Grid<double> pairs, int threads) {
    check_length("upper", upper.size(), lower.size());
    check_length("codes", codes.size(), lower.size());
    check_length("pairs", pairs.shape(0), OTHERS);
    check_length("a row of pairs", pairs.shape(1), 2);
    const Pairs chosen = frequent_pairs(lower, upper);
    for (std::size_t number = 0; number < chosen.all.size(); ++number) {
        pairs(number, 0) = std::bit_cast<double>(chosen.all[number].lower);
        pairs(number, 1) = std::bit_cast<double>(chosen.all[number].upper);
    }
    std::atomic<std::int64_t> others{0};
    parallel_for(threads, (lower.size() + PART - 1) / PART, [&](std::int64_t part) {
        std::int64_t own = 0;
        const std::int64_t end = std::min(lower.size(), (part + 1) * PART);
        for (std::int64_t at = part * PART; at < end; ++at) {
            const int code = chosen.find(Pair(lower[at], upper[at]));
            codes[at] = static_cast<std::uint8_t>(code < 0 ? OTHERS : code);
            own += code < 0;
        }
        others += own;
    });
    return others;
}

} // namespace

NATIVE_MODULE(pdlp_bounds) {
    NATIVE_CONSTANTS(module, "solvers.pdlp.bounds", OTHERS);
    expose(module, "code_bounds", &code_bounds, "lower", "upper", "codes", "pairs", "threads");
}
