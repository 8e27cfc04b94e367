// What a walker does in a step, by the threads of a warp, or by one for all of them (host.h);
// walk.py says what and why.
//
// It is one struct although it is long: its state lives in registers, which only works while
// everything that touches it is put into one function. Members that a group calls together
// say so by calling the group's operations; the others are a lane's own business.

#pragma once

#include "model.cuh"

// Sizes, and random numbers that follow from key and counter alone.

constexpr int ROW_ENTRIES = 64;        // entries of a row that are tried at once
constexpr int MOST_ROWS = 16;          // violated rows sampled in a step
constexpr int MOST_TIES = 4095;        // candidates that ties tell apart
constexpr int LIFT_WINDOW = 64;         // objective columns compared after a first lift
constexpr int LIFT_PATIENCE = 1024;     // and looked at for the first, as layout.py says
constexpr int FORCED_BREAKTHROUGHS = 32; // objective columns tried where no row is violated
constexpr int BUMPED_ROWS = 256;       // violated rows made heavier at a local minimum, at most
constexpr int WARP_LINE = 256;         // columns and rows longer than this are read by all lanes
constexpr double CLOCK_LIMIT = 4e6;    // moves after which stamps start anew, exact in 32 bits

// Purposes of random numbers within a step.
constexpr int STEP_DRAWS = 64, DRAW_ROW = 0, DRAW_OFFSET = 16, DRAW_BREAK = 32, DRAW_SMOOTH = 33,
              DRAW_BUMP = 34, DRAW_FORCED = 35, DRAW_FORCED_OFFSET = 36, DRAW_TENURE = 37,
              DRAW_TIE = 38, DRAW_LIFT_TIE = 39, DRAW_PAIR = 40, DRAW_PAIR_TIE = 41,
              DRAW_PAIR_OFFSET = 42, DRAW_FORCED_TIE = 43, DRAW_TENURE_PARTNER = 44,
              DRAW_BROKEN_TIE = 45;

struct Random {
    unsigned long long key;
    BOTH unsigned draw(long long step, int purpose) const {
        const unsigned long long counter = (unsigned long long)(step * STEP_DRAWS + purpose);
        return unsigned(mix(key + counter * GOLDEN) >> 32);
    }
    BOTH int below(long long step, int purpose, int bound) const {
        return int(((unsigned long long)draw(step, purpose) * (unsigned long long)bound) >> 32);
    }
    BOTH bool chance(long long step, int purpose, double probability) const {
        return double(draw(step, purpose)) < probability * 4294967296.0;
    }
};

BOTH Random random_of(int seed, int walker, int number) {
    const unsigned long long name =
        ((unsigned long long)(unsigned)seed << 32) | (unsigned long long)walker;
    return Random{mix(name + (unsigned long long)(unsigned)number * GOLDEN)};
}

struct Carried {  // by all walkers, one after the other
    Array<REAL> values, cells;
    Array<INDEX> place, violated;
    Array<REAL> kept;
    Array<RECORDS_T> records;
};

struct Sample {  // rows whose entries are tried in this step, in shared memory
    int start[MOST_ROWS], offset[MOST_ROWS], length[MOST_ROWS], before[MOST_ROWS + 1];
    double need[MOST_ROWS];  // by how much the activity has to change
};

template <class Group>
struct Walker {
    static constexpr int STRIDE = Group::STRIDE, FETCHED = Group::FETCHED;
    const Model& model;
    Group group;
    Sample& sample;
    Random random;
    Pair* values;
    Pair* cells;
    INDEX* place;
    INDEX* violated;
    REAL* kept;
    RECORDS_T* record;
    long long step = 0, origin = 0, moves = 0, visited = 0;
    int count = 0, last = 0, minima = 0;  // violated rows, column changed last, local minima
    bool last_up = false, pending = false, jump = false;
    double objective = 0.0, objective_weight = 0.0, target = 0.0, limit = 0.0, best = 0.0;
    double copies = 0.0, scale = 0.0;

    BOTH bool has_target() const { return target < NONE; }
    BOTH double range(int row) const { return model.range(row); }

    // Least weight of a row: for jumps its violation is measured in its entries.
    BOTH REAL unit_of(int row) const { return jump ? model.scales[row] : REAL(1); }

    // ---- moves --------------------------------------------------------------------------------

    BOTH bool forbidden(int j, double delta, double stamp, bool weak) const {
        if (weak) return j == last && (delta > 0.0) != last_up;
        return fabs(stamp) > double(step - origin) && (delta > 0.0) != (stamp > 0.0);
    }

    // ---- scores -------------------------------------------------------------------------------

    BOTH double objective_progress(double change) const {
        return Objective{objective, objective_weight, target, scale, jump}.progress(change);
    }

    BOTH Score objective_score(int j, double delta) const {
        const double change = times(double(model.costs[j]), delta);
        const bool lower = has_target() && change < 0.0 && plus(objective, change) < limit;
        return Score{objective_progress(change), lower ? objective_weight : 0.0};
    }

    // Entries first, first + stride, ... of column ``j`` moving by ``delta``.
    BOTH Score rows_score(int j, REAL delta, int first, int stride) const {
        const int begin = int(model.column_start[j]), end = int(model.column_start[j + 1]);
        return entries_score<FETCHED>(model, cells, jump, delta, begin + first, end, stride);
    }

    // Coefficient of column ``j`` in a row, 0 if it is not there; rows of a column rise.
    BOTH REAL coefficient(int j, int row) const {
        int low = int(model.column_start[j]), high = int(model.column_start[j + 1]);
        const int end = high;
        ROLLED
        while (low < high) {
            const int middle = (low + high) >> 1;
            if (int(model.column_row[middle]) < row) low = middle + 1;
            else high = middle;
        }
        return low < end && int(model.column_row[low]) == row ? model.column_value[low] : REAL(0);
    }

    // What moving column ``j`` adds after ``first`` has moved by ``first_delta``.
    BOTH Score second_score(int j, REAL delta, int first, REAL first_delta) const {
        Score score = {0.0, 0.0};
        const int end = int(model.column_start[j + 1]);
        ROLLED
        for (int e = int(model.column_start[j]); e < end; ++e) {
            const int row = int(model.column_row[e]);
            const Pair cell = cells[row];
            const REAL a = coefficient(first, row);
            const REAL middle = a == REAL(0) ? cell.first : cell.first - times(a, first_delta);
            const REAL after = middle - times(model.column_value[e], delta);
            const double weight = double(cell.second), between = range(row);
            add_row(score, jump, double(cell.first), double(after), weight, between, 1.0);
            if (a != REAL(0))
                add_row(score, jump, double(cell.first), double(middle), weight, between, -1.0);
        }
        return score;
    }

    // ---- candidates, in candidates.cuh --------------------------------------------------------

    BOTH void put(int at, int row, double need, int purpose) const;
    BOTH double need_of(int row) const;
    BOTH void draw_rows(int rows) const;
    BOTH int sampled(int rows) const;
    BOTH int sampled_column(int rows, int candidate, REAL& value, Pair& state) const;
    BOTH int objective_column(int start, int number) const;
    BOTH Choice choice(int j, REAL value, const Score& rows, const Score& cost, unsigned tie,
                       REAL stamp) const;
    BOTH Choice search(int rows, int entries, int breaks, bool weak, int tie_purpose);
    BOTH double room(int j, double sign, int first, int stride) const;
    BOTH Choice lifted(int j, double most, unsigned tie) const;
    BOTH Choice lift(int start, int window);
    BOTH int broken_row(int j, REAL delta, double& need);
    BOTH Choice partner(const Choice& first);
    BOTH double pair_correction(double first_cost, double first_delta, int j, double delta) const;

    // ---- changes of state ---------------------------------------------------------------------

    // Appends the rows that became violated and takes the others from the list, in lane order;
    // ``ends`` with the last of the entries that lanes look at together.
    BOTH void relist(int row, bool entered, bool left, bool ends) {
        int total = 0;
        const int rank = group.rank(entered, total);
        if (entered) {
            violated[count + rank] = (INDEX)(row);
            place[row] = (INDEX)(count + rank);
        }
        count += total;
        group.sync();
        for (int gone = group.next_of(row, left, ends); gone >= 0;
             gone = group.next_of(row, left, ends)) {
            --count;
            if (group.lane == 0) {
                const INDEX moved = violated[count];
                const INDEX at = place[gone];
                violated[at] = moved;
                place[moved] = at;
            }
        }
        group.sync();
    }

    BOTH void keep() {  // copy out the best point before leaving it
        if (pending && count == 0) {
            for (int j = group.lane; j < model.columns; j += STRIDE) kept[j] = values[j].first;
            best = objective;
            copies += 1.0;
        }
        pending = false;
    }

    BOTH void apply(int j, REAL value, int tenure_purpose) {
        const REAL delta = value - values[j].first;
        const int begin = int(model.column_start[j]), end = int(model.column_start[j + 1]);
        for (int first = begin; first < end; first += STRIDE) {
            const int e = first + group.lane;
            bool entered = false, left = false;
            int row = 0;
            if (e < end) {
                row = int(model.column_row[e]);
                const REAL before = cells[row].first;
                const REAL after = before - times(model.column_value[e], delta);
                cells[row].first = after;
                const double between = range(row);
                const bool was = violation(double(before), between) > 0.0;
                const bool is = violation(double(after), between) > 0.0;
                entered = is && !was;
                left = was && !is;
            }
            relist(row, entered, left, e + 1 == end || (e + 1 - begin) % Group::TOGETHER == 0);
        }
        objective = plus(objective, times(double(model.costs[j]), double(delta)));
        last = j;
        last_up = delta > REAL(0);
        const int tenure = int(record[TENURE]) +
                           random.below(step, tenure_purpose, int(record[SPREAD]) + 1);
        const double until = double(step - origin) + double(tenure) + 1.0;
        group.sync();
        if (group.lane == 0) values[j] = Pair{value, REAL(last_up ? until : -until)};
        group.sync();
        ++moves;
    }

    BOTH void smooth() {
        ROLLED
        for (int row = group.lane; row < model.rows; row += STRIDE) {
            const Pair cell = cells[row];
            const REAL unit = unit_of(row);
            if (cell.second > unit && violation(double(cell.first), range(row)) == 0.0)
                cells[row].second = cell.second - unit;
        }
        if (objective < target && objective_weight > 1.0) objective_weight -= 1.0;
        group.sync();
    }

    BOTH void bump() {
        const int rows = min(count, BUMPED_ROWS);
        const int start = count > BUMPED_ROWS ? random.below(step, DRAW_BUMP, count) : 0;
        ROLLED
        for (int number = group.lane; number < rows; number += STRIDE) {
            int at = start + number;
            if (at >= count) at -= count;
            const int row = int(violated[at]);
            const REAL unit = unit_of(row);
            Pair& cell = cells[row];
            if (double(cell.second) < LARGEST_WEIGHT * double(unit)) cell.second += unit;
        }
        if (count == 0 && objective_weight < LARGEST_WEIGHT) objective_weight += 1.0;
        group.sync();
    }

    // At a feasible point: note it if it is better, and look for a step down the objective inside
    // the rows. Returns whether the step ends here when there is none.
    BOTH bool descend(Choice& found) {
        if (objective < limit - LEAST_GAIN * larger(1.0, fabs(limit))) {
            limit = objective;
            pending = true;
            const double step_down = double(record[FRACTION]) * larger(1.0, fabs(objective));
            target = objective - larger(step_down, double(record[GRANULARITY]));
        }
        if (model.objectives == 0) return true;
        const int window = min(LIFT_WINDOW, model.objectives);
        const int cursor = int(record[CURSOR]), idle = int(record[IDLE]) + window;
        found = lift(cursor, window);
        const int patience = int(record[PATIENCE]);
        const bool exhausted = idle >= min(model.objectives, patience);
        group.sync();
        if (group.lane == 0) {
            record[IDLE] = (RECORDS_T)(found.column >= 0 || exhausted ? 0 : idle);
            if (found.column >= 0)
                record[PATIENCE] = (RECORDS_T)(min(2 * patience, LIFT_PATIENCE));
            else if (exhausted)
                record[PATIENCE] = (RECORDS_T)(max(patience / 2, LIFT_WINDOW));
            if (found.column < 0) record[CURSOR] = (RECORDS_T)((cursor + window) % model.objectives);
        }
        group.sync();
        return !exhausted;
    }

    // No single move helps: change weights, and put one violated row into the sample for a move
    // that is made all the same.
    BOTH int change_weights() {
        const bool smoothing = random.chance(step, DRAW_SMOOTH, double(record[SMOOTHING]));
        if (smoothing) smooth();
        else bump();
        if (count == 0) return 0;
        if (group.lane == 0) {
            const int row = int(violated[random.below(step, DRAW_FORCED, count)]);
            put(0, row, need_of(row), DRAW_FORCED_OFFSET);
        }
        return 1;
    }

    // The step's move ``one`` and the move ``two`` that goes with it, where there are any.
    BOTH void choose(Choice& one, Choice& two) {
        int rows = min(int(record[ROWS]), count);
        int breaks = has_target() && objective > target
                         ? min(int(record[BREAKTHROUGHS]), model.objectives) : 0;
        draw_rows(rows);
        ROLLED
        for (int attempt = 0; attempt < 2; ++attempt) {
            const int entries = rows ? sampled(rows) : 0;
            one = search(rows, entries, breaks, attempt == 1, attempt ? DRAW_FORCED_TIE : DRAW_TIE);
            if (attempt == 1 && one.column < 0) last = model.columns;  // nothing is forbidden next
            if (attempt == 1 || (one.column >= 0 && one.progress > LEAST_GAIN)) return;
            ++minima;
            if (one.column >= 0 && random.chance(step, DRAW_PAIR, double(record[PAIRS]))) {
                two = partner(one);
                if (two.column >= 0 && two.progress > LEAST_GAIN) return;
                two.column = -1;
            }
            group.sync();
            rows = change_weights();
            breaks = rows == 0 && has_target() ? min(FORCED_BREAKTHROUGHS, model.objectives) : 0;
        }
    }

    BOTH void advance() {
        ++step;
        Choice one = no_choice(), two = one;
        if (count == 0 && descend(one) && one.column < 0) return;
        if (one.column < 0) {
            choose(one, two);
            if (one.column >= 0) keep();
        }
        ROLLED
        for (int number = 0; number < 2; ++number) {
            const int column = number ? two.column : one.column;
            if (column < 0) return;
            apply(column, number ? two.value : one.value,
                  number ? DRAW_TENURE_PARTNER : DRAW_TENURE);
        }
    }

    // ---- begin and end of a launch, in launch.cuh ---------------------------------------------

    BOTH double activity(int begin, int end, int first, int stride) const;
    BOTH void refresh();
    BOTH void restart_clock();
    BOTH double weighted() const;
    BOTH void load();
    BOTH void store(double weight_of_violation, long long entries);
    BOTH void run(int steps);
};

template <class Group>
BOTH Walker<Group> walker_of(const Model& model, const Carried& carried, int walker, int seed,
                             const Group& group, Sample& sample) {
    const long long columns = (long long)walker * model.columns;
    const long long rows = (long long)walker * model.rows;
    return {model, group, sample, random_of(seed, walker, 1),
            (Pair*)&carried.values[0] + columns, (Pair*)&carried.cells[0] + rows,
            &carried.place[0] + rows, &carried.violated[0] + rows, &carried.kept[0] + columns,
            &carried.records[0] + (long long)walker * RECORD};
}
