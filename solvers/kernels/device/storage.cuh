// Numbers and column indices of a sparse matrix as they are stored, turned back into what is
// computed with.
//
// A stored value is a REAL, an exact float, or an unsigned code of 8 or 16 bits into a dictionary
// of REALs. A stored index is an INDEX, or 16 bits counted from a base that 2^shift neighbouring
// owners (rows, or places in an order of rows) have in common. Which it is follows from the type,
// so that nothing is decided while the kernel runs.

#pragma once

template <class Type>
struct Stored { static constexpr bool short_form = false; };
template <>
struct Stored<unsigned char> { static constexpr bool short_form = true; };
template <>
struct Stored<unsigned short> { static constexpr bool short_form = true; };

template <class Type>
__device__ __forceinline__ REAL stored_value(Type stored, const REAL* __restrict__ dictionary) {
    if constexpr (Stored<Type>::short_form) {
        return dictionary[stored];
    } else {
        return (REAL)stored;
    }
}

// What is to be added to the stored indices of an owner.
template <class Type>
__device__ __forceinline__ INDEX index_base(
    const INDEX* __restrict__ bases, INDEX owner, int shift) {
    if constexpr (Stored<Type>::short_form) {
        return bases[owner >> shift];
    } else {
        return (INDEX)0;
    }
}

// The sum of entries first, first + stride, ... below end, times the vector.
//
// Four entries at a time, those that are not there left out: all four reads of columns, and then
// all four of the vector, are under way at once. An unrolled loop would do the last three entries,
// which for short rows are all, one after the other.
template <class Place, class Index, class Value>
__device__ __forceinline__ REAL gathered_sum(
    Place first, Place end, Place stride, INDEX base, const Index* __restrict__ indices,
    const Value* __restrict__ values, const REAL* __restrict__ dictionary,
    const REAL* __restrict__ vector) {
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
            column[b] = inside[b] ? base + (INDEX)indices[entry] : base;
            value[b] = inside[b] ? stored_value(values[entry], dictionary) : REAL(0);
        }
#pragma unroll
        for (int b = 0; b < BATCH; ++b) element[b] = inside[b] ? vector[column[b]] : REAL(0);
#pragma unroll
        for (int b = 0; b < BATCH; ++b) sum += value[b] * element[b];
    }
    return sum;
}
