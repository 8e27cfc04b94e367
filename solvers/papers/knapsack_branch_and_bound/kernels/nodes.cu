// Branching, bounds and compaction of a list of nodes; nodes.py states what they compute.

#define ROUNDS 8            // a warp treats 32 * ROUNDS consecutive nodes, a chunk
#define CHUNK (32 * ROUNDS)
#define WARPS 8             // chunks of a tile, which is a block's
#define TILE (CHUNK * WARPS)
#define BLOCK (32 * WARPS)
#define WIDE 256            // threads of the block that sums over tiles
#define EACH 32             // tiles of one of these threads
#define ALL 0xffffffffu

enum { CAPACITY, BEST, FOUND, FOUND_NODE, NODE, LENGTH, AT, LEFT_OUT, UPPER };

// Behind the last item stands one without profit that never fits.
struct Items {
    const INDEX *profit, *weight;
};

struct Node {
    INDEX weight, profit, slack;
};

__device__ INDEX warp_sum(INDEX value) {
    for (int distance = 16; distance > 0; distance /= 2)
        value += __shfl_xor_sync(ALL, value, distance);
    return value;
}

__device__ INDEX warp_max(INDEX value) {
    for (int distance = 16; distance > 0; distance /= 2) {
        const INDEX other = __shfl_xor_sync(ALL, value, distance);
        if (other > value) value = other;
    }
    return value;
}

// Dantzig's bound exceeds the best profit: without a division, and without large products, since
// the rest is below the slack item's weight.
__device__ bool is_promising(Node node, Items items, INDEX capacity, INDEX best) {
    const INDEX most = items.profit[node.slack], lacking = best + 1 - node.profit;
    const INDEX wanted = lacking < 0 ? 0 : lacking <= most ? lacking : most + 1;
    return (capacity - node.weight) * most >= wanted * items.weight[node.slack];
}

// The node that leaves item k out, filled until an item does not fit.
__device__ Node without(int k, Node node, Items items, INDEX capacity) {
    if (k < node.slack) {
        node.weight -= items.weight[k];
        node.profit -= items.profit[k];
    } else {
        ++node.slack;
    }
    // compared with the rest, for the last item's weight may leave no bit for a sum
    for (; items.weight[node.slack] <= capacity - node.weight; ++node.slack) {
        node.weight += items.weight[node.slack];
        node.profit += items.profit[node.slack];
    }
    return node;
}

// The profit with every later item that still fits; none does below the lightest's weight.
__device__ INDEX completed(Node node, Items items, const INDEX* lightest, INDEX capacity) {
    INDEX rest = capacity - node.weight, profit = node.profit;
    for (INDEX i = node.slack + 1; rest >= lightest[i]; ++i) {
        if (items.weight[i] <= rest) {
            rest -= items.weight[i];
            profit += items.profit[i];
        }
    }
    return profit;
}

// Mark the promising nodes of a warp's chunk, and count them there and in the tile. FIRST also puts
// the best profit found into control; otherwise, which node has that is found out.
template <bool FIRST>
__device__ void mark_promising(Items items, const INDEX* lightest, const INDEX* weight,
                               const INDEX* profit, const INDEX* slack, INDEX* chunk_count,
                               INDEX* tile_place, INDEX* kept, INDEX* control, int tiles,
                               int count, int item) {
    __shared__ INDEX shared[2][WARPS];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const INDEX capacity = control[CAPACITY], best = control[FIRST ? BEST : FOUND];
    const long long old_chunk = (long long)blockIdx.x * WARPS + warp;
    const long long new_chunk = old_chunk + (long long)tiles * WARPS;
    INDEX old_nodes = 0, new_nodes = 0, found = best;
    for (int round = 0; round < ROUNDS; ++round) {
        const long long e = old_chunk * CHUNK + 32 * round + lane;
        bool old_stays = false, new_stays = false;
        if (e < count) {
            const Node node = {weight[e], profit[e], slack[e]};
            const Node child = without(item, node, items, capacity);
            const INDEX whole = completed(child, items, lightest, capacity);
            if (FIRST && whole > found) found = whole;
            if (!FIRST && whole == best) atomicMin(&control[FOUND_NODE], (INDEX)(count + e));
            old_stays = item < node.slack && is_promising(node, items, capacity, best);
            new_stays = is_promising(child, items, capacity, best);
        }
        __syncwarp();
        const unsigned old_bits = __ballot_sync(ALL, old_stays);
        const unsigned new_bits = __ballot_sync(ALL, new_stays);
        old_nodes += __popc(old_bits);
        new_nodes += __popc(new_bits);
        if (lane == 0) {
            kept[old_chunk * ROUNDS + round] = (INDEX)old_bits;
            kept[new_chunk * ROUNDS + round] = (INDEX)new_bits;
        }
    }
    if (FIRST) {
        found = warp_max(found);
        if (lane == 0 && found > best) atomicMax(&control[FOUND], found);
    }
    if (lane == 0) {
        chunk_count[old_chunk] = shared[0][warp] = old_nodes;
        chunk_count[new_chunk] = shared[1][warp] = new_nodes;
    }
    __syncthreads();
    if (threadIdx.x < 2) {
        INDEX sum = 0;
        for (int w = 0; w < WARPS; ++w) sum += shared[threadIdx.x][w];
        tile_place[(long long)threadIdx.x * tiles + blockIdx.x] = sum;
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) expand(
    const INDEX* __restrict__ item_profit, const INDEX* __restrict__ item_weight,
    const INDEX* __restrict__ lightest, const INDEX* __restrict__ weight,
    const INDEX* __restrict__ profit, const INDEX* __restrict__ slack, INDEX* chunk_count,
    INDEX* tile_place, INDEX* kept, INDEX* control, int tiles, int count, int item) {
    mark_promising<true>({item_profit, item_weight}, lightest, weight, profit, slack, chunk_count,
                         tile_place, kept, control, tiles, count, item);
}

extern "C" __global__ void __launch_bounds__(BLOCK) recount(
    const INDEX* __restrict__ item_profit, const INDEX* __restrict__ item_weight,
    const INDEX* __restrict__ lightest, const INDEX* __restrict__ weight,
    const INDEX* __restrict__ profit, const INDEX* __restrict__ slack, INDEX* chunk_count,
    INDEX* tile_place, INDEX* kept, INDEX* control, int tiles, int count, int item) {
    if (control[FOUND] <= control[BEST]) return;
    mark_promising<false>({item_profit, item_weight}, lightest, weight, profit, slack, chunk_count,
                          tile_place, kept, control, tiles, count, item);
}

extern "C" __global__ void __launch_bounds__(WIDE) places(
    INDEX* tile_place, INDEX* control, int tiles) {
    __shared__ INDEX shared[WIDE / 32];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    INDEX before_all = 0;
    for (long long first = 0; first < 2LL * tiles; first += WIDE * EACH) {
        const long long mine = first + (long long)threadIdx.x * EACH;
        INDEX counts[EACH], sum = 0;
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            counts[i] = mine + i < 2LL * tiles ? tile_place[mine + i] : 0;
            sum += counts[i];
        }
        INDEX through = sum;  // the sum over this lane and those before it
        for (int distance = 1; distance < 32; distance *= 2) {
            const INDEX other = __shfl_sync(ALL, through, lane >= distance ? lane - distance : lane);
            if (lane >= distance) through += other;
        }
        if (lane == 31) shared[warp] = through;
        __syncthreads();
        INDEX place = before_all + through - sum;
        for (int w = 0; w < WIDE / 32; ++w) {
            if (w < warp) place += shared[w];
            before_all += shared[w];
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
            if (mine + i < 2LL * tiles) tile_place[mine + i] = place;
            place += counts[i];
        }
    }
    if (threadIdx.x > 0) return;
    const bool better = control[FOUND] > control[BEST];
    control[NODE] = better ? control[FOUND_NODE] : (INDEX)-1;
    if (better) control[BEST] = control[FOUND];
    control[FOUND] = control[BEST];
    control[FOUND_NODE] = (INDEX)0x7fffffff;
    control[LENGTH] = before_all;
}

extern "C" __global__ void __launch_bounds__(BLOCK) gather(
    const INDEX* __restrict__ item_profit, const INDEX* __restrict__ item_weight,
    const INDEX* __restrict__ weight, const INDEX* __restrict__ profit,
    const INDEX* __restrict__ slack, const INDEX* __restrict__ chunk_count,
    const INDEX* __restrict__ tile_place, const INDEX* __restrict__ kept,
    INDEX* __restrict__ kept_weight, INDEX* __restrict__ kept_profit,
    INDEX* __restrict__ kept_slack, const INDEX* __restrict__ control, int tiles, int item) {
    const Items all = {item_profit, item_weight};
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned lanes_before = (1u << lane) - 1;
    const INDEX capacity = control[CAPACITY];
    const long long tile = blockIdx.x, chunk = tile * WARPS, half = (long long)tiles * WARPS;
    INDEX old_count = lane < warp ? chunk_count[chunk + lane] : 0;
    INDEX new_count = lane < warp ? chunk_count[half + chunk + lane] : 0;
    INDEX old_place = tile_place[tile] + warp_sum(old_count);
    INDEX new_place = tile_place[tiles + tile] + warp_sum(new_count);
    for (int round = 0; round < ROUNDS; ++round) {
        const long long word = (chunk + warp) * ROUNDS + round, e = 32 * word + lane;
        const unsigned old_bits = (unsigned)kept[word];
        const unsigned new_bits = (unsigned)kept[half * ROUNDS + word];
        const bool old_stays = old_bits >> lane & 1, new_stays = new_bits >> lane & 1;
        if (old_stays || new_stays) {
            const Node node = {weight[e], profit[e], slack[e]};
            if (old_stays) {
                const INDEX at = old_place + __popc(old_bits & lanes_before);
                kept_weight[at] = node.weight;
                kept_profit[at] = node.profit;
                kept_slack[at] = node.slack;
            }
            if (new_stays) {
                const Node child = without(item, node, all, capacity);
                const INDEX at = new_place + __popc(new_bits & lanes_before);
                kept_weight[at] = child.weight;
                kept_profit[at] = child.profit;
                kept_slack[at] = child.slack;
            }
        }
        old_place += __popc(old_bits);
        new_place += __popc(new_bits);
    }
}

extern "C" __global__ void __launch_bounds__(32) ancestor(
    const INDEX* __restrict__ chunk_count, const INDEX* __restrict__ tile_place,
    const INDEX* __restrict__ kept, INDEX* control, int tiles) {
    if (threadIdx.x > 0) return;
    INDEX rest = control[AT];
    long long low = 0, high = 2LL * tiles;  // the last tile whose place is not behind the node
    while (high - low > 1) {
        const long long middle = (low + high) / 2;
        if (tile_place[middle] <= rest) low = middle;
        else high = middle;
    }
    rest -= tile_place[low];
    long long chunk = low * WARPS;
    while (rest >= chunk_count[chunk]) rest -= chunk_count[chunk++];
    long long word = chunk * ROUNDS;
    while (rest >= __popc((unsigned)kept[word])) rest -= __popc((unsigned)kept[word++]);
    unsigned staying = (unsigned)kept[word];
    for (; rest > 0; --rest) staying &= staying - 1;
    const long long half = (long long)tiles * WARPS * ROUNDS;
    control[LEFT_OUT] = word >= half;
    control[AT] = (INDEX)((word >= half ? word - half : word) * 32 + __ffs((int)staying) - 1);
}

extern "C" __global__ void __launch_bounds__(BLOCK) largest_bound(
    const INDEX* __restrict__ item_profit, const INDEX* __restrict__ item_weight,
    const INDEX* __restrict__ weight, const INDEX* __restrict__ profit,
    const INDEX* __restrict__ slack, INDEX* control, int tiles, int count) {
    const INDEX capacity = control[CAPACITY];
    INDEX largest = -1;
    for (int round = 0; round < TILE; round += BLOCK) {
        const long long e = (long long)blockIdx.x * TILE + round + threadIdx.x;
        if (e >= count) break;
        const INDEX s = slack[e], rest = capacity - weight[e];
        const INDEX bound = profit[e] + rest * item_profit[s] / item_weight[s];
        if (bound > largest) largest = bound;
    }
    __syncwarp();
    largest = warp_max(largest);
    if (threadIdx.x % 32 == 0) atomicMax(&control[UPPER], largest);
}
