// Replicas among packings at fixed temperatures; anneal.py states what is computed.
//
// A warp is a replica: lane l has the items l, l + 32, ... as bits of a word, and the room left in
// rows l, l + 32, .... All lanes look at one trial each, with the packing as it is; then the warp
// takes those that the items' worth does not rule out, one after the other, and goes through
// the rows with a lane for each. The first trial accepted ends the batch, and the next one begins
// after it. Weights are read by neighbouring lanes from neighbouring addresses in shared memory.

#include "trial.cuh"

constexpr unsigned ALL = 0xffffffffu;
// Warps of a block, each with a replica of its own, and rows of a lane: 32 lanes have 128 at most.
constexpr int WARPS = 8, SLICES = 4;

// What the replicas of a block share.
struct Shared {
    const double* profit;
    const int *weight, *worth, *exponential;
};

__device__ inline bool is_packed(int word, int item) {  // all lanes together
    return ((unsigned(__shfl_sync(ALL, word, item & 31)) >> (item >> 5)) & 1u) != 0u;
}

__device__ inline double merit(int word, int items, const Shared& data, bool of_profit) {
    double sum = 0.0;  // of whole numbers: exact in any order
    for (int item = int(threadIdx.x & 31), bit = 0; item < items; item += LANES, ++bit)
        if ((unsigned(word) >> bit) & 1u)
            sum += of_profit ? data.profit[item] : double(data.worth[item]);
    for (int distance = 16; distance > 0; distance >>= 1)
        sum += __shfl_xor_sync(ALL, sum, distance);
    return sum;
}

__device__ __forceinline__ void anneal(const Problem& problem, const Replicas& replicas,
                                       const Sizes& sizes, int trials, int seed, int turn) {
    const int items = sizes.items, rows = sizes.rows;
    extern __shared__ double memory[];
    double* shared_profit = memory;
    int* shared_weight = (int*)(shared_profit + items + 1);
    int* shared_worth = shared_weight + (items + 1) * rows;
    int* shared_table = shared_worth + items + 1;
    for (int k = int(threadIdx.x); k < (items + 1) * rows; k += int(blockDim.x))
        shared_weight[k] = int(problem.weight[k]);
    for (int k = int(threadIdx.x); k < items + 1; k += int(blockDim.x)) {
        shared_worth[k] = int(problem.worth[k]);
        shared_profit[k] = double(problem.profit[k]);
    }
    for (int k = int(threadIdx.x); k < TABLE; k += int(blockDim.x))
        shared_table[k] = int(problem.exponential[k]);
    __syncthreads();
    const Shared data = {shared_profit, shared_weight, shared_worth, shared_table};
    const int lane = int(threadIdx.x) & 31;
    const int replica = int(blockIdx.x) * WARPS + (int(threadIdx.x) >> 5);
    if (replica >= sizes.replicas) return;  // the whole warp; no block meets from here on

    int word = int(replicas.packing[replica * LANES + lane]);
    int left[SLICES], rate[SLICES];
#pragma unroll
    for (int k = 0; k < SLICES; ++k) {
        const int row = lane + k * LANES;
        left[k] = row < rows ? int(problem.capacity[row]) : 0;
        rate[k] = row < rows ? int(problem.price[row]) : 0;
    }
    for (int item = 0; item < items; ++item) {
        if (!is_packed(word, item)) continue;
#pragma unroll
        for (int k = 0; k < SLICES; ++k)
            if (lane + k * LANES < rows) left[k] -= data.weight[item * rows + lane + k * LANES];
    }
    int violation = 0;
#pragma unroll
    for (int k = 0; k < SLICES; ++k) violation += rate[k] * max(0, -left[k]);
    violation = __reduce_add_sync(ALL, violation);
    double now = merit(word, items, data, true), best = double(replicas.value[replica]);
    int best_word = int(replicas.champion[replica * LANES + lane]);
    const int heat = int(replicas.temperature[replica]);
    const Bits key = hash(hash((Bits(unsigned(seed)) << 32) + unsigned(turn)) + unsigned(replica));

    for (int first = 0; first < trials;) {
        const Trial mine = draw(key, first + lane, violation, heat, items, data.worth,
                                data.exponential, [&](int item) { return is_packed(word, item); });
        unsigned waiting = __ballot_sync(ALL, mine.limit >= 0 && first + lane < trials);
        int next = first + LANES;
        while (waiting != 0u) {
            const int lead = __ffs(int(waiting)) - 1;
            waiting &= waiting - 1u;
            const int in = __shfl_sync(ALL, mine.in, lead);
            const int out = __shfl_sync(ALL, mine.out, lead);
            const int limit = __shfl_sync(ALL, mine.limit, lead);
            int more[SLICES], after = 0;
#pragma unroll
            for (int k = 0; k < SLICES; ++k) {
                const int row = lane + k * LANES;
                more[k] = 0;
                if (row < rows) {
                    more[k] = data.weight[in * rows + row] - data.weight[out * rows + row];
                    after += rate[k] * max(0, more[k] - left[k]);
                }
            }
            after = __reduce_add_sync(ALL, after);
            if (after > limit) continue;
#pragma unroll
            for (int k = 0; k < SLICES; ++k) left[k] -= more[k];
            violation = after;
            now += data.profit[in] - data.profit[out];
            if (in < items && lane == (in & 31)) word ^= int(1u << (in >> 5));
            if (out < items && lane == (out & 31)) word ^= int(1u << (out >> 5));
            if (violation == 0 && now > best) {
                best = now;
                best_word = word;
            }
            next = first + lead + 1;
            break;
        }
        first = next;
    }
    const double total = merit(word, items, data, false);
    replicas.packing[replica * LANES + lane] = (INDEX)word;
    replicas.champion[replica * LANES + lane] = (INDEX)best_word;
    if (lane == 0) {
        replicas.value[replica] = (REAL)best;
        replicas.energy[replica] = (REAL)(double(violation) - total);
    }
}
