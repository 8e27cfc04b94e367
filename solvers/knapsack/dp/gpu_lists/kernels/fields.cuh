// Places in control, as stages.py has them, and the size of tiles; for the device and the CPU.
#pragma once

constexpr int STAGES = 64, LANES = 32, THREADS = 256, WARPS = THREADS / LANES, EACH = 7,
              TILE = THREADS * EACH;

enum Field {
    COUNT, LEFT, RIGHT, STAGE, PROFIT, HISTORY, ANCESTOR, VISITED, TARGET, SIDE, REASON, UNTIL,
    CAPACITY, BEFORE, PROFIT_STEP, WEIGHT_STEP, COMES_PROFIT, COMES_WEIGHT, GOES_PROFIT,
    GOES_WEIGHT, LEVEL, TILES, EPOCH, TICKET = 32, NEXT_COUNT, CONTROL_SIZE = 48
};

enum Reason { NONE, EMPTY, CHECKPOINT, FULL, PAUSE };

enum Mode { BELOW = 1, PLACES = 2, COUNTING = 4 };
