// Product of a matrix in compressed rows; csr.py states the contract.
//
// The first blocks each own a chunk of a long row. The others own rows of at most long_length
// entries, with so many lanes for each that reads of a row's entries are coalesced.

#include "csr.cuh"
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

__device__ __forceinline__ void csr_multiply(
    const Compressed& matrix, const Shares& shared, const REAL* vector, REAL* product) {
    if ((INDEX)blockIdx.x < shared.chunks) {
        const INDEX own = (INDEX)blockIdx.x;
        const INDEX row = shared.chunk_rows[own];
        const INDEX piece_0 = shared.chunk_firsts[own];
        const INDEX begin = matrix.starts[row];
        const INDEX row_end = matrix.starts[row + 1];
        const INDEX first = begin + (own - piece_0) * shared.chunk;
        const INDEX end = row_end - first < shared.chunk ? row_end : first + shared.chunk;
        const REAL sum = block_reduce<Sum>(
            gathered_sum(first + (INDEX)threadIdx.x, end, (INDEX)blockDim.x, matrix.indices,
                         matrix.values, vector));
        const INDEX pieces = (row_end - begin + shared.chunk - 1) / shared.chunk;
        if (pieces == 1) {
            if (threadIdx.x == 0) product[row] = sum;
            return;
        }
        if (threadIdx.x == 0) __stcg(shared.partials + own, sum);
        if (!comes_last(shared.tickets + piece_0, pieces)) return;
        REAL total = REAL(0);
        for (INDEX piece = threadIdx.x; piece < pieces; piece += blockDim.x) {
            total += __ldcg(shared.partials + piece_0 + piece);
        }
        total = block_reduce<Sum>(total);
        if (threadIdx.x == 0) product[row] = total;
        return;
    }

    const long long block = (INDEX)blockIdx.x - shared.chunks;
    const long long thread = block * blockDim.x + threadIdx.x;
    const int lane = (int)(thread & (shared.lanes - 1));
    const long long row = thread / shared.lanes;
    bool writes = false;
    REAL sum = REAL(0);
    if (row < matrix.rows) {
        const INDEX begin = matrix.starts[row];
        const INDEX end = matrix.starts[row + 1];
        if (end - begin <= shared.long_length) {
            sum = gathered_sum(begin + lane, end, (INDEX)shared.lanes, matrix.indices,
                               matrix.values, vector);
            writes = lane == 0;
        }
    }
    sum = lanes_reduce<Sum>(sum, shared.lanes);
    if (writes) product[row] = sum;
}
