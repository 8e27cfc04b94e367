// Places in control, as stages.py has them, the size of tiles, and how a stage begins.
#pragma once

#include "both.cuh"

constexpr int STAGES = 64, LANES = 32, THREADS = 256, WARPS = THREADS / LANES, EACH = 7,
              TILE = THREADS * EACH;

typedef long long Whole;
typedef unsigned long long Bits;
typedef INDEX Stored;

constexpr Whole LOWEST = -(Whole(1) << 62);

// Items by falling efficiency, and the bound of each.
struct Order {
    Array<const INDEX> item_profit, item_weight, opposite;
};

// Both halves of the states.
struct Lists {
    Array<const INDEX> profit, weight, history;
    Array<const ANCESTOR_T> ancestor;
};

enum Field {
    COUNT, LEFT, RIGHT, STAGE, PROFIT, HISTORY, ANCESTOR, VISITED, TARGET, SIDE, REASON, UNTIL,
    CAPACITY, BEFORE, PROFIT_STEP, WEIGHT_STEP, COMES_PROFIT, COMES_WEIGHT, GOES_PROFIT,
    GOES_WEIGHT, LEVEL, TILES, EPOCH, TICKET = 32, NEXT_COUNT, CONTROL_SIZE = 48
};

enum Reason { NONE, EMPTY, CHECKPOINT, FULL, PAUSE };

enum Mode { BELOW = 1, PLACES = 2, COUNTING = 4 };

// Why no stage of so many states can begin, or NONE.
BOTH Reason why_not(const INDEX* control, Whole count, int room) {
    if (control[VISITED] >= control[UNTIL]) return PAUSE;
    if (count == 0 || control[PROFIT] >= control[TARGET]) return EMPTY;
    if (control[STAGE] == STAGES) return CHECKPOINT;
    return 2 * count > room ? FULL : NONE;
}

// Notes what bounds states once an item is treated; RIGHT and LEFT are those to come.
BOTH void see_sides(const INDEX* item_profit, const INDEX* item_weight, int items, INDEX* control) {
    const INDEX right = control[RIGHT], left = control[LEFT];
    control[COMES_PROFIT] = right < items ? item_profit[right] : 0;
    control[COMES_WEIGHT] = right < items ? item_weight[right] : 1;
    control[GOES_PROFIT] = left >= 0 ? item_profit[left] : 1;
    control[GOES_WEIGHT] = left >= 0 ? item_weight[left] : 0;
}

// Begins the stage of an item. States i of the list and j of its shifted copy are the heaviest that
// fit, -1 where none does; the better one is noted if it is the best packing.
BOTH void begin_stage(const INDEX* profit, const INDEX* weight, const INDEX* history,
                      const ANCESTOR_T* ancestor, Whole i, Whole j, Whole item, Whole profit_step,
                      Whole weight_step, INDEX* treated, INDEX* control) {
    const Whole of_own = i < 0 ? LOWEST : Whole(profit[i]);
    const Whole of_shifted = j < 0 ? LOWEST : profit[j] + profit_step;
    const Whole stage = control[STAGE], best = control[PROFIT], count = control[COUNT];
    control[BEFORE] = Stored(best);
    if (larger(of_own, of_shifted) > best) {
        const bool lighter = i >= 0 && j >= 0 && weight[i] <= weight[j] + weight_step;
        const bool shifted = of_shifted > of_own || (of_shifted == of_own && !lighter);
        const Whole at = shifted ? j : i;
        control[PROFIT] = Stored(larger(of_own, of_shifted));
        control[HISTORY] = Stored(Bits(history[at]) | (shifted ? Bits(1) << stage : Bits(0)));
        control[ANCESTOR] = Stored(ancestor[at]);
    }
    control[PROFIT_STEP] = Stored(profit_step);
    control[WEIGHT_STEP] = Stored(weight_step);
    control[TILES] = Stored((2 * count + TILE - 1) / TILE);
    control[EPOCH] = control[EPOCH] + 1;
    control[TICKET] = 0;
    control[VISITED] = Stored(control[VISITED] + 2 * count);
    treated[stage] = Stored(item);
    control[STAGE] = Stored(stage + 1);
}
