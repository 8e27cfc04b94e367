// Laying a matrix out in slices, on the host.
#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/storage.h"
#include "native/threads.h"

using namespace native;

namespace {

constexpr std::int64_t TABLE_FACTOR = 4;
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

/// Put the entries of each row where its slice has them; codes for values if there is a table.
///
/// Row i, ``order[i]`` of the matrix, begins at ``first_place[i]`` and has ``lanes[i]`` lanes.
template <class Index>
void fill(Span<const Index> starts, Span<const Index> indices, Span<const double> values,
          Span<const double> table, Span<const std::int64_t> order,
          Span<const std::int64_t> column_position, Span<const std::int64_t> first_place,
          Span<const std::int64_t> lanes, std::int64_t height,
          AnySpan<std::int32_t, std::uint16_t> laid_indices,
          AnySpan<double, float, std::uint8_t, std::uint16_t> laid_values, int threads) {
    check_length("first_place", first_place.size(), order.size());
    check_length("lanes", lanes.size(), order.size());
    check_length("starts", starts.size(), order.size() + 1);
    check_length("indices", indices.size(), starts[starts.size() - 1]);
    check_length("values", values.size(), starts[starts.size() - 1]);
    const auto place_all = [&](auto laid_indices, auto laid_values) {
        check_length("laid_values", laid_values.size(), laid_indices.size());
        using Laid = typename decltype(laid_indices)::Element;
        using Value = typename decltype(laid_values)::Element;
        parallel_for(threads, order.size(), [&](std::int64_t i) {
            const std::int64_t first = starts[order[i]], end = starts[order[i] + 1];
            const std::int64_t own = lanes[i];
            for (std::int64_t entry = first; entry < end; ++entry) {
                const std::int64_t within = entry - first;
                const std::int64_t place = first_place[i] + within / own * height + within % own;
                laid_indices[place] = static_cast<Laid>(column_position[indices[entry]]);
                double value = values[entry];
                if (table.size() > 0) // zero stands in front of the others, which ascend
                    value = std::lower_bound(table.begin() + 1, table.end(), value) - table.begin();
                laid_values[place] = static_cast<Value>(value);
            }
        });
    };
    std::visit(place_all, laid_indices, laid_values);
}

template <class Index> void declare(native::Module &module) {
    expose(module, "fill", &fill<Index>, "starts", "indices", "values", "table", "order",
           "column_position", "first_place", "lanes", "height", "laid_indices", "laid_values",
           "threads");
}

} // namespace

NATIVE_MODULE(sparse_slices) {
    expose(module, "distinct_values", &distinct_values, "values", "found");
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
}
