// The conclusions of a check on the CPU, and carrying them out; decide.py states both.
#include <cmath>

#include "native/bindings.h"
#include "native/threads.h"

namespace {

using REAL = double;
#include "conclude.cuh"

} // namespace

using namespace native;

namespace {

using Numbers = Span<const double>;
using NumbersOut = Span<double>;

void add_slots(int slots, Grid<const double> partial, double *sums) {
    check_length("partial", partial.shape(0), slots);
    check_length("a row of partial", partial.shape(1), SUMS);
    for (int slot = 0; slot < slots; ++slot)
        for (int which = 0; which < SUMS; ++which)
            sums[which] += partial(slot, which);
}

/// Draw the conclusions of a check.
void decide(int row_slots, Grid<const double> row_partial, int column_slots,
            Grid<const double> column_partial, int count, NumbersOut control, int /*threads*/) {
    check_length("control", control.size(), STEP_SHRINK + 1);
    control[RESTART] = control[KEEP_BEST] = control[KEEP_FEASIBLE] = 0.0;
    if (control[STOP] != 0.0)
        return;
    double rows[SUMS] = {}, columns[SUMS] = {};
    add_slots(row_slots, row_partial, rows);
    add_slots(column_slots, column_partial, columns);
    conclude(rows, columns, count, control.data());
}

/// Copy the projected point of one side where the flags say so.
void settle_side(std::int64_t size, Numbers projection, bool restart, NumbersOut point,
                 NumbersOut anchor, bool best, NumbersOut best_point, bool feasible,
                 NumbersOut feasible_point, int threads) {
    for (const std::int64_t found :
         {projection.size(), point.size(), anchor.size(), best_point.size(), feasible_point.size()})
        check_length("a vector", found, size);
    parallel_for(threads, size, [&](std::int64_t at) {
        if (restart)
            point[at] = anchor[at] = projection[at];
        if (best)
            best_point[at] = projection[at];
        if (feasible)
            feasible_point[at] = projection[at];
    });
}

/// Move to the projected point on a restart, and keep the best points.
void settle(int columns, NumbersOut x, NumbersOut x_anchor, Numbers x_projection, NumbersOut best_x,
            NumbersOut feasible_x, int rows, NumbersOut y, NumbersOut y_anchor,
            Numbers y_projection, NumbersOut best_y, Numbers control, int threads) {
    check_length("control", control.size(), STEP_SHRINK + 1);
    const bool restart = control[RESTART] != 0.0, best = control[KEEP_BEST] != 0.0;
    const bool feasible = control[KEEP_FEASIBLE] != 0.0;
    if (!restart && !best && !feasible)
        return;
    settle_side(columns, x_projection, restart, x, x_anchor, best, best_x, feasible, feasible_x,
                threads);
    settle_side(rows, y_projection, restart, y, y_anchor, best, best_y, false, best_y, threads);
}

} // namespace

NATIVE_MODULE(pdlp_decide) { NATIVE_KERNELS(module, decide, settle); }
