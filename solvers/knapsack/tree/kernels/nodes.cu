// Branching, bounds and compaction of a list of nodes; nodes.py states what they compute.

#define BLOCK 192
#define WIDE 1024

enum { ITEM, CAPACITY, BEST, BEST_NODE, LENGTH };

// The sum over the threads before this one; total becomes that over the whole block.
template <int THREADS>
__device__ INDEX sum_before(INDEX mine, INDEX* shared, INDEX& total) {
    shared[threadIdx.x] = mine;
    __syncthreads();
    for (int step = 1; step < THREADS; step *= 2) {
        const INDEX left = threadIdx.x >= step ? shared[threadIdx.x - step] : 0;
        __syncthreads();
        shared[threadIdx.x] += left;
        __syncthreads();
    }
    total = shared[THREADS - 1];
    const INDEX before = shared[threadIdx.x] - mine;
    __syncthreads();
    return before;
}

// The largest value of a block and the smallest node that has it, in place 0; -1 means no node.
template <int THREADS>
__device__ void reduce_best(INDEX* value, INDEX* node) {
    int active = 1;
    while (active < THREADS) active *= 2;
    for (int half = active / 2; half > 0; half /= 2) {
        __syncthreads();
        const int i = threadIdx.x, j = i + half;
        if (i < half && j < THREADS && node[j] >= 0) {
            const bool better = node[i] < 0 || value[j] > value[i] ||
                                (value[j] == value[i] && node[j] < node[i]);
            if (better) {
                value[i] = value[j];
                node[i] = node[j];
            }
        }
    }
    __syncthreads();
}

extern "C" __global__ void __launch_bounds__(BLOCK) branch(
    int count, int items, const INDEX* __restrict__ item_profit,
    const INDEX* __restrict__ item_weight, INDEX* weight, INDEX* profit, INDEX* slack,
    INDEX* upper, const INDEX* control) {
    const long long e = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (e >= count) return;
    const INDEX k = control[ITEM], s = slack[e];
    const bool packed = k < s;
    weight[count + e] = weight[e] - (packed ? item_weight[k] : 0);
    profit[count + e] = profit[e] - (packed ? item_profit[k] : 0);
    slack[count + e] = packed ? s : s + 1;
    if (!packed) upper[e] = -1;
}

extern "C" __global__ void __launch_bounds__(BLOCK) bound(
    int count, int items, const INDEX* __restrict__ item_profit,
    const INDEX* __restrict__ item_weight, INDEX* weight, INDEX* profit, INDEX* slack,
    INDEX* upper, INDEX* lower, const INDEX* control) {
    const long long e = (long long)blockIdx.x * BLOCK + threadIdx.x;
    if (e >= count) return;
    const long long j = count + e;
    const INDEX capacity = control[CAPACITY];
    INDEX w = weight[j], p = profit[j], i = slack[j];
    while (i < items && w + item_weight[i] <= capacity) {
        w += item_weight[i];
        p += item_profit[i];
        ++i;
    }
    weight[j] = w;
    profit[j] = p;
    slack[j] = i;
    // a rest below the item's weight, so that the quotient is below its profit
    upper[j] = i < items ? p + (capacity - w) * item_profit[i] / item_weight[i] : p;
    for (++i; i < items; ++i) {
        if (w + item_weight[i] <= capacity) {
            w += item_weight[i];
            p += item_profit[i];
        }
    }
    lower[j] = p;
}

extern "C" __global__ void __launch_bounds__(BLOCK) best_of_blocks(
    int count, const INDEX* __restrict__ lower, INDEX* block_best, INDEX* block_node) {
    __shared__ INDEX value[BLOCK], node[BLOCK];
    const long long e = (long long)blockIdx.x * BLOCK + threadIdx.x;
    value[threadIdx.x] = e < count ? lower[count + e] : 0;
    node[threadIdx.x] = e < count ? (INDEX)(count + e) : (INDEX)-1;
    reduce_best<BLOCK>(value, node);
    if (threadIdx.x == 0) {
        block_best[blockIdx.x] = value[0];
        block_node[blockIdx.x] = node[0];
    }
}

extern "C" __global__ void __launch_bounds__(WIDE) best_of_all(
    int blocks, const INDEX* __restrict__ block_best, const INDEX* __restrict__ block_node,
    INDEX* control) {
    __shared__ INDEX value[WIDE], node[WIDE];
    value[threadIdx.x] = 0;
    node[threadIdx.x] = -1;
    for (int b = threadIdx.x; b < blocks; b += WIDE) {
        if (node[threadIdx.x] < 0 || block_best[b] > value[threadIdx.x]) {
            value[threadIdx.x] = block_best[b];
            node[threadIdx.x] = block_node[b];
        }
    }
    reduce_best<WIDE>(value, node);
    if (threadIdx.x == 0) {
        const bool better = node[0] >= 0 && value[0] > control[BEST];
        control[BEST_NODE] = better ? node[0] : (INDEX)-1;
        if (better) control[BEST] = value[0];
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) count_promising(
    int count, const INDEX* __restrict__ upper, INDEX* block_count, const INDEX* control) {
    const long long e = (long long)blockIdx.x * BLOCK + threadIdx.x;
    const bool promising = e < 2LL * count && upper[e] > control[BEST];
    const int found = __syncthreads_count(promising);
    if (threadIdx.x == 0) block_count[blockIdx.x] = found;
}

extern "C" __global__ void __launch_bounds__(WIDE) places_of_blocks(
    int blocks, INDEX* block_count, INDEX* control) {
    __shared__ INDEX shared[WIDE];
    INDEX sum = 0;
    for (int first = 0; first < blocks; first += WIDE) {
        const int b = first + threadIdx.x;
        const INDEX mine = b < blocks ? block_count[b] : 0;
        INDEX total;
        const INDEX before = sum_before<WIDE>(mine, shared, total);
        if (b < blocks) block_count[b] = sum + before;
        sum += total;
    }
    if (threadIdx.x == 0) control[LENGTH] = sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK) gather(
    int count, const INDEX* __restrict__ weight, const INDEX* __restrict__ profit,
    const INDEX* __restrict__ slack, const INDEX* __restrict__ upper,
    const INDEX* __restrict__ block_count, INDEX* __restrict__ kept_weight,
    INDEX* __restrict__ kept_profit, INDEX* __restrict__ kept_slack,
    INDEX* __restrict__ kept_upper, ORIGIN_T* __restrict__ origin, const INDEX* control) {
    __shared__ INDEX shared[BLOCK];
    const long long e = (long long)blockIdx.x * BLOCK + threadIdx.x;
    const bool promising = e < 2LL * count && upper[e] > control[BEST];
    INDEX total;
    const INDEX place = block_count[blockIdx.x] + sum_before<BLOCK>(promising, shared, total);
    if (!promising) return;
    kept_weight[place] = weight[e];
    kept_profit[place] = profit[e];
    kept_slack[place] = slack[e];
    kept_upper[place] = upper[e];
    origin[place] = (ORIGIN_T)e;
}
