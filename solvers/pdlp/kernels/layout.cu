// Entries of a matrix by rows to their places in slices; layout.py states the contract.

#include "layout.cuh"

#define ENTRIES_OF_BLOCK 2048

// The first place in [begin, end) for which `is_far(place)` holds, or end.
template <class IsFar>
__device__ __forceinline__ int first_far(int begin, int end, const IsFar& is_far) {
    while (begin < end) {
        const int middle = begin + (end - begin) / 2;
        if (is_far(middle)) {
            end = middle;
        } else {
            begin = middle + 1;
        }
    }
    return begin;
}

__device__ __forceinline__ void lay_out(
    const LaidSlices<LAID_INDICES_T*, LAID_VALUES_T*>& to_fill,
    const PlacedRows<const STARTS_T*>& placed, const Piece& piece) {
    __shared__ int row_range[2];
    const long long before = (long long)piece.piece * piece.piece_entries;
    const int first = blockIdx.x * ENTRIES_OF_BLOCK;
    const int last = min(first + ENTRIES_OF_BLOCK, piece.count);
    // the row of an entry is the last one that begins with it or before it
    const auto row_of = [&](int begin, int end, int entry) {
        const auto is_behind = [&](int row) { return placed.starts[row] > before + entry; };
        return first_far(begin, end, is_behind) - 1;
    };
    if (threadIdx.x < 2) {
        row_range[threadIdx.x] = row_of(0, placed.rows, threadIdx.x ? last - 1 : first);
    }
    __syncthreads();
    for (int entry = first + threadIdx.x; entry < last; entry += blockDim.x) {
        const int row = row_of(row_range[0], row_range[1] + 1, entry);
        const int place = placed.position[row] - to_fill.first_row;
        if (place < 0 || placed.position[row] >= to_fill.last_row) continue;
        // its slice is the first one that begins with it, or else the first of the block before
        const auto first_with = [&](int row) {
            return first_far(0, to_fill.slices, [&](int which) {
                return to_fill.meta[4ll * which + 2] >= row;
            });
        };
        int slice = first_with(place);
        if (slice == to_fill.slices || to_fill.meta[4ll * slice + 2] != place) {
            slice = first_with(to_fill.meta[4ll * (slice - 1) + 2]);
        }
        const INDEX* own = to_fill.meta + 4ll * slice;
        const int lanes = slice_lanes(own[3]), height = to_fill.height;
        const long long within = before + entry - (long long)placed.starts[row];
        const long long to = (long long)own[0] * height + (long long)(place - own[2]) * lanes +
                             within / lanes * height + within % lanes;
        to_fill.laid_indices[to] = (LAID_INDICES_T)placed.column_position[piece.indices[entry]];
        const REAL value = piece.values[entry];
        if (to_fill.codes == 0) {
            to_fill.laid_values[to] = (LAID_VALUES_T)value;
        } else {
            to_fill.laid_values[to] = (LAID_VALUES_T)first_far(
                1, to_fill.codes, [&](int code) { return to_fill.table[code] >= value; });
        }
    }
}
