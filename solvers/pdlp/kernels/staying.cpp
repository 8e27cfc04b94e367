// Iteration blocks on the CPU; staying.py states the contract.

#include <vector>

#include "half_steps.h"

using namespace native;

namespace {

using Index = std::int32_t; // these are run on a CPU by tests only

/// Run the iterations of a block one after the other.
void barrier_steps(const Slices<Index> &by_column, const Slices<Index> &by_row, const ColumnSide &x,
                   const RowSide &y, Numbers control, int count, int /*blocks*/,
                   Span<const Index> /*arrivals*/, int /*threads*/) {
    run_iterations(PrimalHalf<Index>{by_column, y.point, x, control},
                   DualHalf<Index>{by_row, x.reflected, y, control}, count);
}

/// The same with memory of its own for the reflected point: in order, no tags are needed.
void flow_steps(const Slices<Index> &by_column, const Slices<Index> &by_row, ColumnSide x,
                const RowSide &y, Numbers control, int count, int blocks,
                Grid<const double> /*tagged_reflected*/, Grid<const double> /*tagged_y*/,
                int threads) {
    std::vector<double> memory(x.point.size());
    x.reflected = NumbersOut(memory.data(), x.point.size());
    barrier_steps(by_column, by_row, x, y, control, count, blocks, {}, threads);
}

} // namespace

NATIVE_MODULE(pdlp_staying) { NATIVE_KERNELS(module, barrier_steps, flow_steps); }
