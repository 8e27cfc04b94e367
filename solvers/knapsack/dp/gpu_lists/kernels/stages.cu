// Stages on long lists; stages.py states what they compute, lists.cuh has the tools.

#include "lists.cuh"

__device__ inline Whole skip_right(Whole at, int items, const INDEX* opposite, Whole best) {
    for (;; at += LANES) {
        const Whole mine = at + lane_id();
        const unsigned end = __ballot_sync(ALL, mine >= items || opposite[mine] > best);
        if (end) return at + __ffs(int(end)) - 1;
    }
}

__device__ inline Whole skip_left(Whole at, const INDEX* opposite, Whole best) {
    for (;; at -= LANES) {
        const Whole mine = at - lane_id();
        const unsigned end = __ballot_sync(ALL, mine < 0 || opposite[mine] > best);
        if (end) return at - (__ffs(int(end)) - 1);
    }
}

// One warp: all lanes know the same, and the first one writes it down.
__device__ __forceinline__ void turn(int begin, int items, int room, const Order& order,
                                     const Lists& lists, INDEX* treated, INDEX* control) {
    const bool first = threadIdx.x == 0;
    const bool ends = control[TILES] > 0;
    Whole count = ends ? control[NEXT_COUNT] : control[COUNT];
    const Whole side = ends ? 1 - control[SIDE] : control[SIDE];
    const Whole best = control[PROFIT], stage = control[STAGE], capacity = control[CAPACITY];
    Reason reason = Reason(control[REASON]);
    const bool asked = begin && reason == NONE;
    if (asked) reason = why_not(control, count, room);
    Whole right = control[RIGHT], left = control[LEFT], item = -1, sign = 1;
    if (asked && reason == NONE) {
        right = skip_right(right, items, order.opposite, best);
        left = skip_left(left, order.opposite, best);
        const bool to_right = right < items && (left < 0 || stage % 2 == 0);
        if (to_right) {
            item = right++;
        } else if (left >= 0) {
            item = left--;
            sign = -1;
        } else {  // every item is treated, and the best profit is known
            count = 0;
            reason = EMPTY;
        }
        right = skip_right(right, items, order.opposite, best);
        left = skip_left(left, order.opposite, best);
    }
    __syncwarp();  // control has been read
    if (first) {
        control[COUNT] = Stored(count);
        control[SIDE] = Stored(side);
        control[TILES] = 0;
        control[RIGHT] = Stored(right);
        control[LEFT] = Stored(left);
        control[REASON] = Stored(reason);
    }
    if (item < 0) return;
    const Whole profit_step = sign * order.item_profit[item];
    const Whole weight_step = sign * order.item_weight[item];
    const INDEX *own_profit = lists.profit + side * room;
    const INDEX *own_weight = lists.weight + side * room;
    const Whole i = first_failure(0, count, [&](Whole k) { return own_weight[k] <= capacity; }) - 1;
    const Whole j = first_failure(0, count, [&](Whole k) {
        return own_weight[k] + weight_step <= capacity;
    }) - 1;
    if (!first) return;
    see_sides(order.item_profit, order.item_weight, items, control);
    const Whole from = side * room;
    begin_stage(own_profit, own_weight, lists.history + from, lists.ancestor + from, i, j, item,
                profit_step, weight_step, treated, control);
}

// The two lists of a stage: the states as they are, and shifted by the item.
struct Pair {
    const INDEX *profit, *weight;
    Whole count, profit_step, weight_step;

    // Whether state i comes before shifted state j.
    __device__ bool precedes(Whole i, Whole j) const {
        const Whole ours = weight[i], theirs = weight[j] + weight_step;
        if (ours != theirs) return ours < theirs;
        return Whole(profit[i]) >= profit[j] + profit_step;
    }

    // How many of the first `place` merged states are not shifted, when `known` of the first
    // `before` are not; lanes look together, and near to what the block reads anyway.
    __device__ Whole split(Whole place, Whole before, Whole known) const {
        return first_failure(larger(known, place - count), smaller(known + place - before, count),
                             [&](Whole i) { return precedes(i, place - 1 - i); });
    }
};

// A part of both lists in shared memory, each with its predecessor in front: own states begin at
// place 1, shifted ones at place own + 2.
struct Tile {
    Whole *profit, *weight;
    int own, shifted;

    __device__ void load(int begin, int number, Whole first, const Pair& pair, Whole profit_step,
                         Whole weight_step) {
        for (int k = int(threadIdx.x); k <= number; k += THREADS) {
            const Whole at = first + k - 1;
            profit[begin + k] = at < 0 ? LOWEST : pair.profit[at] + profit_step;
            weight[begin + k] = at < 0 ? LOWEST : pair.weight[at] + weight_step;
        }
    }

    __device__ bool precedes(int a, int b) const {
        const Whole ours = weight[1 + a], theirs = weight[own + 2 + b];
        if (ours != theirs) return ours < theirs;
        return profit[1 + a] >= profit[own + 2 + b];
    }

    __device__ int split(int place) const {
        int low = place > shifted ? place - shifted : 0, high = place < own ? place : own;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (precedes(middle, place - 1 - middle)) low = middle + 1;
            else high = middle;
        }
        return low;
    }
};

extern "C" __global__ void __launch_bounds__(256, 5) merge(
    int blocks, int room, INDEX* __restrict__ profit, INDEX* __restrict__ weight,
    INDEX* __restrict__ history, ANCESTOR_T* __restrict__ ancestor, INDEX* words, INDEX* control) {
    __shared__ Whole tile_profit[TILE + 2], tile_weight[TILE + 2];
    __shared__ unsigned short order[TILE];
    __shared__ Shared shared;
    const int thread = int(threadIdx.x), warp = thread / LANES;
    const Whole tiles = control[TILES], from = control[SIDE] ? room : 0, to = room - from;
    const Pair pair = {profit + from, weight + from, control[COUNT], control[PROFIT_STEP],
                       control[WEIGHT_STEP]};
    const Sides sides(control);
    const Whole before = control[BEFORE], best = control[PROFIT];
    const Bits bit = tiles ? Bits(1) << (control[STAGE] - 1) : Bits(0);
    const Bits epoch = Bits(control[EPOCH]) & EPOCH_MASK;
    Whole behind = 0, own_behind = 0;  // what this block has done ends there
    for (;;) {
        const Whole number = next_tile(shared, control);
        if (number >= tiles) return;
        const Whole first = number * TILE, last = smaller(first + TILE, 2 * pair.count);
        if (warp < 2) {
            const Whole edge = pair.split(warp == 0 ? first : last, behind, own_behind);
            if (lane_id() == 0) shared.edge[warp] = edge;
        }
        __syncthreads();
        const Whole i = shared.edge[0], j = first - i;
        const int size = int(last - first), own = int(shared.edge[1] - i);
        Tile tile = {tile_profit, tile_weight, own, size - own};
        behind = last;
        own_behind = i + own;
        tile.load(0, own, i, pair, 0, 0);
        tile.load(own + 1, size - own, j, pair, pair.profit_step, pair.weight_step);
        __syncthreads();

        const int place = thread * EACH < size ? thread * EACH : size;
        int a = tile.split(place), b = place - a;
        Whole highest = larger(tile_profit[a], tile_profit[own + 1 + b]);
        unsigned short source[EACH];
        unsigned kept = 0;
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            source[k] = 0;
            if (place + k < size) {
                const bool ours = b == tile.shifted || (a < own && tile.precedes(a, b));
                const int at = ours ? 1 + a++ : own + 2 + b++;
                const Whole p = tile_profit[at], w = tile_weight[at];
                const bool keep = p > highest &&
                                  sides.reach(p, w, (sides.fits(w) ? larger(before, p) : best) + 1);
                highest = larger(highest, p);
                source[k] = (unsigned short)at;
                kept |= unsigned(keep) << k;
            }
        }
        int all;
        int rank = sum_before(__popc(kept), shared.of_warp, all);
        if (thread == 0) publish(words, number, epoch, all);
#pragma unroll
        for (int k = 0; k < EACH; ++k)
            if (kept >> k & 1) order[rank++] = source[k];
        __syncthreads();
        Bits bits[EACH];  // read while the tiles before this one come to their numbers
        Number ancestors[EACH];
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            const int which = thread + k * THREADS;
            const int at = which < all ? order[which] : 1;
            const bool ours = at <= own;
            const Whole state = from + (ours ? i + at - 1 : j + at - own - 2);
            bits[k] = which < all ? Bits(history[state]) | (ours ? Bits(0) : bit) : Bits(0);
            ancestors[k] = which < all ? ancestor[state] : Number(0);
        }
        const Whole base = to + place_of(shared, number, tiles, epoch, all, words, control);
#pragma unroll
        for (int k = 0; k < EACH; ++k) {
            const int which = thread + k * THREADS;
            if (which < all) {
                const int at = order[which];
                profit[base + which] = Stored(tile_profit[at]);
                weight[base + which] = Stored(tile_weight[at]);
                history[base + which] = Stored(bits[k]);
                ancestor[base + which] = ancestors[k];
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(256) choose(
    int mode, int blocks, int room, INDEX* __restrict__ profit, INDEX* __restrict__ weight,
    INDEX* __restrict__ history, ANCESTOR_T* __restrict__ ancestor, INDEX* words, INDEX* control) {
    __shared__ unsigned short order[TILE];
    __shared__ Shared shared;
    const int thread = int(threadIdx.x);
    const Whole tiles = control[TILES], count = control[COUNT], level = control[LEVEL];
    const Whole from = control[SIDE] ? room : 0, to = room - from;
    const Sides sides(control);
    const Bits epoch = Bits(control[EPOCH]) & EPOCH_MASK;
    for (;;) {
        const Whole number = next_tile(shared, control);
        if (number >= tiles) return;
        const Whole first = number * TILE;
        unsigned kept = 0;
        for (int k = 0; k < EACH; ++k) {
            const Whole at = first + thread * EACH + k;
            if (at >= count) break;
            const bool high = mode & PLACES ? at >= level
                                            : sides.reach(profit[from + at], weight[from + at], level);
            kept |= unsigned(high != ((mode & BELOW) != 0)) << k;
        }
        int all;
        int rank = sum_before(__popc(kept), shared.of_warp, all);
        if (thread == 0) publish(words, number, epoch, all);
        for (int k = 0; k < EACH; ++k)
            if (kept >> k & 1) order[rank++] = (unsigned short)(thread * EACH + k);
        const Whole base = to + place_of(shared, number, tiles, epoch, all, words, control);
        for (int k = thread; k < all && !(mode & COUNTING); k += THREADS) {
            const Whole state = from + first + order[k];
            profit[base + k] = profit[state];
            weight[base + k] = weight[state];
            history[base + k] = history[state];
            ancestor[base + k] = ancestor[state];
        }
    }
}

extern "C" __global__ void __launch_bounds__(256) renew(
    int blocks, int room, INDEX* __restrict__ history, ANCESTOR_T* __restrict__ ancestor,
    const INDEX* __restrict__ control) {
    const Whole from = control[SIDE] ? room : 0, count = control[COUNT];
    const Whole step = Whole(blocks) * THREADS;
    for (Whole k = Whole(blockIdx.x) * THREADS + threadIdx.x; k < count; k += step) {
        history[from + k] = 0;
        ancestor[from + k] = Number(k);
    }
}
