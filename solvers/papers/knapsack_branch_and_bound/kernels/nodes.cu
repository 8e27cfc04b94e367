// Branching, bounds and compaction of a list of nodes; nodes.py states what they compute.

#include "nodes.cuh"

#define ROUNDS 8            // a warp treats 32 * ROUNDS consecutive nodes, a chunk
#define CHUNK (32 * ROUNDS)
#define WARPS 8             // chunks of a tile, which is a block's
#define TILE (CHUNK * WARPS)
#define BLOCK (32 * WARPS)
#define WIDE 256            // threads of the block that sums over tiles
#define EACH 32             // tiles of one of these threads
#define ALL 0xffffffffu

enum { CAPACITY, BEST, FOUND, FOUND_NODE, NODE, LENGTH, AT, LEFT_OUT, UPPER };

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

// Mark the promising nodes of a warp's chunk, and count them there and in the tile. FIRST also puts
// the best profit found into control; otherwise, which node has that is found out.
template <bool FIRST>
__device__ __forceinline__ void mark_promising(
    const Items<INDEX>& items, const Nodes<const INDEX>& nodes, const Marks<INDEX>& marks,
    INDEX* control, int tiles, int count, int item) {
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
            const Node<INDEX> node = node_at(nodes, e);
            const Node<INDEX> child = node.without(item, items, capacity);
            const INDEX whole = child.completed(items, capacity);
            if (FIRST && whole > found) found = whole;
            if (!FIRST && whole == best) atomicMin(&control[FOUND_NODE], (INDEX)(count + e));
            old_stays = item < node.slack && node.is_promising(items, capacity, best);
            new_stays = child.is_promising(items, capacity, best);
        }
        __syncwarp();
        const unsigned old_bits = __ballot_sync(ALL, old_stays);
        const unsigned new_bits = __ballot_sync(ALL, new_stays);
        old_nodes += __popc(old_bits);
        new_nodes += __popc(new_bits);
        if (lane == 0) {
            marks.kept[old_chunk * ROUNDS + round] = (INDEX)old_bits;
            marks.kept[new_chunk * ROUNDS + round] = (INDEX)new_bits;
        }
    }
    if (FIRST) {
        found = warp_max(found);
        if (lane == 0 && found > best) atomicMax(&control[FOUND], found);
    }
    if (lane == 0) {
        marks.chunk_count[old_chunk] = shared[0][warp] = old_nodes;
        marks.chunk_count[new_chunk] = shared[1][warp] = new_nodes;
    }
    __syncthreads();
    if (threadIdx.x < 2) {
        INDEX sum = 0;
        for (int w = 0; w < WARPS; ++w) sum += shared[threadIdx.x][w];
        marks.tile_place[(long long)threadIdx.x * tiles + blockIdx.x] = sum;
    }
}

__device__ __forceinline__ void expand(
    const Items<INDEX>& items, const Nodes<const INDEX>& nodes, const Marks<INDEX>& marks,
    INDEX* control, int tiles, int count, int item) {
    mark_promising<true>(items, nodes, marks, control, tiles, count, item);
}

__device__ __forceinline__ void recount(
    const Items<INDEX>& items, const Nodes<const INDEX>& nodes, const Marks<INDEX>& marks,
    INDEX* control, int tiles, int count, int item) {
    if (control[FOUND] <= control[BEST]) return;
    mark_promising<false>(items, nodes, marks, control, tiles, count, item);
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

__device__ __forceinline__ void gather(
    const Items<INDEX>& items, const Nodes<const INDEX>& nodes, const Marks<const INDEX>& marks,
    const Nodes<INDEX>& gathered, const INDEX* control, int tiles, int item) {
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const unsigned lanes_before = (1u << lane) - 1;
    const INDEX capacity = control[CAPACITY];
    const long long tile = blockIdx.x, chunk = tile * WARPS, half = (long long)tiles * WARPS;
    INDEX old_count = lane < warp ? marks.chunk_count[chunk + lane] : 0;
    INDEX new_count = lane < warp ? marks.chunk_count[half + chunk + lane] : 0;
    INDEX old_place = marks.tile_place[tile] + warp_sum(old_count);
    INDEX new_place = marks.tile_place[tiles + tile] + warp_sum(new_count);
    for (int round = 0; round < ROUNDS; ++round) {
        const long long word = (chunk + warp) * ROUNDS + round, e = 32 * word + lane;
        const unsigned old_bits = (unsigned)marks.kept[word];
        const unsigned new_bits = (unsigned)marks.kept[half * ROUNDS + word];
        const bool old_stays = old_bits >> lane & 1, new_stays = new_bits >> lane & 1;
        if (old_stays || new_stays) {
            const Node<INDEX> node = node_at(nodes, e);
            if (old_stays) {
                put(gathered, old_place + __popc(old_bits & lanes_before), node);
            }
            if (new_stays) {
                const Node<INDEX> child = node.without(item, items, capacity);
                put(gathered, new_place + __popc(new_bits & lanes_before), child);
            }
        }
        old_place += __popc(old_bits);
        new_place += __popc(new_bits);
    }
}

__device__ __forceinline__ void ancestor(
    const Marks<const INDEX>& marks, INDEX* control, int tiles) {
    if (threadIdx.x > 0) return;
    INDEX rest = control[AT];
    long long low = 0, high = 2LL * tiles;  // the last tile whose place is not behind the node
    while (high - low > 1) {
        const long long middle = (low + high) / 2;
        if (marks.tile_place[middle] <= rest) low = middle;
        else high = middle;
    }
    rest -= marks.tile_place[low];
    long long chunk = low * WARPS;
    while (rest >= marks.chunk_count[chunk]) rest -= marks.chunk_count[chunk++];
    long long word = chunk * ROUNDS;
    while (rest >= __popc((unsigned)marks.kept[word])) rest -= __popc((unsigned)marks.kept[word++]);
    unsigned staying = (unsigned)marks.kept[word];
    for (; rest > 0; --rest) staying &= staying - 1;
    const long long half = (long long)tiles * WARPS * ROUNDS;
    control[LEFT_OUT] = word >= half;
    control[AT] = (INDEX)((word >= half ? word - half : word) * 32 + __ffs((int)staying) - 1);
}

__device__ __forceinline__ void largest_bound(
    const Items<INDEX>& items, const Nodes<const INDEX>& nodes, INDEX* control, int tiles,
    int count) {
    const INDEX capacity = control[CAPACITY];
    INDEX largest = -1;
    for (int round = 0; round < TILE; round += BLOCK) {
        const long long e = (long long)blockIdx.x * TILE + round + threadIdx.x;
        if (e >= count) break;
        const Node<INDEX> node = node_at(nodes, e);
        const INDEX rest = capacity - node.weight;
        const INDEX most = rest * items.profit[node.slack] / items.weight[node.slack];
        const INDEX bound = node.profit + most;
        if (bound > largest) largest = bound;
    }
    __syncwarp();
    largest = warp_max(largest);
    if (threadIdx.x % 32 == 0) atomicMax(&control[UPPER], largest);
}
