// What the loops on the CPU have in common: types, the model's arrays, and sums in the order in
// which the lanes of warps and blocks add.
#pragma once

#include "native/bindings.h"

namespace {

using REAL = double;
using INDEX = std::int32_t;
using COSTS_T = double;
using RECORDS_T = double;
using std::max;
using std::min;
#include "model.cuh"

using Numbers = native::Span<const REAL>;
using NumbersOut = native::Span<REAL>;
using Ints = native::Span<const INDEX>;
using IntsOut = native::Span<INDEX>;

/// The sum of the lanes' parts in the order in which a group adds them; spoils them.
inline double lane_sum(double *parts, int lanes) {
    for (int warp = 0; warp < lanes; warp += 32)
        for (int offset = 16; offset > 0; offset /= 2)
            for (int lane = warp; lane < warp + offset; ++lane)
                parts[lane] += parts[lane + offset];
    double total = parts[0];
    for (int warp = 32; warp < lanes; warp += 32)
        total += parts[warp];
    return total;
}

/// Refuse a model whose arrays are too short.
inline void check_model(const Model &model) {
    const std::int64_t rows = model.rows, columns = model.columns;
    native::check_length("row_start", model.row_start.size(), rows + 1);
    native::check_length("row_column", model.row_column.size(), model.row_start[rows]);
    native::check_length("row_value", model.row_value.size(), model.row_start[rows]);
    native::check_length("sides", model.sides.size(), rows);
    native::check_length("ranges", model.ranges.size(), rows - model.inequalities);
    native::check_length("scales", model.scales.size(), rows);
    native::check_length("column_start", model.column_start.size(), columns + 1);
    native::check_length("column_row", model.column_row.size(), model.column_start[columns]);
    native::check_length("column_value", model.column_value.size(), model.column_start[columns]);
    native::check_length("bounds", model.bounds.size(), 2 * columns);
    native::check_length("costs", model.costs.size(), columns);
    native::check_length("objective_columns", model.objective_columns.size(), model.objectives);
}

// One thread in place of a warp (group.cuh): all lanes' work in turn, in the order of lanes.

constexpr int LANES = 32; // threads of a warp

/// What Group does, by one thread.
struct Single {
    static constexpr int STRIDE = 1, TOGETHER = LANES, FETCHED = 1;
    static constexpr int lane = 0;
    int waiting = 0, taken = 0;
    int rows[LANES];

    void sync() const {}
    void poll() const { native::poll(); }
    int first(bool flag) const { return flag ? 0 : -1; }
    int rank(bool flag, int &total) const {
        total = flag;
        return 0;
    }
    template <class T> T from(int, T value) const { return value; }
    long long count(long long value) const { return value; }

    template <class Part> Score total_score(bool alone, Part part) const {
        if (alone)
            return part(0, 1);
        double progress[LANES], bonus[LANES];
        for (int lane = 0; lane < LANES; ++lane) {
            const Score own = part(lane, LANES);
            progress[lane] = own.progress;
            bonus[lane] = own.bonus;
        }
        return {lane_sum(progress, LANES), lane_sum(bonus, LANES)};
    }

    template <class Part> double total(Part part) const {
        double parts[LANES];
        for (int lane = 0; lane < LANES; ++lane)
            parts[lane] = part(lane, LANES);
        return lane_sum(parts, LANES);
    }

    template <class Part> double least_of(bool, Part part) const { return part(0, 1); }

    /// Rows wait until all lanes' entries have been looked at.
    int next_of(int row, bool &flag, bool ends) {
        if (flag)
            rows[waiting++] = row;
        flag = false;
        if (!ends)
            return -1;
        if (taken < waiting)
            return rows[taken++];
        waiting = taken = 0;
        return -1;
    }

    template <class Look> void each_lane(Look look) const {
        for (int lane = 0; lane < LANES; ++lane)
            look(lane);
    }
};

inline Choice best_of(const Single &, const Choice &own) { return own; }

} // namespace

NATIVE_STRUCT(Model, rows, inequalities, columns, binaries, integers, objectives, row_start,
              row_column, row_value, sides, ranges, scales, column_start, column_row, column_value,
              bounds, costs, objective_columns)
