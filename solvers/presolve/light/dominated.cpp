// Columns whose reduced cost has one sign at every dual feasible point.
//
// Columns with one entry bound the dual of their row: ``c_j - a y_i >= 0`` where ``x_j`` has no
// upper bound. With these and the signs of the duals the reduced cost of another column has a
// range; if that lies strictly on one side of zero, the column stands at a bound in every optimum.
// Of two columns with one entry in a row the dearer one goes this way.
//
// Only strict signs count: bounds on duals that came from a column need that column to stay, and
// strictness keeps two columns from removing each other.
#include <vector>

#include "workspace.h"

namespace presolve::light {
namespace {

/// A reduced cost farther from zero than this, relative to max(1, |c|), has a sign.
constexpr double STRICT = 1e-9;

template <class W> void bound_duals(const W &w, Span<double> least, Span<double> most) {
    for (std::int64_t i = 0; i < w.rows(); ++i) {
        least[i] = w.row_upper[i] == INF ? 0.0 : -INF;
        most[i] = w.row_lower[i] == -INF ? 0.0 : INF;
    }
    for (std::int64_t j = 0; j < w.columns(); ++j) {
        if (!w.has_column(j) || w.column_length[j] != 1)
            continue;
        const std::int64_t entry = living_entry(w.by_column.indptr[j], w.by_column.indices,
                                                Span<const std::int64_t>(w.row_removed));
        const double a = w.by_column.data[entry];
        const std::int64_t i = w.by_column.indices[entry];
        const double price = w.cost[j] / a;
        const bool no_upper = w.upper[j] == INF, no_lower = w.lower[j] == -INF;
        if ((no_upper && a > 0.0) || (no_lower && a < 0.0))
            most[i] = std::min(most[i], price);
        if ((no_upper && a < 0.0) || (no_lower && a > 0.0))
            least[i] = std::max(least[i], price);
    }
}

struct CostRange {
    double smallest, largest;
};

template <class W>
CostRange reduced_cost_range(const W &w, std::int64_t j, Span<const double> least,
                             Span<const double> most) {
    double smallest = w.cost[j], largest = w.cost[j];
    for (std::int64_t entry = w.by_column.indptr[j]; entry < w.by_column.indptr[j + 1]; ++entry) {
        const std::int64_t i = w.by_column.indices[entry];
        if (!w.has_row(i))
            continue;
        const double a = w.by_column.data[entry];
        smallest -= a * (a > 0.0 ? most[i] : least[i]);
        largest -= a * (a > 0.0 ? least[i] : most[i]);
        if (smallest == -INF && largest == INF)
            break;
    }
    return {smallest, largest};
}

/// Where a column goes by the sign of its reduced cost, if its bound there is finite.
struct Sign {
    bool to_lower, to_upper;
};

template <class W>
Sign sign_of(const W &w, std::int64_t j, Span<const double> least, Span<const double> most) {
    const auto [smallest, largest] = reduced_cost_range(w, j, least, most);
    const double margin = STRICT * std::max(1.0, std::abs(w.cost[j]));
    return {smallest > margin && w.lower[j] > -INF, largest < -margin && w.upper[j] < INF};
}

/// Fix columns by the sign of their reduced cost; ``least`` and ``most`` (m,) are scratch.
template <class Index>
void fix_dominated_columns(const Workspace<Index> &w, Span<double> least, Span<double> most,
                           int threads) {
    check(w);
    check_length("least", least.size(), w.rows());
    check_length("most", most.size(), w.rows());
    bound_duals(w, least, most);
    for (std::int64_t i = 0; i < w.rows(); ++i)
        if (least[i] > most[i])
            return; // no dual point at all: nothing can be concluded here
    std::vector<char> has_sign(w.columns(), 0);
    native::parallel_for(threads, w.columns(), [&](std::int64_t j) {
        if (j % OWNERS_PER_POLL == 0)
            poll();
        if (w.has_column(j) && w.column_length[j] > 0) {
            const auto [to_lower, to_upper] = sign_of(w, j, least, most);
            has_sign[j] = to_lower || to_upper;
        }
    });
    w.count[WORK] += w.by_column.indices.size();
    for (std::int64_t j = 0; j < w.columns(); ++j) {
        if (!has_sign[j])
            continue;
        if (out_of_budget(w))
            return;
        const auto [to_lower, to_upper] = sign_of(w, j, least, most);
        if (to_lower || to_upper)
            fix_column(w, j, to_lower ? w.lower[j] : w.upper[j]);
    }
}

template <class Index> void declare(native::Module &module) {
    native::expose(module, "fix_dominated_columns", &fix_dominated_columns<Index>, "workspace",
                   "least", "most", "threads");
}

} // namespace
} // namespace presolve::light

NATIVE_MODULE(presolve_light_dominated) {
    using namespace presolve::light;
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
}
