// The way forward for points and duals: from the original to the reduced problem.
#include "workspace.h"

namespace presolve::light {
namespace {

/// Change ``x`` (n,) so that its living entries are the same point of the reduced problem.
///
/// What is fixed or slack needs no change; a merged column stands for the sum of two. NaN, the
/// unknown, stays NaN.
template <class Index> void forward_point(const Workspace<Index> &w, Span<double> x) {
    check(w);
    check_length("x", x.size(), w.columns());
    for (std::int64_t step = 0; step < w.count[STEPS]; ++step)
        if (w.kind[step] == PARALLEL_COLUMN)
            x[static_cast<std::int64_t>(w.payload(step, 0))] +=
                w.payload(step, 1) * x[w.column[step]];
}

/// Change ``y`` (m,) so that its living entries are duals of the reduced problem.
///
/// The multiplier of a row that became a bound is in the reduced cost of its column.
template <class Index> void forward_duals(const Workspace<Index> &w, Span<double> y) {
    check(w);
    check_length("y", y.size(), w.rows());
    for (std::int64_t step = 0; step < w.count[STEPS]; ++step) {
        const std::int64_t i = w.row[step];
        if (is_absorbed(w.kind[step]))
            y[i] -= w.payload(step, 3);
        else if (w.kind[step] == PARALLEL_ROW)
            y[static_cast<std::int64_t>(w.payload(step, 0))] += w.payload(step, 1) * y[i];
    }
}

template <class Index> void declare(nanobind::module_ &module) {
    native::expose(module, "forward_point", &forward_point<Index>, "workspace", "x");
    native::expose(module, "forward_duals", &forward_duals<Index>, "workspace", "y");
}

} // namespace
} // namespace presolve::light

NATIVE_MODULE(presolve_light_forward) {
    using namespace presolve::light;
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
}
