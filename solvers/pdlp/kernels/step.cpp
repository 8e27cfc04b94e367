// The two halves of an iteration on the CPU, one by one, and whole iterations in one call.
#include "half_steps.h"

using namespace native;

namespace {

/// Advance x (n,) by its half of an iteration.
template <class Index>
void primal_step(const Slices<Index> &matrix, Numbers y, const ColumnSide &x, Numbers control,
                 int offset, int keep, int threads) {
    const PrimalHalf<Index> half{matrix, y, x, control};
    half.check();
    half.advance(offset, keep, threads);
}

/// Advance y (m,) by its half of an iteration.
template <class Index>
void dual_step(const Slices<Index> &matrix, Numbers reflected, const RowSide &y, Numbers control,
               int offset, int keep, int threads) {
    const DualHalf<Index> half{matrix, reflected, y, control};
    half.check();
    half.advance(offset, keep, threads);
}

/// Run iterations ``first`` to ``first + count`` of a block, from the arguments of both steps up
/// to ``control``: for small problems coming back to Python would cost more than the iterations.
template <class Index>
void steps_fast(std::int64_t first, std::int64_t count, const Slices<Index> &by_column, Numbers y,
                const ColumnSide &columns, Numbers /*control*/, const Slices<Index> &by_row,
                Numbers reflected, const RowSide &rows, Numbers control, int threads) {
    const PrimalHalf<Index> primal{by_column, y, columns, control};
    const DualHalf<Index> dual{by_row, reflected, rows, control};
    primal.check();
    dual.check();
    for (std::int64_t offset = first; offset < first + count; ++offset) {
        poll();
        primal.advance(offset, KEEP_NONE, threads);
        dual.advance(offset, KEEP_NONE, threads);
    }
}

} // namespace

NATIVE_MODULE(pdlp_step) {
    NATIVE_CONSTANTS(module, "solvers.pdlp.kernels.step", KEEP_NONE, KEEP_FIRST, KEEP_LAST);
    NATIVE_KERNELS_BY_INDEX(module, primal_step, dual_step, steps_fast);
}
