// Branch and bound below thousands of nodes at once; subtrees.py states what is computed.
//
// A warp is a search: lane l knows of the items l, l + 32, ... whether they are decided and packed,
// as bits of two words, and reckons their reduced costs; it has the rows l, l + 32, ... of
// capacities left, multipliers and subgradients. The former are read from shared memory by all
// lanes. Weights by row serve neighbouring items, weights by item neighbouring rows, so that
// neighbouring lanes read neighbouring addresses either way. All numbers but the length of a
// subgradient's step are whole, and that is products and one quotient: nothing depends on order.

typedef long long Int;

constexpr unsigned ALL = 0xffffffffu;
constexpr int LANES = 32, WARPS = 4, SLICES = 4, EVALUATIONS = 6;
constexpr Int IDLE = -1;
constexpr double LONGEST_STEP = 1152921504606846976.0;  // 2^60

// What no decision changes.
struct Data {
    const INDEX *weight, *column, *profit, *ceiling, *shift;
    const REAL* unit;
    int items, rows, fraction;
};

// A search; words are the lane's own, the other values the same in all lanes.
struct Search {
    INDEX *trail, *level;
    Int *reduced, *multiplier, *left;  // shared memory of the warp
    unsigned decided, packed;
    int lane, length, free;
    Int profit, bound;
};

__device__ inline Int sum_of(Int value) {
    for (int distance = 16; distance > 0; distance >>= 1)
        value += __shfl_xor_sync(ALL, value, distance);
    return value;
}

__device__ inline Int magnitude(Int value) { return value < 0 ? -value : value; }

__device__ inline Int clipped(Int value, Int least, Int most) {
    return value < least ? least : value > most ? most : value;
}

__device__ inline bool is_free(const Data& data, const Search& search, int base) {
    return base + search.lane < data.items && ((search.decided >> (base / LANES)) & 1u) == 0u;
}

// Takes an item out of what is left, or puts it back where sign is -1.
__device__ inline void pack(const Data& data, Search& search, int item, int sign) {
    search.profit += sign * Int(data.profit[item]);
    for (int row = search.lane; row < data.rows; row += LANES)
        search.left[row] -= sign * Int(data.column[size_t(item) * data.rows + row]);
}

// Gives a value to a free item.
__device__ inline void apply(const Data& data, Search& search, int item, int choice) {
    if (search.lane == item % LANES) {
        search.decided |= 1u << (item / LANES);
        if (choice != 0) search.packed |= 1u << (item / LANES);
    }
    search.free -= 1;
    if (choice != 0) pack(data, search, item, 1);
    __syncwarp();
}

__device__ inline void take_back(const Data& data, Search& search, int item, int choice) {
    if (search.lane == item % LANES) {
        search.decided &= ~(1u << (item / LANES));
        search.packed &= ~(1u << (item / LANES));
    }
    search.free += 1;
    if (choice != 0) pack(data, search, item, -1);
    __syncwarp();
}

__device__ inline void decide(const Data& data, Search& search, int item, int choice, int other) {
    if (search.lane == 0) {
        search.trail[search.length] = (INDEX)(4 * item + 2 * choice + other);
        search.level[search.length] = (INDEX)(search.bound);
    }
    search.length += 1;
    apply(data, search, item, choice);
}

// Gives values to the free items of the lanes that say so, in the order of lanes.
__device__ inline void settle(const Data& data, Search& search, int base, bool wanted, int choice) {
    const unsigned some = __ballot_sync(ALL, wanted);
    if (some == 0u) return;
    if (wanted) {
        const int place = search.length + __popc(some & ((1u << search.lane) - 1u));
        search.trail[place] = (INDEX)(4 * (base + search.lane) + 2 * choice);
        search.level[place] = (INDEX)(search.bound);
        search.decided |= 1u << (base / LANES);
        if (choice != 0) search.packed |= 1u << (base / LANES);
    }
    search.length += __popc(some);
    search.free -= __popc(some);
    unsigned ones = __ballot_sync(ALL, wanted && choice != 0);
    for (; ones != 0u; ones &= ones - 1u)
        pack(data, search, base + __ffs(int(ones)) - 1, 1);
}

// Takes a bound; items that do not fit are decided on the way.
__device__ inline Int lagrangian(const Data& data, Search& search) {
    Int part = 0;
    for (int base = 0; base < data.items; base += LANES) {
        const int item = base + search.lane;
        const bool free = is_free(data, search, base);
        bool fits = true;
        if (free) {
            Int cost = Int(data.profit[item]);
            for (int row = 0; row < data.rows; ++row) {
                const Int weight = Int(data.weight[size_t(row) * data.items + item]);
                cost -= search.multiplier[row] * weight;
                fits = fits && weight <= search.left[row];
            }
            if (fits) {
                search.reduced[item] = cost;
                part += cost > 0 ? cost : 0;
            }
        }
        settle(data, search, base, free && !fits, 0);
    }
    for (int row = search.lane; row < data.rows; row += LANES)
        part += search.multiplier[row] * search.left[row];
    __syncwarp();  // all have read what is left before it changes
    return search.profit + sum_of(part);
}

// Moves the multipliers against a subgradient; returns whether there is one.
__device__ inline bool step(const Data& data, Search& search, Int slack) {
    Int move[SLICES], part = 0;
#pragma unroll
    for (int k = 0; k < SLICES; ++k) {
        const int row = search.lane + k * LANES;
        move[k] = row < data.rows ? search.left[row] : 0;
    }
    for (int base = 0; base < data.items; base += LANES) {
        const bool free = is_free(data, search, base);
        unsigned some = __ballot_sync(ALL, free && search.reduced[base + search.lane] > 0);
        for (; some != 0u; some &= some - 1u) {
            const size_t first = size_t(base + __ffs(int(some)) - 1) * data.rows;
#pragma unroll
            for (int k = 0; k < SLICES; ++k) {
                const int row = search.lane + k * LANES;
                if (row < data.rows) move[k] -= Int(data.column[first + row]);
            }
        }
    }
#pragma unroll
    for (int k = 0; k < SLICES; ++k) {
        const int row = search.lane + k * LANES;
        if (row >= data.rows) continue;
        move[k] >>= int(data.shift[row]);
        if (row < data.rows - 1 && search.multiplier[row] == 0 && move[k] > 0) move[k] = 0;
        part += move[k] * move[k];
    }
    const Int norm = sum_of(part);
    if (norm == 0) return false;
    const double theta = double(slack + 1) / double(norm);
#pragma unroll
    for (int k = 0; k < SLICES; ++k) {
        const int row = search.lane + k * LANES;
        if (row >= data.rows) continue;
        const double length = rint(theta * double(move[k]) * double(data.unit[row]));
        const Int change = Int(fmin(fmax(length, -LONGEST_STEP), LONGEST_STEP));
        const Int most = Int(data.ceiling[row]);
        const Int least = row < data.rows - 1 ? 0 : -most;
        search.multiplier[row] = clipped(search.multiplier[row] - change, least, most);
    }
    __syncwarp();
    return true;
}

// Takes bounds and decides items; returns whether the node is open.
__device__ inline bool bounds(const Data& data, Search& search, Int target) {
    for (int evaluation = 0; evaluation < EVALUATIONS; ++evaluation) {
        const Int bound = lagrangian(data, search);
        if (bound < target || search.free < search.left[data.rows - 1]) return false;
        search.bound = search.bound < bound ? search.bound : bound;
        const Int slack = bound - target;
        for (int base = 0; base < data.items; base += LANES) {
            const bool free = is_free(data, search, base);
            const Int cost = free ? search.reduced[base + search.lane] : 0;
            settle(data, search, base, magnitude(cost) > slack, cost > 0 ? 1 : 0);
        }
        __syncwarp();
        bool below = false;
        for (int row = search.lane; row < data.rows; row += LANES)
            below = below || search.left[row] < 0;
        if (__ballot_sync(ALL, below) != 0u) return false;
        if (search.free < search.left[data.rows - 1]) return false;
        if (evaluation == EVALUATIONS - 1 || search.free == 0) break;
        if (!step(data, search, slack)) break;
    }
    return true;
}

// Packs free items as long as they fit; returns the profit, and keeps the packing if it is better.
__device__ inline Int complete(const Data& data, const Search& search, Int best, INDEX* champion) {
    Int room[SLICES], total = search.profit;
    unsigned packed = search.packed;
#pragma unroll
    for (int k = 0; k < SLICES; ++k) {
        const int row = search.lane + k * LANES;
        room[k] = row < data.rows - 1 ? search.left[row] : 0;
    }
    for (int later = 0; later < 2; ++later) {
        for (int base = 0; base < data.items; base += LANES) {
            const bool free = is_free(data, search, base);
            unsigned some = __ballot_sync(
                ALL, free && (search.reduced[base + search.lane] > 0) == (later == 0));
            for (; some != 0u; some &= some - 1u) {
                const int item = base + __ffs(int(some)) - 1;
                Int weight[SLICES];
                bool over = false;
#pragma unroll
                for (int k = 0; k < SLICES; ++k) {
                    const int row = search.lane + k * LANES;
                    weight[k] = row < data.rows - 1
                                    ? Int(data.column[size_t(item) * data.rows + row])
                                    : 0;
                    over = over || weight[k] > room[k];
                }
                if (__ballot_sync(ALL, over) != 0u) continue;
#pragma unroll
                for (int k = 0; k < SLICES; ++k) room[k] -= weight[k];
                if (search.lane == item % LANES) packed |= 1u << (item / LANES);
                total += Int(data.profit[item]);
            }
        }
    }
    const Int found = total >> data.fraction;
    if (found > best) champion[search.lane] = (INDEX)(packed);
    return found;
}

// Returns the first of the free items with the smallest reduced cost.
__device__ inline int branching_item(const Data& data, const Search& search) {
    Int least = -1;
    int chosen = data.items;
    for (int base = 0; base < data.items; base += LANES) {
        if (!is_free(data, search, base)) continue;
        const Int cost = magnitude(search.reduced[base + search.lane]);
        if (least < 0 || cost < least) {
            least = cost;
            chosen = base + search.lane;
        }
    }
    for (int distance = 16; distance > 0; distance >>= 1) {
        const Int cost = __shfl_xor_sync(ALL, least, distance);
        const int item = __shfl_xor_sync(ALL, chosen, distance);
        if (cost >= 0 && (least < 0 || cost < least || (cost == least && item < chosen))) {
            least = cost;
            chosen = item;
        }
    }
    return chosen;
}

// Goes back to the last value that waits; returns whether there is one.
__device__ inline bool next(const Data& data, Search& search, Int target) {
    __syncwarp();
    while (search.length > 0) {
        search.length -= 1;
        const int entry = int(search.trail[search.length]);
        const Int level = Int(search.level[search.length]);
        const int item = entry >> 2, choice = (entry >> 1) & 1;
        take_back(data, search, item, choice);
        if ((entry & 1) != 0 && level >= target) {
            search.bound = level;
            decide(data, search, item, 1 - choice, 0);
            return true;
        }
    }
    return false;
}

// Returns the first place where a value waits, or -1, and raises the bound to that of all.
__device__ inline int first_that_waits(Search& search, Int target) {
    int first = search.length;
    Int bound = search.bound;
    __syncwarp();
    for (int place = search.lane; place < search.length; place += LANES) {
        const Int level = Int(search.level[place]);
        if ((int(search.trail[place]) & 1) == 0 || level < target) continue;
        first = first < place ? first : place;
        bound = bound > level ? bound : level;
    }
    for (int distance = 16; distance > 0; distance >>= 1) {
        const int other = __shfl_xor_sync(ALL, first, distance);
        const Int level = __shfl_xor_sync(ALL, bound, distance);
        first = first < other ? first : other;
        bound = bound > level ? bound : level;
    }
    search.bound = bound;
    return first < search.length ? first : -1;
}

extern "C" __global__ void __launch_bounds__(128)
    grow(const INDEX* __restrict__ weight, const INDEX* __restrict__ column,
         const INDEX* __restrict__ profit, const INDEX* __restrict__ capacity,
         const INDEX* __restrict__ ceiling, const INDEX* __restrict__ shift,
         const REAL* __restrict__ unit, const INDEX* __restrict__ root,
         const INDEX* __restrict__ count, INDEX* __restrict__ multiplier,
         INDEX* __restrict__ trail, INDEX* __restrict__ level, INDEX* __restrict__ length,
         INDEX* __restrict__ bound, INDEX* __restrict__ waits, INDEX* __restrict__ value,
         INDEX* __restrict__ champion, INDEX* __restrict__ visited, int searches, int items,
         int rows, int nodes, int fraction) {
    extern __shared__ Int memory[];
    const int lane = int(threadIdx.x) & 31, warp = int(threadIdx.x) >> 5;
    const int s = int(blockIdx.x) * WARPS + warp;
    if (s >= searches) return;  // the whole warp; no block meets
    if (Int(bound[s]) == IDLE) {
        if (lane == 0) {
            visited[s] = (INDEX)0;
            waits[s] = (INDEX)-1;
        }
        return;
    }
    const Data data = {weight, column, profit, ceiling, shift, unit, items, rows, fraction};
    Search search;
    search.trail = trail + size_t(s) * items;
    search.level = level + size_t(s) * items;
    search.reduced = memory + size_t(warp) * (items + 2 * rows);
    search.multiplier = search.reduced + items;
    search.left = search.multiplier + rows;
    search.decided = search.packed = 0u;
    search.lane = lane;
    search.length = int(length[s]);
    search.free = items;
    search.profit = 0;
    for (int row = lane; row < rows; row += LANES) {
        search.multiplier[row] = Int(multiplier[size_t(s) * rows + row]);
        search.left[row] = row < rows - 1 ? Int(capacity[row]) : Int(count[s]);
    }
    __syncwarp();
    for (int place = 0; place < search.length; ++place) {
        const int entry = int(search.trail[place]);
        apply(data, search, entry >> 2, (entry >> 1) & 1);
    }
    search.bound = search.length > 0 ? Int(search.level[search.length - 1]) : Int(root[s]);
    Int best = Int(value[s]);
    int seen = 0;
    bool done = false;
    while (seen < nodes && !done) {
        bool open = bounds(data, search, (best + 1) << fraction);
        if (open) {
            const Int found = complete(data, search, best, champion + size_t(s) * LANES);
            best = best > found ? best : found;
            open = search.free > 0 && search.bound >= (best + 1) << fraction;
        }
        if (open) {
            const int item = branching_item(data, search);
            const int first = search.reduced[item] > 0 ? 1 : 0;
            decide(data, search, item, first, 1);
        } else {
            done = !next(data, search, (best + 1) << fraction);
        }
        ++seen;
    }
    const int first = first_that_waits(search, (best + 1) << fraction);
    for (int row = lane; row < rows; row += LANES)
        multiplier[size_t(s) * rows + row] = (INDEX)(search.multiplier[row]);
    if (lane != 0) return;
    length[s] = (INDEX)(search.length);
    bound[s] = (INDEX)(done ? IDLE : search.bound);
    waits[s] = (INDEX)(done ? -1 : first);
    value[s] = (INDEX)(best);
    visited[s] = (INDEX)(seen);
}

// A warp copies one trail; level and trail of giver and taker do not overlap.
extern "C" __global__ void __launch_bounds__(128)
    share(const INDEX* __restrict__ giver, const INDEX* __restrict__ taker,
          INDEX* __restrict__ root, INDEX* __restrict__ count, INDEX* __restrict__ multiplier,
          INDEX* __restrict__ trail, INDEX* __restrict__ level, INDEX* __restrict__ length,
          INDEX* __restrict__ bound, const INDEX* __restrict__ waits, int pairs, int items,
          int rows) {
    const int lane = int(threadIdx.x) & 31;
    const int pair = int(blockIdx.x) * WARPS + (int(threadIdx.x) >> 5);
    if (pair >= pairs) return;
    const int a = int(giver[pair]), b = int(taker[pair]), last = int(waits[a]);
    for (int place = lane; place <= last; place += LANES) {
        const INDEX entry = trail[size_t(a) * items + place];
        const INDEX closed = (INDEX)(entry & ~(INDEX)1);
        trail[size_t(b) * items + place] = (INDEX)(place == last ? closed ^ (INDEX)2 : closed);
        level[size_t(b) * items + place] = level[size_t(a) * items + place];
        if (place == last) trail[size_t(a) * items + place] = closed;
    }
    for (int row = lane; row < rows; row += LANES)
        multiplier[size_t(b) * rows + row] = multiplier[size_t(a) * rows + row];
    if (lane != 0) return;
    root[b] = root[a];
    count[b] = count[a];
    length[b] = (INDEX)(last + 1);
    bound[b] = level[size_t(a) * items + last];
}
