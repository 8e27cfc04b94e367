// A warp's problem in shared memory, and what is done with it before the search. start.h says
// the same one item at a time.
#pragma once

constexpr unsigned ALL = 0xffffffffu;
constexpr int LANES = 32, WARPS = 4, WORD = 64;
constexpr double LARGEST_PRODUCT = 4e18;

typedef long long Whole;
typedef unsigned long long Bits;
typedef INDEX Stored;

// Bits of up to 128 items.
struct Flags {
    Bits low, high;
    __device__ void flip(int j) {
        if (j < WORD) low ^= Bits(1) << j;
        else high ^= Bits(1) << (j - WORD);
    }
    __device__ bool has(int j) const {
        return ((j < WORD ? low >> j : high >> (j - WORD)) & Bits(1)) != 0;
    }
};

__device__ inline Bits all_before(int j) {
    return j <= 0 ? Bits(0) : j >= WORD ? ~Bits(0) : (Bits(1) << j) - 1;
}

// Items by falling efficiency; the sums before each have one more entry.
struct Items {
    INDEX *profit, *weight, *opposite, *origin, *profit_before, *weight_before;
    __device__ Items(INDEX* memory, int words) {
        const int most = WORD * words;
        profit = memory;
        weight = profit + most;
        opposite = weight + most;
        origin = opposite + most;
        profit_before = origin + most;
        weight_before = profit_before + most + 1;
    }
};

// A problem in its form; what lanes share is the same in each.
struct Form {
    int count, broken;
    Whole capacity, profit_unit, base;
    Flags turned;
};

__device__ inline int lane_id() { return int(threadIdx.x) % LANES; }

__device__ inline unsigned lanes_before() { return (1u << lane_id()) - 1u; }

template <class T>
__device__ T sum_over_warp(T value) {
    for (int distance = LANES / 2; distance; distance /= 2)
        value += __shfl_xor_sync(ALL, value, distance);
    return value;
}

__device__ inline Bits join_over_warp(Bits value) {
    for (int distance = LANES / 2; distance; distance /= 2)
        value |= __shfl_xor_sync(ALL, value, distance);
    return value;
}

__device__ inline bool too_large(const PROFIT_T* profit, const WEIGHT_T* weight, int given) {
    double most_profit = 0.0, most_weight = 0.0;
    for (int j = lane_id(); j < given; j += LANES) {
        most_profit = fmax(most_profit, fabs(double(profit[j])));
        most_weight = fmax(most_weight, fabs(double(weight[j])));
    }
    for (int distance = LANES / 2; distance; distance /= 2) {
        most_profit = fmax(most_profit, __shfl_xor_sync(ALL, most_profit, distance));
        most_weight = fmax(most_weight, __shfl_xor_sync(ALL, most_weight, distance));
    }
    return double(given + 1) * (most_profit + 1.0) * (most_weight + 1.0) > LARGEST_PRODUCT;
}

__device__ inline Whole divisor(const INDEX* values, int count) {
    Whole found = 0;
    for (int j = 0; j < count && found != 1; ++j) {
        Whole a = values[j], b = found;
        while (b) {
            const Whole rest = a % b;
            a = b;
            b = rest;
        }
        found = a;
    }
    return found > 1 ? found : 1;
}

// Leaves useful items unsorted where the sums will be; returns how many.
__device__ inline int keep_useful(const PROFIT_T* profit, const WEIGHT_T* weight, int given,
                                  const Items& items, const Form& form) {
    int count = 0;
    for (int from = 0; from < given; from += LANES) {
        const int j = from + lane_id();
        Whole p = 0, w = 0;
        if (j < given) {
            const int sign = form.turned.has(j) ? -1 : 1;
            p = sign * Whole(profit[j]);
            w = sign * Whole(weight[j]);
        }
        const bool useful = p > 0 && w <= form.capacity;
        const unsigned all = __ballot_sync(ALL, useful);
        if (useful) {
            const int at = count + __popc(all & lanes_before());
            items.profit_before[at] = Stored(p);
            items.weight_before[at] = Stored(w);
            items.opposite[at] = Stored(j);
        }
        count += __popc(all);
    }
    __syncwarp();
    return count;
}

// Every lane finds the places of its items by counting those that come before.
__device__ inline void sort_items(const Items& items, int count, Whole profit_unit,
                                  Whole weight_unit) {
    for (int j = lane_id(); j < count; j += LANES) {
        const Whole p = items.profit_before[j], w = items.weight_before[j];
        int place = 0;
        for (int i = 0; i < count; ++i) {
            const Whole theirs = Whole(items.profit_before[i]) * w;
            const Whole ours = p * Whole(items.weight_before[i]);
            place += theirs > ours || (theirs == ours && i < j);
        }
        items.profit[place] = Stored(profit_unit > 1 ? p / profit_unit : p);
        items.weight[place] = Stored(weight_unit > 1 ? w / weight_unit : w);
        items.origin[place] = items.opposite[j];
    }
    __syncwarp();
}

__device__ inline void sum_before(const INDEX* values, INDEX* before, int count) {
    const int lane = lane_id();
    Whole carried = 0;
    for (int from = 0; from < count; from += LANES) {
        Whole sum = from + lane < count ? Whole(values[from + lane]) : 0;
        for (int distance = 1; distance < LANES; distance *= 2) {
            const Whole lower = __shfl_sync(ALL, sum, lane - distance);
            if (lane >= distance) sum += lower;
        }
        if (from + lane < count) before[from + lane + 1] = Stored(carried + sum);
        carried += __shfl_sync(ALL, sum, LANES - 1);
    }
    if (lane == 0) before[0] = 0;
    __syncwarp();
}

// Returns a form with a negative capacity where nothing fits.
__device__ inline Form arrange(const PROFIT_T* profit, const WEIGHT_T* weight, int given, Whole capacity,
                               const Items& items) {
    Form form = {0, 0, 0, 1, 0, {0, 0}};
    Whole total = 0, freed = 0, base = 0;
    Flags own = {0, 0};
    for (int j = lane_id(); j < given; j += LANES) {
        const Whole p = profit[j], w = weight[j];
        total += w < 0 ? -w : w;
        if (w < 0 || (w == 0 && p > 0)) {
            own.flip(j);
            freed -= w;
            base += p;
        }
    }
    total = sum_over_warp(total);
    form.base = sum_over_warp(base);
    form.turned.low = join_over_warp(own.low);
    form.turned.high = join_over_warp(own.high);
    capacity = capacity > total ? total : capacity < -total - 1 ? -total - 1 : capacity;
    form.capacity = capacity + sum_over_warp(freed);
    if (form.capacity < 0) return form;
    form.count = keep_useful(profit, weight, given, items, form);
    form.profit_unit = divisor(items.profit_before, form.count);
    const Whole weight_unit = divisor(items.weight_before, form.count);
    sort_items(items, form.count, form.profit_unit, weight_unit);
    sum_before(items.profit, items.profit_before, form.count);
    sum_before(items.weight, items.weight_before, form.count);
    if (weight_unit > 1) form.capacity /= weight_unit;
    for (int from = 0; from < form.count; from += LANES) {
        const int j = from + lane_id();
        const bool inside = j < form.count && Whole(items.weight_before[j + 1]) <= form.capacity;
        form.broken += __popc(__ballot_sync(ALL, inside));
    }
    return form;
}

__device__ inline Whole greedy_packing(const Items& items, const Form& form, Flags& flags) {
    Whole total = items.profit_before[form.broken];
    Whole room = form.capacity - Whole(items.weight_before[form.broken]);
    for (int j = form.broken + 1; j < form.count; ++j)
        if (Whole(items.weight[j]) <= room) {
            room -= items.weight[j];
            total += items.profit[j];
            flags.flip(j);
        }
    return total;
}

// The first of the best, as one lane alone would find it.
__device__ inline Whole best_exchange(const Items& items, const Form& form, Whole best,
                                      const Flags& start, Flags& flags) {
    const int broken = form.broken;
    const Whole base = items.profit_before[broken];
    const Whole room = form.capacity - Whole(items.weight_before[broken]);
    Whole value = best;
    int found = form.count;
    for (int j = lane_id(); j < form.count; j += LANES) {
        Whole profit = base, weight = 0;
        if (j >= broken) {
            profit += items.profit[j];
            weight = items.weight[j];
        } else {
            profit += Whole(items.profit[broken]) - Whole(items.profit[j]);
            weight = Whole(items.weight[broken]) - Whole(items.weight[j]);
        }
        if (weight <= room && profit > value) {
            value = profit;
            found = j;
        }
    }
    for (int distance = LANES / 2; distance; distance /= 2) {
        const Whole other = __shfl_xor_sync(ALL, value, distance);
        const int place = __shfl_xor_sync(ALL, found, distance);
        if (other > value || (other == value && place < found)) {
            value = other;
            found = place;
        }
    }
    if (found == form.count) return best;
    flags = start;
    flags.flip(found);
    if (found < broken) flags.flip(broken);
    return value;
}

__device__ inline void opposite_bounds(const Items& items, const Form& form) {
    for (int j = lane_id(); j < form.count; j += LANES) {
        const int sign = j < form.broken ? 1 : -1;
        const Whole capacity = form.capacity + sign * Whole(items.weight[j]);
        int k = 0, high = form.count;  // the last k with a sum before that fits
        while (k < high) {
            const int middle = (k + high + 1) / 2;
            if (Whole(items.weight_before[middle]) <= capacity) k = middle;
            else high = middle - 1;
        }
        Whole bound = Whole(items.profit_before[k]) - sign * Whole(items.profit[j]);
        if (k < form.count) {
            const Whole rest = capacity - Whole(items.weight_before[k]);
            bound += rest * Whole(items.profit[k]) / Whole(items.weight[k]);
        }
        items.opposite[j] = Stored(bound);
    }
    __syncwarp();
}
