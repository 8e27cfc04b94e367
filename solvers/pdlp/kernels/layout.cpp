// Entries of a matrix by rows to their places in slices, on the CPU; layout.py states the contract.
#include <algorithm>

#include "slices.h"

using namespace native;

namespace {

using INDEX = std::int32_t;
#include "layout.cuh"

using LaidIndices = AnySpan<std::int32_t, std::uint16_t>;
using LaidValues = AnySpan<double, float, std::uint8_t, std::uint16_t>;

using Laid = LaidSlices<LaidIndices, LaidValues>;
using Rows = PlacedRows<AnySpan<const std::int32_t, const std::int64_t>>;

/// The first slice that begins with a row at this place or behind it.
std::int64_t first_with(const Laid &to_fill, std::int64_t place) {
    std::int64_t begin = 0, end = to_fill.slices;
    while (begin < end) {
        const std::int64_t middle = (begin + end) / 2;
        if (to_fill.meta(middle, 2) >= place)
            end = middle;
        else
            begin = middle + 1;
    }
    return begin;
}

/// Where the entry that is so many behind the first one of the row at a place goes.
std::int64_t place_of(const Laid &to_fill, std::int64_t place, std::int64_t within) {
    const auto &meta = to_fill.meta;
    std::int64_t slice = first_with(to_fill, place);
    if (slice == to_fill.slices || meta(slice, 2) != place)
        slice = first_with(to_fill, meta(slice - 1, 2));
    const std::int64_t lanes = slice_lanes(meta(slice, 3)), height = to_fill.height;
    const std::int64_t base = meta(slice, 0) * height + (place - meta(slice, 2)) * lanes;
    return base + within / lanes * height + within % lanes;
}

void lay_out(const Laid &to_fill, const Rows &placed, const Piece &piece, int threads) {
    const std::int64_t before = static_cast<std::int64_t>(piece.piece) * piece.piece_entries;
    check_length("position", placed.position.size(), placed.rows);
    const auto lay = [&](auto starts, auto laid_indices, auto laid_values) {
        check_length("starts", starts.size(), std::int64_t{placed.rows} + 1);
        check_length("laid_values", laid_values.size(), laid_indices.size());
        using Index = typename decltype(laid_indices)::Element;
        using Value = typename decltype(laid_values)::Element;
        parallel_for(threads, piece.count, [&](std::int64_t entry) {
            const auto *behind = std::upper_bound(starts.begin(), starts.end(), before + entry);
            const std::int64_t row = behind - starts.begin() - 1;
            const std::int64_t position = placed.position[row];
            if (position < to_fill.first_row || position >= to_fill.last_row)
                return;
            const std::int64_t to =
                place_of(to_fill, position - to_fill.first_row, before + entry - starts[row]);
            laid_indices[to] = static_cast<Index>(placed.column_position[piece.indices[entry]]);
            const double value = piece.values[entry];
            if (to_fill.codes == 0) {
                laid_values[to] = static_cast<Value>(value);
            } else {
                const double *begin = to_fill.table.begin();
                const double *code = std::lower_bound(begin + 1, begin + to_fill.codes, value);
                laid_values[to] = static_cast<Value>(code - begin);
            }
        });
    };
    std::visit(lay, placed.starts, to_fill.laid_indices, to_fill.laid_values);
}

} // namespace

NATIVE_STRUCT(Laid, slices, height, meta, first_row, last_row, codes, table, laid_indices,
              laid_values)
NATIVE_STRUCT(Rows, rows, starts, position, column_position)
NATIVE_STRUCT(Piece, piece, piece_entries, count, indices, values)

NATIVE_MODULE(pdlp_layout) { NATIVE_KERNELS(module, lay_out); }
