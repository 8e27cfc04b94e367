// The sums of a check on the CPU; measure.py states them. A slot holds an even share of the slices.
#include "slices.h"

namespace {

#include "control.cuh"

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
void measure_rows(int slices, int height, Grid<const Index> meta, StoredIndices<Index> indices,
                  StoredValues values, Numbers table, Grid<const Index> splits,
                  Grid<const double> partials, Span<const Index> tickets, Numbers x_projection,
                  Numbers x_difference, Numbers x_first_difference, Numbers projection,
                  Numbers difference, Numbers first_difference, Numbers anchor, Numbers row_lower,
                  Numbers row_upper, Numbers metric, Numbers control, int slots,
                  Grid<double> partial, int threads) {
    const auto matrix =
        slices_of(slices, height, meta, indices, values, table, splits, partials, tickets);
    check_length("control", control.size(), STOP + 1);
    check_length("projection", projection.size(), height == 1 ? slices : 0);
    for (const auto &owned : {difference, first_difference, anchor, row_lower, row_upper, metric})
        check_length("a vector of the rows", owned.size(), projection.size());
    if (control[STOP] != 0.0)
        return;
    const auto add = [&](auto &sums, std::int64_t i, const auto &row, const auto &rows) {
        const auto [activity, moved, moved_first] =
            products_of(rows, row, x_projection, x_difference, x_first_difference);
        sums[0] += square(activity - std::min(std::max(activity, row_lower[i]), row_upper[i]));
        if (projection[i] > 0.0)
            sums[1] += projection[i] * row_lower[i];
        else if (projection[i] < 0.0)
            sums[1] += projection[i] * row_upper[i];
        sums[2] += square(projection[i] - anchor[i]) / metric[i];
        sums[3] += square(difference[i]) / metric[i];
        sums[4] += difference[i] * moved;
        sums[5] += square(first_difference[i]) / metric[i];
        sums[6] += first_difference[i] * moved_first;
    };
    sum_by_slots(matrix, slots, partial, threads, add);
}

/// Sum what a check needs of the columns.
template <class Index>
void measure_columns(int slices, int height, Grid<const Index> meta, StoredIndices<Index> indices,
                     StoredValues values, Numbers table, Grid<const Index> splits,
                     Grid<const double> partials, Span<const Index> tickets, Numbers y_projection,
                     Numbers projection, Numbers difference, Numbers first_difference,
                     Numbers anchor, Numbers cost, Numbers lower, Numbers upper, Numbers metric,
                     Numbers control, int slots, Grid<double> partial, int threads) {
    const auto matrix =
        slices_of(slices, height, meta, indices, values, table, splits, partials, tickets);
    check_length("control", control.size(), STOP + 1);
    check_length("projection", projection.size(), height == 1 ? slices : 0);
    for (const auto &owned : {difference, first_difference, anchor, cost, lower, upper, metric})
        check_length("a vector of the columns", owned.size(), projection.size());
    if (control[STOP] != 0.0)
        return;
    const auto add = [&](auto &sums, std::int64_t j, const auto &row, const auto &rows) {
        const double reduced = cost[j] - products_of(rows, row, y_projection)[0];
        const double side = reduced > 0.0 ? lower[j] : upper[j];
        if (std::isfinite(side))
            sums[1] += reduced * side;
        else
            sums[0] += square(reduced);
        sums[2] += square(projection[j] - anchor[j]) / metric[j];
        sums[3] += square(difference[j]) / metric[j];
        sums[4] += cost[j] * projection[j];
        sums[5] += square(first_difference[j]) / metric[j];
    };
    sum_by_slots(matrix, slots, partial, threads, add);
}

} // namespace

NATIVE_MODULE(pdlp_measure) {
    NATIVE_CONSTANTS(module, "solvers.pdlp.kernels.measure", SUMS);
    NATIVE_KERNELS_BY_INDEX(module, measure_rows, measure_columns);
}
