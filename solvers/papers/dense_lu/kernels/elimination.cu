// Gaussian elimination by three kernels for each column, as the paper has them; elimination.py
// states the contracts, and why this is not the way to do it.

#define TILE 16

__device__ __forceinline__ REAL magnitude(REAL value) { return value < REAL(0) ? -value : value; }

__device__ __forceinline__ unsigned long long bits_of(double value) {
    return (unsigned long long)__double_as_longlong(value);
}
__device__ __forceinline__ unsigned int bits_of(float value) {
    return (unsigned int)__float_as_int(value);
}
__device__ __forceinline__ double number(unsigned long long bits) {
    return __longlong_as_double((long long)bits);
}
__device__ __forceinline__ float number(unsigned int bits) { return __int_as_float((int)bits); }

// The paper's algorithm 2: compare and swap the bits until nobody has been faster. The largest
// value does not depend on the order of the threads.
template <class Bits>
__device__ __forceinline__ void atomic_maximum(Bits* address, REAL value) {
    Bits seen = *(volatile Bits*)address;
    while (value > number(seen)) {
        const Bits before = atomicCAS(address, seen, bits_of(value));
        if (before == seen) return;
        seen = before;
    }
}

extern "C" __global__ void find_pivot(
    INDEX n, INDEX k, const REAL* __restrict__ augmented, INDEX* __restrict__ row) {
    __shared__ decltype(bits_of(REAL(0))) largest;
    __shared__ INDEX first;
    const long long width = (long long)n + 1;
    if (threadIdx.x == 0) {
        largest = bits_of(REAL(0));
        first = n;
    }
    __syncthreads();
    for (INDEX i = k + (INDEX)threadIdx.x; i < n; i += blockDim.x) {
        atomic_maximum(&largest, magnitude(augmented[i * width + k]));
    }
    __syncthreads();
    // The paper lets equal rows race; here the first of them is taken.
    for (INDEX i = k + (INDEX)threadIdx.x; i < n; i += blockDim.x) {
        if (magnitude(augmented[i * width + k]) == number(largest)) atomicMin(&first, i);
    }
    __syncthreads();
    if (threadIdx.x == 0) row[0] = first;
}

extern "C" __global__ void swap_rows(
    INDEX n, INDEX k, INDEX other, REAL* __restrict__ augmented) {
    const long long width = (long long)n + 1;
    const long long j = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= width) return;
    const REAL kept = augmented[k * width + j];
    augmented[k * width + j] = augmented[other * width + j];
    augmented[other * width + j] = kept;
}

extern "C" __global__ void eliminate(INDEX n, INDEX k, REAL* __restrict__ augmented) {
    const long long width = (long long)n + 1;
    const long long across = (width + TILE - 1) / TILE;
    const long long i = blockIdx.x / across * TILE + threadIdx.x / TILE;
    const long long j = blockIdx.x % across * TILE + threadIdx.x % TILE;
    if (i > k && i < n && j > k && j < width) {
        const REAL multiplier = augmented[i * width + k] / augmented[k * width + k];
        augmented[i * width + j] -= multiplier * augmented[k * width + j];
    }
}
