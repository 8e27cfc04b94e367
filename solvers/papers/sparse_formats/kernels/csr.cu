// Product of a matrix in compressed rows; csr.py states the contract.
//
// The first blocks each own a chunk of a long row. The others own rows of at most long_length
// entries, all rows of a block with the same number of lanes, so that reads of a row's entries
// are coalesced and the threads of a warp end together. The bounds of the lane classes come as
// scalars: finding one's class costs no read.

#include "reduce.cuh"
#include "storage.cuh"

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
    INDEX rows, const INDEX* __restrict__ starts, const INDICES_T* __restrict__ indices,
    const VALUES_T* __restrict__ values, const REAL* __restrict__ dictionary,
    const INDEX* __restrict__ bases, int base_shift, const INDEX* __restrict__ order, int ordered,
    INDEX end_1, INDEX end_2, INDEX end_4, INDEX end_8, INDEX end_16, INDEX end_32,
    INDEX long_length, INDEX chunk, INDEX chunks, const INDEX* __restrict__ chunk_rows,
    const INDEX* __restrict__ chunk_firsts, REAL* partials, INDEX* tickets,
    const REAL* __restrict__ vector, REAL* __restrict__ product) {
    if ((INDEX)blockIdx.x < chunks) {
        const INDEX own = (INDEX)blockIdx.x;
        const INDEX row = chunk_rows[own];
        const INDEX piece_0 = chunk_firsts[own];
        const INDEX begin = starts[row];
        const INDEX row_end = starts[row + 1];
        const INDEX first = begin + (own - piece_0) * chunk;
        const INDEX end = row_end - first < chunk ? row_end : first + chunk;
        const INDEX base = index_base<INDICES_T>(bases, row, base_shift);
        const REAL sum = block_reduce<Sum>(gathered_sum(
            first + (INDEX)threadIdx.x, end, (INDEX)blockDim.x, base, indices, values, dictionary,
            vector));
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

    // A block of 2^8 threads has 2^(8 - c) rows of class c, with 2^c lanes each.
    const INDEX ends[6] = {end_1, end_2, end_4, end_8, end_16, end_32};
    INDEX block = (INDEX)blockIdx.x - chunks;
    INDEX class_begin = 0;
    INDEX class_end = 0;
    int shift = 0;
#pragma unroll
    for (int c = 0; c < 6; ++c) {
        shift = c;
        class_end = ends[c];
        const INDEX blocks = (class_end - class_begin + (256 >> c) - 1) >> (8 - c);
        if (block < blocks) break;
        block -= blocks;
        class_begin = class_end;
    }
    const int lanes = 1 << shift;
    const INDEX place = class_begin + (block << (8 - shift)) + (INDEX)(threadIdx.x >> shift);
    const int lane = threadIdx.x & (lanes - 1);
    bool writes = false;
    INDEX row = 0;
    REAL sum = REAL(0);
    if (place < class_end) {
        row = ordered ? order[place] : place;
        const INDEX begin = starts[row];
        const INDEX end = starts[row + 1];
        if (end - begin <= long_length) {
            const INDEX base = index_base<INDICES_T>(bases, row, base_shift);
            sum = gathered_sum(
                begin + lane, end, (INDEX)lanes, base, indices, values, dictionary, vector);
            writes = lane == 0;
        }
    }
    sum = lanes_reduce<Sum>(sum, lanes);
    if (writes) product[row] = sum;
}
