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
