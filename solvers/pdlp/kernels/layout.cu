// Entries of a matrix by rows to their places in slices; layout.py states the contract.

#include "sliced.cuh"

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

extern "C" __global__ void lay_out(
    int slices, int height, const INDEX* __restrict__ meta, int first_row, int last_row, int rows,
    const STARTS_T* __restrict__ starts, const INDEX* __restrict__ position,
    const INDEX* __restrict__ column_position, int piece, int piece_entries, int count,
    const INDEX* __restrict__ indices, const REAL* __restrict__ values, int codes,
    const REAL* __restrict__ table, LAID_INDICES_T* __restrict__ laid_indices,
    LAID_VALUES_T* __restrict__ laid_values) {
    __shared__ int row_range[2];
    const long long before = (long long)piece * piece_entries;
    const int first = blockIdx.x * ENTRIES_OF_BLOCK;
    const int last = min(first + ENTRIES_OF_BLOCK, count);
    // the row of an entry is the last one that begins with it or before it
    const auto row_of = [&](int begin, int end, int entry) {
        return first_far(begin, end, [&](int row) { return starts[row] > before + entry; }) - 1;
    };
    if (threadIdx.x < 2) row_range[threadIdx.x] = row_of(0, rows, threadIdx.x ? last - 1 : first);
    __syncthreads();
    for (int entry = first + threadIdx.x; entry < last; entry += blockDim.x) {
        const int row = row_of(row_range[0], row_range[1] + 1, entry);
        if (position[row] < first_row || position[row] >= last_row) continue;
        const int place = position[row] - first_row;
        // its slice is the first one that begins with it, or else the first of the block before
        const auto first_with = [&](int row) {
            return first_far(0, slices, [&](int which) { return meta[4ll * which + 2] >= row; });
        };
        int slice = first_with(place);
        if (slice == slices || meta[4ll * slice + 2] != place) {
            slice = first_with(meta[4ll * (slice - 1) + 2]);
        }
        const INDEX* own = meta + 4ll * slice;
        const int lanes = slice_lanes(own[3]);
        const long long within = before + entry - (long long)starts[row];
        const long long to = (long long)own[0] * height + (long long)(place - own[2]) * lanes +
                             within / lanes * height + within % lanes;
        laid_indices[to] = (LAID_INDICES_T)column_position[indices[entry]];
        const REAL value = values[entry];
        if (codes == 0) {
            laid_values[to] = (LAID_VALUES_T)value;
        } else {
            laid_values[to] = (LAID_VALUES_T)first_far(
                1, codes, [&](int code) { return table[code] >= value; });
        }
    }
}
