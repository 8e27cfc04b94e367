// The sum of a row's entries times the vector.

#pragma once

// Of entries first, first + stride, ... below end.
//
// Four at a time, those that are not there left out: all four reads of columns, and then all four
// of the vector, are under way at once. An unrolled loop would do the last three entries, which for
// short rows are all, one after the other.
template <class Place>
__device__ __forceinline__ REAL gathered_sum(
    Place first, Place end, Place stride, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, const REAL* __restrict__ vector) {
    constexpr int BATCH = 4;
    REAL sum = REAL(0);
    for (Place k = first; k < end; k += BATCH * stride) {
        bool inside[BATCH];
        INDEX column[BATCH];
        REAL value[BATCH];
        REAL element[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; ++b) {
            const Place entry = k + b * stride;
            inside[b] = entry < end;
            column[b] = inside[b] ? indices[entry] : 0;
            value[b] = inside[b] ? values[entry] : REAL(0);
        }
#pragma unroll
        for (int b = 0; b < BATCH; ++b) element[b] = inside[b] ? vector[column[b]] : REAL(0);
#pragma unroll
        for (int b = 0; b < BATCH; ++b) sum += value[b] * element[b];
    }
    return sum;
}
