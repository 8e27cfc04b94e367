// Rows that are multiples of each other, and columns that are.
//
// Candidates are found by a hash over the living entries, each relative to the first: all hashes
// first, and a bit for each that came before. Whoever shares a hash goes through a table with one
// place per hash, and is compared with the one that stands there. Most rows and columns share none,
// and the bits of millions fit a cache where the table does not.
//
// * Of two parallel rows one keeps the tighter of both sides; a dual that leans on a side that came
//   from the other goes back to it.
// * Two parallel columns of the same price become one, whose bounds are the sums of theirs. Where
//   the price differs and one of them has no bound to lean on, the dearer is fixed.
#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "workspace.h"

namespace presolve::light {
namespace {

/// Ratios that differ by no more than this part are one ratio in different roundings.
constexpr double SAME = 1e-14;

constexpr double SAME_PRICE = 1e-13;

/// Mantissas enter the hash in steps of 1 over this.
constexpr double HASH_DIGITS = 0x1p36;

/// What a ratio of one enters the hash as, and of minus one: equal and opposite entries are
/// frequent, and need no division.
constexpr std::int64_t ONE = static_cast<std::int64_t>(0.5 * HASH_DIGITS) * 2048 + 1;
constexpr std::int64_t MINUS_ONE = static_cast<std::int64_t>(-0.5 * HASH_DIGITS) * 2048 + 1;

/// Rows or columns, with what is alive of those they meet.
template <class Index> struct Owners : SparseRows<Index> {
    Span<const std::int64_t> removed;

    bool lives(std::int64_t entry) const { return removed[this->indices[entry]] == ALIVE; }
};

template <class Index> Owners<Index> rows_of(const Workspace<Index> &w) {
    return {w.by_row, w.column_removed};
}

template <class Index> Owners<Index> columns_of(const Workspace<Index> &w) {
    return {w.by_column, w.row_removed};
}

/// The leading digits of a ratio and its exponent, as one number.
std::int64_t digits_of(double ratio) {
    int exponent;
    const double mantissa = std::frexp(ratio, &exponent);
    return static_cast<std::int64_t>(std::floor(mantissa * HASH_DIGITS + 0.5)) * 2048 + exponent;
}

std::uint64_t mixed(std::uint64_t number) {
    number *= 0x9E3779B97F4A7C15;
    return number ^ (number >> 29);
}

/// A hash of an owner's living entries that does not depend on their common factor.
template <class Index> std::int64_t hash_of(const Owners<Index> &owners, std::int64_t owner) {
    std::uint64_t found = 14695981039346656037ull;
    double first = 0.0;
    const std::int64_t end = owners.indptr[owner + 1];
    for (std::int64_t entry = owners.indptr[owner]; entry < end; ++entry) {
        if (!owners.lives(entry))
            continue;
        const double value = owners.data[entry];
        if (first == 0.0)
            first = value;
        const std::int64_t digits = value == first    ? ONE
                                    : value == -first ? MINUS_ONE
                                                      : digits_of(value / first);
        found = mixed(found ^ static_cast<std::uint64_t>(owners.indices[entry]));
        found = mixed(found ^ static_cast<std::uint64_t>(digits));
    }
    return static_cast<std::int64_t>(found >> 8);
}

/// The factor from the first owner to the second, 0 where they are not parallel.
///
/// Both have the same number of living entries.
template <class Index>
double ratio_of(const Owners<Index> &owners, std::int64_t first, std::int64_t second) {
    const auto &[start, index, value] = static_cast<const SparseRows<Index> &>(owners);
    double ratio = 0.0;
    std::int64_t entry = start[first];
    const std::int64_t end = start[first + 1], other_end = start[second + 1];
    for (std::int64_t other = start[second]; other < other_end; ++other) {
        if (!owners.lives(other))
            continue;
        while (entry < end && !owners.lives(entry))
            ++entry;
        if (entry == end || index[entry] != index[other])
            return 0.0;
        if (ratio == 0.0)
            ratio = value[other] / value[entry];
        else if (std::abs(value[other] - ratio * value[entry]) > SAME * std::abs(value[other]))
            return 0.0;
        ++entry;
    }
    return ratio;
}

/// Let row i stand for row k = ratio * row i, unless they contradict each other.
template <class W> void merge_rows(const W &w, std::int64_t i, std::int64_t k, double ratio) {
    double low = w.row_lower[k] / ratio, high = w.row_upper[k] / ratio;
    if (ratio < 0.0)
        std::swap(low, high);
    double new_low = std::max(w.row_lower[i], low), new_high = std::min(w.row_upper[i], high);
    if (new_low > new_high) {
        if (new_low - new_high > SAME * std::max(std::abs(new_low), std::abs(new_high)))
            return;
        if (new_low == w.row_lower[i])
            new_high = new_low;
        else
            new_low = new_high;
    }
    const double from_second =
        (new_low > w.row_lower[i] ? 1.0 : 0.0) + (new_high < w.row_upper[i] ? 2.0 : 0.0);
    const auto kept = static_cast<double>(i);
    remove_row(w, k, note(w, PARALLEL_ROW, k, -1, kept, ratio, from_second, 0.0));
    if (from_second != 0.0) {
        w.row_lower[i] = new_low;
        w.row_upper[i] = new_high;
        w.row_changed[i] = true;
    }
}

/// Fix k or j where z_k = ratio z_j + difference and a sign of one tells that of the other.
template <class W>
void fix_dearer(const W &w, std::int64_t j, std::int64_t k, double ratio, double difference) {
    const bool positive = ratio > 0.0;
    // ratio z_j
    const bool at_least_zero = positive ? w.upper[j] == INF : w.lower[j] == -INF;
    const bool at_most_zero = positive ? w.lower[j] == -INF : w.upper[j] == INF;
    if (at_least_zero && difference > 0.0 && w.lower[k] > -INF) {
        fix_column(w, k, w.lower[k]);
    } else if (at_most_zero && difference < 0.0 && w.upper[k] < INF) {
        fix_column(w, k, w.upper[k]);
    } else if ((w.upper[k] == INF && difference < 0.0) ||
               (w.lower[k] == -INF && difference > 0.0)) {
        const bool to_lower = (difference < 0.0) == positive; // z_j = (z_k - difference) / ratio
        if (to_lower && w.lower[j] > -INF)
            fix_column(w, j, w.lower[j]);
        else if (!to_lower && w.upper[j] < INF)
            fix_column(w, j, w.upper[j]);
    }
}

/// Treat column k = ratio * column j.
template <class W> void merge_columns(const W &w, std::int64_t j, std::int64_t k, double ratio) {
    const double difference = w.cost[k] - ratio * w.cost[j];
    const double size = std::max(std::abs(w.cost[k]), std::abs(ratio * w.cost[j]));
    if (std::abs(difference) > SAME_PRICE * size)
        return fix_dearer(w, j, k, ratio, difference);
    const double at_lower = ratio * w.lower[k], at_upper = ratio * w.upper[k];
    const auto kept = static_cast<double>(j);
    const std::int64_t step = note(w, PARALLEL_COLUMN, -1, k, kept, ratio, w.lower[j], w.upper[j]);
    remove_column(w, k, step, 0.0);
    w.lower[j] += std::min(at_lower, at_upper);
    w.upper[j] += std::max(at_lower, at_upper);
    w.column_changed[j] = true;
}

/// Hashes that came once, and those that came more than once, a bit for each of their last digits.
class Repeated {
  public:
    explicit Repeated(std::int64_t hashes) {
        std::int64_t bits = 64;
        while (bits < BITS_PER_HASH * hashes)
            bits *= 2;
        mask_ = bits - 1;
        once_ = std::vector<std::uint64_t>(bits / 64, 0);
        again_ = std::vector<std::uint64_t>(bits / 64, 0);
    }

    /// Note a hash; any number of threads may at once, and the end is the same.
    void add(std::int64_t hash) {
        const std::uint64_t bit = std::uint64_t{1} << (hash & 63);
        const std::int64_t word = (hash & mask_) >> 6;
        if (std::atomic_ref(once_[word]).fetch_or(bit, std::memory_order_relaxed) & bit)
            std::atomic_ref(again_[word]).fetch_or(bit, std::memory_order_relaxed);
    }

    /// Whether a hash, or one with the same last digits, came more than once.
    bool has(std::int64_t hash) const { return again_[(hash & mask_) >> 6] >> (hash & 63) & 1; }

  private:
    /// Of the owners that share no hash one in so many is taken for one that does.
    static constexpr std::int64_t BITS_PER_HASH = 16;

    std::int64_t mask_;
    std::vector<std::uint64_t> once_, again_;
};

/// Owners whose candidates are found together.
constexpr std::int64_t BLOCK = 1 << 16;

/// The living owners of at least so many entries that share a hash with another, in their order,
/// and all hashes.
template <class Index> struct Candidates {
    std::vector<std::int64_t> owners;
    std::unique_ptr<std::int64_t[]> hashes;

    Candidates(const Owners<Index> &all, Span<const std::int64_t> removed,
               Span<const std::int64_t> lengths, std::int64_t at_least, int threads)
        : hashes(new std::int64_t[removed.size()]) {
        Repeated repeated(removed.size());
        const auto counts = [&](std::int64_t owner) {
            return removed[owner] == ALIVE && lengths[owner] >= at_least;
        };
        native::parallel_for(threads, removed.size(), [&](std::int64_t owner) {
            if (owner % OWNERS_PER_POLL == 0)
                poll();
            if (counts(owner)) {
                hashes[owner] = hash_of(all, owner);
                repeated.add(hashes[owner]);
            }
        });
        std::vector<std::vector<std::int64_t>> found((removed.size() + BLOCK - 1) / BLOCK);
        native::parallel_for(threads, found.size(), [&](std::int64_t block) {
            poll();
            const std::int64_t end = std::min(removed.size(), (block + 1) * BLOCK);
            for (std::int64_t owner = block * BLOCK; owner < end; ++owner)
                if (counts(owner) && repeated.has(hashes[owner]))
                    found[block].push_back(owner);
        });
        for (const auto &part : found)
            owners.insert(owners.end(), part.begin(), part.end());
    }
};

/// Where owners stand by their hashes.
class Table {
  public:
    explicit Table(std::size_t owners) {
        std::size_t places = 2;
        while (places < 2 * owners)
            places *= 2;
        places_ = std::vector<std::int64_t>(places, -1);
    }
    std::int64_t &operator[](std::int64_t hash) { return places_[hash & (places_.size() - 1)]; }

  private:
    std::vector<std::int64_t> places_;
};

/// Merge rows.
template <class Index> void merge_parallel_rows(const Workspace<Index> &w, int threads) {
    check(w);
    const Owners<Index> rows = rows_of(w);
    const Candidates<Index> candidates(rows, w.row_removed, w.row_length, 2, threads);
    w.count[WORK] += w.by_row.indices.size();
    Table table(candidates.owners.size());
    for (const std::int64_t i : candidates.owners) {
        if (out_of_budget(w))
            return;
        std::int64_t &first = table[candidates.hashes[i]];
        if (first < 0) {
            first = i;
        } else if (w.row_length[first] == w.row_length[i]) {
            w.count[WORK] += w.by_row.length(i);
            const double ratio = ratio_of(rows, first, i);
            if (ratio != 0.0)
                merge_rows(w, first, i, ratio);
        }
    }
}

/// Merge columns.
template <class Index> void merge_parallel_columns(const Workspace<Index> &w, int threads) {
    check(w);
    const Owners<Index> columns = columns_of(w);
    const Candidates<Index> candidates(columns, w.column_removed, w.column_length, 1, threads);
    w.count[WORK] += w.by_column.indices.size();
    Table table(candidates.owners.size());
    for (const std::int64_t k : candidates.owners) {
        if (out_of_budget(w))
            return;
        if (!w.has_column(k))
            continue;
        std::int64_t &first = table[candidates.hashes[k]];
        if (first < 0 || !w.has_column(first)) {
            first = k;
        } else if (w.column_length[first] == w.column_length[k]) {
            w.count[WORK] += w.by_column.length(k);
            const double ratio = ratio_of(columns, first, k);
            if (ratio != 0.0) {
                const std::int64_t before = first;
                merge_columns(w, before, k, ratio);
                if (!w.has_column(before))
                    first = k;
            }
        }
    }
}

template <class Index> void declare(native::Module &module) {
    native::expose(module, "merge_parallel_rows", &merge_parallel_rows<Index>, "workspace",
                   "threads");
    native::expose(module, "merge_parallel_columns", &merge_parallel_columns<Index>, "workspace",
                   "threads");
}

} // namespace
} // namespace presolve::light

NATIVE_MODULE(presolve_light_parallel) {
    using namespace presolve::light;
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
}
