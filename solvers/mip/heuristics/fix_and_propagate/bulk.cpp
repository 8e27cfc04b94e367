// The loops of bulk rounding, the cover of columns by cliques, and the random numbers of both.
#include "choose.h"
#include "mip/inference/domain/propagate.h"

namespace mip::fix_and_propagate {
namespace {

using domain::Box;
using native::check_length;
using native::Grid;
using native::Span;

/// Slacks count as at least this much (the feasibility tolerance).
constexpr double SMALLEST_SLACK = 1e-6;

/// Return the smaller slack of a row; sides that are not in reach have none.
double slack_of(domain::Rows rows, std::int64_t i) {
    using namespace domain;
    double slack = native::INF;
    if (rows(i, INFINITE) == 0.0)
        slack = rows(i, UPPER) - rows(i, SMALLEST);
    if (rows(i, INFINITE + 1) == 0.0)
        slack = std::min(slack, rows(i, LARGEST) - rows(i, LOWER));
    return slack;
}

/// Write how much of the rows' slack a unit change of each column takes (section 2.3).
///
/// It is the root of the sum of (a / slack)^2 over the column's rows, with the smaller of the two
/// slacks of a row.
void slack_consumption(const Matrix &matrix, const Box &box, Span<const std::int32_t> columns,
                       Span<double> consumption) {
    domain::check_shapes(matrix, box);
    check_length("consumption", consumption.size(), columns.size());
    const domain::Rows rows(box);
    for (std::int64_t place = 0; place < columns.size(); ++place) {
        const std::int64_t j = columns[place];
        double total = 0.0;
        for (std::int64_t p = matrix.columns.indptr[j]; p < matrix.columns.indptr[j + 1]; ++p) {
            const double slack = slack_of(rows, matrix.columns.indices[p]);
            const double taken = matrix.columns.data[p] / std::max(SMALLEST_SLACK, slack);
            total += taken * taken;
        }
        consumption[place] = std::sqrt(total);
    }
}

/// Round columns of a point by chance, within their bounds.
void draw(Span<const double> x, Span<const std::int32_t> columns, Grid<const double> bounds,
          RandomState random, Span<double> values) {
    check_length("bounds", bounds.shape(0), 2);
    check_length("x", x.size(), bounds.shape(1));
    check_length("values", values.size(), columns.size());
    check_length("random", random.size(), 1);
    for (std::int64_t place = 0; place < columns.size(); ++place) {
        const std::int64_t j = columns[place];
        const double value = round_randomly(x[j], random);
        values[place] = std::min(std::max(value, bounds(0, j)), bounds(1, j));
    }
}

/// Narrow integer columns to hints, up to the first that contradicts the box unless lenient.
void take_hints(const Matrix &matrix, const Box &box, Span<const double> low,
                Span<const double> high, bool lenient) {
    for (std::int64_t j = 0; j < low.size(); ++j) {
        if (matrix.is_integer[j] == 0 || !(box.bounds(0, j) < box.bounds(1, j)))
            continue;
        if (std::max(low[j], box.bounds(0, j)) > std::min(high[j], box.bounds(1, j))) {
            domain::conflict(box, -1, lenient);
            if (!lenient)
                return;
            continue;
        }
        if (low[j] > box.bounds(0, j))
            domain::set_bound(matrix, box, j, 0, low[j]);
        if (high[j] < box.bounds(1, j))
            domain::set_bound(matrix, box, j, 1, high[j]);
    }
}

/// Fix columns, narrow integers to the hints ``low`` and ``high``, if any, and propagate.
bool fix_bulk(const Matrix &matrix, const Box &box, Span<const std::int32_t> columns,
              Span<const double> values, Span<const double> low, Span<const double> high,
              std::int64_t cap, bool lenient) {
    domain::check_shapes(matrix, box);
    check_length("values", values.size(), columns.size());
    check_length("high", high.size(), low.size());
    check_length("is_integer", matrix.is_integer.size(), low.size());
    for (std::int64_t place = 0; place < columns.size(); ++place) {
        const std::int64_t j = columns[place];
        for (int side = 0; side < 2; ++side) {
            if (box.bounds(side, j) != values[place])
                domain::set_bound(matrix, box, j, side, values[place]);
        }
    }
    take_hints(matrix, box, low, high, lenient);
    return domain::propagate(matrix, box, cap, lenient);
}

/// Fill ``columns`` with the next open ones of the order; return how many, and the cursor.
std::tuple<std::int64_t, std::int64_t> next_open(Span<const std::int32_t> order,
                                                 std::int64_t cursor, Grid<const double> bounds,
                                                 Span<std::int32_t> columns) {
    check_length("bounds", bounds.shape(0), 2);
    std::int64_t count = 0;
    while (cursor < order.size() && count < columns.size()) {
        const std::int32_t j = order[cursor];
        ++cursor;
        if (bounds(0, j) < bounds(1, j)) {
            columns[count] = j;
            ++count;
        }
    }
    return {count, cursor};
}

/// Rank columns by the cliques, in the order ``first``; a column keeps its first rank.
void cover(Span<const std::int32_t> start, Span<const std::int32_t> member,
           Span<const std::int64_t> first, Span<const double> reference, Span<double> rank,
           Span<double> value) {
    check_length("start", start.size(), first.size() + 1);
    check_length("reference", reference.size(), rank.size());
    check_length("value", value.size(), rank.size());
    for (std::int64_t number = 0; number < first.size(); ++number) {
        const std::int64_t clique = first[number];
        for (std::int64_t p = start[clique]; p < start[clique + 1]; ++p) {
            const std::int64_t j = member[p] >> 1;
            if (rank[j] != native::INF)
                continue;
            rank[j] = static_cast<double>(number);
            value[j] = member[p] & 1 ? reference[j] : 1.0 - reference[j];
        }
    }
}

} // namespace
} // namespace mip::fix_and_propagate

NATIVE_MODULE(mip_heuristics_fix_and_propagate_bulk) {
    using namespace mip::fix_and_propagate;
    native::expose(module, "slack_consumption", &slack_consumption, "matrix", "box", "columns",
                   "consumption");
    native::expose(module, "draw", &draw, "x", "columns", "bounds", "random", "values");
    native::expose(module, "fix_bulk", &fix_bulk, "matrix", "box", "columns", "values", "low",
                   "high", "cap", "lenient");
    native::expose(module, "next_open", &next_open, "order", "cursor", "bounds", "columns");
    native::expose(module, "cover", &cover, "start", "member", "first", "reference", "rank",
                   "value");
    native::expose(module, "uniform", &uniform, "state");
    native::expose(module, "below", &below, "state", "end");
}
