// Many small 0/1 knapsack problems; many.py states what is computed.
//
// A warp takes a problem from the queue, with its items in shared memory. Its two lists of states
// are there too while they are short, else in its own part of global memory. A merge goes on by 32
// states at a time: each lane bisects along its diagonal for the state that comes there, sees from
// the other list's predecessor whether that is dominated, and ballots where it goes.

#include "items.cuh"
#include "problems.cuh"

enum Ending { SOLVED, INFEASIBLE, TOO_LARGE, OUTGROWN };

// A list sorted by weight; profits rise with weights.
struct List {
    INDEX *profit, *weight, *low, *high;
    __device__ List(INDEX* memory, int room) {
        profit = memory;
        weight = profit + room;
        low = weight + room;
        high = low + room;
    }
};

// An item that is put in or taken out, and the items that bound what may still be won or lost.
struct Step {
    Whole profit, weight;
    int item;
    Whole in_profit, in_weight, out_profit, out_weight;
};

struct Answer {
    Whole best;
    Flags flags;
    int visited, ending;
};

__device__ inline void see_best_shifted(const List& now, int length, const Step& step,
                                        Whole capacity, const Flags& start, int words,
                                        Answer& answer) {
    int low = 0, high = length;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (Whole(now.weight[middle]) + step.weight <= capacity) low = middle + 1;
        else high = middle;
    }
    if (low == 0) return;
    const Whole profit = Whole(now.profit[low - 1]) + step.profit;
    if (profit <= answer.best) return;
    answer.best = profit;
    answer.flags.low = start.low ^ Bits(now.low[low - 1]);
    if (words > 1) answer.flags.high = start.high ^ Bits(now.high[low - 1]);
    answer.flags.flip(step.item);
}

// Whether state i of the list comes before state j of the shifted one.
__device__ inline bool precedes(const List& now, int i, int j, const Step& step) {
    const Whole ours = now.weight[i], theirs = Whole(now.weight[j]) + step.weight;
    if (ours != theirs) return ours < theirs;
    return Whole(now.profit[i]) >= Whole(now.profit[j]) + step.profit;
}

__device__ inline int merge(const List& now, int length, const List& then, const Step& step,
                            Whole capacity, Whole best, int words) {
    const int lane = lane_id();
    int i0 = 0, j0 = 0, kept = 0;
    for (int tile = 0; tile < 2 * length; tile += LANES) {
        const bool active = tile + lane < 2 * length;
        bool own = false, keep = false;
        int at = 0;
        Whole profit = 0, weight = 0;
        if (active) {
            int taken = max(0, lane - (length - j0)), most = min(lane, length - i0);
            while (taken < most) {
                const int middle = (taken + most) / 2;
                if (precedes(now, i0 + middle, j0 + lane - middle - 1, step)) taken = middle + 1;
                else most = middle;
            }
            const int i = i0 + taken, j = j0 + lane - taken;
            own = i < length && (j == length || precedes(now, i, j, step));
            at = own ? i : j;
            profit = Whole(now.profit[at]) + (own ? Whole(0) : step.profit);
            weight = Whole(now.weight[at]) + (own ? Whole(0) : step.weight);
            const bool dominated =
                own ? j > 0 && Whole(now.profit[j - 1]) + step.profit >= profit
                    : i > 0 && Whole(now.profit[i - 1]) >= profit;
            const Whole spare = capacity - weight, need = best + 1 - profit;
            keep = !dominated && (spare >= 0 ? spare * step.in_profit >= need * step.in_weight
                                             : spare * step.out_profit >= need * step.out_weight);
        }
        const unsigned of_list = __ballot_sync(ALL, own), all = __ballot_sync(ALL, keep);
        if (keep) {
            const int to = kept + __popc(all & lanes_before());
            Flags history = {Bits(now.low[at]), words > 1 ? Bits(now.high[at]) : Bits(0)};
            if (!own) history.flip(step.item);
            then.profit[to] = Stored(profit);
            then.weight[to] = Stored(weight);
            then.low[to] = Stored(history.low);
            if (words > 1) then.high[to] = Stored(history.high);
        }
        const int taken = __popc(of_list);
        i0 += taken;
        j0 += min(LANES, 2 * length - tile) - taken;
        kept += __popc(all);
    }
    __syncwarp();
    return kept;
}

// Where a list of up to so many states is kept.
struct Places {
    INDEX *close, *far;
    int near, room, fields;
    __device__ List list(int side, int states) const {
        const bool fits = states <= near;
        const int most = fits ? near : room;
        return List((fits ? close : far) + (long long)side * fields * most, most);
    }
};

__device__ inline void search(const Items& items, const Form& form, const Places& places,
                              const Flags& start, int most, Answer& answer) {
    const int words = places.fields - 2;
    int length = 1, stage = 0, left = form.broken - 1, right = form.broken;
    List now = places.list(0, 1);
    if (lane_id() == 0) {
        now.profit[0] = items.profit_before[form.broken];
        now.weight[0] = items.weight_before[form.broken];
        now.low[0] = 0;
        if (words > 1) now.high[0] = 0;
    }
    __syncwarp();
    while (length > 0) {
        while (right < form.count && Whole(items.opposite[right]) <= answer.best) ++right;
        while (left >= 0 && Whole(items.opposite[left]) <= answer.best) --left;
        Step step;
        if (right < form.count && (left < 0 || stage % 2 == 0)) {
            step.item = right++;
            step.profit = items.profit[step.item];
            step.weight = items.weight[step.item];
        } else if (left >= 0) {
            step.item = left--;
            step.profit = -Whole(items.profit[step.item]);
            step.weight = -Whole(items.weight[step.item]);
        } else {
            break;
        }
        if (2 * length > places.room || answer.visited + 2 * length > most) {
            answer.ending = OUTGROWN;
            break;
        }
        ++stage;
        answer.visited += 2 * length;
        see_best_shifted(now, length, step, form.capacity, start, words, answer);
        while (right < form.count && Whole(items.opposite[right]) <= answer.best) ++right;
        while (left >= 0 && Whole(items.opposite[left]) <= answer.best) --left;
        const bool more = right < form.count, less = left >= 0;
        step.in_profit = more ? Whole(items.profit[right]) : 0;
        step.in_weight = more ? Whole(items.weight[right]) : 1;
        step.out_profit = less ? Whole(items.profit[left]) : 1;
        step.out_weight = less ? Whole(items.weight[left]) : 0;
        const List then = places.list(stage % 2, 2 * length);
        length = merge(now, length, then, step, form.capacity, answer.best, words);
        now = then;
    }
}

// Every lane returns the same, with the bits of the items packed among those given.
__device__ inline Answer solve_one(const PROFIT_T* profit, const WEIGHT_T* weight, int given,
                                   Whole capacity, const Items& items, const Places& places,
                                   int most) {
    Answer answer = {0, {0, 0}, 0, TOO_LARGE};
    if (given > WORD * (places.fields - 2) || too_large(profit, weight, given)) return answer;
    const Form form = arrange(profit, weight, given, capacity, items);
    answer.ending = INFEASIBLE;
    if (form.capacity < 0) return answer;
    answer.ending = SOLVED;
    const Flags start = {all_before(form.broken), all_before(form.broken - WORD)};
    answer.flags = start;
    answer.best = items.profit_before[form.broken];
    if (form.broken < form.count) {
        answer.best = greedy_packing(items, form, answer.flags);
        answer.best = best_exchange(items, form, answer.best, start, answer.flags);
        opposite_bounds(items, form);
        search(items, form, places, start, most, answer);
    }
    Flags packed = {0, 0};
    for (int j = lane_id(); j < form.count; j += LANES)
        if (answer.flags.has(j)) packed.flip(int(items.origin[j]));
    answer.flags.low = form.turned.low ^ join_over_warp(packed.low);
    answer.flags.high = form.turned.high ^ join_over_warp(packed.high);
    answer.best = answer.best * form.profit_unit + form.base;
    return answer;
}

__device__ __forceinline__ void many(const Problems& problems, const Memory& given,
                                     const Packings& packings, const Sizes& sizes) {
    extern __shared__ INDEX memory[];
    const int warp = int(threadIdx.x) / LANES, slot = int(blockIdx.x) * WARPS + warp;
    if (slot >= sizes.slots) return;
    const int words = sizes.words, room = sizes.room, near = sizes.near;
    const int fields = 2 + words, of_items = 6 * WORD * words + 2;
    INDEX* close = memory + warp * (of_items + 2 * fields * near);
    const Items items(close, words);
    const Places places = {close + of_items, given.lists + (long long)slot * 2 * fields * room,
                           near, room, fields};
    for (;;) {
        unsigned long long next = 0;
        if (lane_id() == 0) next = atomicAdd((unsigned long long*)given.queue, 1ull);
        const int k = int(__shfl_sync(ALL, next, 0));
        if (k >= sizes.count) return;
        const INDEX first = problems.starts[k];
        const Answer answer = solve_one(problems.profit + first, problems.weight + first,
                                        int(problems.starts[k + 1] - first),
                                        Whole(problems.capacity[k]), items, places, sizes.most);
        if (lane_id() == 0) {
            packings.packed[(long long)k * words] = Stored(answer.flags.low);
            if (words > 1) packings.packed[(long long)k * words + 1] = Stored(answer.flags.high);
            packings.value[k] = Stored(answer.best);
            packings.ending[k] = Stored(answer.ending);
            packings.visited[k] = Stored(answer.visited);
        }
        __syncwarp();  // before the items of the next problem take the place of these
    }
}
