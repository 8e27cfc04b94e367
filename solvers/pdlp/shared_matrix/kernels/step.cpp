// The two halves of an iteration for several problems on the CPU; step.py states the formulas.
#include "rows.h"

using namespace native;

namespace {

constexpr int KEEP_NONE = 0, KEEP_FIRST = 1, KEEP_LAST = 2;

/// What one problem's points move by in an iteration.
struct StepSize {
    bool stopped;
    double step, weight;
};

std::vector<StepSize> step_sizes(ControlIn control, Field step, std::int64_t width,
                                 std::int64_t offset) {
    std::vector<StepSize> sizes(width);
    for (std::int64_t problem = 0; problem < width; ++problem) {
        const double k = control(ITERATIONS_SINCE_RESTART, problem) + static_cast<double>(offset);
        sizes[problem] = {control(STOP, problem) != 0.0, control(step, problem),
                          (k + 1.0) / (k + 2.0)};
    }
    return sizes;
}

/// What the points of one side and their steps are written to.
struct Side {
    NumbersOut point;
    Numbers anchor;
    NumbersOut projection, difference, first_difference;

    void check(std::int64_t size) const {
        for (const std::int64_t found : {point.size(), anchor.size(), projection.size(),
                                         difference.size(), first_difference.size()})
            check_length("a vector", found, size);
    }
    /// Put the next point and what is kept of the step into place.
    void advance(std::int64_t at, double weight, double current, double projected, double mirrored,
                 int keep) const {
        point[at] = weight * mirrored + (1.0 - weight) * anchor[at];
        if (keep & KEEP_FIRST)
            first_difference[at] = mirrored - current;
        if (keep & KEEP_LAST) {
            projection[at] = projected;
            difference[at] = mirrored - current;
        }
    }
};

void check_half(const Rows &rows, const Side &side, Numbers low, Numbers high, Numbers metric,
                ControlIn control) {
    const std::int64_t owners = rows.starts.size() - 1, size = owners * rows.width;
    side.check(size);
    check_length("lower bounds", low.size(), size);
    check_length("upper bounds", high.size(), size);
    check_length("metric", metric.size(), owners);
    check_length("control", control.shape(0), RESIDUAL_EXPONENT + 1);
    check_length("a row of control", control.shape(1), rows.width);
}

/// Call move(at, row, product, size) for each problem's element of each row.
template <class Move>
void for_each_owner(const Rows &rows, Numbers vector, const std::vector<StepSize> &sizes,
                    int threads, const Move &move) {
    parallel_for(threads, rows.units, [&](std::int64_t unit) {
        double products[MOST_PROBLEMS];
        rows.each_row(unit, [&](std::int64_t row) {
            multiply_row(rows, row, vector, products);
            for (std::int64_t problem = 0; problem < rows.width; ++problem)
                if (!sizes[problem].stopped)
                    move(row * rows.width + problem, row, products[problem], sizes[problem]);
        });
    });
}

/// The half that owns the columns; the matrix is A'.
struct PrimalHalf {
    Rows rows;
    Numbers y, cost, lower, upper, metric;
    NumbersOut reflected;
    Side x;
    ControlIn control;

    void advance(std::int64_t offset, int keep, int threads) const {
        const std::vector<StepSize> sizes = step_sizes(control, TAU, rows.width, offset);
        for_each_owner(
            rows, y, sizes, threads,
            [&](std::int64_t at, std::int64_t row, double product, const StepSize &size) {
                const double current = x.point[at], step = size.step * metric[row];
                const double moved = current - step * (cost[at] - product);
                const double projected = std::min(std::max(moved, lower[at]), upper[at]);
                const double mirrored = 2.0 * projected - current;
                reflected[at] = mirrored;
                x.advance(at, size.weight, current, projected, mirrored, keep);
            });
    }
};

/// The half that owns the rows; the matrix is A.
struct DualHalf {
    Rows rows;
    Numbers reflected, row_lower, row_upper, metric;
    Side y;
    ControlIn control;

    void advance(std::int64_t offset, int keep, int threads) const {
        const std::vector<StepSize> sizes = step_sizes(control, SIGMA, rows.width, offset);
        for_each_owner(
            rows, reflected, sizes, threads,
            [&](std::int64_t at, std::int64_t row, double product, const StepSize &size) {
                const double current = y.point[at], step = size.step * metric[row];
                const double moved = current - step * product;
                const double low = -step * row_upper[at], high = -step * row_lower[at];
                const double projected = moved - std::min(std::max(moved, low), high);
                const double mirrored = 2.0 * projected - current;
                y.advance(at, size.weight, current, projected, mirrored, keep);
            });
    }
};

PrimalHalf primal_half(int units, IntGrid unit_table, Ints starts, Ints indices, Numbers values,
                       int width, Grid<const double> /*partials*/, Ints /*tickets*/, Numbers y,
                       NumbersOut x, Numbers anchor, Numbers cost, Numbers lower, Numbers upper,
                       Numbers metric, NumbersOut reflected, NumbersOut projection,
                       NumbersOut difference, NumbersOut first_difference, ControlIn control) {
    const PrimalHalf half{rows_of(units, unit_table, starts, indices, values, width),
                          y,
                          cost,
                          lower,
                          upper,
                          metric,
                          reflected,
                          {x, anchor, projection, difference, first_difference},
                          control};
    check_half(half.rows, half.x, lower, upper, metric, control);
    check_length("cost", cost.size(), x.size());
    check_length("reflected", reflected.size(), x.size());
    return half;
}

DualHalf dual_half(int units, IntGrid unit_table, Ints starts, Ints indices, Numbers values,
                   int width, Grid<const double> /*partials*/, Ints /*tickets*/, Numbers reflected,
                   NumbersOut y, Numbers anchor, Numbers row_lower, Numbers row_upper,
                   Numbers metric, NumbersOut projection, NumbersOut difference,
                   NumbersOut first_difference, ControlIn control) {
    const DualHalf half{rows_of(units, unit_table, starts, indices, values, width),
                        reflected,
                        row_lower,
                        row_upper,
                        metric,
                        {y, anchor, projection, difference, first_difference},
                        control};
    check_half(half.rows, half.y, row_lower, row_upper, metric, control);
    return half;
}

/// Advance every x (n, width) by its half of an iteration.
void primal_step(int units, IntGrid unit_table, Ints starts, Ints indices, Numbers values,
                 int width, Grid<const double> partials, Ints tickets, Numbers y, NumbersOut x,
                 Numbers anchor, Numbers cost, Numbers lower, Numbers upper, Numbers metric,
                 NumbersOut reflected, NumbersOut projection, NumbersOut difference,
                 NumbersOut first_difference, ControlIn control, int offset, int keep,
                 int threads) {
    primal_half(units, unit_table, starts, indices, values, width, partials, tickets, y, x, anchor,
                cost, lower, upper, metric, reflected, projection, difference, first_difference,
                control)
        .advance(offset, keep, threads);
}

/// Advance every y (m, width) by its half of an iteration.
void dual_step(int units, IntGrid unit_table, Ints starts, Ints indices, Numbers values, int width,
               Grid<const double> partials, Ints tickets, Numbers reflected, NumbersOut y,
               Numbers anchor, Numbers row_lower, Numbers row_upper, Numbers metric,
               NumbersOut projection, NumbersOut difference, NumbersOut first_difference,
               ControlIn control, int offset, int keep, int threads) {
    dual_half(units, unit_table, starts, indices, values, width, partials, tickets, reflected, y,
              anchor, row_lower, row_upper, metric, projection, difference, first_difference,
              control)
        .advance(offset, keep, threads);
}

using PrimalArguments = decltype(arguments_of(&primal_half));
using DualArguments = decltype(arguments_of(&dual_half));

/// Run iterations ``first`` to ``first + count`` of a block, from the arguments of both steps up
/// to ``control``: coming back to Python in between would cost more than small iterations.
void steps_fast(std::int64_t first, std::int64_t count, const PrimalArguments &primal,
                const DualArguments &dual, int threads) {
    const PrimalHalf primal_part = primal.apply(&primal_half);
    const DualHalf dual_part = dual.apply(&dual_half);
    for (std::int64_t offset = first; offset < first + count; ++offset) {
        poll();
        primal_part.advance(offset, KEEP_NONE, threads);
        dual_part.advance(offset, KEEP_NONE, threads);
    }
}

} // namespace

NATIVE_MODULE(pdlp_shared_matrix_step) {
    NATIVE_CONSTANTS(module, "solvers.pdlp.shared_matrix.kernels.step", KEEP_NONE, KEEP_FIRST,
                     KEEP_LAST);
    expose(module, "steps_fast", &steps_fast, "first", "count", "primal", "dual", "threads");
    NATIVE_KERNELS(module, primal_step, dual_step);
}
