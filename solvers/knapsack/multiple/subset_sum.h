// Filling one knapsack: subsets whose weight comes closest to a capacity, or whose profit is best.
//
// Both are small problems that a search asks for by the thousand, hence bounded in work.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "native/arrays.h"

namespace knapsack::multiple {

using native::Span;
using Integers = Span<const std::int64_t>;

/// Words of 64 marked sums for the closest subset: half a megabyte, which stays in a cache.
inline constexpr std::int64_t WORDS = 1 << 16;

/// Items of each half where sums are listed instead: lists of 8 thousand sums.
inline constexpr std::int64_t HALF_ITEMS = 13;

/// Part by which a bound in double precision is raised, far more than its roundings.
inline constexpr double ERROR = 1e-14;

/// Flags of items, none of them set at first.
class Flags {
  public:
    explicit Flags(std::int64_t size) : flags_(std::make_unique<bool[]>(size)), size_(size) {}
    operator Span<bool>() const { return {flags_.get(), size_}; }
    bool &operator[](std::int64_t k) const { return flags_[k]; }

  private:
    std::unique_ptr<bool[]> flags_;
    std::int64_t size_;
};

/// Sums of weights that are marked by bits, a row of words for each number of items.
class Marks {
  public:
    Marks(std::int64_t rows, std::int64_t words)
        : words_(words), marks_(std::make_unique_for_overwrite<std::uint64_t[]>(rows * words)) {
        std::fill_n(marks_.get(), words, 0);
        marks_[0] = 1;
    }
    std::uint64_t *row(std::int64_t k) const { return marks_.get() + k * words_; }
    bool has(std::int64_t k, std::int64_t sum) const {
        return (row(k)[sum >> 6] >> (sum & 63)) & 1;
    }

  private:
    std::int64_t words_;
    std::unique_ptr<std::uint64_t[]> marks_;
};

/// Mark the sums of a row, and those with one item more, in the next row.
inline void mark_next(const std::uint64_t *now, std::uint64_t *then, std::int64_t words,
                      std::int64_t weight) {
    const std::int64_t shift = std::min(weight >> 6, words);
    const int bits = static_cast<int>(weight & 63);
    std::copy_n(now, shift, then);
    if (shift < words)
        then[shift] = now[shift] | now[0] << bits;
    for (std::int64_t word = shift + 1; word < words; ++word) {
        // in two shifts, for bits may be 0
        const std::uint64_t carried = (now[word - shift - 1] >> 1) >> (63 - bits);
        then[word] = now[word] | now[word - shift] << bits | carried;
    }
}

/// Choose items whose weight is the largest up to ``target``; return it.
///
/// Sums are marked by bits, item by item; going back, later items are left out where possible.
inline std::int64_t marked_subset(Integers weight, std::int64_t count, std::int64_t target,
                                  Span<bool> chosen) {
    const std::int64_t words = (target >> 6) + 1;
    const Marks marks(count + 1, words);
    for (std::int64_t k = 0; k < count; ++k)
        mark_next(marks.row(k), marks.row(k + 1), words, weight[k]);
    std::int64_t best = target;
    while (!marks.has(count, best))
        --best;
    std::int64_t left = best;
    for (std::int64_t k = count - 1; k >= 0; --k) {
        chosen[k] = !marks.has(k, left);
        if (chosen[k])
            left -= weight[k];
    }
    return best;
}

/// Sums of weights in rising order, and the items of each as bits.
struct Sums {
    std::vector<std::int64_t> sum, bits;
};

/// Return the sums up to ``target`` of items first..last-1.
inline Sums listed_sums(Integers weight, std::int64_t first, std::int64_t last,
                        std::int64_t target) {
    const std::int64_t size = std::int64_t{1} << (last - first);
    Sums now{std::vector<std::int64_t>(size), std::vector<std::int64_t>(size)}, one = now;
    std::int64_t length = 1;
    for (std::int64_t k = first; k < last; ++k) {
        std::swap(now, one);
        std::int64_t i = 0, j = 0, place = 0;
        while (i < length || j < length) {
            if (j == length || (i < length && one.sum[i] <= one.sum[j] + weight[k])) {
                now.sum[place] = one.sum[i];
                now.bits[place] = one.bits[i];
                ++i;
            } else {
                if (one.sum[j] + weight[k] > target) {
                    j = length;
                    continue;
                }
                now.sum[place] = one.sum[j] + weight[k];
                now.bits[place] = one.bits[j] | (std::int64_t{1} << (k - first));
                ++j;
            }
            ++place;
        }
        length = place;
    }
    now.sum.resize(length);
    now.bits.resize(length);
    return now;
}

/// Choose items whose weight is the largest up to ``target``, by meeting in the middle.
inline std::int64_t listed_subset(Integers weight, std::int64_t count, std::int64_t target,
                                  Span<bool> chosen) {
    const std::int64_t half = count / 2;
    const Sums sums = listed_sums(weight, 0, half, target);
    const Sums others = listed_sums(weight, half, count, target);
    std::int64_t best = -1, bits = 0, other_bits = 0;
    std::int64_t j = static_cast<std::int64_t>(others.sum.size()) - 1;
    for (std::size_t i = 0; i < sums.sum.size() && best < target; ++i) {
        while (j >= 0 && sums.sum[i] + others.sum[j] > target)
            --j;
        if (j < 0)
            break;
        if (sums.sum[i] + others.sum[j] > best) {
            best = sums.sum[i] + others.sum[j];
            bits = sums.bits[i];
            other_bits = others.bits[j];
        }
    }
    for (std::int64_t k = 0; k < count; ++k)
        chosen[k] = (k < half ? bits >> k : other_bits >> (k - half)) & 1;
    return best;
}

/// Choose among the first ``count`` items so that the weight is close to ``target`` from below.
///
/// The best choice, or the best among the first items where there are too many sums. Return the
/// weight; ``chosen`` gets the flags.
inline std::int64_t closest_subset(Integers weight, std::int64_t count, std::int64_t target,
                                   Span<bool> chosen) {
    std::int64_t total = 0;
    for (std::int64_t k = 0; k < count; ++k)
        total += weight[k];
    for (std::int64_t k = 0; k < count; ++k)
        chosen[k] = total <= target;
    if (total <= target)
        return total;
    if (((target >> 6) + 1) * (count + 1) <= WORDS)
        return marked_subset(weight, count, target, chosen);
    return listed_subset(weight, std::min(count, 2 * HALF_ITEMS), target, chosen);
}

/// Choose items of profit above ``floor`` that fit, the best ones if ``nodes`` suffice.
///
/// Items come by falling efficiency. Depth first, after Horowitz and Sahni ("Computing partitions
/// with applications to the knapsack problem", 1974). Return the profit, or ``floor`` if nothing
/// better was found (then ``chosen`` is undefined), and whether the search came to its end.
inline std::pair<std::int64_t, bool> best_subset(Integers profit, Integers weight,
                                                 std::int64_t count, std::int64_t capacity,
                                                 std::int64_t floor, std::int64_t nodes,
                                                 Span<bool> chosen) {
    const Flags taken(count);
    std::int64_t best = floor, now = 0, room = capacity, j = 0;
    for (std::int64_t node = 0; node < nodes; ++node) {
        std::int64_t k = j, left = room, value = now;
        while (k < count && weight[k] <= left) {
            left -= weight[k];
            value += profit[k];
            ++k;
        }
        double bound = double(value);
        if (k < count)
            bound += double(left) * (double(profit[k]) / double(weight[k]));
        if (bound * (1.0 + ERROR) >= double(best + 1)) {
            for (std::int64_t i = j; i < k; ++i)
                taken[i] = true;
            if (value > best) {
                best = value;
                for (std::int64_t i = 0; i < count; ++i)
                    chosen[i] = i < k && taken[i];
            }
            now = value;
            room = left;
            if (k < count) {
                taken[k] = false;
                j = k + 1;
                continue;
            }
            j = k;
        }
        while (j > 0 && !taken[j - 1])
            --j;
        if (j == 0)
            return {best, true};
        taken[j - 1] = false;
        now -= profit[j - 1];
        room += weight[j - 1];
    }
    return {best, false};
}

} // namespace knapsack::multiple
