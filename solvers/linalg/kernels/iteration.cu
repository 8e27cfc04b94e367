// Products and the steps of a conjugate gradient iteration; iteration.py states what they compute.
//
// Product steps: a group of lanes owns a row, whole blocks the few long ones. Vector steps: a
// thread owns an element. Each block leaves its partial sums, and the one that takes the last
// ticket adds them in their order and makes the scalars of what follows; the ticket is the only
// atomic, and no sum depends on who takes it.

#include "each_row.cuh"

__device__ __forceinline__ REAL magnitude(REAL value) { return value < REAL(0) ? -value : value; }

extern "C" __global__ void multiply(
    INDEX rows, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, INDEX long_count, const INDEX* __restrict__ long_rows,
    INDEX long_length, int lanes,
    const REAL* __restrict__ vector, int magnitudes, REAL* __restrict__ product) {
    each_row(
        rows, starts, long_count, long_rows, long_length, lanes,
        [=](INDEX, INDEX k) {
            return (magnitudes ? magnitude(values[k]) : values[k]) * vector[indices[k]];
        },
        [=](INDEX row, REAL sum) { product[row] = sum; });
}

extern "C" __global__ void residual(
    INDEX rows, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, INDEX long_count, const INDEX* __restrict__ long_rows,
    INDEX long_length, int lanes,
    const REAL* __restrict__ vector, const REAL* __restrict__ side, REAL* __restrict__ r) {
    each_row(
        rows, starts, long_count, long_rows, long_length, lanes,
        [=](INDEX, INDEX k) { return values[k] * vector[indices[k]]; },
        [=](INDEX row, REAL sum) { r[row] = side[row] - sum; });
}

extern "C" __global__ void diagonal(
    INDEX rows, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, INDEX long_count, const INDEX* __restrict__ long_rows,
    INDEX long_length, int lanes,
    const REAL* __restrict__ weight, int normal, REAL* __restrict__ product) {
    each_row(
        rows, starts, long_count, long_rows, long_length, lanes,
        [=](INDEX row, INDEX k) {
            if (normal) return values[k] * values[k] * weight[indices[k]];
            return indices[k] == row ? values[k] : REAL(0);
        },
        [=](INDEX row, REAL sum) { product[row] = sum; });
}

// Places in control and reasons to stop, as in iteration.py.
#define ALPHA 0
#define BETA 1
#define RZ 2
#define RR 3
#define ITERATIONS 4
#define STOP 5
#define TARGET 6
#define LIMIT 7

#define CONVERGED 1
#define BREAKDOWN 2
#define OUT_OF_ITERATIONS 3

__device__ __forceinline__ bool finite(REAL value) { return value - value == REAL(0); }

// Add up COUNT terms of all threads of the grid; true in the last block, which has the sums.
template <int COUNT>
__device__ __forceinline__ bool grid_sums(
    const REAL* terms, REAL* __restrict__ partial, INDEX* ticket, REAL* sums) {
    __shared__ bool last;
    for (int s = 0; s < COUNT; ++s) {
        const REAL sum = block_reduce<Sum>(terms[s]);
        if (threadIdx.x == 0) partial[(long long)blockIdx.x * COUNT + s] = sum;
    }
    if (threadIdx.x == 0) {
        __threadfence();
        // Counts up to the number of blocks and falls back to zero for the next launch.
        last = atomicInc((unsigned int*)ticket, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return false;
    __threadfence();
    const volatile REAL* written = partial;
    for (int s = 0; s < COUNT; ++s) {
        REAL sum = REAL(0);
        for (unsigned int b = threadIdx.x; b < gridDim.x; b += blockDim.x) {
            sum += written[(long long)b * COUNT + s];
        }
        sums[s] = block_reduce<Sum>(sum);
    }
    return true;
}

// What the new residual means: whether it is small enough, or the iteration has to end.
__device__ __forceinline__ int judge(const REAL* control, REAL gamma, REAL rr) {
    if (!finite(rr) || !finite(gamma)) return BREAKDOWN;
    if (rr <= control[TARGET]) return CONVERGED;
    if (control[ITERATIONS] >= control[LIMIT]) return OUT_OF_ITERATIONS;
    return gamma > REAL(0) ? 0 : BREAKDOWN;
}

extern "C" __global__ void columns_step(
    INDEX rows, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, INDEX long_count, const INDEX* __restrict__ long_rows,
    INDEX long_length, int lanes,
    const REAL* __restrict__ weight, const REAL* __restrict__ u, const REAL* __restrict__ p,
    const REAL* __restrict__ control, REAL* __restrict__ q) {
    if (control[STOP] != REAL(0)) return;
    const REAL beta = control[BETA];
    each_row(
        rows, starts, long_count, long_rows, long_length, lanes,
        [=](INDEX, INDEX k) {
            const INDEX i = indices[k];
            return values[k] * (u[i] + beta * p[i]);
        },
        [=](INDEX row, REAL sum) { q[row] = weight[row] * sum; });
}

extern "C" __global__ void product(
    INDEX rows, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, INDEX long_count, const INDEX* __restrict__ long_rows,
    INDEX long_length, int lanes,
    const REAL* __restrict__ gathered, int direct, const REAL* __restrict__ u,
    const REAL* __restrict__ p, REAL* __restrict__ p_next, REAL* __restrict__ s, int slots,
    REAL* __restrict__ partial, INDEX* ticket, REAL* control) {
    if (control[STOP] != REAL(0)) return;
    const REAL beta = control[BETA];
    REAL terms[1] = {0};
    each_row(
        rows, starts, long_count, long_rows, long_length, lanes,
        [=](INDEX, INDEX k) {
            const INDEX j = indices[k];
            return values[k] * (direct ? u[j] + beta * p[j] : gathered[j]);
        },
        [&](INDEX row, REAL sum) {
            const REAL p_new = u[row] + beta * p[row];
            p_next[row] = p_new;
            s[row] = sum;
            terms[0] += p_new * sum;
        });
    REAL sums[1];
    if (!grid_sums<1>(terms, partial, ticket, sums) || threadIdx.x != 0) return;
    if (sums[0] > REAL(0) && finite(sums[0])) {
        control[ALPHA] = control[RZ] / sums[0];
        control[ITERATIONS] += REAL(1);
    } else {
        control[STOP] = REAL(BREAKDOWN);
    }
}

extern "C" __global__ void update(
    INDEX rows, const REAL* __restrict__ inverse, const REAL* __restrict__ p,
    const REAL* __restrict__ s, REAL* __restrict__ x, REAL* __restrict__ r,
    REAL* __restrict__ u, int slots, REAL* __restrict__ partial, INDEX* ticket, REAL* control) {
    if (control[STOP] != REAL(0)) return;
    const REAL alpha = control[ALPHA];
    REAL terms[2] = {0, 0};
    const long long stride = (long long)gridDim.x * blockDim.x;
    for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += stride) {
        x[i] += alpha * p[i];
        const REAL r_new = r[i] - alpha * s[i];
        const REAL u_new = inverse[i] * r_new;
        r[i] = r_new;
        u[i] = u_new;
        terms[0] += r_new * u_new;
        terms[1] += r_new * r_new;
    }
    REAL sums[2];
    if (!grid_sums<2>(terms, partial, ticket, sums) || threadIdx.x != 0) return;
    control[RR] = sums[1];
    control[BETA] = sums[0] / control[RZ];
    control[RZ] = sums[0];
    control[STOP] = REAL(judge(control, sums[0], sums[1]));
}
