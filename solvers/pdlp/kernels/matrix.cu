// Products and sizes of the rows of a matrix in slices; matrix.py states the contracts.

#include "slices.cuh"

struct Store {
    REAL* product;

    __device__ __forceinline__ void prepare(INDEX) {}
    __device__ __forceinline__ void finish(INDEX row, const REAL (&terms)[1]) {
        product[row] = terms[0];
    }
};

extern "C" __global__ void __launch_bounds__(TEAM) multiply(
    int slices, int height, const INDEX* __restrict__ meta, const INDICES_T* __restrict__ indices,
    const VALUES_T* __restrict__ values, const REAL* __restrict__ table,
    const INDEX* __restrict__ splits, REAL* __restrict__ partials, INDEX* __restrict__ tickets,
    const REAL* __restrict__ vector, REAL* __restrict__ product) {
    __shared__ REAL scratch[TEAM_WARPS];
    const Slices<INDICES_T, VALUES_T> matrix = {slices / TEAM_WARPS, (const int4*)meta, indices,
                                                values, table, splits, partials, tickets};
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

extern "C" __global__ void __launch_bounds__(TEAM) multiply_scaled(
    int slices, int height, const INDEX* __restrict__ meta, const INDICES_T* __restrict__ indices,
    const VALUES_T* __restrict__ values, const REAL* __restrict__ table,
    const INDEX* __restrict__ splits, REAL* __restrict__ partials, INDEX* __restrict__ tickets,
    const REAL* __restrict__ factor, const REAL* __restrict__ vector, REAL* __restrict__ product) {
    __shared__ REAL scratch[TEAM_WARPS];
    const Slices<INDICES_T, VALUES_T> matrix = {slices / TEAM_WARPS, (const int4*)meta, indices,
                                                values, table, splits, partials, tickets};
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

extern "C" __global__ void __launch_bounds__(TEAM) rescale(
    int slices, int height, const INDEX* __restrict__ meta, const INDICES_T* __restrict__ indices,
    const VALUES_T* __restrict__ values, const REAL* __restrict__ table,
    const INDEX* __restrict__ splits, REAL* __restrict__ partials, INDEX* __restrict__ tickets,
    int mode, const REAL* __restrict__ row_scale, const REAL* __restrict__ column_scale,
    REAL* __restrict__ rescaled) {
    __shared__ REAL scratch[2 * TEAM_WARPS];
    const Slices<INDICES_T, VALUES_T> matrix = {slices / TEAM_WARPS, (const int4*)meta, indices,
                                                values, table, splits, partials, tickets};
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

extern "C" __global__ void __launch_bounds__(TEAM) balance(
    int slices, int height, const INDEX* __restrict__ meta, const INDICES_T* __restrict__ indices,
    const VALUES_T* __restrict__ values, const REAL* __restrict__ table,
    const INDEX* __restrict__ splits, REAL* __restrict__ partials, INDEX* __restrict__ tickets,
    REAL ridge, const REAL* __restrict__ column_scale, REAL* __restrict__ balanced) {
    __shared__ REAL scratch[2 * TEAM_WARPS];
    const Slices<INDICES_T, VALUES_T> matrix = {slices / TEAM_WARPS, (const int4*)meta, indices,
                                                values, table, splits, partials, tickets};
    StoreBalance owner = {ridge, balanced};
    const Logarithms logarithms = {column_scale};
    run_unit(blockIdx.x, matrix, logarithms, owner, scratch);
}
