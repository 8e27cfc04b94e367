// One LP in a block: where its data stand, and sums over its rows and columns.

#pragma once

#include "reduce.cuh"

#define DENSE 0
#define SPARSE 1
#define MIXED 2  // matrix in global memory, vectors in shared memory
#define LARGE 3  // both in global memory

#define LIMIT 0
#define CONVERGED 1
#define DUAL_RAY 2
#define PRIMAL_RAY 3
#define TROUBLE 4
#define VERTEX 5

#define NO_SIGNATURE 0xffffffffffffffffull

enum Parameter {
    TOLERANCE, NORM, STEP_FRACTION, NORM_MARGIN, SUFFICIENT, NECESSARY, ARTIFICIAL,
    PROPORTIONAL, INTEGRAL, MEMORY, VERTEX_FROM, PIVOT, RAY_LEFTOVER, RAY_MARGIN, RAY_FROM,
    PRIMAL_RAY_LEFTOVER
};

struct Lp {
    int m, n;
    const INDEX* starts;
    const INDEX* indices;
    const INDEX* column_starts;
    const INDEX* column_rows;
    REAL* by_rows;     // DENSE: (m, leading); otherwise entries in the order of the rows
    REAL* by_columns;  // entries in the order of the columns; not for DENSE
    int leading, row_lanes, column_lanes;
    int groups, group, column;  // DENSE: groups that share a column's rows, and this thread's place
    REAL *x, *x_anchor, *x_hat, *x_bar, *x_step, *cost, *lower, *upper, *column_scale;
    REAL *y, *y_anchor, *y_hat, *product, *y_step, *y_trial, *row_lower, *row_upper, *row_scale;
    REAL *residual, *partial, *M;
    int *inside, *active, *place;
    REAL side_norm, cost_norm, offset;
};

struct Sums {
    REAL primal, dual, value, support, x_travel, y_travel, x_step, y_step, cross;
};

struct Errors {
    REAL primal, dual, gap;
    __device__ __forceinline__ REAL worst() const {
        const REAL largest = primal > dual ? primal : dual;
        return largest > gap ? largest : gap;
    }
    __device__ __forceinline__ bool is_finite() const {
        const REAL sum = primal + dual + gap;
        return sum - sum == REAL(0);
    }
};

__device__ __forceinline__ bool is_finite(REAL value) { return value - value == REAL(0); }

__device__ __forceinline__ REAL between(REAL low, REAL value, REAL high) {
    return value < low ? low : (value > high ? high : value);
}

__device__ __forceinline__ REAL larger(REAL a, REAL b) { return a > b ? a : b; }

// The largest power of two that gives every owner its lanes at once and no lane nothing to do.
__device__ __forceinline__ int lanes_for(int owners, long long entries) {
    int lanes = 1;
    while (2 * lanes <= 32 && 2LL * lanes * owners <= (long long)blockDim.x &&
           (long long)lanes * owners < entries) {
        lanes *= 2;
    }
    return lanes;
}

// Sums of COUNT values over the block; all threads get them, added in the same order.
template <int COUNT>
__device__ __forceinline__ void block_sums(REAL (&values)[COUNT]) {
    __shared__ REAL of_warp[COUNT * 32];
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    const int warps = blockDim.x >> 5;
    for (int s = 0; s < COUNT; ++s) {
        const REAL sum = lanes_reduce<Sum>(values[s], 32);
        if (lane == 0) of_warp[s * 32 + warp] = sum;
    }
    __syncthreads();
    for (int s = 0; s < COUNT; ++s) {
        REAL sum = REAL(0);
        for (int w = 0; w < warps; ++w) sum += of_warp[s * 32 + w];
        values[s] = sum;
    }
    __syncthreads();
}

// done(i, total) for every row i, total over its entries of term(value, column).
template <int STORAGE, class Operation, class Term, class Done>
__device__ __forceinline__ void over_rows(const Lp& lp, Term term, Done done) {
    const int lanes = lp.row_lanes;
    const int lane = threadIdx.x & (lanes - 1);
    const int stride = blockDim.x / lanes;
    for (int base = 0; base < lp.m; base += stride) {
        const int i = base + threadIdx.x / lanes;
        REAL total = Operation::neutral();
        if (i < lp.m) {
            if constexpr (STORAGE == DENSE) {
                const REAL* row = lp.by_rows + i * lp.leading;
                for (int j = lane; j < lp.n; j += lanes) {
                    total = Operation::combine(total, term(row[j], j));
                }
            } else {
                const INDEX end = lp.starts[i + 1];
                for (INDEX entry = lp.starts[i] + lane; entry < end; entry += lanes) {
                    total = Operation::combine(
                        total, term(lp.by_rows[entry], (int)lp.indices[entry]));
                }
            }
        }
        total = lanes_reduce<Operation>(total, lanes);
        if (i < lp.m && lane == 0) done(i, total);
    }
}

template <class Operation, class Term>
__device__ __forceinline__ REAL part_of_column(
    const Lp& lp, int j, int first, int stride, Term term) {
    REAL total = Operation::neutral();
    for (int i = first; i < lp.m; i += stride) {
        total = Operation::combine(total, term(lp.by_rows[i * lp.leading + j], i));
    }
    return total;
}

// The same for every column j, with term(value, row). DENSE: groups of threads share the rows.
template <int STORAGE, class Operation, class Term, class Done>
__device__ __forceinline__ void over_columns(const Lp& lp, Term term, Done done) {
    if constexpr (STORAGE != DENSE) {
        const int lanes = lp.column_lanes;
        const int lane = threadIdx.x & (lanes - 1);
        const int stride = blockDim.x / lanes;
        for (int base = 0; base < lp.n; base += stride) {
            const int j = base + threadIdx.x / lanes;
            REAL total = Operation::neutral();
            if (j < lp.n) {
                const INDEX end = lp.column_starts[j + 1];
                for (INDEX entry = lp.column_starts[j] + lane; entry < end; entry += lanes) {
                    total = Operation::combine(
                        total, term(lp.by_columns[entry], (int)lp.column_rows[entry]));
                }
            }
            total = lanes_reduce<Operation>(total, lanes);
            if (j < lp.n && lane == 0) done(j, total);
        }
    } else if (lp.groups == 1) {
        for (int j = threadIdx.x; j < lp.n; j += blockDim.x) {
            done(j, part_of_column<Operation>(lp, j, 0, 1, term));
        }
    } else {
        if (lp.group < lp.groups) {
            lp.partial[threadIdx.x] =
                part_of_column<Operation>(lp, lp.column, lp.group, lp.groups, term);
        }
        __syncthreads();
        if ((int)threadIdx.x < lp.n) {
            REAL total = lp.partial[threadIdx.x];
            for (int g = 1; g < lp.groups; ++g) {
                total = Operation::combine(total, lp.partial[g * lp.n + threadIdx.x]);
            }
            done((int)threadIdx.x, total);
        }
    }
}

template <int STORAGE, class Done>
__device__ __forceinline__ void row_products(const Lp& lp, const REAL* vector, Done done) {
    over_rows<STORAGE, Sum>(
        lp, [&](REAL value, int j) { return value * vector[j]; }, done);
}

template <int STORAGE, class Done>
__device__ __forceinline__ void column_products(const Lp& lp, const REAL* vector, Done done) {
    over_columns<STORAGE, Sum>(
        lp, [&](REAL value, int i) { return value * vector[i]; }, done);
}
