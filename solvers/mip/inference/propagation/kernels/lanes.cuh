// Words and lists of what changed, by many threads at once; batch.py says how the arrays are laid
// out.

#pragma once

#include "layout.cuh"

#define ALL_LANES 0xffffffffu

__device__ __forceinline__ int fetch_or(int* at, unsigned word) { return atomicOr(at, (int)word); }
__device__ __forceinline__ long long fetch_or(long long* at, unsigned word) {
    return (long long)atomicOr((unsigned long long*)at, (unsigned long long)word);
}
__device__ __forceinline__ int fetch_and(int* at, unsigned word) {
    return atomicAnd(at, (int)word);
}
__device__ __forceinline__ long long fetch_and(long long* at, unsigned word) {
    return (long long)atomicAnd((unsigned long long*)at, (unsigned long long)word);
}
__device__ __forceinline__ int fetch_add(int* at, int count) { return atomicAdd(at, count); }
__device__ __forceinline__ long long fetch_add(long long* at, int count) {
    return (long long)atomicAdd((unsigned long long*)at, (unsigned long long)count);
}

// One round's words and list of changed columns.
struct ColumnChanges {
    INDEX* changed;
    INDEX* list;
    INDEX* count;

    __device__ __forceinline__ ColumnChanges(
        INDEX* column_changed, INDEX* column_list, INDEX* control, int parity, int columns)
        : changed(column_changed + (long long)parity * columns),
          list(column_list + (long long)parity * columns),
          count(control + NUM_COLUMNS + parity) {}

    // Add lanes to a column's word; by one thread.
    __device__ __forceinline__ void mark(INDEX place, unsigned word) const {
        if (fetch_or(changed + place, word) == 0) list[fetch_add(count, 1)] = place;
    }
};
