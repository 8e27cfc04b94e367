// Geometric scaling; scale.py states what is computed. A thread owns a row or column: this happens
// once in a solve, and the columns of linear programs are short.

extern "C" __global__ void __launch_bounds__(256) geometric(
    int size, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, const REAL* __restrict__ other, REAL* __restrict__ scale) {
    const long long owner = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (owner >= size) return;
    REAL smallest = REAL(0), largest = REAL(0);
    for (INDEX k = starts[owner]; k < starts[owner + 1]; ++k) {
        REAL entry = values[k] * other[indices[k]];
        entry = entry < REAL(0) ? -entry : entry;
        if (entry == REAL(0)) continue;
        smallest = smallest == REAL(0) || entry < smallest ? entry : smallest;
        largest = entry > largest ? entry : largest;
    }
    scale[owner] = largest > REAL(0) ? REAL(1) / sqrt(smallest * largest) : REAL(1);
}

extern "C" __global__ void __launch_bounds__(256) apply_scales(
    int size, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, const REAL* __restrict__ own,
    const REAL* __restrict__ other, REAL* __restrict__ scaled) {
    const long long owner = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (owner >= size) return;
    for (INDEX k = starts[owner]; k < starts[owner + 1]; ++k) {
        scaled[k] = values[k] * own[owner] * other[indices[k]];
    }
}
