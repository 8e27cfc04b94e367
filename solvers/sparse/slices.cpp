// Laying a matrix out in slices, on the host.
#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>
#include <vector>

#include "kernels/storage.h"
#include "native/threads.h"

using namespace native;

namespace {

constexpr std::int64_t TABLE_FACTOR = 4;
constexpr std::int64_t SLICES_PER_POLL = 1 << 12;
constexpr std::uint64_t MIX = 0x9E3779B97F4A7C15;

/// Values looked at together, between two looks at whether others have found too many.
constexpr std::int64_t VALUES = 1 << 16;

/// Distinct values, in the order they come, up to a limit: an open hash table of their bits.
class Distinct {
  public:
    explicit Distinct(std::int64_t limit) : limit_(limit) {
        std::uint64_t places = 1;
        while (places < static_cast<std::uint64_t>(TABLE_FACTOR * limit)) {
            places *= 2;
            --shift_;
        }
        seen_.assign(places, -1);
    }

    /// Take note of values; whether there is still room for others.
    bool add(Span<const double> values) {
        for (const double value : values) {
            const std::uint64_t mixed = std::bit_cast<std::uint64_t>(value) * MIX;
            std::uint64_t place = shift_ < 64 ? mixed >> shift_ : 0;
            while (seen_[place] >= 0 && found_[seen_[place]] != value)
                place = (place + 1) & (seen_.size() - 1);
            if (seen_[place] >= 0)
                continue;
            if (static_cast<std::int64_t>(found_.size()) == limit_)
                return false;
            seen_[place] = found_.size();
            found_.push_back(value);
        }
        return true;
    }

    Span<const double> found() const {
        return {found_.data(), static_cast<std::int64_t>(found_.size())};
    }

  private:
    std::int64_t limit_;
    int shift_ = 64;
    std::vector<std::int64_t> seen_;
    std::vector<double> found_;
};

/// Call look(part) for the values in parts, on up to ``threads`` threads, until one says no;
/// whether none did.
template <class Look>
bool each_part(Span<const double> values, int threads, std::int64_t parts, const Look &look) {
    std::atomic<bool> goes_on{true};
    parallel_for(threads, parts, [&](std::int64_t part) {
        const std::int64_t first = values.size() * part / parts;
        const std::int64_t last = values.size() * (part + 1) / parts;
        for (std::int64_t at = first; at < last && goes_on; at += VALUES) {
            poll();
            if (!look(part, values.part(at, std::min(last, at + VALUES))))
                goes_on = false;
        }
    });
    return goes_on;
}

/// Write the distinct values until ``found`` is full; return how many, or its size if it is.
///
/// Most matrices with too many show it at once: a first look goes to few values.
std::int64_t distinct_values(Span<const double> values, Span<double> found, int threads) {
    const std::int64_t limit = found.size(), first = std::min(values.size(), VALUES);
    Distinct all(limit);
    if (!all.add(values.part(0, first)))
        return limit;
    const std::int64_t parts = std::max(1, threads);
    std::vector<Distinct> own(parts, Distinct(limit));
    const bool are_few = each_part(
        values.part(first, values.size()), threads, parts,
        [&](std::int64_t part, Span<const double> piece) { return own[part].add(piece); });
    if (!are_few)
        return limit;
    for (const Distinct &one : own)
        if (!all.add(one.found()))
            return limit;
    std::copy(all.found().begin(), all.found().end(), found.begin());
    return all.found().size();
}

/// Whether each value has the same number in single precision.
bool are_single(Span<const double> values, int threads) {
    const auto look = [](std::int64_t, Span<const double> piece) {
        return std::all_of(piece.begin(), piece.end(), [](double value) {
            return static_cast<double>(static_cast<float>(value)) == value;
        });
    };
    return each_part(values, threads, std::max(1, threads), look);
}

/// Entries from which rows are sorted, and up to which they are counted, by their lengths.
constexpr std::int64_t SORTED_FROM = 1 << 12;

/// Number rows by their lengths, longest first; those of one length come in ``turn``, or, where
/// that is empty, in the order they have.
///
/// ``position`` is where each row goes, and ``lengths`` are those of the rows in their new order.
/// Returns whether all stay where they are.
template <class Index>
bool order_by_length(Span<const Index> starts, Span<const std::int32_t> turn,
                     Span<std::int32_t> order, Span<std::int32_t> position, Span<Index> lengths,
                     int threads) {
    const std::int64_t rows = order.size(), parts = std::max(1, threads);
    check_length("starts", starts.size(), rows + 1);
    check_length("position", position.size(), rows);
    check_length("lengths", lengths.size(), rows);
    check_length("turn", turn.size(), turn.size() > 0 ? rows : 0);
    const auto length_of = [&](std::int64_t i) { return starts[i + 1] - starts[i]; };
    const auto each_row = [&](std::int64_t part, const auto &work) {
        for (std::int64_t at = rows * part / parts; at < rows * (part + 1) / parts; ++at) {
            const std::int64_t i = turn.size() > 0 ? turn[at] : at;
            work(i, length_of(i));
        }
    };
    std::vector<std::vector<std::int64_t>> next(parts), longer(parts);
    parallel_for(threads, parts, [&](std::int64_t part) {
        poll();
        next[part].assign(SORTED_FROM, 0);
        each_row(part, [&](std::int64_t i, std::int64_t length) {
            if (length < SORTED_FROM)
                ++next[part][length];
            else
                longer[part].push_back(i);
        });
    });
    std::vector<std::int64_t> sorted;
    for (const auto &own : longer)
        sorted.insert(sorted.end(), own.begin(), own.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](auto i, auto j) { return length_of(i) > length_of(j); });
    const auto place = [&](std::int64_t i, std::int64_t to) {
        order[to] = static_cast<std::int32_t>(i);
        position[i] = static_cast<std::int32_t>(to);
        lengths[to] = static_cast<Index>(length_of(i));
        return i == to;
    };
    std::atomic<bool> stays{true};
    std::int64_t placed = 0;
    for (const std::int64_t i : sorted)
        if (!place(i, placed++))
            stays = false;
    for (std::int64_t length = SORTED_FROM; length-- > 0;)
        for (auto &own : next)
            placed += std::exchange(own[length], placed);
    parallel_for(threads, parts, [&](std::int64_t part) {
        poll();
        bool own_stay = true;
        each_row(part, [&](std::int64_t i, std::int64_t length) {
            if (length < SORTED_FROM)
                own_stay &= place(i, next[part][length]++);
        });
        if (!own_stay)
            stays = false;
    });
    return stays;
}

/// Bring values into an order: place i gets that of ``order[i]``.
template <class Value>
void take(Span<const Value> values, Span<const std::int32_t> order, Span<Value> taken,
          int threads) {
    check_length("taken", taken.size(), order.size());
    parallel_for(threads, order.size(), [&](std::int64_t i) { taken[i] = values[order[i]]; });
}

/// Parts of the code in a slice's meta data; slices.py says what they are.
std::int64_t lanes_of(std::int32_t code) { return 1 << (code & 15); }
std::int64_t rows_of(std::int32_t code) { return code >> 6 & 63; }

/// Put the entries of each row where its slice has them; codes for values if there is a table.
///
/// Row i is ``order[i]`` of the matrix, of which it may hold a part. A row of several slices begins
/// in the first of them.
template <class Index>
void fill(Span<const Index> starts, Span<const Index> indices, Span<const double> values,
          Span<const double> table, Span<const std::int32_t> order,
          Span<const std::int32_t> column_position, Grid<const std::int32_t> meta,
          std::int64_t height, AnySpan<std::int32_t, std::uint16_t> laid_indices,
          AnySpan<double, float, std::uint8_t, std::uint16_t> laid_values, int threads) {
    check_length("meta", meta.shape(1), 4);
    check_length("indices", indices.size(), starts[starts.size() - 1]);
    check_length("values", values.size(), starts[starts.size() - 1]);
    const auto place_all = [&](auto laid_indices, auto laid_values) {
        check_length("laid_values", laid_values.size(), laid_indices.size());
        using Laid = typename decltype(laid_indices)::Element;
        using Value = typename decltype(laid_values)::Element;
        parallel_for(threads, meta.shape(0), [&](std::int64_t slice) {
            if (slice % SLICES_PER_POLL == 0)
                poll();
            const std::int64_t lanes = lanes_of(meta(slice, 3)), rows = rows_of(meta(slice, 3));
            for (std::int64_t slot = 0; slot < rows; ++slot) {
                const std::int64_t row = order[meta(slice, 2) + slot];
                const std::int64_t base = meta(slice, 0) * height + slot * lanes;
                for (std::int64_t entry = starts[row]; entry < starts[row + 1]; ++entry) {
                    const std::int64_t within = entry - starts[row];
                    const std::int64_t place = base + within / lanes * height + within % lanes;
                    laid_indices[place] = static_cast<Laid>(column_position[indices[entry]]);
                    double value = values[entry];
                    if (table.size() > 0) // zero stands in front of the others, which ascend
                        value =
                            std::lower_bound(table.begin() + 1, table.end(), value) - table.begin();
                    laid_values[place] = static_cast<Value>(value);
                }
            }
        });
    };
    std::visit(place_all, laid_indices, laid_values);
}

template <class Index> void declare(native::Module &module) {
    expose(module, "order_by_length", &order_by_length<Index>, "starts", "turn", "order",
           "position", "lengths", "threads");
    expose(module, "fill", &fill<Index>, "starts", "indices", "values", "table", "order",
           "column_position", "meta", "height", "laid_indices", "laid_values", "threads");
}

} // namespace

NATIVE_MODULE(sparse_slices) {
    expose(module, "distinct_values", &distinct_values, "values", "found", "threads");
    expose(module, "are_single", &are_single, "values", "threads");
    expose(module, "take", &take<double>, "values", "order", "taken", "threads");
    expose(module, "take", &take<std::uint8_t>, "values", "order", "taken", "threads");
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
}
