// Product of a matrix in padded columns; ell.py states the contract. A thread owns a row.

extern "C" __global__ void ell_multiply(
    INDEX rows, const INDEX* __restrict__ lengths, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, const REAL* __restrict__ vector,
    REAL* __restrict__ product) {
    const long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const INDEX length = lengths[row];
    REAL sum = REAL(0);
    long long entry = row;
#pragma unroll 4
    for (INDEX k = 0; k < length; ++k, entry += rows) {
        sum += values[entry] * vector[indices[entry]];
    }
    product[row] = sum;
}
