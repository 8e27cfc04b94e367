// Product of a matrix in compressed rows; csr.py states the contract.
//
// The first blocks each own a chunk of a long row. The others own rows of at most long_length
// entries, with so many lanes for each that reads of a row's entries are coalesced.

#include "gather.cuh"
#include "reduce.cuh"

// Whether this block is the last of `pieces` to come here; the counter is 0 again afterwards.
__device__ __forceinline__ bool comes_last(INDEX* counter, INDEX pieces) {
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        const unsigned int before = atomicAdd((unsigned int*)counter, 1u);
        last = before == (unsigned int)(pieces - 1);
        if (last) *counter = 0;
        __threadfence();
    }
    __syncthreads();
    return last;
}

extern "C" __global__ void csr_multiply(
    INDEX rows, int lanes, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, INDEX long_length, INDEX chunk, INDEX chunks,
    const INDEX* __restrict__ chunk_rows, const INDEX* __restrict__ chunk_firsts, REAL* partials,
    INDEX* tickets, const REAL* __restrict__ vector, REAL* __restrict__ product) {
    if ((INDEX)blockIdx.x < chunks) {
        const INDEX own = (INDEX)blockIdx.x;
        const INDEX row = chunk_rows[own];
        const INDEX piece_0 = chunk_firsts[own];
        const INDEX begin = starts[row];
        const INDEX row_end = starts[row + 1];
        const INDEX first = begin + (own - piece_0) * chunk;
        const INDEX end = row_end - first < chunk ? row_end : first + chunk;
        const REAL sum = block_reduce<Sum>(gathered_sum(
            first + (INDEX)threadIdx.x, end, (INDEX)blockDim.x, indices, values, vector));
        const INDEX pieces = (row_end - begin + chunk - 1) / chunk;
        if (pieces == 1) {
            if (threadIdx.x == 0) product[row] = sum;
            return;
        }
        if (threadIdx.x == 0) __stcg(partials + own, sum);
        if (!comes_last(tickets + piece_0, pieces)) return;
        REAL total = REAL(0);
        for (INDEX piece = threadIdx.x; piece < pieces; piece += blockDim.x) {
            total += __ldcg(partials + piece_0 + piece);
        }
        total = block_reduce<Sum>(total);
        if (threadIdx.x == 0) product[row] = total;
        return;
    }

    const long long thread = (long long)((INDEX)blockIdx.x - chunks) * blockDim.x + threadIdx.x;
    const int lane = (int)(thread & (lanes - 1));
    const long long row = thread / lanes;
    bool writes = false;
    REAL sum = REAL(0);
    if (row < rows) {
        const INDEX begin = starts[row];
        const INDEX end = starts[row + 1];
        if (end - begin <= long_length) {
            sum = gathered_sum(begin + lane, end, (INDEX)lanes, indices, values, vector);
            writes = lane == 0;
        }
    }
    sum = lanes_reduce<Sum>(sum, lanes);
    if (writes) product[row] = sum;
}
