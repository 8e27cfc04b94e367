// The numbers that columns are prioritised by.
#include "mip/model.h"

#include <vector>

namespace mip::probing {
namespace {

using native::check_length;
using native::INF;
using native::Span;

/// Write the number (k,) of entries of other integer columns in each column's rows.
void neighbours(Span<const std::int32_t> columns, const Model &model, Span<std::int64_t> found) {
    check_shapes(model);
    check_length("found", found.size(), columns.size());
    std::vector<std::int64_t> integers(model.row_lower.size());
    for (std::size_t i = 0; i < integers.size(); ++i) {
        for (std::int64_t p = model.rows.indptr[i]; p < model.rows.indptr[i + 1]; ++p)
            integers[i] += model.is_integer[model.rows.indices[p]];
    }
    for (std::int64_t at = 0; at < columns.size(); ++at) {
        const std::int64_t j = columns[at];
        found[at] = 0;
        for (std::int64_t p = model.columns.indptr[j]; p < model.columns.indptr[j + 1]; ++p)
            found[at] += integers[model.columns.indices[p]] - 1;
    }
}

/// The room (m,) between each side and the activity farthest from it; inf if there is none.
struct Slacks {
    std::vector<double> above;
    std::vector<double> below;
};

Slacks slacks_of(const Model &model) {
    const std::int64_t m = model.row_lower.size();
    Slacks found{std::vector<double>(m, INF), std::vector<double>(m, INF)};
    for (std::int64_t i = 0; i < m; ++i) {
        double smallest = 0.0, largest = 0.0;
        for (std::int64_t p = model.rows.indptr[i]; p < model.rows.indptr[i + 1]; ++p) {
            const double a = model.rows.data[p];
            const std::int64_t j = model.rows.indices[p];
            smallest += a * (a > 0.0 ? model.lower[j] : model.upper[j]);
            largest += a * (a > 0.0 ? model.upper[j] : model.lower[j]);
        }
        if (std::isfinite(model.row_upper[i]) && std::isfinite(smallest))
            found.above[i] = model.row_upper[i] - smallest;
        if (std::isfinite(model.row_lower[i]) && std::isfinite(largest))
            found.below[i] = largest - model.row_lower[i];
    }
    return found;
}

/// What the sides of a column's rows say of it.
struct Criteria {
    bool rising = false, falling = false;
    std::int64_t violated = 0;
    double excess = 0.0;
    double slack = INF;

    /// Take a side into account that a rising column pushes against, or a falling one.
    void add(bool pushed_by_rising, double a, double width, double room) {
        (pushed_by_rising ? rising : falling) = true;
        const double beyond = std::abs(a) * width - room;
        if (std::isfinite(room) && beyond > FEASIBILITY_TOLERANCE) {
            ++violated;
            excess = std::max(excess, beyond);
        }
        slack = std::min(slack, std::max(room, FEASIBILITY_TOLERANCE) / std::abs(a));
    }
};

/// Write the three criteria of each column: rows violated, largest excess, least slack.
void conflicts(Span<const std::int32_t> columns, const Model &model, Span<std::int64_t> violated,
               Span<double> excess, Span<double> slack) {
    check_shapes(model);
    check_length("violated", violated.size(), columns.size());
    check_length("excess", excess.size(), columns.size());
    check_length("slack", slack.size(), columns.size());
    const Slacks slacks = slacks_of(model);
    for (std::int64_t at = 0; at < columns.size(); ++at) {
        const std::int64_t j = columns[at];
        const double width = model.upper[j] - model.lower[j];
        Criteria found;
        for (std::int64_t p = model.columns.indptr[j]; p < model.columns.indptr[j + 1]; ++p) {
            const std::int64_t i = model.columns.indices[p];
            const double a = model.columns.data[p];
            if (!std::isinf(model.row_upper[i]) && a != 0.0)
                found.add(a > 0.0, a, width, slacks.above[i]);
            if (!std::isinf(model.row_lower[i]) && a != 0.0)
                found.add(!(a > 0.0), a, width, slacks.below[i]);
        }
        const bool counts = found.rising && found.falling;
        violated[at] = counts ? found.violated : 0;
        excess[at] = counts ? found.excess : 0.0;
        slack[at] = found.slack;
    }
}

} // namespace
} // namespace mip::probing

NATIVE_MODULE(mip_inference_probing_rank) {
    using namespace mip::probing;
    native::expose(module, "neighbours", &neighbours, "columns", "model", "found");
    native::expose(module, "conflicts", &conflicts, "columns", "model", "violated", "excess",
                   "slack");
}
