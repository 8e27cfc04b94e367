// Products of a matrix in sliced rows; solvers/sparse/slices.py says how it is laid out.
//
// A slice is the work of one warp: 32 lanes go through its entries side by side, `lanes` of them
// for each of its rows. Eight slices are a unit, the work of a team of 256 threads, and rows too
// long for a warp take a whole unit, or several, whose sums the last one to come adds up in a
// fixed order. So every load of the matrix is coalesced, and a launch repeated gives the same
// bits. All threads of a team must call these together.

#pragma once

#include "reduce.cuh"
#include "sliced.cuh"

#define TEAM 256
#define TEAM_WARPS 8
#define TEAM_SUMS (8 * TEAM_WARPS)  // of each term: at most eight rows share the warps of a team

enum SliceKind { SHORT_ROWS = 0, ROWS_OF_UNIT = 1, ROWS_OF_UNITS = 2 };

template <class Index, class Value>
using Slices = SlicedMatrix<INDEX, const Index*, const Value*>;

template <class Index, class Value>
__device__ __forceinline__ int4 slice_of(const Slices<Index, Value>& matrix, int unit, int warp) {
    return __ldg((const int4*)matrix.meta + unit * TEAM_WARPS + warp);
}

__device__ __forceinline__ REAL entry_value(double raw, const REAL*) { return (REAL)raw; }
__device__ __forceinline__ REAL entry_value(float raw, const REAL*) { return (REAL)raw; }
__device__ __forceinline__ REAL entry_value(int raw, const REAL*) { return (REAL)raw; }
__device__ __forceinline__ REAL entry_value(unsigned char code, const REAL* table) {
    return table[code];
}
__device__ __forceinline__ REAL entry_value(unsigned short code, const REAL* table) {
    return table[code];
}

// Wait for the other threads of the team; a block of several teams has a barrier for each.
__device__ __forceinline__ void team_sync(int team_in_block) {
    asm volatile("bar.sync %0, 256;" ::"r"(team_in_block + 1) : "memory");
}

// The usual work on a row: its products with N vectors.
template <int N>
struct Products {
    static const int TERMS = N;
    const REAL* vectors[N];

    __device__ __forceinline__ void add(REAL (&terms)[N], REAL value, int column) const {
#pragma unroll
        for (int v = 0; v < N; ++v) terms[v] += value * vectors[v][column];
    }
    static __device__ __forceinline__ REAL neutral(int) { return REAL(0); }
    static __device__ __forceinline__ REAL join(int, REAL a, REAL b) { return a + b; }
};

// Where a warp finds the entries of its slice: in the matrix, or in a copy nearer by.
template <class Index, class Value>
struct SliceEntries {
    const Index* indices;
    const Value* values;
    const REAL* table;
};

template <class Index, class Value>
__device__ __forceinline__ SliceEntries<Index, Value> entries_of(
    const int4 slice, const Slices<Index, Value>& matrix) {
    const long long first = (long long)slice.x * 32;
    return {matrix.indices + first, matrix.values + first, matrix.table};
}

// Steps whose entries a lane asks for together; they wait for memory once.
#define STEPS_TOGETHER 4

template <int STEPS, class Work, class Index, class Value>
__device__ __forceinline__ void add_steps(
    int entry, const SliceEntries<Index, Value>& entries, const Work& work,
    REAL (&terms)[Work::TERMS]) {
    Value values[STEPS];
    int columns[STEPS];
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
        values[step] = entries.values[entry + 32 * step];
        columns[step] = (int)entries.indices[entry + 32 * step];
    }
#pragma unroll
    for (int step = 0; step < STEPS; ++step) {
        work.add(terms, entry_value(values[step], entries.table), columns[step]);
    }
}

// What one lane finds of its row.
template <class Work, class Index, class Value>
__device__ __forceinline__ void lane_terms(
    int steps, const SliceEntries<Index, Value>& entries, const Work& work,
    REAL (&terms)[Work::TERMS]) {
    int entry = threadIdx.x & 31;
#pragma unroll
    for (int v = 0; v < Work::TERMS; ++v) terms[v] = Work::neutral(v);
    for (; steps >= STEPS_TOGETHER; steps -= STEPS_TOGETHER, entry += 32 * STEPS_TOGETHER) {
        add_steps<STEPS_TOGETHER>(entry, entries, work, terms);
    }
    // a loop over what is left would wait at each step, and many rows are as short as that
    if (steps == 3) {
        add_steps<3>(entry, entries, work, terms);
    } else if (steps == 2) {
        add_steps<2>(entry, entries, work, terms);
    } else if (steps == 1) {
        add_steps<1>(entry, entries, work, terms);
    }
}

// Join what `lanes` neighbouring lanes, a power of two, found; all get the result.
template <class Work>
__device__ __forceinline__ void join_lanes(REAL (&terms)[Work::TERMS], int lanes) {
    for (int distance = lanes >> 1; distance > 0; distance >>= 1) {
#pragma unroll
        for (int v = 0; v < Work::TERMS; ++v) {
            const REAL other = __shfl_xor_sync(0xffffffffu, terms[v], distance, lanes);
            terms[v] = Work::join(v, terms[v], other);
        }
    }
}

// Join what the units of some rows found; returns whether this lane holds the terms of one.
//
// There are 32 / lanes rows, and lane i of the first warp brings what its unit found of row i.
template <class Work, class Index, class Value>
__device__ __forceinline__ bool join_units(
    int unit, int rows, const Slices<Index, Value>& matrix, REAL (&terms)[Work::TERMS]) {
    const int N = Work::TERMS;
    const INDEX* split = matrix.splits + 4 * unit;
    const INDEX first = split[0], which = split[1], count = split[2];
    const int lane = threadIdx.x & 31;
    if (lane < rows) {
#pragma unroll
        for (int v = 0; v < N; ++v) {
            matrix.partials[(first + which * rows + lane) * N + v] = terms[v];
        }
    }
    __threadfence();
    __syncwarp();
    int last = 0;
    if (lane == 0) {
        last = atomicAdd((int*)&matrix.tickets[first], 1) == (int)count - 1;
        if (last) matrix.tickets[first] = 0;
        __threadfence();
    }
    last = __shfl_sync(0xffffffffu, last, 0);
    if (!last) return false;
    for (int row = 0; row < rows; ++row) {
        REAL found[N];
#pragma unroll
        for (int v = 0; v < N; ++v) {
            found[v] = Work::neutral(v);
            for (INDEX part = lane; part < count; part += 32) {
                const INDEX place = first + part * rows + row;
                found[v] = Work::join(v, found[v], __ldcg(&matrix.partials[place * N + v]));
            }
        }
        join_lanes<Work>(found, 32);
#pragma unroll
        for (int v = 0; v < N; ++v) {
            if (lane == row) terms[v] = found[v];
        }
    }
    return lane < rows;
}

// Join what the warps of a team found; returns whether this thread holds the terms of a row.
//
// There are 32 / lanes rows, of which lane i of the first warp gets row i.
template <class Work, class Index, class Value>
__device__ __forceinline__ bool join_warps(
    int unit, int lanes, bool in_units, const Slices<Index, Value>& matrix, REAL* scratch,
    int team_in_block, REAL (&terms)[Work::TERMS]) {
    const int N = Work::TERMS, rows = 32 / lanes;
    const int warp = (threadIdx.x & (TEAM - 1)) >> 5;
    const int lane = threadIdx.x & 31;
    if (lane % lanes == 0) {
#pragma unroll
        for (int v = 0; v < N; ++v) scratch[(warp * rows + lane / lanes) * N + v] = terms[v];
    }
    team_sync(team_in_block);
    if (warp == 0 && lane < rows) {
#pragma unroll
        for (int v = 0; v < N; ++v) {
            terms[v] = scratch[lane * N + v];
            for (int other = 1; other < TEAM_WARPS; ++other) {
                terms[v] = Work::join(v, terms[v], scratch[(other * rows + lane) * N + v]);
            }
        }
    }
    team_sync(team_in_block);  // the next unit may write the scratch at once
    if (warp != 0) return false;
    return in_units ? join_units<Work>(unit, rows, matrix, terms) : lane < rows;
}

// One unit: what the work finds of each row is handed to the row's owner.
//
// owner.prepare(row) may load what owner.finish(row, terms) needs before the terms are known.
template <class Work, class Index, class Value, class Owner>
__device__ __forceinline__ void run_unit(
    int unit, const int4 slice, const SliceEntries<Index, Value>& entries,
    const Slices<Index, Value>& matrix, const Work& work, Owner& owner, REAL* scratch,
    int team_in_block) {
    const int lane = threadIdx.x & 31;
    const int lanes = slice_lanes(slice.w), kind = slice_kind(slice.w);
    const bool is_short = kind == SHORT_ROWS;
    const int which = is_short ? lane / lanes : lane;
    // of rows with units of their own the first slice alone says how many there are
    bool owns = which < slice_rows(slice.w) && (!is_short || lane == which * lanes);
    const INDEX row = slice.z + which;
    if (owns || (kind == ROWS_OF_UNITS && threadIdx.x % TEAM < 32 / lanes)) owner.prepare(row);
    REAL terms[Work::TERMS];
    lane_terms(slice.y, entries, work, terms);
    join_lanes<Work>(terms, lanes);
    if (!is_short) {
        owns = join_warps<Work>(
            unit, lanes, kind == ROWS_OF_UNITS, matrix, scratch, team_in_block, terms);
    }
    if (owns) owner.finish(row, terms);
}

// All units of a team: first, first + stride, ... below the number of units.
template <class Work, class Index, class Value, class Owner>
__device__ __forceinline__ void run_units(
    int first, int stride, const Slices<Index, Value>& matrix, const Work& work, Owner& owner,
    REAL* scratch, int team_in_block) {
    const int warp = (threadIdx.x & (TEAM - 1)) >> 5;
    const int units = matrix.slices / TEAM_WARPS;
    for (int unit = first; unit < units; unit += stride) {
        const int4 slice = slice_of(matrix, unit, warp);
        run_unit(unit, slice, entries_of(slice, matrix), matrix, work, owner, scratch,
                 team_in_block);
    }
}

// One unit straight from the matrix, by a block that is one team.
template <class Work, class Index, class Value, class Owner>
__device__ __forceinline__ void run_unit(
    int unit, const Slices<Index, Value>& matrix, const Work& work, Owner& owner,
    REAL* scratch) {
    const int warp = threadIdx.x >> 5;
    const int4 slice = slice_of(matrix, unit, warp);
    run_unit(unit, slice, entries_of(slice, matrix), matrix, work, owner, scratch, 0);
}
