// A block works on a unit of rows: thread = (group, problem), a group being a row, or a part of a
// long one.
//
// The K threads of a group read an entry of the matrix together, one address for all, and K
// neighbouring numbers of the interleaved vector. 256 / K groups are in a block; where K does not
// divide 256 the last threads have no row. Long rows: the groups take turns at the entries, and
// the first group adds what they found in their order. Very long rows: blocks leave their parts in
// memory, and the last one to do so adds all of them, in an order that does not depend on who that
// is. A check, whose sums depend on which block has which row, leaves such a row to one block.

#pragma once

#include "fields.cuh"

#define TEAM 256
#define PART 2048

struct Rows {
    const INDEX* unit_table;
    const INDEX* starts;
    const INDEX* indices;
    const REAL* values;
    int width;
    REAL* partials;  // null where rows are not to be split
    INDEX* tickets;
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

// Adds what the groups of a block found for a problem; the sum is the first group's.
__device__ __forceinline__ REAL join_groups(REAL part, const Rows& rows, const Place& place,
                                            REAL* scratch) {
    scratch[threadIdx.x] = part;
    __syncthreads();
    REAL total = 0;
    if (place.group == 0) {
        for (int group = 0; group < place.groups; ++group) {
            total += scratch[group * rows.width + place.problem];
        }
    }
    __syncthreads();  // who comes next may write scratch at once
    return total;
}

// Leaves the sum of this block's part of a row; true in the block that is the last to do so.
__device__ __forceinline__ bool leave_part(REAL total, INDEX base, INDEX part, INDEX parts,
                                           const Rows& rows, const Place& place) {
    __shared__ bool is_last;
    if (place.group == 0) {
        __stcg(rows.partials + (long long)(base + part) * rows.width + place.problem, total);
    }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        is_last = atomicAdd((int*)(rows.tickets + base), 1) == (int)parts - 1;
        if (is_last) rows.tickets[base] = 0;
    }
    __syncthreads();
    __threadfence();
    return is_last;
}

// Calls owner.finish(row, problem, product) for every row of the unit and every problem that is
// not stopped. All threads of the block come here together; scratch has TEAM numbers.
template <class Owner>
__device__ __forceinline__ void run_unit(int unit, const Rows& rows, const Place& place,
                                         bool active, const REAL* __restrict__ vector,
                                         Owner& owner, REAL* scratch) {
    const INDEX* entry = rows.unit_table + 4 * (long long)unit;
    const INDEX first = entry[0], count = entry[1], part = entry[2], parts = entry[3];
    const bool in_group = place.group < place.groups;
    if (count > 0) {
        if (active && in_group && place.group < count) {
            const INDEX row = first + place.group;
            owner.finish(row, place.problem,
                         product(rows, place, rows.starts[row], rows.starts[row + 1], 1, vector));
        }
        return;
    }
    const bool split = count < 0 && rows.partials != nullptr;
    if (part > 0 && !split) return;
    INDEX begin = rows.starts[first], end = rows.starts[first + 1];
    if (split) {
        begin += part * PART;
        end = end - begin > PART ? begin + PART : end;
    }
    REAL found = 0;
    if (active && in_group) {
        found = product(rows, place, begin + place.group, end, place.groups, vector);
    }
    REAL total = join_groups(found, rows, place, scratch);
    if (split) {
        const INDEX base = -1 - count;
        if (!leave_part(total, base, part, parts, rows, place)) return;
        found = 0;
        if (in_group) {
            for (INDEX other = place.group; other < parts; other += place.groups) {
                found += __ldcg(rows.partials + (long long)(base + other) * rows.width +
                                place.problem);
            }
        }
        total = join_groups(found, rows, place, scratch);
    }
    if (active && place.group == 0) owner.finish(first, place.problem, total);
}
