// One LP in a block: where its dictionary and vectors stand, and what its threads do together.

#pragma once

#include "reduce.cuh"
#include "batch.cuh"

#define COLUMN_VECTORS 5
#define ROW_VECTORS 3
#define VARIABLE_VECTORS 3

#define NOBODY 0x7fffffff
#define FULL_WARP 0xffffffffu

extern __shared__ __align__(16) double memory[];

// What the first warp has chosen, for the block to read.
struct Choice {
    int p, q, flips;
};

__shared__ Choice choice;

// The matrix as it is given, and the data of the LP.
struct Given {
    const INDEX* starts;
    const INDEX* indices;
    const REAL* values;
    const REAL* row_scale;
    const REAL* column_scale;
    const REAL* cost;
    const REAL* lower;
    const REAL* upper;
    const REAL* row_lower;
    const REAL* row_upper;
    const REAL* parameters;
};

// Pivots and bound flips so far, the most there may be, pivots since the dictionary was built, and
// perturbations so far; the same in every thread.
struct Counts {
    int pivots, most, fresh, perturbed;
};

// Where the LP stands: the dictionary by columns, `leading` numbers apart, and its vectors one after
// the other. With NEAR both are in shared memory, which the compiler then knows; what is not done in
// every pivot is compiled once, without.
template <bool NEAR>
struct Lp {
    int m, n, leading;
    bool near;
    REAL *matrix, *rest;
    REAL primal_tolerance, dual_tolerance, cost_size;

    __device__ __forceinline__ REAL* D() const {
        if constexpr (NEAR) return (REAL*)memory;
        return matrix;
    }
    __device__ __forceinline__ REAL* vectors() const {
        if constexpr (NEAR) return (REAL*)memory + leading * n;
        return rest;
    }
    __device__ __forceinline__ long long at(int i, int j) const {
        if constexpr (NEAR) return j * leading + i;
        return (long long)j * leading + i;
    }
    __device__ __forceinline__ REAL* reduced() const { return vectors(); }
    __device__ __forceinline__ REAL* point() const { return vectors() + n; }
    __device__ __forceinline__ REAL* price() const { return vectors() + 2 * n; }
    __device__ __forceinline__ REAL* row() const { return vectors() + 3 * n; }
    __device__ __forceinline__ REAL* ratio() const { return vectors() + 4 * n; }
    __device__ __forceinline__ REAL* value() const { return vectors() + 5 * n; }
    __device__ __forceinline__ REAL* merit() const { return value() + m; }
    __device__ __forceinline__ REAL* column() const { return value() + 2 * m; }
    __device__ __forceinline__ REAL* cost() const { return value() + 3 * m; }
    __device__ __forceinline__ REAL* low() const { return cost() + (n + m); }
    __device__ __forceinline__ REAL* high() const { return cost() + 2 * (n + m); }
    __device__ __forceinline__ REAL* partial() const { return cost() + 3 * (n + m); }
    __device__ __forceinline__ int* status() const { return (int*)(partial() + blockDim.x); }
    __device__ __forceinline__ int* basic() const { return status() + (n + m); }
    __device__ __forceinline__ int* nonbasic() const { return basic() + m; }
    __device__ __forceinline__ int* candidates() const { return nonbasic() + n; }
};

__device__ __forceinline__ REAL infinity() { return REAL(1) / REAL(0); }

__device__ __forceinline__ bool is_first_warp() { return threadIdx.x < 32; }

using AnyLp = Lp<false>;

// The same LP where the compiler is to know that it is in shared memory.
__device__ __forceinline__ Lp<true> as_near(const AnyLp& lp) {
    return {lp.m, lp.n, lp.leading, true, lp.matrix, lp.rest,
            lp.primal_tolerance, lp.dual_tolerance, lp.cost_size};
}

// By how much a basic variable is outside its bounds; negative within them.
template <bool NEAR>
__device__ __forceinline__ REAL outside(const Lp<NEAR>& lp, int i) {
    const int v = lp.basic()[i];
    const REAL value = lp.value()[i];
    return larger(lp.low()[v] - value, value - lp.high()[v]);
}

// What speaks for the dual method's choosing row i, whose squares and one add up to `weight`.
template <bool NEAR>
__device__ __forceinline__ REAL dual_merit(const Lp<NEAR>& lp, int i, REAL weight) {
    const REAL off = outside(lp, i);
    return off > lp.primal_tolerance ? off * off / weight : REAL(0);
}

// Numbers that are not negative are ordered as their bits are, which a warp compares in one
// instruction for each 32 of them.
struct Bits {
    unsigned high, low;
};

__device__ __forceinline__ Bits halves_of(REAL value) {
    const unsigned long long bits = (unsigned long long)__double_as_longlong((double)value);
    return {(unsigned)(bits >> 32), (unsigned)bits};
}

__device__ __forceinline__ REAL number_of(Bits bits) {
    const unsigned long long both = (unsigned long long)bits.high << 32 | bits.low;
    return (REAL)__longlong_as_double((long long)both);
}

// The largest of values over a warp, none negative, and the lowest number of those who have it.
__device__ __forceinline__ void warp_best(REAL& value, int& owner) {
    const Bits own = halves_of(value);
    Bits top;
    top.high = __reduce_max_sync(FULL_WARP, own.high);
    top.low = __reduce_max_sync(FULL_WARP, own.high == top.high ? own.low : 0u);
    const bool has = own.high == top.high && own.low == top.low;
    owner = (int)__reduce_min_sync(FULL_WARP, has ? (unsigned)owner : (unsigned)NOBODY);
    value = number_of(top);
}

// The smallest of values over a warp, none negative.
__device__ __forceinline__ REAL warp_least(REAL value) {
    const Bits own = halves_of(value);
    Bits least;
    least.high = __reduce_min_sync(FULL_WARP, own.high);
    least.low = __reduce_min_sync(FULL_WARP, own.high == least.high ? own.low : 0xffffffffu);
    return number_of(least);
}

// Whether a condition holds for any thread of the block.
__device__ __forceinline__ bool block_any(bool flag) {
    return block_reduce<Largest>(flag ? REAL(1) : REAL(0)) > REAL(0);
}

// Give each thread a row of the dictionary and a run of its columns: part(i, first, last) returns a
// sum over them, and done(i, sum) gets that of the whole row. Lanes have neighbouring rows, which
// stand side by side; where there are few rows, a warp has several runs of their columns.
template <bool NEAR, class Part, class Done>
__device__ __forceinline__ void over_rows(const Lp<NEAR>& lp, Part part, Done done) {
    const int m = lp.m;
    const int warps = blockDim.x >> 5;
    const int groups = (m + 31) >> 5;
    int width = 32;
    while (width >= 2 * m && width > 1) width >>= 1;
    const int shares = 32 / width;
    const int segments = (groups > 0 && warps >= 2 * groups ? warps / groups : 1) * shares;
    const int run = (lp.n + segments - 1) / segments;
    const int height = groups > 1 ? groups * 32 : width;
    const int lane = threadIdx.x & 31;
    REAL* const partial = lp.partial();
    for (int unit = threadIdx.x >> 5; unit * shares < groups * segments; unit += warps) {
        const int at = unit / groups;
        const int i = (unit - at * groups) * 32 + (lane & (width - 1));
        if (i >= m) continue;
        const int segment = at * shares + lane / width;
        const int first = segment * run;
        const int last = first + run < lp.n ? first + run : lp.n;
        const REAL sum = part(i, first, last);
        if (segments == 1) {
            done(i, sum);
        } else {
            partial[segment * height + i] = sum;
        }
    }
    if (segments > 1) {
        __syncthreads();
        for (int i = threadIdx.x; i < m; i += blockDim.x) {
            REAL sum = partial[i];
            for (int s = 1; s < segments; ++s) sum += partial[s * height + i];
            done(i, sum);
        }
    }
    __syncthreads();
}
