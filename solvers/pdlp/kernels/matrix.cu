// Products and sizes of the rows of a matrix in slices; matrix.py states the contracts.

#include "slices.cuh"

struct Store {
    REAL* product;

    __device__ __forceinline__ void prepare(INDEX) {}
    __device__ __forceinline__ void finish(INDEX row, const REAL (&terms)[1]) {
        product[row] = terms[0];
    }
};

__device__ __forceinline__ void multiply(
    const Slices<INDICES_T, VALUES_T>& matrix, const REAL* vector, REAL* product) {
    __shared__ REAL scratch[TEAM_SUMS];
    Store owner = {product};
    const Products<1> products = {{vector}};
    run_unit(blockIdx.x, matrix, products, owner, scratch);
}

struct StoreScaled {
    const REAL* factor;
    REAL* product;

    __device__ __forceinline__ void prepare(INDEX) {}
    __device__ __forceinline__ void finish(INDEX row, const REAL (&terms)[1]) {
        product[row] = factor[row] * terms[0];
    }
};

__device__ __forceinline__ void multiply_scaled(
    const Slices<INDICES_T, VALUES_T>& matrix, const REAL* factor, const REAL* vector,
    REAL* product) {
    __shared__ REAL scratch[TEAM_SUMS];
    StoreScaled owner = {factor, product};
    const Products<1> products = {{vector}};
    run_unit(blockIdx.x, matrix, products, owner, scratch);
}

enum Mode { LARGEST, TOTAL };

// The greatest and the sum of a row's magnitudes, in the order of Mode.
struct Sizes {
    static const int TERMS = 2;
    const REAL* scale;

    __device__ __forceinline__ void add(REAL (&terms)[2], REAL value, int column) const {
        if (value == REAL(0)) return;
        const REAL size = fabs(value * scale[column]);
        terms[LARGEST] = join(LARGEST, terms[LARGEST], size);
        terms[TOTAL] += size;
    }
    static __device__ __forceinline__ REAL neutral(int) { return REAL(0); }
    static __device__ __forceinline__ REAL join(int term, REAL a, REAL b) {
        return term == LARGEST ? Largest::combine(a, b) : a + b;
    }
};

struct Rescale {
    int mode;
    const REAL* scale;
    REAL* rescaled;

    __device__ __forceinline__ void prepare(INDEX) {}
    __device__ __forceinline__ void finish(INDEX row, const REAL (&terms)[2]) {
        const REAL own = scale[row];
        const REAL size = own * terms[mode];
        const bool usable = size > REAL(0) && size - size == REAL(0);
        rescaled[row] = usable ? own / sqrt(size) : own;
    }
};

__device__ __forceinline__ void rescale(
    const Slices<INDICES_T, VALUES_T>& matrix, int mode, const REAL* row_scale,
    const REAL* column_scale, REAL* rescaled) {
    __shared__ REAL scratch[2 * TEAM_SUMS];
    Rescale owner = {mode, row_scale, rescaled};
    const Sizes sizes = {column_scale};
    run_unit(blockIdx.x, matrix, sizes, owner, scratch);
}

// The sum of the logarithms of a row's magnitudes, and how many there are.
struct Logarithms {
    static const int TERMS = 2;
    const REAL* scale;

    __device__ __forceinline__ void add(REAL (&terms)[2], REAL value, int column) const {
        if (value == REAL(0)) return;
        terms[0] += log(fabs(value * scale[column]));
        terms[1] += REAL(1);
    }
    static __device__ __forceinline__ REAL neutral(int) { return REAL(0); }
    static __device__ __forceinline__ REAL join(int, REAL a, REAL b) { return a + b; }
};

struct StoreBalance {
    REAL ridge;
    REAL* balanced;

    __device__ __forceinline__ void prepare(INDEX) {}
    __device__ __forceinline__ void finish(INDEX row, const REAL (&terms)[2]) {
        const REAL count = (REAL(1) + ridge) * terms[1];
        balanced[row] = count > REAL(0) ? exp(-terms[0] / count) : REAL(1);
    }
};

__device__ __forceinline__ void balance(
    const Slices<INDICES_T, VALUES_T>& matrix, REAL ridge, const REAL* column_scale, REAL* balanced) {
    __shared__ REAL scratch[2 * TEAM_SUMS];
    StoreBalance owner = {ridge, balanced};
    const Logarithms logarithms = {column_scale};
    run_unit(blockIdx.x, matrix, logarithms, owner, scratch);
}

extern "C" __global__ void square(
    int count, const REAL* __restrict__ values, REAL* __restrict__ squared) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) squared[i] = values[i] * values[i];
}

extern "C" __global__ void times_root(
    int count, const REAL* __restrict__ squares, REAL* __restrict__ values) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] *= sqrt(squares[i]);
}

extern "C" __global__ void divide(int count, REAL divisor, REAL* __restrict__ values) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) values[i] /= divisor;
}

extern "C" __global__ void fill(int count, REAL value, REAL* __restrict__ filled) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) filled[i] = value;
}

#define SUMMED 256

// A thread sums a block of elements one after the other, as the twin does.
extern "C" __global__ void quotient_sums(
    int count, int blocks, const REAL* __restrict__ q, const REAL* __restrict__ image,
    const REAL* __restrict__ weight, REAL* __restrict__ sums) {
    const int block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block >= blocks) return;
    REAL own[3] = {};
    const int end = min(count, (block + 1) * SUMMED);
    for (int i = block * SUMMED; i < end; ++i) {
        own[0] += q[i] * q[i] / weight[i];
        own[1] += q[i] * image[i] / weight[i];
        own[2] += image[i] * image[i] / weight[i];
    }
    for (int which = 0; which < 3; ++which) sums[which * blocks + block] = own[which];
}

__device__ __forceinline__ REAL finite_size(REAL value) {
    return value - value == REAL(0) ? fabs(value) : REAL(0);
}

extern "C" __global__ void size_sums(
    int count, int blocks, const REAL* __restrict__ low, const REAL* __restrict__ high,
    const REAL* __restrict__ metric, REAL* __restrict__ sums) {
    const int block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block >= blocks) return;
    REAL own = 0;
    const int end = min(count, (block + 1) * SUMMED);
    for (int i = block * SUMMED; i < end; ++i) {
        const REAL size = fmax(finite_size(low[i]), finite_size(high[i])) * sqrt(metric[i]);
        own += size * size;
    }
    sums[block] = own;
}
