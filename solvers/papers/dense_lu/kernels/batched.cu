// Factors, inverses and solutions of many small matrices; batched.py states the contracts.
//
// A block owns a matrix, in shared memory with rows of odd length, so that both a row and a column
// are read from different banks. Warp 0 looks for the pivot and prepares the column; then groups
// of up to 32 threads take whole rows. Two barriers for each column.

#define WARP 32
#define SIDES_AT_ONCE 8
#define ALL 0xffffffffu

__device__ __forceinline__ REAL magnitude(REAL value) { return value < REAL(0) ? -value : value; }

// The matrix of a block, and beside it what a step of elimination needs.
struct Block {
    int n, stride;
    REAL* a;       // n rows of `stride`
    REAL* column;  // n: multipliers of a step
    REAL* row;     // n: the pivot's row of a step
    REAL* spare;   // n
    INDEX* place;  // n: the step in which a row gave the pivot, or -1
    INDEX* pivot;  // 1: the row that gives the pivot of this step
    REAL* behind;  // whatever follows
};

__device__ __forceinline__ Block layout(INDEX size, REAL* memory) {
    Block block;
    block.n = (int)size;
    block.stride = block.n | 1;
    block.a = memory;
    block.column = block.a + block.n * block.stride;
    block.row = block.column + block.n;
    block.spare = block.row + block.n;
    block.behind = block.spare + block.n;
    return block;
}

__device__ __forceinline__ void places(Block& block, REAL* memory) {
    block.place = (INDEX*)memory;
    block.pivot = block.place + block.n;
}

__device__ __forceinline__ void load(const Block& block, const REAL* __restrict__ from) {
    for (int e = threadIdx.x; e < block.n * block.n; e += blockDim.x) {
        block.a[e / block.n * block.stride + e % block.n] = from[e];
    }
}

// Threads that take a row together: the smallest power of two that covers it, up to a warp.
__device__ __forceinline__ int width_of(int n) {
    int width = 1;
    while (width < n && width < WARP) width *= 2;
    return width;
}

// The bits of a magnitude, which order as it does; those of a NaN are the largest.
__device__ __forceinline__ unsigned long long bits_of(double value) {
    return (unsigned long long)__double_as_longlong(fabs(value));
}
__device__ __forceinline__ unsigned long long bits_of(float value) {
    return (unsigned long long)(unsigned)__float_as_int(fabsf(value)) << 32;
}
__device__ __forceinline__ void set_bits(double& value, unsigned long long bits) {
    value = __longlong_as_double((long long)bits);
}
__device__ __forceinline__ void set_bits(float& value, unsigned long long bits) {
    value = __int_as_float((int)(bits >> 32));
}

// The largest of what the lanes of a warp hold.
__device__ __forceinline__ unsigned long long largest_of_warp(unsigned long long bits) {
    const unsigned high = __reduce_max_sync(ALL, (unsigned)(bits >> 32));
    const bool there = (unsigned)(bits >> 32) == high;
    const unsigned low = __reduce_max_sync(ALL, there ? (unsigned)bits : 0u);
    return (unsigned long long)high << 32 | low;
}

// The row not yet used with the largest magnitude in a column, the first of equals; a NaN counts as
// zero. Called by warp 0, all of which get the answer.
__device__ __forceinline__ int find_pivot(const Block& block, int k, int lane) {
    unsigned long long best = 0;
    int row = block.n;
    for (int i = lane; i < block.n; i += WARP) {
        if (block.place[i] >= 0) continue;
        const REAL entry = block.a[i * block.stride + k];
        const unsigned long long key = entry == entry ? bits_of(entry) : 0;
        if (key > best || row == block.n) {
            best = key;
            row = i;
        }
    }
    const bool first = best == largest_of_warp(best);
    return block.n - (int)__reduce_max_sync(ALL, first ? (unsigned)(block.n - row) : 0u);
}

// The largest sum of magnitudes of a column, in warp 0; all threads together.
__device__ __forceinline__ REAL norm(const Block& block) {
    for (int j = threadIdx.x; j < block.n; j += blockDim.x) {
        REAL sum = REAL(0);
        for (int i = 0; i < block.n; ++i) sum += magnitude(block.a[i * block.stride + j]);
        block.spare[j] = sum;
    }
    __syncthreads();
    REAL largest = REAL(0);
    if (threadIdx.x < WARP) {
        unsigned long long bits = 0;
        for (int j = threadIdx.x; j < block.n; j += WARP) {
            const unsigned long long own = bits_of(block.spare[j]);
            bits = own > bits ? own : bits;
        }
        set_bits(largest, largest_of_warp(bits));
    }
    __syncthreads();
    return largest;
}

extern "C" __global__ void factorise(
    INDEX count, INDEX n, REAL epsilon, const REAL* __restrict__ matrices,
    REAL* __restrict__ factors, INDEX* __restrict__ order, INDEX* __restrict__ singular,
    REAL* __restrict__ verdict) {
    extern __shared__ double memory[];
    Block block = layout(n, (REAL*)memory);
    places(block, block.behind);
    const long long start = (long long)blockIdx.x * n * n;
    const int size = block.n, stride = block.stride;
    const int width = width_of(size);
    const int lane = threadIdx.x % width, group = threadIdx.x / width;
    const int groups = blockDim.x / width;
    load(block, matrices + start);
    for (int i = threadIdx.x; i < size; i += blockDim.x) block.place[i] = -1;
    __syncthreads();
    const REAL largest_sum = norm(block);
    for (int k = 0; k < size; ++k) {
        if (threadIdx.x < WARP) {
            const int p = find_pivot(block, k, threadIdx.x);
            const REAL pivot = block.a[p * stride + k];
            for (int i = threadIdx.x; i < size; i += WARP) {
                if (block.place[i] >= 0 || i == p) continue;
                const REAL entry = block.a[i * stride + k];
                const REAL multiplier = pivot == REAL(0) ? REAL(0) : entry / pivot;
                block.a[i * stride + k] = multiplier;
                block.column[i] = multiplier;
            }
            __syncwarp();
            if (threadIdx.x == 0) {
                block.place[p] = k;
                block.pivot[0] = p;
                order[(long long)blockIdx.x * n + k] = p;
            }
        }
        __syncthreads();
        const REAL* pivot_row = block.a + (int)block.pivot[0] * stride;
        for (int j = k + 1 + lane; j < size; j += width) {
            const REAL entry = pivot_row[j];
            for (int i = group; i < size; i += groups) {
                if (block.place[i] < 0) block.a[i * stride + j] -= block.column[i] * entry;
            }
        }
        __syncthreads();
    }
    // Which row of `a` is row k of the factors; and what rounding may have left of each pivot.
    for (int i = threadIdx.x; i < size; i += blockDim.x) block.column[block.place[i]] = REAL(i);
    __syncthreads();
    for (int k = threadIdx.x; k < size; k += blockDim.x) {
        const REAL* own = block.a + (int)block.column[k] * stride;
        REAL sum = REAL(0);
        for (int i = 0; i < k; ++i) {
            sum += magnitude(own[i] * block.a[(int)block.column[i] * stride + k]);
        }
        block.row[k] = REAL(k) * epsilon * sum;
        block.spare[k] = own[k];
    }
    for (int e = threadIdx.x; e < size * size; e += blockDim.x) {
        factors[start + e] = block.a[(int)block.column[e / size] * stride + e % size];
    }
    __syncthreads();
    if (threadIdx.x < WARP) {
        int first = size;
        for (int k = threadIdx.x; k < size && first == size; k += WARP) {
            if (!(magnitude(block.spare[k]) > block.row[k])) first = k;
        }
        first = size - (int)__reduce_max_sync(ALL, (unsigned)(size - first));
        if (threadIdx.x == 0) {
            const bool all = first == size;
            REAL* own = verdict + 4 * (long long)blockIdx.x;
            singular[blockIdx.x] = all ? -1 : first;
            own[0] = largest_sum;
            own[1] = all ? REAL(-1) : REAL(first);
            own[2] = all ? REAL(0) : block.spare[first];
            own[3] = all ? REAL(0) : block.row[first];
        }
    }
}

extern "C" __global__ void invert(
    INDEX count, INDEX n, const REAL* __restrict__ matrices, REAL* __restrict__ inverses,
    REAL* __restrict__ norms, INDEX* __restrict__ singular) {
    extern __shared__ double memory[];
    Block block = layout(n, (REAL*)memory);
    places(block, block.behind);
    const long long start = (long long)blockIdx.x * n * n;
    const int size = block.n, stride = block.stride;
    const int width = width_of(size);
    const int lane = threadIdx.x % width, group = threadIdx.x / width;
    const int groups = blockDim.x / width;
    load(block, matrices + start);
    for (int i = threadIdx.x; i < size; i += blockDim.x) block.place[i] = -1;
    int trouble = -1;  // of thread 0
    __syncthreads();
    const REAL before = norm(block);
    for (int k = 0; k < size; ++k) {
        if (threadIdx.x < WARP) {
            const int p = find_pivot(block, k, threadIdx.x);
            const REAL pivot = block.a[p * stride + k];
            const REAL reciprocal = REAL(1) / pivot;
            for (int i = threadIdx.x; i < size; i += WARP) {
                block.column[i] = block.a[i * stride + k];
                block.row[i] = i == k ? reciprocal : block.a[p * stride + i] * reciprocal;
            }
            __syncwarp();
            if (threadIdx.x == 0) {
                block.place[p] = k;
                block.pivot[0] = p;
                if (trouble < 0 && !(magnitude(pivot) > REAL(0))) trouble = k;
            }
        }
        __syncthreads();
        const int p = (int)block.pivot[0];
        for (int j = lane; j < size; j += width) {
            const REAL entry = block.row[j];
            for (int i = group; i < size; i += groups) {
                REAL* own = block.a + i * stride + j;
                const REAL kept = j == k ? REAL(0) : *own;
                *own = i == p ? entry : kept - block.column[i] * entry;
            }
        }
        __syncthreads();
    }
    // Row i of `a` is row place[i] of the inverse, and its column k belongs to row order[k].
    for (int i = threadIdx.x; i < size; i += blockDim.x) block.column[block.place[i]] = REAL(i);
    __syncthreads();
    for (int e = threadIdx.x; e < size * size; e += blockDim.x) {
        const int i = e / size, j = e % size;
        inverses[start + e] = block.a[(int)block.column[i] * stride + (int)block.place[j]];
    }
    const REAL after = norm(block);
    if (threadIdx.x == 0) {
        norms[blockIdx.x] = before;
        norms[count + blockIdx.x] = after;
        singular[blockIdx.x] = trouble;
    }
}

extern "C" __global__ void solve(
    INDEX count, INDEX n, INDEX sides, int transposed, const REAL* __restrict__ factors,
    const INDEX* __restrict__ order, const REAL* b, REAL* x) {
    extern __shared__ double memory[];
    Block block = layout(n, (REAL*)memory);
    const int size = block.n, stride = block.stride;
    const long long chunks = (sides + SIDES_AT_ONCE - 1) / SIDES_AT_ONCE;
    const long long which = blockIdx.x / chunks;
    const long long first = blockIdx.x % chunks * SIDES_AT_ONCE;
    const int here = (int)(sides - first < SIDES_AT_ONCE ? sides - first : SIDES_AT_ONCE);
    const long long start = (which * sides + first) * n;
    const INDEX* own_order = order + which * n;
    REAL* y = block.behind;  // (here, n)
    load(block, factors + which * n * n);
    for (int e = threadIdx.x; e < here * size; e += blockDim.x) {
        const int from = transposed ? e % size : (int)own_order[e % size];
        y[e] = b[start + e / size * size + from];
    }
    __syncthreads();
    // By L and then by U, or by U' and then by L'. An unknown stays undivided by its diagonal
    // entry until the end, so that nobody waits for the division.
    for (int pass = 0; pass < 2; ++pass) {
        const bool divide = (pass == 1) != (transposed != 0);
        for (int step = 0; step + 1 < size; ++step) {
            const int k = pass ? size - 1 - step : step;
            const REAL diagonal = divide ? block.a[k * stride + k] : REAL(1);
            const int low = pass ? 0 : k + 1;
            const int rest = size - 1 - step;
            for (int e = threadIdx.x; e < here * rest; e += blockDim.x) {
                const int i = low + e % rest;
                REAL* own = y + e / rest * size;
                const REAL entry = transposed ? block.a[k * stride + i] : block.a[i * stride + k];
                own[i] -= entry * (own[k] / diagonal);
            }
            __syncthreads();
        }
        if (divide) {
            for (int e = threadIdx.x; e < here * size; e += blockDim.x) {
                y[e] /= block.a[e % size * stride + e % size];
            }
            __syncthreads();
        }
    }
    for (int e = threadIdx.x; e < here * size; e += blockDim.x) {
        const int to = transposed ? (int)own_order[e % size] : e % size;
        x[start + e / size * size + to] = y[e];
    }
}
