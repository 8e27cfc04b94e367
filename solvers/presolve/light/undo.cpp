// The way back, step by step from the last, and the way forward: the point and the duals, each on
// its own.
//
// Back, ``x`` and ``y`` hold the reduced problem's values at what is alive. At each step the
// activities of the living rows and the reduced costs of the living columns are kept up to date, so
// that the whole way back costs a few looks at each entry of the matrix. With ``scale`` 0 instead
// of 1 a *ray* is brought back: of sides, bounds and costs only their being infinite counts then.
#include "workspace.h"

namespace presolve::light {
namespace {

double scaled(double value, double scale) { return std::abs(value) < INF ? value * scale : value; }

/// A number that a step chose, and what holds it.
struct Chosen {
    double value;
    std::int64_t place;
};

/// The activity of a row over the columns that outlive a step.
template <class W>
double activity_of(const W &w, std::int64_t i, Span<const double> x, std::int64_t step) {
    double total = 0.0;
    for (std::int64_t entry = w.by_row.indptr[i]; entry < w.by_row.indptr[i + 1]; ++entry) {
        const std::int64_t j = w.by_row.indices[entry];
        if (w.column_removed[j] > step)
            total += w.by_row.data[entry] * x[j];
    }
    return total;
}

/// The value of a column that was made slack of its row, and where that stands.
template <class W> Chosen absorbed(const W &w, double rest, std::int64_t step, double scale) {
    const double low = scaled(w.payload(0, step), scale), high = scaled(w.payload(1, step), scale);
    const double a = w.payload(2, step);
    const std::int64_t j = w.column[step];
    const double least = scaled(w.lower[j], scale), most = scaled(w.upper[j], scale);
    const Chosen at_lower{(low - rest) / a, ROW_AT_LOWER},
        at_upper{(high - rest) / a, ROW_AT_UPPER};
    Chosen chosen{nearest_to_zero(least, most), COLUMN_AT_BOUND};
    if (w.kind[step] == ABSORBED_AT_LOWER)
        chosen = at_lower;
    else if (w.kind[step] == ABSORBED_AT_UPPER)
        chosen = at_upper;
    else if (a * chosen.value < low - rest)
        chosen = at_lower;
    else if (a * chosen.value > high - rest)
        chosen = at_upper;
    return {std::min(std::max(chosen.value, least), most), chosen.place};
}

/// A value at which all rows of a receding column hold, and the row that holds it.
template <class W>
Chosen far_enough(const W &w, Span<const double> activity, std::int64_t j, std::int64_t step,
                  double scale) {
    const bool down = w.payload(0, step) < 0.0;
    Chosen chosen{nearest_to_zero(scaled(w.lower[j], scale), scaled(w.upper[j], scale)), -1};
    for (std::int64_t entry = w.by_column.indptr[j]; entry < w.by_column.indptr[j + 1]; ++entry) {
        const std::int64_t i = w.by_column.indices[entry];
        const double a = w.by_column.data[entry];
        if (w.row_removed[i] <= step)
            continue;
        // receding moves the activity away from the one finite side
        const double side = (a > 0.0) == down ? w.row_upper[i] : w.row_lower[i];
        if (!(std::abs(side) < INF))
            continue;
        const double limit = (scaled(side, scale) - activity[i]) / a;
        if (down ? limit < chosen.value : limit > chosen.value)
            chosen = {limit, i};
    }
    return chosen;
}

/// Share a merged column out to the two it was made of, one of them at a bound if possible.
template <class W> Place split(const W &w, Span<double> x, std::int64_t step, double scale) {
    const std::int64_t k = w.column[step], j = static_cast<std::int64_t>(w.payload(0, step));
    const double ratio = w.payload(1, step);
    const double low = scaled(w.payload(2, step), scale), high = scaled(w.payload(3, step), scale);
    const double at_lower = ratio * scaled(w.lower[k], scale);
    const double at_upper = ratio * scaled(w.upper[k], scale);
    const double least = std::min(at_lower, at_upper), most = std::max(at_lower, at_upper);
    const double merged = x[j];
    double second = nearest_to_zero(least, most);
    Place place = second == least ? SECOND_AT_LEAST : SECOND_AT_MOST;
    double first = merged - second;
    if (first < low || first > high) {
        place = first < low ? FIRST_AT_LOWER : FIRST_AT_UPPER;
        first = std::min(std::max(first, low), high);
        second = std::min(std::max(merged - first, least), most);
    }
    x[j] = first;
    x[k] = second / ratio;
    return place;
}

/// Complete ``x`` (n,), which holds a point of the reduced problem or, with scale 0, a ray.
///
/// ``activity`` (m,) is scratch; ``place`` (steps,) says what holds each value that was chosen: for
/// the basis, as workspace.h has it, or the row that holds a receding column.
template <class Index>
void undo_point(const Record<Index> &w, Span<double> x, Span<double> activity,
                Span<std::int64_t> place, double scale) {
    check(w);
    check_length("x", x.size(), w.columns());
    check_length("activity", activity.size(), w.rows());
    check_length("place", place.size(), w.count[STEPS]);
    for (std::int64_t i = 0; i < w.rows(); ++i)
        activity[i] = w.has_row(i) ? activity_of(w, i, x, ALIVE - 1) : 0.0;
    for (std::int64_t step = w.count[STEPS] - 1; step >= 0; --step) {
        if (step % OWNERS_PER_POLL == 0)
            poll();
        const std::int64_t i = w.row[step], j = w.column[step];
        if (i >= 0 && w.row_removed[i] == step)
            activity[i] = activity_of(w, i, x, step);
        if (j < 0 || w.column_removed[j] != step)
            continue;
        if (w.kind[step] == PARALLEL_COLUMN) {
            place[step] = split(w, x, step, scale); // which leaves all activities as they are
            continue;
        }
        if (w.kind[step] == FIXED_COLUMN) {
            x[j] = scale * w.payload(0, step);
        } else {
            const Chosen chosen = w.kind[step] == RECEDING_COLUMN
                                      ? far_enough(w, activity, j, step, scale)
                                      : absorbed(w, activity[i], step, scale);
            x[j] = chosen.value;
            place[step] = chosen.place;
        }
        for (std::int64_t entry = w.by_column.indptr[j]; entry < w.by_column.indptr[j + 1]; ++entry)
            if (w.row_removed[w.by_column.indices[entry]] > step)
                activity[w.by_column.indices[entry]] += w.by_column.data[entry] * x[j];
    }
}

/// The reduced cost of a column that is gone over the rows that outlive a step.
template <class W>
double reduced_cost(const W &w, std::int64_t j, Span<const double> y, std::int64_t step,
                    double scale) {
    double total = scale * w.cost[j];
    for (std::int64_t entry = w.by_column.indptr[j]; entry < w.by_column.indptr[j + 1]; ++entry) {
        const std::int64_t i = w.by_column.indices[entry];
        if (w.row_removed[i] > step)
            total -= w.by_column.data[entry] * y[i];
    }
    return total;
}

/// The dual nearest to zero that gives the forced columns reduced costs of their sign, and 1 + the
/// column that fixes it.
template <class W>
Chosen forcing_dual(const W &w, std::int64_t i, Span<const double> z, std::int64_t step) {
    const bool to_most = w.payload(0, step) > 0.0;
    Chosen chosen{0.0, 0};
    for (std::int64_t entry = w.by_row.indptr[i]; entry < w.by_row.indptr[i + 1]; ++entry) {
        const std::int64_t j = w.by_row.indices[entry];
        if (w.column_removed[j] <= step)
            continue;
        const double ratio = z[j] / w.by_row.data[entry];
        if (to_most ? ratio > chosen.value : ratio < chosen.value)
            chosen = {ratio, 1 + j};
    }
    return chosen;
}

std::int64_t sign_of(double multiplier) {
    if (std::abs(multiplier) <= NOISE)
        return 0;
    return multiplier > 0.0 ? 1 : -1;
}

/// Take a row's dual into the reduced costs of its living columns.
template <class W>
void charge(const W &w, std::int64_t i, double dual, Span<double> z, std::int64_t step) {
    if (dual == 0.0)
        return;
    for (std::int64_t entry = w.by_row.indptr[i]; entry < w.by_row.indptr[i + 1]; ++entry)
        if (w.column_removed[w.by_row.indices[entry]] > step)
            z[w.by_row.indices[entry]] -= w.by_row.data[entry] * dual;
}

/// Whether a multiplier leans on a side that came from elsewhere.
bool leans_back(double multiplier, double origin) {
    const auto sides = static_cast<std::int64_t>(origin);
    return (multiplier > 0.0 && (sides & LOWER_SIDE)) || (multiplier < 0.0 && (sides & UPPER_SIDE));
}

template <class W>
void undo_duals_of(const W &w, std::int64_t step, Span<double> y, Span<double> z,
                   Span<std::int64_t> leaning, double scale) {
    const std::int64_t i = w.row[step], j = w.column[step];
    const std::int8_t kind = w.kind[step];
    if (kind == FORCING_ROW) {
        const Chosen chosen = forcing_dual(w, i, z, step);
        y[i] = chosen.value;
        leaning[step] = chosen.place;
        charge(w, i, y[i], z, step);
    } else if (kind == SINGLETON_ROW) {
        leaning[step] = sign_of(z[j]);
        if (leans_back(z[j], w.payload(3, step))) {
            y[i] = z[j] / w.payload(0, step);
            z[j] = 0.0;
        }
    } else if (kind == PARALLEL_ROW) {
        const auto kept = static_cast<std::int64_t>(w.payload(0, step));
        leaning[step] = sign_of(y[kept]);
        if (leans_back(y[kept], w.payload(2, step))) {
            y[i] = y[kept] / w.payload(1, step); // both together charge what one did
            y[kept] = 0.0;
        }
    } else if (is_absorbed(kind)) {
        // the row's other columns got back what they were charged: their z stays
        z[j] = -w.payload(2, step) * y[i];
        y[i] += scale * w.payload(3, step);
    } else if (kind == PARALLEL_COLUMN) {
        z[j] = w.payload(1, step) * z[static_cast<std::int64_t>(w.payload(0, step))];
    } else if (j >= 0) {
        z[j] = reduced_cost(w, j, y, step, scale);
    }
}

/// Complete ``y`` (m,), which holds duals of the reduced problem or, with scale 0, a ray.
///
/// ``z`` (n,) is scratch; ``leaning`` (steps,) says, for the basis, which way a multiplier leaned
/// that two had to share, and for a forcing row 1 + the column that fixes its dual.
template <class Index>
void undo_duals(const Record<Index> &w, Span<double> y, Span<double> z, Span<std::int64_t> leaning,
                double scale) {
    check(w);
    check_length("y", y.size(), w.rows());
    check_length("z", z.size(), w.columns());
    check_length("leaning", leaning.size(), w.count[STEPS]);
    for (std::int64_t j = 0; j < w.columns(); ++j)
        z[j] = w.has_column(j) ? scale * w.cost[j] : 0.0;
    // by rows, as a record has no more columns than those that are gone
    for (std::int64_t i = 0; i < w.rows(); ++i) {
        if (i % OWNERS_PER_POLL == 0)
            poll();
        if (w.has_row(i))
            charge(w, i, y[i], z, ALIVE - 1);
    }
    for (std::int64_t step = w.count[STEPS] - 1; step >= 0; --step) {
        if (step % OWNERS_PER_POLL == 0)
            poll();
        undo_duals_of(w, step, y, z, leaning, scale);
    }
}

/// Change ``x`` (n,) so that its living entries are the same point of the reduced problem.
///
/// What is fixed or slack needs no change; a merged column stands for the sum of two. NaN, the
/// unknown, stays NaN.
template <class Index> void forward_point(const Record<Index> &w, Span<double> x) {
    check(w);
    check_length("x", x.size(), w.columns());
    for (std::int64_t step = 0; step < w.count[STEPS]; ++step)
        if (w.kind[step] == PARALLEL_COLUMN)
            x[static_cast<std::int64_t>(w.payload(0, step))] +=
                w.payload(1, step) * x[w.column[step]];
}

/// Change ``y`` (m,) so that its living entries are duals of the reduced problem.
///
/// The multiplier of a row that became a bound is in the reduced cost of its column.
template <class Index> void forward_duals(const Record<Index> &w, Span<double> y) {
    check(w);
    check_length("y", y.size(), w.rows());
    for (std::int64_t step = 0; step < w.count[STEPS]; ++step) {
        const std::int64_t i = w.row[step];
        if (is_absorbed(w.kind[step]))
            y[i] -= w.payload(3, step);
        else if (w.kind[step] == PARALLEL_ROW)
            y[static_cast<std::int64_t>(w.payload(0, step))] += w.payload(1, step) * y[i];
    }
}

template <class Index> void declare(native::Module &module) {
    native::expose(module, "forward_point", &forward_point<Index>, "workspace", "x");
    native::expose(module, "forward_duals", &forward_duals<Index>, "workspace", "y");
    native::expose(module, "undo_point", &undo_point<Index>, "workspace", "x", "activity", "place",
                   "scale");
    native::expose(module, "undo_duals", &undo_duals<Index>, "workspace", "y", "z", "leaning",
                   "scale");
}

} // namespace
} // namespace presolve::light

NATIVE_MODULE(presolve_light_undo) {
    using namespace presolve::light;
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
}
