// Laying a matrix out in slices, on the host.
#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "kernels/storage.h"
#include "native/threads.h"

using namespace native;

namespace {

constexpr std::int64_t TABLE_FACTOR = 4;
constexpr std::int64_t SLICES_PER_POLL = 1 << 12;
constexpr std::uint64_t MIX = 0x9E3779B97F4A7C15;

/// Write the distinct values, in the order they come, until ``found`` is full; return how many.
///
/// An open hash table of the bits: one pass, which ends early where there are too many.
std::int64_t distinct_values(Span<const double> values, Span<double> found) {
    const std::int64_t limit = found.size();
    std::uint64_t places = 1;
    int shift = 64;
    while (places < static_cast<std::uint64_t>(TABLE_FACTOR * limit)) {
        places *= 2;
        --shift;
    }
    std::vector<std::int64_t> seen(places, -1);
    std::int64_t count = 0;
    for (const double value : values) {
        const std::uint64_t mixed = std::bit_cast<std::uint64_t>(value) * MIX;
        std::uint64_t place = shift < 64 ? mixed >> shift : 0;
        while (seen[place] >= 0 && found[seen[place]] != value)
            place = (place + 1) & (places - 1);
        if (seen[place] < 0) {
            if (count == limit)
                return count;
            seen[place] = count;
            found[count] = value;
            ++count;
        }
    }
    return count;
}

/// Number rows by their lengths, longest first; those of one length keep their order.
template <class Index> void order_by_length(Span<const Index> starts, Span<std::int64_t> order) {
    const std::int64_t rows = order.size();
    check_length("starts", starts.size(), rows + 1);
    std::int64_t longest = 0;
    for (std::int64_t i = 0; i < rows; ++i)
        longest = std::max<std::int64_t>(longest, starts[i + 1] - starts[i]);
    // one place for each length, the longest first
    std::vector<std::int64_t> next(longest + 2, 0);
    for (std::int64_t i = 0; i < rows; ++i)
        ++next[longest - (starts[i + 1] - starts[i]) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    for (std::int64_t i = 0; i < rows; ++i)
        order[next[longest - (starts[i + 1] - starts[i])]++] = i;
}

/// Bring values into an order: place i gets that of ``order[i]``.
void take(Span<const double> values, Span<const std::int64_t> order, Span<double> taken,
          int threads) {
    check_length("taken", taken.size(), order.size());
    parallel_for(threads, order.size(), [&](std::int64_t i) { taken[i] = values[order[i]]; });
}

/// Bring values in an order back: place ``order[i]`` gets the i-th.
void put_back(Span<const double> values, Span<const std::int64_t> order, Span<double> all,
              int threads) {
    check_length("values", values.size(), order.size());
    parallel_for(threads, order.size(), [&](std::int64_t i) { all[order[i]] = values[i]; });
}

/// Parts of the code in a slice's meta data; slices.py says what they are.
std::int64_t lanes_of(std::int32_t code) { return 1 << (code & 15); }
std::int64_t rows_of(std::int32_t code) { return code >> 6 & 63; }

/// Put the entries of each row where its slice has them; codes for values if there is a table.
///
/// Row i is ``order[i]`` of the matrix. A row of several slices begins in the first of them.
template <class Index>
void fill(Span<const Index> starts, Span<const Index> indices, Span<const double> values,
          Span<const double> table, Span<const std::int64_t> order,
          Span<const std::int64_t> column_position, Grid<const std::int32_t> meta,
          std::int64_t height, AnySpan<std::int32_t, std::uint16_t> laid_indices,
          AnySpan<double, float, std::uint8_t, std::uint16_t> laid_values, int threads) {
    check_length("meta", meta.shape(1), 4);
    check_length("starts", starts.size(), order.size() + 1);
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
    expose(module, "order_by_length", &order_by_length<Index>, "starts", "order");
    expose(module, "fill", &fill<Index>, "starts", "indices", "values", "table", "order",
           "column_position", "meta", "height", "laid_indices", "laid_values", "threads");
}

} // namespace

NATIVE_MODULE(sparse_slices) {
    expose(module, "distinct_values", &distinct_values, "values", "found");
    expose(module, "take", &take, "values", "order", "taken", "threads");
    expose(module, "put_back", &put_back, "values", "order", "all", "threads");
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
}
