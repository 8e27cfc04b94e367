// Stored columns of the inverse; refresh.py states what the kernels do.
//
// Recomputing values and reduced costs; refresh.py states what the kernels compute.
#include "structures.h"

namespace simplex::dense_gpu {
namespace {

/// Write basic columns as dense ones.
void gather_basis(std::int64_t count, Ints starts, Ints indices, Reals values, Ints variables,
                  Ints place_of_row, Table<double> nucleus, Table<double> rest, int threads) {
    check_lengths(count, {{"variables", variables}});
    check_lengths(starts[starts.size() - 1], {{"indices", indices}, {"values", values}});
    check_lengths(count * count, {{"nucleus", nucleus}});
    check_lengths((place_of_row.size() - count) * count, {{"rest", rest}});
    native::parallel_for(threads, count, [&](std::int64_t c) {
        const Index j = variables[c];
        for (Index k = starts[j], end = starts[j + 1]; k < end; ++k) {
            const Index place = place_of_row[indices[k]];
            if (place >= 0)
                nucleus(place, c) = values[k];
            else
                rest(-1 - place, c) = values[k];
        }
    });
}

/// Put the parts of the inverse together.
void spread_inverse(std::int64_t rows, std::int64_t capacity, std::int64_t count,
                    Ints place_of_position, Table<const double> inner, Table<const double> outer,
                    Table<double> inverse, int threads) {
    check_lengths(rows, {{"place_of_position", place_of_position}});
    check_lengths(count * count, {{"inner", inner}});
    check_lengths((rows - count) * count, {{"outer", outer}});
    check_lengths(rows * capacity, {{"inverse", inverse}});
    native::parallel_for(threads, rows, [&](std::int64_t p) {
        const Index place = place_of_position[p];
        const Reals from = count == 0 ? Reals() : (place >= 0 ? inner[place] : outer[-1 - place]);
        const RealsOut row = inverse[p];
        std::copy(from.begin(), from.begin() + count, row.begin());
        std::fill(row.begin() + count, row.begin() + capacity, 0.0);
    });
}

/// Store unit columns.
void open_slots(std::int64_t rows, std::int64_t capacity, Ints slots, Ints positions,
                Table<double> inverse, std::int64_t count, int threads) {
    check_lengths(count, {{"slots", slots}, {"positions", positions}});
    check_lengths(rows * capacity, {{"inverse", inverse}});
    native::parallel_for(threads, rows, [&](std::int64_t p) {
        for (std::int64_t c = 0; c < count; ++c)
            inverse(p, slots[c]) = p == positions[c] ? -1.0 : 0.0;
    });
}

/// Pick the elements of pivot rows that stored columns need.
void gather_eta_rows(std::int64_t rows, std::int64_t capacity, std::int64_t most, Ints row_of_slot,
                     Table<const double> eta_rows, Table<double> by_slot, std::int64_t count,
                     std::int64_t slots, int threads) {
    check_lengths(slots, {{"row_of_slot", row_of_slot}});
    check_lengths(most * rows, {{"eta_rows", eta_rows}});
    check_lengths(most * capacity, {{"by_slot", by_slot}});
    native::parallel_for(threads, most, [&](std::int64_t e) {
        const RealsOut row = by_slot[e];
        const std::int64_t filled = e < count ? slots : 0;
        for (std::int64_t s = 0; s < filled; ++s)
            row[s] = eta_rows(e, row_of_slot[s]);
        std::fill(row.begin() + filled, row.begin() + capacity, 0.0);
    });
}

/// Move stored columns to where room has become.
void close_slots(std::int64_t rows, std::int64_t capacity, Ints targets, Ints sources,
                 Table<double> inverse, std::int64_t count, int threads) {
    check_lengths(count, {{"targets", targets}, {"sources", sources}});
    check_lengths(rows * capacity, {{"inverse", inverse}});
    native::parallel_for(threads, rows, [&](std::int64_t p) {
        for (std::int64_t c = 0; c < count; ++c) {
            if (targets[c] >= 0)
                inverse(p, targets[c]) = inverse(p, sources[c]);
            inverse(p, sources[c]) = 0.0;
        }
    });
}

/// A compressed matrix by its owners, rows or columns.
struct Compressed {
    Ints starts, indices;
    Reals values;

    void check(std::int64_t owners) const {
        check_lengths(owners + 1, {{"starts", starts}});
        check_lengths(starts[owners], {{"indices", indices}, {"values", values}});
    }
    double product(std::int64_t owner, Reals vector) const {
        double sum = 0.0;
        for (Index k = starts[owner], end = starts[owner + 1]; k < end; ++k)
            sum += values[k] * vector[indices[k]];
        return sum;
    }
};

/// Compute r = A x - s.
void row_residual(std::int64_t rows, std::int64_t structurals, std::int64_t, Ints starts,
                  Ints indices, Reals values, Reals x, RealsOut residual, int threads) {
    const Compressed matrix = {starts, indices, values};
    matrix.check(rows);
    check_lengths(rows + structurals, {{"x", x}});
    check_lengths(rows, {{"residual", residual}});
    native::parallel_for(threads, rows, [&](std::int64_t i) {
        residual[i] = matrix.product(i, x) - x[structurals + i];
    });
}

/// Compute v = B^-1 r.
void apply_inverse(std::int64_t rows, std::int64_t capacity, std::int64_t slots,
                   Table<const double> inverse, Ints unit_row, Ints row_of_slot, Reals right,
                   RealsOut result, int threads) {
    check_lengths(rows * capacity, {{"inverse", inverse}});
    check_lengths(rows, {{"unit_row", unit_row}, {"right", right}, {"result", result}});
    check_lengths(slots, {{"row_of_slot", row_of_slot}});
    native::parallel_for(threads, rows, [&](std::int64_t p) {
        const Reals row = inverse[p];
        double sum = 0.0;
        for (std::int64_t s = 0; s < slots; ++s)
            sum += row[s] * right[row_of_slot[s]];
        if (unit_row[p] >= 0)
            sum -= right[unit_row[p]];
        result[p] = sum;
    });
}

/// Take a change off the basic values.
void correct_basics(std::int64_t rows, Ints basic, Reals lower, Reals upper, Reals change,
                    RealsOut x, RealsOut x_basic, RealsOut lower_basic, RealsOut upper_basic,
                    int threads) {
    check_lengths(rows, {{"basic", basic},
                         {"change", change},
                         {"x_basic", x_basic},
                         {"lower_basic", lower_basic},
                         {"upper_basic", upper_basic}});
    check_lengths(x.size(), {{"lower", lower}, {"upper", upper}});
    native::parallel_for(threads, rows, [&](std::int64_t p) {
        const Index j = basic[p];
        x[j] -= change[p];
        x_basic[p] = x[j];
        lower_basic[p] = lower[j];
        upper_basic[p] = upper[j];
    });
}

/// Copy basic values to where all variables are.
void spread_basics(std::int64_t rows, Ints basic, Reals x_basic, RealsOut x, int threads) {
    check_lengths(rows, {{"basic", basic}, {"x_basic", x_basic}});
    native::parallel_for(threads, rows, [&](std::int64_t p) { x[basic[p]] = x_basic[p]; });
}

/// Copy the elements of basic variables.
void gather_basics(std::int64_t rows, Ints basic, Reals vector, RealsOut by_position, int threads) {
    check_lengths(rows, {{"basic", basic}, {"by_position", by_position}});
    native::parallel_for(threads, rows, [&](std::int64_t p) { by_position[p] = vector[basic[p]]; });
}

/// Add B^-T v to a dual vector.
void place_dual(std::int64_t rows, Ints slot_of_row, Ints unit_position, Reals product,
                Reals by_position, RealsOut dual, int threads) {
    check_lengths(rows, {{"slot_of_row", slot_of_row},
                         {"unit_position", unit_position},
                         {"by_position", by_position},
                         {"dual", dual}});
    native::parallel_for(threads, rows, [&](std::int64_t i) {
        const Index slot = slot_of_row[i];
        dual[i] += slot >= 0 ? product[slot] : -by_position[unit_position[i]];
    });
}

/// Compute d = c - [A -I]'y.
void reduced_costs(std::int64_t rows, std::int64_t structurals, std::int64_t, Ints starts,
                   Ints indices, Reals values, Reals cost, Reals dual, RealsOut reduced_cost,
                   int threads) {
    const std::int64_t variables = rows + structurals;
    const Compressed matrix = {starts, indices, values};
    matrix.check(structurals);
    check_lengths(variables, {{"cost", cost}, {"reduced_cost", reduced_cost}});
    check_lengths(rows, {{"dual", dual}});
    native::parallel_for(threads, variables, [&](std::int64_t j) {
        reduced_cost[j] =
            j < structurals ? cost[j] - matrix.product(j, dual) : cost[j] + dual[j - structurals];
    });
}

/// What settling may change of a variable.
struct Variables {
    IntsOut status;
    Reals lower, upper;
    RealsOut x, cost, reduced_cost;

    /// Give a reduced cost the sign that the status asks for, by a move to the other bound or a
    /// shift of the cost.
    void repair(std::int64_t j, double tolerance) const {
        const Index kind = status[j];
        const double d = reduced_cost[j];
        const bool too_low = d < -tolerance && kind != UPPER;
        const bool too_high = d > tolerance && kind != LOWER;
        if (too_low && kind == LOWER && upper[j] < INF) {
            status[j] = UPPER;
            x[j] = upper[j];
        } else if (too_high && kind == UPPER && lower[j] > -INF) {
            status[j] = LOWER;
            x[j] = lower[j];
        } else if (too_low || too_high) {
            cost[j] -= d;
            reduced_cost[j] = 0.0;
        }
    }
};

/// Make reduced costs have the signs that statuses ask for.
void settle_duals(std::int64_t variables, std::int64_t repair, IntsOut status, Reals lower,
                  Reals upper, RealsOut x, RealsOut cost, RealsOut reduced_cost, Reals scalars,
                  int threads) {
    check_lengths(variables, {{"status", status},
                              {"lower", lower},
                              {"upper", upper},
                              {"x", x},
                              {"cost", cost},
                              {"reduced_cost", reduced_cost}});
    check_lengths(SCALAR_WORDS, {{"scalars", scalars}});
    const Variables all = {status, lower, upper, x, cost, reduced_cost};
    const double tolerance = scalars[DUAL_TOLERANCE];
    native::parallel_for(threads, variables, [&](std::int64_t j) {
        if (status[j] == BASIC)
            reduced_cost[j] = 0.0;
        else if (repair == 1 && lower[j] < upper[j])
            all.repair(j, tolerance);
    });
}

/// Find the largest magnitude of a vector.
void largest(std::int64_t count, std::int64_t place, Reals vector, RealsOut scalars, int) {
    check_lengths(count, {{"vector", vector}});
    check_lengths(place + 1, {{"scalars", scalars}});
    double best = 0.0;
    for (std::int64_t i = 0; i < count; ++i) {
        const double size = std::fabs(vector[i]);
        if (!(size <= best))
            best = size == size ? size : INF;
    }
    scalars[place] = best;
}

} // namespace
} // namespace simplex::dense_gpu

NATIVE_MODULE(simplex_dense_gpu_refresh) {
    using namespace simplex::dense_gpu;
    NATIVE_CONSTANTS(module, "solvers.simplex.state", LOWER, BASIC, UPPER, ZERO);
    NATIVE_CONSTANTS(module, "solvers.simplex.dense_gpu.control", BLOCK, MOST_DELAYED, MOST_FLIPS,
                     SIDE_ROWS, SEGMENT, SPARSE_BELOW, GATHER_BELOW, NONE, CONTROL_WORDS,
                     SCALAR_WORDS, STATUS, PIVOTS, ITERATIONS, LIMIT, POSITION, LEAVING, ENTERING,
                     FLIPS, SLOTS, RESET, FLIP_ONLY, DIRECTION, TO_UPPER, ALL_FLIPS, MADE, ENTRIES,
                     FLIP_ENTRIES, RUNNING, DONE, NO_PIVOT, OUT_OF_PIVOTS, FOLD, INACCURATE, VALUE,
                     BOUND, EXCESS, WEIGHT, DUAL_STEP, PIVOT, ENTERING_VALUE, NORM, PRIMAL_STEP,
                     LARGEST, ERROR, COST_SHIFT, PRIMAL_TOLERANCE, DUAL_TOLERANCE, SMALL_PIVOT,
                     PIVOT_ERROR, HARRIS);
    NATIVE_KERNELS(module, gather_basis, spread_inverse, open_slots, gather_eta_rows, close_slots,
                   row_residual, apply_inverse, correct_basics, spread_basics, gather_basics,
                   place_dual, reduced_costs, settle_duals, largest);
}
