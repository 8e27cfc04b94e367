// What a walker keeps between launches, the model as walkers see it, where moves go, scores of entries,
// and the choice among moves: what the walker of a warp and that of the whole GPU have in common.

#pragma once

#include "both.cuh"

// walk.py has them by the same names and order
enum Field {
    STEP, ORIGIN, REFRESH, OBJECTIVE, VIOLATED, WEIGHTED, OBJECTIVE_WEIGHT, TARGET, LIMIT, BEST,
    KEPT, CURSOR, IDLE, LAST, LAST_UP, MOVES, MINIMA, VISITED, ROWS, TENURE, SPREAD, SMOOTHING,
    JUMP, BREAKTHROUGHS, FRACTION, PAIRS, SCALE, GRANULARITY,
    PATIENCE, FIELDS
};

constexpr int RECORD = 32;             // doubles kept for each walker, FIELDS of them used
constexpr double NONE = 1e300;         // an objective that nothing has reached
constexpr double TOLERANCE = 9e-7;     // violations up to here count as none
constexpr double LEAST_GAIN = 1e-9;    // scores and steps up to here count as none
constexpr double LARGEST_WEIGHT = 1e6;  // a heavier row gets no heavier: exact in 32 bits
constexpr int LOOKS = 8;               // entries of a long row among which one that can move is taken

#ifdef __CUDACC__
#define READ_AT_ONCE alignas(2 * sizeof(REAL))
#else
#define READ_AT_ONCE
#endif

struct READ_AT_ONCE Pair {
    REAL first;   // a column's value or a row's slack
    REAL second;  // a column's stamp or a row's weight
};

constexpr unsigned long long GOLDEN = 0x9e3779b97f4a7c15ull;

BOTH unsigned long long mix(unsigned long long z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

struct Model {
    int rows, inequalities, columns, binaries, integers, objectives;
    Array<const INDEX> row_start, row_column;
    Array<const REAL> row_value;
    Array<const REAL> sides;   // (rows,) upper sides
    Array<const REAL> ranges;  // (rows - inequalities,) upper less lower side
    Array<const REAL> scales;  // (rows,) about one over the largest entry
    Array<const INDEX> column_start, column_row;
    Array<const REAL> column_value;
    Array<const REAL> bounds;  // (columns, 2)
    Array<const COSTS_T> costs;
    Array<const INDEX> objective_columns;

    BOTH double range(int row) const {
        return row < inequalities ? 1e308 : double(ranges[row - inequalities]);
    }

    BOTH REAL clipped(int j, double value) const {
        const Pair own = ((const Pair*)&bounds[0])[j];
        return REAL(smaller(larger(value, double(own.first)), double(own.second)));
    }

    // Value at which a row's activity has changed by ``need``; integers go as far as needed.
    BOTH REAL tight(int j, double x, double a, double need) const {
        double move = need / a;
        if (j < binaries) return REAL(move > 0.0 ? 1.0 : 0.0);
        if (j < integers) {
            const double excess = 0.5 * TOLERANCE / fabs(a);
            move = move > 0.0 ? ceil(plus(move, -excess)) : floor(plus(move, excess));
        }
        return clipped(j, plus(x, move));
    }

    // Value at which column ``j`` alone would change the objective by ``gap``.
    BOTH REAL breaking(int j, double x, double gap) const {
        const double cost = double(costs[j]);
        double move = gap / cost;
        if (j < binaries) return REAL(cost > 0.0 ? 0.0 : 1.0);
        if (j < integers) move = cost > 0.0 ? floor(move) : ceil(move);
        return clipped(j, plus(x, move));
    }
};

// A rank for ties that differs for each candidate of a step and is never 0.
BOTH unsigned tie_rank(unsigned base, int candidate) {
    unsigned h = base + unsigned(candidate) * 0x9e3779b9u;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    h ^= h >> 16;
    return (h & 0xfffff000u) | unsigned(candidate + 1);
}

BOTH double violation(double slack, double range) {
    const double beyond = slack < 0.0 ? -slack : slack - range;
    return beyond > TOLERANCE ? beyond : 0.0;
}

struct Score {
    double progress, bonus;
};

// Adds ``sign`` times what a row's change of slack is worth.
BOTH void add_row(Score& score, bool jump, double before, double after, double weight, double range,
                  double sign) {
    const double was = violation(before, range), is = violation(after, range);
    if (jump) {
        score.progress = plus(score.progress, sign * times(weight, plus(was, -is)));
    } else if (was > 0.0) {
        if (is == 0.0) score.progress += 2.0 * sign * weight;
        else if (is < was) score.progress += sign * weight;
        else if (is > was) score.progress -= sign * weight;
    } else if (is > 0.0) {
        score.progress -= 2.0 * sign * weight;
    } else {
        const bool had = before > TOLERANCE && range - before > TOLERANCE;
        const bool has = after > TOLERANCE && range - after > TOLERANCE;
        if (has && !had) score.bonus += sign * weight;
        if (had && !has) score.bonus -= sign * weight;
    }
}

// Entries ``first``, ``first + stride``, ... of a column that moves by ``delta``. Some entries' rows
// and cells are fetched before the first is scored, as each fetch waits for the one before.
template <int FETCHED>
BOTH Score entries_score(const Model& model, const Pair* cells, bool jump, REAL delta, int first,
                         int end, int stride) {
    Score score = {0.0, 0.0};
    for (int e = first; e < end; e += FETCHED * stride) {
        int row[FETCHED];
        REAL value[FETCHED];
        Pair cell[FETCHED];
        UNROLLED
        for (int k = 0; k < FETCHED; ++k) {
            const int at = e + k * stride;
            row[k] = at < end ? int(model.column_row[at]) : -1;
            value[k] = at < end ? model.column_value[at] : REAL(0);
        }
        UNROLLED
        for (int k = 0; k < FETCHED; ++k)
            if (row[k] >= 0) cell[k] = cells[row[k]];
        UNROLLED
        for (int k = 0; k < FETCHED; ++k) {
            if (row[k] < 0) break;
            const REAL after = cell[k].first - times(value[k], delta);
            add_row(score, jump, double(cell[k].first), double(after), double(cell[k].second),
                    model.range(row[k]), 1.0);
        }
    }
    return score;
}

// The objective, which counts as a row that holds at the target.
struct Objective {
    double now, weight, target, scale;
    bool jump;

    // What a change of it is worth.
    BOTH double progress(double change) const {
        if (!(target < NONE)) return 0.0;
        if (jump) return -times(weight, times(change, scale));
        const double after = plus(now, change);
        if (!(now > target)) return after > target ? -2.0 * weight : 0.0;
        if (after <= target) return 2.0 * weight;
        return change < 0.0 ? weight : change > 0.0 ? -weight : 0.0;
    }
};

struct Choice {  // a move; tie 0 stands for none; stamp says until when its column was bound last
    double progress, bonus;
    unsigned tie;
    int column;
    REAL value;
    unsigned stamp;

    BOTH bool beats(const Choice& other) const {
        if (other.tie == 0u) return tie != 0u;
        if (progress != other.progress) return progress > other.progress;
        if (bonus != other.bonus) return bonus > other.bonus;
        if (stamp != other.stamp) return stamp < other.stamp;
        return tie > other.tie;
    }
};

BOTH Choice no_choice() { return Choice{0.0, 0.0, 0u, -1, REAL(0), 0u}; }
