// Means over the rows of a matrix as the host has it; average.py states the contract.
//
// A warp owns a row: most have few entries, whose indices stand together.

#include "reduce.cuh"

extern "C" __global__ void average(
    int rows, const STARTS_T* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, REAL* __restrict__ mean) {
    const int lane = threadIdx.x % 32;
    const long long row = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / 32;
    const long long begin = row < rows ? starts[row] : 0, end = row < rows ? starts[row + 1] : 0;
    REAL sum = 0;
    for (long long entry = begin + lane; entry < end; entry += 32) {
        sum += values[indices[entry]];
    }
    sum = lanes_reduce<Sum>(sum, 32);
    if (lane == 0 && end > begin) mean[row] = sum / (REAL)(end - begin);
}
