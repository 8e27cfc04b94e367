// Iteration blocks on the CPU; staying.py states the contract.

#include <vector>

#include "half_steps.h"

using namespace native;

namespace {

using Index = std::int32_t; // these are run on a CPU by tests only

/// Run the iterations of a block one after the other.
void barrier_steps(int column_slices, int column_height, Grid<const Index> column_meta,
                   StoredIndices<Index> column_indices, StoredValues column_values,
                   Numbers column_table, Grid<const Index> column_splits,
                   Grid<const double> column_partials, Span<const Index> column_tickets,
                   int row_slices, int row_height, Grid<const Index> row_meta,
                   StoredIndices<Index> row_indices, StoredValues row_values, Numbers row_table,
                   Grid<const Index> row_splits, Grid<const double> row_partials,
                   Span<const Index> row_tickets, NumbersOut x, Numbers x_anchor, Numbers cost,
                   Numbers lower, Numbers upper, Numbers column_metric, NumbersOut reflected,
                   NumbersOut x_projection, NumbersOut x_difference, NumbersOut x_first_difference,
                   NumbersOut y, Numbers y_anchor, Numbers row_lower, Numbers row_upper,
                   Numbers row_metric, NumbersOut y_projection, NumbersOut y_difference,
                   NumbersOut y_first_difference, Numbers control, int count, int /*blocks*/,
                   Span<const Index> /*arrivals*/, int /*threads*/) {
    const PrimalHalf<Index> primal{slices_of(column_slices, column_height, column_meta,
                                             column_indices, column_values, column_table,
                                             column_splits, column_partials, column_tickets),
                                   y,
                                   cost,
                                   lower,
                                   upper,
                                   column_metric,
                                   reflected,
                                   {x, x_anchor, x_projection, x_difference, x_first_difference},
                                   control};
    const DualHalf<Index> dual{slices_of(row_slices, row_height, row_meta, row_indices, row_values,
                                         row_table, row_splits, row_partials, row_tickets),
                               reflected,
                               row_lower,
                               row_upper,
                               row_metric,
                               {y, y_anchor, y_projection, y_difference, y_first_difference},
                               control};
    run_iterations(primal, dual, count);
}

/// The same with memory of its own for the reflected point: in order, no tags are needed.
void flow_steps(int column_slices, int column_height, Grid<const Index> column_meta,
                StoredIndices<Index> column_indices, StoredValues column_values,
                Numbers column_table, Grid<const Index> column_splits,
                Grid<const double> column_partials, Span<const Index> column_tickets,
                int row_slices, int row_height, Grid<const Index> row_meta,
                StoredIndices<Index> row_indices, StoredValues row_values, Numbers row_table,
                Grid<const Index> row_splits, Grid<const double> row_partials,
                Span<const Index> row_tickets, NumbersOut x, Numbers x_anchor, Numbers cost,
                Numbers lower, Numbers upper, Numbers column_metric, NumbersOut x_projection,
                NumbersOut x_difference, NumbersOut x_first_difference, NumbersOut y,
                Numbers y_anchor, Numbers row_lower, Numbers row_upper, Numbers row_metric,
                NumbersOut y_projection, NumbersOut y_difference, NumbersOut y_first_difference,
                Numbers control, int count, int /*blocks*/, Grid<const double> /*tagged_reflected*/,
                Grid<const double> /*tagged_y*/, int /*threads*/) {
    std::vector<double> memory(x.size());
    barrier_steps(column_slices, column_height, column_meta, column_indices, column_values,
                  column_table, column_splits, column_partials, column_tickets, row_slices,
                  row_height, row_meta, row_indices, row_values, row_table, row_splits,
                  row_partials, row_tickets, x, x_anchor, cost, lower, upper, column_metric,
                  NumbersOut(memory.data(), x.size()), x_projection, x_difference,
                  x_first_difference, y, y_anchor, row_lower, row_upper, row_metric, y_projection,
                  y_difference, y_first_difference, control, count, 1, {}, 1);
}

} // namespace

NATIVE_MODULE(pdlp_staying) { NATIVE_KERNELS(module, barrier_steps, flow_steps); }
