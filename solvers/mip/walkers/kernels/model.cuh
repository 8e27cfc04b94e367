// The model as device code sees it, scores of single entries, and the choice among candidates.

#include "pair.cuh"

struct Model {
    int rows, inequalities, columns, binaries, integers, objectives;
    const INDEX* row_start;
    const INDEX* row_column;
    const REAL* row_value;
    const REAL* sides;   // (rows,) upper sides
    const REAL* ranges;  // (rows - inequalities,) upper less lower side
    const REAL* scales;  // (rows,) about one over the largest entry
    const INDEX* column_start;
    const INDEX* column_row;
    const REAL* column_value;
    const Pair* bounds;
    const COSTS_T* costs;
    const INDEX* objective_columns;

    __device__ double range(int row) const {
        return row < inequalities ? 1e308 : double(ranges[row - inequalities]);
    }
};

// A rank for ties that differs for each candidate of a step and is never 0.
__device__ inline unsigned tie_rank(unsigned base, int candidate) {
    unsigned h = base + unsigned(candidate) * 0x9e3779b9u;
    h = (h ^ (h >> 16)) * 0x85ebca6bu;
    h = (h ^ (h >> 13)) * 0xc2b2ae35u;
    h ^= h >> 16;
    return (h & 0xfffff000u) | unsigned(candidate + 1);
}

__device__ inline double violation(double slack, double range) {
    const double beyond = slack < 0.0 ? -slack : slack - range;
    return beyond > TOLERANCE ? beyond : 0.0;
}

struct Score {
    double progress, bonus;
};

// Adds ``sign`` times what a row's change of slack is worth.
__device__ inline void add_row(Score& score, bool jump, double before, double after, double weight,
                               double range, double sign) {
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

struct Choice {  // a move; tie 0 stands for none; stamp says until when its column was bound last
    double progress, bonus;
    unsigned tie;
    int column;
    REAL value;
    unsigned stamp;
};

__device__ inline bool better(const Choice& a, const Choice& b) {
    if (b.tie == 0u) return a.tie != 0u;
    if (a.progress != b.progress) return a.progress > b.progress;
    if (a.bonus != b.bonus) return a.bonus > b.bonus;
    if (a.stamp != b.stamp) return a.stamp < b.stamp;
    return a.tie > b.tie;
}

__device__ inline unsigned long long ordered(double value) {  // keeps the order of numbers
    const unsigned long long bits = (unsigned long long)__double_as_longlong(value);
    return (bits >> 63) ? ~bits : bits | 0x8000000000000000ull;
}

template <int LANES>
__device__ Choice best_of(const Group<LANES>& group, const Choice& own) {
    bool active = own.tie != 0u;
    const unsigned long long progress = ordered(own.progress);
    const unsigned keys[5] = {unsigned(progress >> 32), unsigned(progress),
                              unsigned(int(own.bonus)) + 0x80000000u, ~own.stamp, own.tie};
    for (int place = 0; place < 5; ++place) {
        const unsigned top = group.largest(active ? keys[place] : 0u);
        active = active && keys[place] == top;
        if (place == 0 && top == 0u) return Choice{0.0, 0.0, 0u, -1, REAL(0), 0u};
    }
    const int source = group.first(active);
    return Choice{group.from(source, own.progress), 0.0, 1u, group.from(source, own.column),
                  REAL(group.from(source, double(own.value))), 0u};
}
