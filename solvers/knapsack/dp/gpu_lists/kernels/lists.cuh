// Lists in tiles: where a tile begins, what comes before it, and which states are worth keeping.
#pragma once

#include "fields.cuh"

constexpr unsigned ALL = 0xffffffffu;

typedef ANCESTOR_T Number;

__device__ inline int lane_id() { return int(threadIdx.x) % LANES; }

// Whether a * b >= c * d.
__device__ inline bool at_least(Whole a, Whole b, Whole c, Whole d) {
    const Whole left = __mul64hi(a, b), right = __mul64hi(c, d);
    if (left != right) return left > right;
    return Bits(a) * Bits(b) >= Bits(c) * Bits(d);
}

// The best that may still come in and the worst that may still go out, which bound every state.
struct Sides {
    Whole comes_profit, comes_weight, goes_profit, goes_weight, capacity;
    __device__ explicit Sides(const INDEX* control)
        : comes_profit(control[COMES_PROFIT]), comes_weight(control[COMES_WEIGHT]),
          goes_profit(control[GOES_PROFIT]), goes_weight(control[GOES_WEIGHT]),
          capacity(control[CAPACITY]) {}
    __device__ bool fits(Whole weight) const { return weight <= capacity; }
    // Whether profit + spare * ratio >= level; never so where nothing can go out (1 / 0).
    __device__ bool reach(Whole profit, Whole weight, Whole level) const {
        const bool light = fits(weight);
        return at_least(capacity - weight, light ? comes_profit : goes_profit, level - profit,
                        light ? comes_weight : goes_weight);
    }
};

// The first place in [low, high) where a condition that once fails always fails does so, or high.
// All lanes of a warp look for it together.
template <class Condition>
__device__ Whole first_failure(Whole low, Whole high, Condition holds) {
    while (low < high) {
        const Whole step = (high - low + LANES - 1) / LANES;
        const Whole at = low + (lane_id() + 1) * step - 1;
        const bool held = at < high && holds(at);
        const Whole next = low + __popc(__ballot_sync(ALL, held)) * step;
        high = smaller(high, next + step - 1);
        low = next;
    }
    return low;
}

// The sum over the threads before this one; total becomes that over the block. It begins and ends
// with all threads free to use of_warp.
__device__ inline int sum_before(int mine, int* of_warp, int& total) {
    const int warp = int(threadIdx.x) / LANES;
    int sum = mine;
    for (int distance = 1; distance < LANES; distance *= 2) {
        const int left = __shfl_up_sync(ALL, sum, distance);
        if (lane_id() >= distance) sum += left;
    }
    if (lane_id() == LANES - 1) of_warp[warp] = sum;
    __syncthreads();
    int before = sum - mine;
    total = 0;
    for (int other = 0; other < WARPS; ++other) {
        if (other < warp) before += of_warp[other];
        total += of_warp[other];
    }
    __syncthreads();
    return before;
}

// A word that a tile publishes: the epoch, whether the number is its own or the sum up to it, and
// the number. One store of 64 bits, so that nothing has to be ordered.
constexpr int EPOCH_SHIFT = 34, KIND_SHIFT = 32;
constexpr Bits EPOCH_MASK = (Bits(1) << 30) - 1, NUMBER_MASK = (Bits(1) << KIND_SHIFT) - 1;
constexpr Bits OWN = 1, SUM = 2;

__device__ inline Bits word_of(Bits epoch, Bits kind, Whole number) {
    return epoch << EPOCH_SHIFT | kind << KIND_SHIFT | Bits(number);
}

__device__ inline Whole sum_over_warp(Whole value) {
    for (int distance = LANES / 2; distance; distance /= 2)
        value += __shfl_xor_sync(ALL, value, distance);
    return value;
}

// Tells later tiles this one's number; one thread does.
__device__ inline void publish(INDEX* memory, Whole tile, Bits epoch, int number) {
    ((volatile Bits*)memory)[tile] = word_of(epoch, tile == 0 ? SUM : OWN, number);
}

// The sum over all tiles before this one, which has published its own number, for one warp.
__device__ inline Whole look_back(INDEX* memory, Whole tile, Bits epoch, int number) {
    volatile Bits* words = (volatile Bits*)memory;
    Whole before = 0;
    for (Whole at = tile - 1; at >= 0; at -= LANES) {
        const Whole mine = at - lane_id();
        Bits word;
        do {
            word = mine >= 0 ? words[mine] : word_of(epoch, SUM, 0);
        } while (__ballot_sync(ALL, word >> EPOCH_SHIFT != epoch));
        const unsigned sums = __ballot_sync(ALL, ((word >> KIND_SHIFT) & SUM) != 0);
        const int last = sums ? __ffs(int(sums)) - 1 : LANES - 1;
        before += sum_over_warp(lane_id() <= last ? Whole(word & NUMBER_MASK) : 0);
        if (sums) break;
    }
    if (tile && lane_id() == 0) words[tile] = word_of(epoch, SUM, before + number);
    return before;
}

// What the threads of a block share beside the tile itself.
struct Shared {
    Whole tile, base, edge[2];
    int of_warp[WARPS];
};

// The next tile, the same for all threads of the block.
__device__ inline Whole next_tile(Shared& shared, INDEX* control) {
    __syncthreads();  // the last tile is done with what is shared
    if (threadIdx.x == 0) shared.tile = Whole(atomicAdd((Bits*)(control + TICKET), Bits(1)));
    __syncthreads();
    return shared.tile;
}

// Where a tile's states go; the last tile tells the host how many there are.
__device__ inline Whole place_of(Shared& shared, Whole tile, Whole all, Bits epoch, int number,
                                 INDEX* words, INDEX* control) {
    if (threadIdx.x < LANES) {
        const Whole before = look_back(words, tile, epoch, number);
        if (threadIdx.x == 0) {
            shared.base = before;
            if (tile == all - 1) control[NEXT_COUNT] = Stored(before + number);
        }
    }
    __syncthreads();
    return shared.base;
}
