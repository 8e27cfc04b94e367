// Entries of a matrix by rows to their places in slices, on the CPU; layout.py states the contract.
#include <algorithm>

#include "slices.h"

using namespace native;

namespace {

using Numbers32 = Span<const std::int32_t>;
using LaidIndices = AnySpan<std::int32_t, std::uint16_t>;
using LaidValues = AnySpan<double, float, std::uint8_t, std::uint16_t>;

/// Slices of several rows, and where their rows stand in them.
struct Places {
    std::int64_t slices, height;
    Grid<const std::int32_t> meta;

    /// Where the entry that is so many behind the first one of the row at a place goes.
    std::int64_t of_entry(std::int64_t place, std::int64_t within) const {
        std::int64_t slice = first_with(place);
        if (slice == slices || meta(slice, 2) != place)
            slice = first_with(meta(slice - 1, 2));
        const std::int64_t lanes = slice_lanes(meta(slice, 3));
        const std::int64_t base = meta(slice, 0) * height + (place - meta(slice, 2)) * lanes;
        return base + within / lanes * height + within % lanes;
    }

    /// The first slice that begins with a row at this place or behind it.
    std::int64_t first_with(std::int64_t place) const {
        std::int64_t begin = 0, end = slices;
        while (begin < end) {
            const std::int64_t middle = (begin + end) / 2;
            if (meta(middle, 2) >= place)
                end = middle;
            else
                begin = middle + 1;
        }
        return begin;
    }
};

void lay_out(int slices, int height, Grid<const std::int32_t> meta, int first_row, int last_row,
             int rows, AnySpan<const std::int32_t, const std::int64_t> starts, Numbers32 position,
             Numbers32 column_position, int piece, int piece_entries, int count, Numbers32 indices,
             Numbers values, int codes, Numbers table, LaidIndices laid_indices,
             LaidValues laid_values, int threads) {
    const Places places{slices, height, meta};
    const std::int64_t before = static_cast<std::int64_t>(piece) * piece_entries;
    check_length("position", position.size(), rows);
    const auto lay = [&](auto starts, auto laid_indices, auto laid_values) {
        check_length("starts", starts.size(), rows + 1);
        check_length("laid_values", laid_values.size(), laid_indices.size());
        using Index = typename decltype(laid_indices)::Element;
        using Value = typename decltype(laid_values)::Element;
        parallel_for(threads, count, [&](std::int64_t entry) {
            const auto *behind = std::upper_bound(starts.begin(), starts.end(), before + entry);
            const std::int64_t row = behind - starts.begin() - 1;
            if (position[row] < first_row || position[row] >= last_row)
                return;
            const std::int64_t to =
                places.of_entry(position[row] - first_row, before + entry - starts[row]);
            laid_indices[to] = static_cast<Index>(column_position[indices[entry]]);
            const double value = values[entry];
            if (codes == 0) {
                laid_values[to] = static_cast<Value>(value);
            } else {
                const double *end = table.begin() + codes;
                const double *code = std::lower_bound(table.begin() + 1, end, value);
                laid_values[to] = static_cast<Value>(code - table.begin());
            }
        });
    };
    std::visit(lay, starts, laid_indices, laid_values);
}

} // namespace

NATIVE_MODULE(pdlp_layout) { NATIVE_KERNELS(module, lay_out); }
