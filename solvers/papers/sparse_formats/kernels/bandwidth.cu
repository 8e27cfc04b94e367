// Reading with all threads, for the machine's bandwidth; bandwidth.py states the contract.
//
// Neighbouring threads read neighbouring words, past the first-level cache, which sparse products
// hardly profit from.

extern "C" __global__ void stream_read(
    INDEX readers, INDEX size, int repeats, const REAL* __restrict__ source,
    REAL* __restrict__ sums) {
    const long long own = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (own >= readers) return;
    long long place = own;
    REAL sum = REAL(0);
#pragma unroll 8
    for (int r = 0; r < repeats; ++r) {
        sum += __ldcg(source + place);
        place += readers;
        if (place >= size) place -= size;
    }
    sums[own] = sum;
}
