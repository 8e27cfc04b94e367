// The numbers that columns are prioritised by.
#include "mip/model.h"
#include "native/bindings.h"

#include <vector>

namespace mip::probing {
namespace {

using native::check_length;
using native::INF;
using native::Span;

/// Write the number (k,) of entries of other integer columns in each column's rows.
void neighbours(Span<const std::int32_t> columns, Span<const std::int32_t> row_start,
                Span<const std::int32_t> row_column, Span<const std::uint8_t> is_integer,
                Span<const std::int32_t> column_start, Span<const std::int32_t> column_row,
                Span<std::int64_t> found) {
    check_length("found", found.size(), columns.size());
    std::vector<std::int64_t> integers(row_start.size() - 1);
    for (std::size_t i = 0; i < integers.size(); ++i) {
        for (std::int64_t entry = row_start[i]; entry < row_start[i + 1]; ++entry)
            integers[i] += is_integer[row_column[entry]];
    }
    for (std::int64_t at = 0; at < columns.size(); ++at) {
        const std::int64_t j = columns[at];
        found[at] = 0;
        for (std::int64_t entry = column_start[j]; entry < column_start[j + 1]; ++entry)
            found[at] += integers[column_row[entry]] - 1;
    }
}

/// A model, by rows and by columns.
struct Model {
    Span<const std::int32_t> row_start;
    Span<const std::int32_t> row_column;
    Span<const double> row_value;
    Span<const double> row_lower;
    Span<const double> row_upper;
    Span<const std::int32_t> column_start;
    Span<const std::int32_t> column_row;
    Span<const double> column_value;
    Span<const double> lower;
    Span<const double> upper;
};

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
        for (std::int64_t p = model.row_start[i]; p < model.row_start[i + 1]; ++p) {
            const double a = model.row_value[p];
            const std::int64_t j = model.row_column[p];
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
void conflicts(Span<const std::int32_t> columns, Span<const std::int32_t> row_start,
               Span<const std::int32_t> row_column, Span<const double> row_value,
               Span<const double> row_lower, Span<const double> row_upper,
               Span<const std::int32_t> column_start, Span<const std::int32_t> column_row,
               Span<const double> column_value, Span<const double> lower, Span<const double> upper,
               Span<std::int64_t> violated, Span<double> excess, Span<double> slack) {
    check_length("violated", violated.size(), columns.size());
    check_length("excess", excess.size(), columns.size());
    check_length("slack", slack.size(), columns.size());
    const Model model{row_start,    row_column, row_value,    row_lower, row_upper,
                      column_start, column_row, column_value, lower,     upper};
    const Slacks slacks = slacks_of(model);
    for (std::int64_t at = 0; at < columns.size(); ++at) {
        const std::int64_t j = columns[at];
        Criteria found;
        for (std::int64_t p = column_start[j]; p < column_start[j + 1]; ++p) {
            const std::int64_t i = column_row[p];
            const double a = column_value[p], width = upper[j] - lower[j];
            if (!std::isinf(row_upper[i]) && a != 0.0)
                found.add(a > 0.0, a, width, slacks.above[i]);
            if (!std::isinf(row_lower[i]) && a != 0.0)
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
    native::expose(module, "neighbours", &neighbours, "columns", "row_start", "row_column",
                   "is_integer", "column_start", "column_row", "found");
    native::expose(module, "conflicts", &conflicts, "columns", "row_start", "row_column",
                   "row_value", "row_lower", "row_upper", "column_start", "column_row",
                   "column_value", "lower", "upper", "violated", "excess", "slack");
}
