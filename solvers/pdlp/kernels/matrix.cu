// Products, row sizes and rescaling of a matrix in compressed rows; matrix.py states the contracts.
//
// A group of lanes owns a row, or a whole block one of the few long rows.

#include "rows.cuh"

extern "C" __global__ void multiply(
    INDEX rows, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, INDEX long_count, const INDEX* __restrict__ long_rows,
    INDEX long_length, int lanes,
    const REAL* __restrict__ vector, REAL* __restrict__ product) {
    const RowShare share = share_rows(rows, starts, long_count, long_rows, long_length, lanes);
    const REAL sum = row_product(share, indices, values, vector);
    if (share.writes) product[share.row] = sum;
}

extern "C" __global__ void row_sizes(
    INDEX rows, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, INDEX long_count, const INDEX* __restrict__ long_rows,
    INDEX long_length, int lanes,
    const REAL* __restrict__ row_scale, const REAL* __restrict__ column_scale,
    REAL* __restrict__ smallest, REAL* __restrict__ largest, REAL* __restrict__ total) {
    const RowShare share = share_rows(rows, starts, long_count, long_rows, long_length, lanes);
    REAL least = Smallest::neutral();
    REAL most = Largest::neutral();
    REAL sum = Sum::neutral();
    for (INDEX k = share.first; k < share.end; k += share.stride) {
        const REAL entry = row_scale[share.row] * values[k] * column_scale[indices[k]];
        const REAL size = entry < REAL(0) ? -entry : entry;
        least = Smallest::combine(least, size);
        most = Largest::combine(most, size);
        sum = Sum::combine(sum, size);
    }
    least = row_reduce<Smallest>(share, least);
    most = row_reduce<Largest>(share, most);
    sum = row_reduce<Sum>(share, sum);
    if (share.writes) {
        smallest[share.row] = least;
        largest[share.row] = most;
        total[share.row] = sum;
    }
}

extern "C" __global__ void scale_entries(
    INDEX rows, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, INDEX long_count, const INDEX* __restrict__ long_rows,
    INDEX long_length, int lanes,
    const REAL* __restrict__ row_scale, const REAL* __restrict__ column_scale,
    REAL* __restrict__ scaled) {
    const RowShare share = share_rows(rows, starts, long_count, long_rows, long_length, lanes);
    for (INDEX k = share.first; k < share.end; k += share.stride) {
        scaled[k] = row_scale[share.row] * values[k] * column_scale[indices[k]];
    }
}
