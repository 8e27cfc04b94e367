// Products of a matrix in each format; products.py states the contracts.

#include "products.cuh"
#include "reduce.cuh"

// The sum of a row's entries times the vector, of entries first, first + stride, ... below end.
//
// Four at a time, those that are not there left out: all four reads of columns, and then all four
// of the vector, are under way at once. An unrolled loop would do the last three entries, which for
// short rows are all, one after the other.
template <class Place>
__device__ __forceinline__ REAL gathered_sum(
    Place first, Place end, Place stride, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, const REAL* __restrict__ vector) {
    constexpr int BATCH = 4;
    REAL sum = REAL(0);
    for (Place k = first; k < end; k += BATCH * stride) {
        bool inside[BATCH];
        INDEX column[BATCH];
        REAL value[BATCH];
        REAL element[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; ++b) {
            const Place entry = k + b * stride;
            inside[b] = entry < end;
            column[b] = inside[b] ? indices[entry] : 0;
            value[b] = inside[b] ? values[entry] : REAL(0);
        }
#pragma unroll
        for (int b = 0; b < BATCH; ++b) element[b] = inside[b] ? vector[column[b]] : REAL(0);
#pragma unroll
        for (int b = 0; b < BATCH; ++b) sum += value[b] * element[b];
    }
    return sum;
}

// CSR: the first blocks each own a chunk of a long row. The others own rows of at most long_length
// entries, with so many lanes for each that reads of a row's entries are coalesced.

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

// COO: a warp owns a chunk and goes through it 32 entries at a time: products are summed by rows
// with a segmented scan over the lanes, and the sum of the row that is not over yet is handed on to
// the next 32. All reads are coalesced, whatever the lengths of the rows.

__device__ __forceinline__ long long own_warp() {
    return ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> 5;
}

extern "C" __global__ void coo_clear(INDEX rows, REAL* __restrict__ product) {
    const long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) product[row] = REAL(0);
}

extern "C" __global__ void coo_segments(
    INDEX entries, int chunk, const INDEX* __restrict__ row_indices,
    const INDEX* __restrict__ indices, const REAL* __restrict__ values,
    const REAL* __restrict__ vector, REAL* __restrict__ product, REAL* __restrict__ carries) {
    const long long own = own_warp();
    const int lane = threadIdx.x & 31;
    const long long begin = own * chunk;
    if (begin >= entries) return;  // the whole warp
    const long long end = begin + chunk < entries ? begin + chunk : entries;
    const INDEX first_row = row_indices[begin];
    INDEX open_row = first_row;  // the row whose sum is not over yet
    REAL open_sum = REAL(0);
    REAL first_sum = REAL(0);
    for (long long base = begin; base < end; base += 32) {
        const long long entry = base + lane;
        const bool inside = entry < end;
        const INDEX row = row_indices[inside ? entry : end - 1];
        REAL sum = inside ? values[entry] * vector[indices[entry]] : REAL(0);
        if (lane == 0) {
            if (row == open_row) {
                sum += open_sum;
            } else if (open_row == first_row) {
                first_sum = open_sum;
            } else {
                product[open_row] = open_sum;
            }
        }
#pragma unroll
        for (int distance = 1; distance < 32; distance <<= 1) {
            const REAL before = __shfl_up_sync(0xffffffffu, sum, distance);
            const INDEX row_before = __shfl_up_sync(0xffffffffu, row, distance);
            if (lane >= distance && row_before == row) sum += before;
        }
        const INDEX row_after = __shfl_down_sync(0xffffffffu, row, 1);
        if (lane < 31 && row_after != row) {  // the row is over within these 32
            if (row == first_row) {
                first_sum = sum;
            } else {
                product[row] = sum;
            }
        }
        open_row = __shfl_sync(0xffffffffu, row, 31);
        open_sum = __shfl_sync(0xffffffffu, sum, 31);
    }
    // The first row ended in at most one lane; the others hold 0.
    first_sum = lanes_reduce<Sum>(first_sum, 32);
    if (lane == 0) {
        const bool one_row = open_row == first_row;
        carries[2 * own] = one_row ? open_sum : first_sum;
        carries[2 * own + 1] = one_row ? REAL(0) : open_sum;
    }
}

// The row that carry q belongs to.
__device__ __forceinline__ INDEX carry_row(
    long long q, INDEX entries, int chunk, const INDEX* __restrict__ row_indices) {
    const long long begin = (q >> 1) * chunk;
    const long long end = begin + chunk < entries ? begin + chunk : entries;
    return row_indices[(q & 1) ? end - 1 : begin];
}

extern "C" __global__ void coo_carries(
    INDEX entries, int chunk, const INDEX* __restrict__ row_indices,
    const REAL* __restrict__ carries, REAL* __restrict__ product) {
    const long long own = own_warp();
    const int lane = threadIdx.x & 31;
    const long long count = 2 * (((long long)entries + chunk - 1) / chunk);
    if (own >= count) return;
    const INDEX row = carry_row(own, entries, chunk, row_indices);
    if (own > 0 && carry_row(own - 1, entries, chunk, row_indices) == row) return;
    REAL sum = REAL(0);
    for (long long q = own + lane; q < count; q += 32) {
        if (carry_row(q, entries, chunk, row_indices) != row) break;
        sum += carries[q];
    }
    __syncwarp();
    sum = lanes_reduce<Sum>(sum, 32);
    if (lane == 0) product[row] = sum;
}

// SELL and ELL: a thread owns a place, or a row. With slices of 32 places a warp reads 32
// neighbouring entries at a time.

extern "C" __global__ void sell_multiply(
    INDEX rows, int slice_shift, const INDEX* __restrict__ slice_starts,
    const INDEX* __restrict__ lengths, const INDEX* __restrict__ order,
    const INDEX* __restrict__ indices, const REAL* __restrict__ values,
    const REAL* __restrict__ vector, REAL* __restrict__ product) {
    const long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= rows) return;
    const INDEX place = (INDEX)thread;
    const INDEX height = (INDEX)1 << slice_shift;
    const INDEX length = lengths[place];
    const INDEX first = slice_starts[place >> slice_shift] + (place & (height - 1));
    product[order[place]] =
        gathered_sum(first, first + length * height, height, indices, values, vector);
}

extern "C" __global__ void ell_multiply(
    INDEX rows, const INDEX* __restrict__ lengths, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, const REAL* __restrict__ vector,
    REAL* __restrict__ product) {
    const long long row = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const long long stride = rows;
    product[row] =
        gathered_sum(row, row + lengths[row] * stride, stride, indices, values, vector);
}
