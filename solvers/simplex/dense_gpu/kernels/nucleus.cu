// Stored columns of the inverse; nucleus.py states what the kernels do.

#include "core.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK) gather_basis(
    int count, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, const INDEX* __restrict__ variables,
    const INDEX* __restrict__ place_of_row, REAL* __restrict__ nucleus,
    REAL* __restrict__ rest) {
    const int c = (blockIdx.x * BLOCK + threadIdx.x) >> 5;
    if (c >= count) return;
    const INDEX j = variables[c], end = starts[j + 1];
    for (INDEX k = starts[j] + (threadIdx.x & 31); k < end; k += 32) {
        const long long place = place_of_row[indices[k]];
        if (place >= 0) {
            nucleus[place * count + c] = values[k];
        } else {
            rest[(-1 - place) * count + c] = values[k];
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) spread_inverse(
    int rows, int capacity, int count, const INDEX* __restrict__ place_of_position,
    const REAL* __restrict__ inner, const REAL* __restrict__ outer, REAL* __restrict__ inverse) {
    const long long at = blockIdx.x * (long long)BLOCK + threadIdx.x;
    if (at >= (long long)rows * capacity) return;
    const long long s = at % capacity, place = place_of_position[at / capacity];
    REAL element = REAL(0);
    if (s < count) element = place >= 0 ? inner[place * count + s] : outer[(-1 - place) * count + s];
    inverse[at] = element;
}

extern "C" __global__ void __launch_bounds__(BLOCK) open_slots(
    int rows, int capacity, const INDEX* __restrict__ slots,
    const INDEX* __restrict__ positions, REAL* __restrict__ inverse, int count) {
    const long long at = blockIdx.x * (long long)BLOCK + threadIdx.x;
    if (at >= (long long)rows * count) return;
    const long long p = at / count, c = at % count;
    inverse[p * capacity + slots[c]] = p == positions[c] ? REAL(-1) : REAL(0);
}

extern "C" __global__ void __launch_bounds__(BLOCK) gather_eta_rows(
    int rows, int capacity, int most, const INDEX* __restrict__ row_of_slot,
    const REAL* __restrict__ eta_rows, REAL* __restrict__ by_slot, int count, int slots) {
    const long long at = blockIdx.x * (long long)BLOCK + threadIdx.x;
    if (at >= (long long)most * capacity) return;
    const long long e = at / capacity, s = at % capacity;
    by_slot[at] = e < count && s < slots ? eta_rows[e * rows + row_of_slot[s]] : REAL(0);
}

extern "C" __global__ void __launch_bounds__(BLOCK) close_slots(
    int rows, int capacity, const INDEX* __restrict__ targets,
    const INDEX* __restrict__ sources, REAL* __restrict__ inverse, int count) {
    const long long at = blockIdx.x * (long long)BLOCK + threadIdx.x;
    if (at >= (long long)rows * count) return;
    const long long p = at / count, c = at % count;
    REAL* row = inverse + p * capacity;
    if (targets[c] >= 0) row[targets[c]] = row[sources[c]];
    row[sources[c]] = REAL(0);
}
