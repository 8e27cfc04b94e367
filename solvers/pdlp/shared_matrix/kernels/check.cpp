// The check of several problems on the CPU; check.py states it.
#include "rows.h"

namespace {

using REAL = double;
#include "conclude.cuh"

} // namespace

using namespace native;

namespace {

/// What is summed of one row for one problem; rows and columns differ in what they add.
struct Owner {
    Numbers projection, difference, first_difference, anchor;

    void check(const Rows &rows) const {
        for (const std::int64_t found :
             {projection.size(), difference.size(), first_difference.size(), anchor.size()})
            check_length("a vector", found, (rows.starts.size() - 1) * rows.width);
    }
    /// Add the terms of distances and steps.
    void add(double *sums, std::int64_t at, double scale) const {
        const double distance = projection[at] - anchor[at];
        sums[2] += distance * distance / scale;
        sums[3] += difference[at] * difference[at] / scale;
        sums[4] += first_difference[at] * first_difference[at] / scale;
    }
};

/// Call add(sums, at, row, product) for each element of each slot, and leave the slot's sums.
template <class Add>
void sum_by_slots(const Rows &rows, Numbers vector, std::int64_t slots, Cube<double> partial,
                  int threads, const Add &add) {
    check_length("partial", partial.shape(0), slots);
    check_length("a slot of partial", partial.shape(1), SUMS);
    check_length("a row of partial", partial.shape(2), rows.width);
    parallel_for(threads, slots, [&](std::int64_t slot) {
        double products[MOST_PROBLEMS];
        std::vector<double> sums(SUMS * rows.width);
        for (std::int64_t unit = slot; unit < rows.units; unit += slots)
            rows.each_row(unit, [&](std::int64_t row) {
                multiply_row(rows, row, vector, products);
                for (std::int64_t problem = 0; problem < rows.width; ++problem)
                    add(&sums[SUMS * problem], row * rows.width + problem, row, products[problem]);
            });
        for (std::int64_t problem = 0; problem < rows.width; ++problem)
            for (int which = 0; which < SUMS; ++which)
                partial(slot, which, problem) = sums[SUMS * problem + which];
    });
}

/// Add the terms of all rows up, problem by problem.
void measure_rows(int units, IntGrid unit_table, Ints starts, Ints indices, Numbers values,
                  int width, Numbers x_projection, Numbers projection, Numbers difference,
                  Numbers first_difference, Numbers anchor, Numbers row_lower, Numbers row_upper,
                  Numbers metric, ControlIn /*control*/, int slots, Cube<double> partial,
                  int threads) {
    const Rows rows = rows_of(units, unit_table, starts, indices, values, width);
    const Owner owner{projection, difference, first_difference, anchor};
    owner.check(rows);
    check_length("row_lower", row_lower.size(), projection.size());
    check_length("row_upper", row_upper.size(), projection.size());
    check_length("metric", metric.size(), starts.size() - 1);
    sum_by_slots(rows, x_projection, slots, partial, threads,
                 [&](double *sums, std::int64_t at, std::int64_t row, double activity) {
                     const double low = row_lower[at], high = row_upper[at];
                     const double residual = activity - std::min(std::max(activity, low), high);
                     sums[0] += residual * residual;
                     sums[1] += support(projection[at], low, high);
                     owner.add(sums, at, metric[row]);
                 });
}

/// Add the terms of all columns up, problem by problem.
void measure_columns(int units, IntGrid unit_table, Ints starts, Ints indices, Numbers values,
                     int width, Numbers y_projection, Numbers projection, Numbers difference,
                     Numbers first_difference, Numbers anchor, Numbers cost, Numbers lower,
                     Numbers upper, Numbers metric, ControlIn /*control*/, int slots,
                     Cube<double> partial, int threads) {
    const Rows rows = rows_of(units, unit_table, starts, indices, values, width);
    const Owner owner{projection, difference, first_difference, anchor};
    owner.check(rows);
    for (const std::int64_t found : {cost.size(), lower.size(), upper.size()})
        check_length("a vector of the columns", found, projection.size());
    check_length("metric", metric.size(), starts.size() - 1);
    sum_by_slots(rows, y_projection, slots, partial, threads,
                 [&](double *sums, std::int64_t at, std::int64_t row, double product) {
                     const double reduced = cost[at] - product;
                     const double side = reduced > 0.0 ? lower[at] : upper[at];
                     const double supported = std::isfinite(side) ? reduced : 0.0;
                     const double residual = reduced - supported;
                     sums[0] += residual * residual;
                     sums[1] += support(supported, lower[at], upper[at]);
                     owner.add(sums, at, metric[row]);
                     sums[5] += cost[at] * projection[at];
                 });
}

void add_slots(int slots, Cube<const double> partial, std::int64_t problem, double *sums) {
    for (int slot = 0; slot < slots; ++slot)
        for (int which = 0; which < SUMS; ++which)
            sums[which] += partial(slot, which, problem);
}

void check_control(ControlIn control, int width) {
    check_length("control", control.shape(0), RESIDUAL_EXPONENT + 1);
    check_length("a row of control", control.shape(1), width);
}

/// Draw every problem's conclusions.
void decide(int row_slots, Cube<const double> row_partial, int column_slots,
            Cube<const double> column_partial, int width, int count, Control control, int threads) {
    check_control(control, width);
    for (const auto &[slots, partial] :
         {std::pair(row_slots, row_partial), std::pair(column_slots, column_partial)}) {
        check_length("partial", partial.shape(0), slots);
        check_length("a slot of partial", partial.shape(1), SUMS);
        check_length("a row of partial", partial.shape(2), width);
    }
    const int stride = static_cast<int>(control.shape(1));
    parallel_for(threads, width, [&](std::int64_t problem) {
        const Column column{control.data(), stride, static_cast<int>(problem)};
        column[RESTART] = column[KEEP_BEST] = 0.0;
        if (column[STOP] != 0.0)
            return;
        double rows[SUMS] = {}, columns[SUMS] = {};
        add_slots(row_slots, row_partial, problem, rows);
        add_slots(column_slots, column_partial, problem, columns);
        conclude(rows, columns, count, column);
    });
}

/// Copy the projected points of one side where the flags say so.
void settle_side(std::int64_t owners, std::int64_t width, NumbersOut point, NumbersOut anchor,
                 Numbers projection, NumbersOut best, ControlIn control, int threads) {
    for (const std::int64_t found : {point.size(), anchor.size(), projection.size(), best.size()})
        check_length("a vector", found, owners * width);
    parallel_for(threads, owners, [&](std::int64_t owner) {
        for (std::int64_t problem = 0; problem < width; ++problem) {
            const std::int64_t at = owner * width + problem;
            if (control(RESTART, problem) != 0.0)
                point[at] = anchor[at] = projection[at];
            if (control(KEEP_BEST, problem) != 0.0)
                best[at] = projection[at];
        }
    });
}

/// Move to the projected points on restarts, and keep the best ones.
void settle(int width, int columns, NumbersOut x, NumbersOut x_anchor, Numbers x_projection,
            NumbersOut best_x, int rows, NumbersOut y, NumbersOut y_anchor, Numbers y_projection,
            NumbersOut best_y, ControlIn control, int threads) {
    check_control(control, width);
    settle_side(columns, width, x, x_anchor, x_projection, best_x, control, threads);
    settle_side(rows, width, y, y_anchor, y_projection, best_y, control, threads);
}

} // namespace

NATIVE_MODULE(pdlp_shared_matrix_check) {
    constants(module, "solvers.pdlp.shared_matrix.kernels.check", {{"SUMS", SUMS}}); // a macro
    NATIVE_KERNELS(module, measure_rows, measure_columns, decide, settle);
}
