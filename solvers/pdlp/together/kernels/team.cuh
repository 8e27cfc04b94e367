// A block works on a unit of rows: thread = (group, problem), a group being a row, or a part of a
// long one.
//
// The K threads of a group read an entry of the matrix together, one address for all, and K
// neighbouring numbers of the interleaved vector. 256 / K groups are in a block; where K does not
// divide 256 the last threads have no row. Long rows: the groups take turns at the entries, and
// the first group adds the parts in their order.

#pragma once

#include "fields.cuh"

#define TEAM 256

struct Rows {
    const INDEX* unit_table;
    const INDEX* starts;
    const INDEX* indices;
    const REAL* values;
    int width;
};

struct Place {
    int problem, group, groups;

    __device__ explicit Place(int width)
        : problem(threadIdx.x % width), group(threadIdx.x / width), groups(TEAM / width) {}
};

__device__ __forceinline__ REAL product(const Rows& rows, const Place& place, INDEX begin,
                                        INDEX end, INDEX stride, const REAL* __restrict__ vector) {
    REAL total = 0;
#pragma unroll 4
    for (INDEX entry = begin; entry < end; entry += stride) {
        const long long at = (long long)rows.indices[entry] * rows.width + place.problem;
        total += rows.values[entry] * vector[at];
    }
    return total;
}

// Calls owner.finish(row, problem, product) for every row of the unit and every problem that is
// not stopped. All threads of the block come here together; scratch has TEAM numbers.
template <class Owner>
__device__ __forceinline__ void run_unit(int unit, const Rows& rows, const Place& place,
                                         bool active, const REAL* __restrict__ vector,
                                         Owner& owner, REAL* scratch) {
    const INDEX first = rows.unit_table[2 * unit], count = rows.unit_table[2 * unit + 1];
    if (count > 0) {
        if (active && place.group < count && place.group < place.groups) {
            const INDEX row = first + place.group;
            owner.finish(row, place.problem,
                         product(rows, place, rows.starts[row], rows.starts[row + 1], 1, vector));
        }
        return;
    }
    REAL part = 0;
    if (active && place.group < place.groups) {
        part = product(rows, place, rows.starts[first] + place.group, rows.starts[first + 1],
                       place.groups, vector);
    }
    scratch[threadIdx.x] = part;
    __syncthreads();
    if (active && place.group == 0) {
        REAL total = 0;
        for (int group = 0; group < place.groups; ++group) {
            total += scratch[group * rows.width + place.problem];
        }
        owner.finish(first, place.problem, total);
    }
    __syncthreads();  // the next unit may write scratch at once
}
