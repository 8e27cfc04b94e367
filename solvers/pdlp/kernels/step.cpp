// The two halves of an iteration on the CPU, one by one, and whole iterations in one call.
#include "half_steps.h"

using namespace native;

namespace {

template <class Index>
PrimalHalf<Index> primal_half(int slices, int height, Grid<const Index> meta,
                              StoredIndices<Index> indices, StoredValues values, Numbers table,
                              Grid<const Index> splits, Grid<const double> partials,
                              Span<const Index> tickets, Numbers y, NumbersOut x, Numbers anchor,
                              Numbers cost, Numbers lower, Numbers upper, Numbers metric,
                              NumbersOut reflected, NumbersOut projection, NumbersOut difference,
                              NumbersOut first_difference, Numbers control) {
    const PrimalHalf<Index> half{
        slices_of(slices, height, meta, indices, values, table, splits, partials, tickets),
        y,
        cost,
        lower,
        upper,
        metric,
        reflected,
        {x, anchor, projection, difference, first_difference},
        control};
    half.check();
    return half;
}

template <class Index>
DualHalf<Index>
dual_half(int slices, int height, Grid<const Index> meta, StoredIndices<Index> indices,
          StoredValues values, Numbers table, Grid<const Index> splits, Grid<const double> partials,
          Span<const Index> tickets, Numbers reflected, NumbersOut y, Numbers anchor,
          Numbers row_lower, Numbers row_upper, Numbers metric, NumbersOut projection,
          NumbersOut difference, NumbersOut first_difference, Numbers control) {
    const DualHalf<Index> half{
        slices_of(slices, height, meta, indices, values, table, splits, partials, tickets),
        reflected,
        row_lower,
        row_upper,
        metric,
        {y, anchor, projection, difference, first_difference},
        control};
    half.check();
    return half;
}

/// Advance x (n,) by its half of an iteration.
template <class Index>
void primal_step(int slices, int height, Grid<const Index> meta, StoredIndices<Index> indices,
                 StoredValues values, Numbers table, Grid<const Index> splits,
                 Grid<const double> partials, Span<const Index> tickets, Numbers y, NumbersOut x,
                 Numbers anchor, Numbers cost, Numbers lower, Numbers upper, Numbers metric,
                 NumbersOut reflected, NumbersOut projection, NumbersOut difference,
                 NumbersOut first_difference, Numbers control, int offset, int keep, int threads) {
    primal_half<Index>(slices, height, meta, indices, values, table, splits, partials, tickets, y,
                       x, anchor, cost, lower, upper, metric, reflected, projection, difference,
                       first_difference, control)
        .advance(offset, keep, threads);
}

/// Advance y (m,) by its half of an iteration.
template <class Index>
void dual_step(int slices, int height, Grid<const Index> meta, StoredIndices<Index> indices,
               StoredValues values, Numbers table, Grid<const Index> splits,
               Grid<const double> partials, Span<const Index> tickets, Numbers reflected,
               NumbersOut y, Numbers anchor, Numbers row_lower, Numbers row_upper, Numbers metric,
               NumbersOut projection, NumbersOut difference, NumbersOut first_difference,
               Numbers control, int offset, int keep, int threads) {
    dual_half<Index>(slices, height, meta, indices, values, table, splits, partials, tickets,
                     reflected, y, anchor, row_lower, row_upper, metric, projection, difference,
                     first_difference, control)
        .advance(offset, keep, threads);
}

template <class Index> using PrimalArguments = decltype(arguments_of(&primal_half<Index>));
template <class Index> using DualArguments = decltype(arguments_of(&dual_half<Index>));

/// Run iterations ``first`` to ``first + count`` of a block, from the arguments of both steps up
/// to ``control``: for small problems coming back to Python would cost more than the iterations.
template <class Index>
void steps_fast(std::int64_t first, std::int64_t count, const PrimalArguments<Index> &primal,
                const DualArguments<Index> &dual, int threads) {
    const PrimalHalf<Index> primal_part = primal.apply(&primal_half<Index>);
    const DualHalf<Index> dual_part = dual.apply(&dual_half<Index>);
    for (std::int64_t offset = first; offset < first + count; ++offset) {
        poll();
        primal_part.advance(offset, KEEP_NONE, threads);
        dual_part.advance(offset, KEEP_NONE, threads);
    }
}

template <class Index> void declare(native::Module &module) {
    expose(module, "steps_fast", &steps_fast<Index>, "first", "count", "primal", "dual", "threads");
}

} // namespace

NATIVE_MODULE(pdlp_step) {
    NATIVE_CONSTANTS(module, "solvers.pdlp.kernels.step", KEEP_NONE, KEEP_FIRST, KEEP_LAST);
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
    NATIVE_KERNELS_BY_INDEX(module, primal_step, dual_step);
}
