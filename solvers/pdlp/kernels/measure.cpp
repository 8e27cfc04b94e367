// The sums of a check on the CPU; measure.py states them. A slot holds an even share of the slices.
#include "slices.h"

namespace {

#include "sides.cuh"

} // namespace

using namespace native;

namespace {

constexpr int SUMS = 7;

double square(double value) { return value * value; }

/// Call add(sums, i, row, rows) for the rows of each slot, and leave the slot's sums.
template <class Index, class Add>
void sum_by_slots(const Slices<Index> &matrix, std::int64_t slots, Grid<double> partial,
                  int threads, const Add &add) {
    check_length("partial", partial.shape(0), slots);
    check_length("a row of partial", partial.shape(1), SUMS);
    with_rows(matrix, [&](const auto &rows) {
        parallel_for(threads, slots, [&](std::int64_t slot) {
            std::array<double, SUMS> sums{};
            const std::int64_t end = (slot + 1) * matrix.slices / slots;
            for (std::int64_t at = slot * matrix.slices / slots; at < end; ++at)
                rows.each_row(at,
                              [&](std::int64_t i, const auto &row) { add(sums, i, row, rows); });
            for (int which = 0; which < SUMS; ++which)
                partial(slot, which) = sums[which];
        });
    });
}

/// Sum what a check needs of the rows.
template <class Index>
void measure_rows(const Slices<Index> &matrix, const LastSteps &x, const MeasuredRows &own,
                  Numbers control, int slots, Grid<double> partial, int threads) {
    check_length("control", control.size(), STOP + 1);
    check_owned(matrix, own.projection, own.difference, own.first_difference, own.anchor, own.lower,
                own.upper, own.metric);
    if (control[STOP] != 0.0)
        return;
    const auto add = [&](auto &sums, std::int64_t i, const auto &row, const auto &rows) {
        const auto [activity, moved, moved_first] =
            products_of(rows, row, x.projection, x.difference, x.first_difference);
        sums[0] += square(activity - std::min(std::max(activity, own.lower[i]), own.upper[i]));
        if (own.projection[i] > 0.0)
            sums[1] += own.projection[i] * own.lower[i];
        else if (own.projection[i] < 0.0)
            sums[1] += own.projection[i] * own.upper[i];
        sums[2] += square(own.projection[i] - own.anchor[i]) / own.metric[i];
        sums[3] += square(own.difference[i]) / own.metric[i];
        sums[4] += own.difference[i] * moved;
        sums[5] += square(own.first_difference[i]) / own.metric[i];
        sums[6] += own.first_difference[i] * moved_first;
    };
    sum_by_slots(matrix, slots, partial, threads, add);
}

/// Sum what a check needs of the columns.
template <class Index>
void measure_columns(const Slices<Index> &matrix, Numbers y_projection, const MeasuredColumns &own,
                     Numbers control, int slots, Grid<double> partial, int threads) {
    check_length("control", control.size(), STOP + 1);
    check_owned(matrix, own.projection, own.difference, own.first_difference, own.anchor, own.cost,
                own.lower, own.upper, own.metric);
    if (control[STOP] != 0.0)
        return;
    const auto add = [&](auto &sums, std::int64_t j, const auto &row, const auto &rows) {
        const double reduced = own.cost[j] - products_of(rows, row, y_projection)[0];
        const double side = reduced > 0.0 ? own.lower[j] : own.upper[j];
        if (std::isfinite(side))
            sums[1] += reduced * side;
        else
            sums[0] += square(reduced);
        sums[2] += square(own.projection[j] - own.anchor[j]) / own.metric[j];
        sums[3] += square(own.difference[j]) / own.metric[j];
        sums[4] += own.cost[j] * own.projection[j];
        sums[5] += square(own.first_difference[j]) / own.metric[j];
    };
    sum_by_slots(matrix, slots, partial, threads, add);
}

} // namespace

NATIVE_STRUCT(LastSteps, projection, difference, first_difference)
NATIVE_STRUCT(MeasuredRows, projection, difference, first_difference, anchor, lower, upper, metric)
NATIVE_STRUCT(MeasuredColumns, projection, difference, first_difference, anchor, cost, lower, upper,
              metric)

NATIVE_MODULE(pdlp_measure) {
    NATIVE_CONSTANTS(module, "solvers.pdlp.kernels.measure", SUMS);
    NATIVE_KERNELS_BY_INDEX(module, measure_rows, measure_columns);
}
