// Products of a matrix in sliced rows; solvers/sparse/slices.py says how it is laid out.
//
// A slice is the work of one warp: 32 lanes go through its entries side by side, `lanes` of them
// for each of its rows. Eight slices are a unit, the work of a team of 256 threads, and a row too
// long for a warp takes a whole unit, or several, whose sums the last one to come adds up in a
// fixed order. So every load of the matrix is coalesced, and a launch repeated gives the same
// bits. All threads of a team must call these together.

#pragma once

#include "reduce.cuh"

#define TEAM 256
#define TEAM_WARPS 8

enum SliceKind { SHORT_ROWS = 0, ROW_OF_UNIT = 1, ROW_OF_UNITS = 2 };

template <class Index, class Value>
struct Slices {
    int units;
    const int4* __restrict__ meta;  // of each slice: first entry / 32, steps, first row, code
    const Index* __restrict__ indices;
    const Value* __restrict__ values;
    const REAL* __restrict__ table;     // what codes stand for
    const INDEX* __restrict__ splits;   // of units of one row: first partial, which, how many
    REAL* partials;
    INDEX* tickets;
};

__device__ __forceinline__ int slice_lanes(int code) { return 1 << (code & 15); }
__device__ __forceinline__ int slice_kind(int code) { return (code >> 4) & 3; }
__device__ __forceinline__ int slice_rows(int code) { return (code >> 6) & 63; }

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

template <int N, class Index, class Value>
__device__ __forceinline__ void slice_products(
    const int4 slice, const Slices<Index, Value>& matrix, const REAL* const (&vectors)[N],
    REAL (&sums)[N]) {
    const long long first = (long long)slice.x * 32 + (threadIdx.x & 31);
    const Index* indices = matrix.indices + first;
    const Value* values = matrix.values + first;
#pragma unroll
    for (int v = 0; v < N; ++v) sums[v] = REAL(0);
#pragma unroll 4
    for (int step = 0; step < slice.y; ++step) {
        const int j = (int)indices[step * 32];
        const REAL a = entry_value(values[step * 32], matrix.table);
#pragma unroll
        for (int v = 0; v < N; ++v) sums[v] += a * vectors[v][j];
    }
}

// Add what the units of one row found; returns whether this thread holds the row's sums.
template <int N, class Index, class Value>
__device__ __forceinline__ bool add_units(
    int unit, const Slices<Index, Value>& matrix, REAL (&sums)[N]) {
    const INDEX* split = matrix.splits + 4 * unit;
    const INDEX first = split[0], which = split[1], count = split[2];
    const int lane = threadIdx.x & 31;
    int last = 0;
    if (lane == 0) {
        for (int v = 0; v < N; ++v) matrix.partials[(first + which) * N + v] = sums[v];
        __threadfence();
        last = atomicAdd((int*)&matrix.tickets[first], 1) == (int)count - 1;
        if (last) matrix.tickets[first] = 0;
        __threadfence();
    }
    last = __shfl_sync(0xffffffffu, last, 0);
    if (!last) return false;
#pragma unroll
    for (int v = 0; v < N; ++v) {
        REAL sum = REAL(0);
        for (INDEX part = lane; part < count; part += 32) {
            sum += __ldcg(&matrix.partials[(first + part) * N + v]);
        }
        sums[v] = lanes_reduce<Sum>(sum, 32);
    }
    return lane == 0;
}

// One unit: the products of its rows with N vectors, each handed to its owner.
//
// owner.prepare(row) may load what owner.finish(row, sums) needs before the product is known.
template <int N, class Index, class Value, class Owner>
__device__ __forceinline__ void run_unit(
    int unit, const Slices<Index, Value>& matrix, const REAL* const (&vectors)[N], Owner& owner,
    REAL* scratch, int team_in_block) {
    const int warp = (threadIdx.x & (TEAM - 1)) >> 5;
    const int lane = threadIdx.x & 31;
    const int4 slice = __ldg(&matrix.meta[unit * TEAM_WARPS + warp]);
    const int kind = slice_kind(slice.w);
    REAL sums[N];
    if (kind == SHORT_ROWS) {
        const int lanes = slice_lanes(slice.w);
        const int which = lane / lanes;
        const bool owns = lane == which * lanes && which < slice_rows(slice.w);
        const INDEX row = slice.z + which;
        if (owns) owner.prepare(row);
        slice_products<N>(slice, matrix, vectors, sums);
#pragma unroll
        for (int v = 0; v < N; ++v) sums[v] = lanes_reduce<Sum>(sums[v], lanes);
        if (owns) owner.finish(row, sums);
        return;
    }
    const INDEX row = slice.z;
    slice_products<N>(slice, matrix, vectors, sums);
#pragma unroll
    for (int v = 0; v < N; ++v) {
        sums[v] = lanes_reduce<Sum>(sums[v], 32);
        if (lane == 0) scratch[warp * N + v] = sums[v];
    }
    team_sync(team_in_block);
    if (warp == 0) {
#pragma unroll
        for (int v = 0; v < N; ++v) {
            sums[v] = lane < TEAM_WARPS ? scratch[lane * N + v] : REAL(0);
            sums[v] = lanes_reduce<Sum>(sums[v], 32);
        }
        bool owns = lane == 0;
        if (kind == ROW_OF_UNITS) owns = add_units<N>(unit, matrix, sums);
        if (owns) {
            owner.prepare(row);
            owner.finish(row, sums);
        }
    }
    team_sync(team_in_block);  // the next unit may write the scratch at once
}
