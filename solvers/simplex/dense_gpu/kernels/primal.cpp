// Primal pivots; primal.py states what the kernels compute.
#include "sides.h"

namespace simplex::dense_gpu {
namespace {

/// What pricing reads of variables.
struct Prices {
    Ints status;
    Reals lower, upper, reduced_cost, weights;

    double merit(std::int64_t j, double tolerance) const {
        return merit_of(status[j], lower[j], upper[j], reduced_cost[j], weights[j], tolerance);
    }
};

/// Leave the best variable of each block.
void price_costs(std::int64_t rows, std::int64_t structurals, Ints status, Reals lower, Reals upper,
                 Reals reduced_cost, Reals weights, Reals scalars, RealsOut partial_value,
                 IntsOut partial_index, int threads) {
    const std::int64_t variables = rows + structurals, groups = groups_of(variables);
    check_lengths(variables, {{"status", status},
                              {"lower", lower},
                              {"upper", upper},
                              {"reduced_cost", reduced_cost},
                              {"weights", weights}});
    check_lengths(groups, {{"partial_value", partial_value}, {"partial_index", partial_index}});
    check_lengths(SCALAR_WORDS, {{"scalars", scalars}});
    const Prices prices = {status, lower, upper, reduced_cost, weights};
    const double tolerance = scalars[DUAL_TOLERANCE];
    leave_best(threads, variables, groups, partial_value, partial_index,
               [&](std::int64_t j) { return prices.merit(j, tolerance); });
}

/// Choose the entering variable.
void choose_entering(const Matrix &matrix, int most, std::int64_t groups, const Variables &of,
                     Reals weights, Table<const double> alpha_rows, const Partials &partials,
                     const RightSidesOut &rights, IntsOut control, RealsOut scalars, int) {
    const std::int64_t variables = count_variables(matrix);
    check(matrix);
    check(of, variables);
    check(rights, matrix.rows, most, control);
    check(partials, groups);
    check_lengths(variables, {{"weights", weights}});
    check_lengths(most * variables, {{"alpha_rows", alpha_rows}});
    check_lengths(SCALAR_WORDS, {{"scalars", scalars}});
    if (control[STATUS] != RUNNING)
        return;
    const std::int64_t made = control[PIVOTS];
    if (made >= most || control[ITERATIONS] >= control[LIMIT]) {
        control[STATUS] = made >= most ? FOLD : OUT_OF_PIVOTS;
        return;
    }
    const Index q = best_of(partials.partial_value, partials.partial_index, groups).index;
    if (q == NONE) {
        control[STATUS] = DONE;
        return;
    }
    make_sides(q, {}, false, matrix, rights, control);
    for (std::int64_t e = 0; e < made; ++e)
        rights.column_dots[e] = alpha_rows(e, q);
    control[ENTERING] = q;
    control[DIRECTION] = of.reduced_cost[q] < 0.0 ? 1 : -1;
    scalars[ENTERING_VALUE] = of.x[q];
    scalars[WEIGHT] = weights[q];
}

/// How basic values change as the entering variable moves, and how far they are from their bounds.
struct Moving {
    double direction;
    Reals alpha, value, lower, upper;

    double rate(std::int64_t p) const { return direction * alpha[p]; }
    double room(std::int64_t p) const { return room_of(rate(p), value[p], lower[p], upper[p]); }
    double free_room(std::int64_t p) const {
        const double room_there = room(p);
        return room_there < 0.0 ? 0.0 : room_there;
    }
};

/// The leaving position by Harris's two passes; its value is the size of the pivot element.
Best blocking_position(const Moving &moving, std::int64_t rows, double smallest, double relax) {
    double bound = INF;
    for (std::int64_t p = 0; p < rows; ++p) {
        const double size = std::fabs(moving.rate(p));
        if (size > smallest)
            bound = std::min(bound, (moving.free_room(p) + relax) / size);
    }
    Best best;
    for (std::int64_t p = 0; bound < INF && p < rows; ++p) {
        const double size = std::fabs(moving.rate(p));
        if (size > smallest && moving.free_room(p) <= bound * size)
            best.take(size, p);
    }
    return best;
}

/// Say which position leaves, and by what step.
void leave_pivot(Index r, Index variable, double step, double price, const Moving &moving,
                 IntsOut control, RealsOut scalars) {
    const double value = moving.value[r], pivot = moving.alpha[r];
    const bool falls = moving.rate(r) > 0.0;
    control[POSITION] = r;
    control[LEAVING] = variable;
    control[TO_UPPER] = falls ? 0 : 1;
    control[PIVOTS] += 1;
    scalars[VALUE] = value;
    scalars[BOUND] = moving.room(r) < 0.0 ? value : (falls ? moving.lower[r] : moving.upper[r]);
    scalars[PRIMAL_STEP] = step;
    scalars[PIVOT] = pivot;
    scalars[DUAL_STEP] = price / pivot;
}

/// Choose the leaving position, or to flip the entering variable.
void choose_leaving(std::int64_t rows, Ints basic, Reals lower, Reals upper, Reals reduced_cost,
                    Reals alpha, Reals x_basic, Reals lower_basic, Reals upper_basic,
                    IntsOut control, RealsOut scalars, int) {
    check_lengths(CONTROL_WORDS, {{"control", control}, {"scalars", scalars}});
    check_lengths(rows, {{"basic", basic},
                         {"alpha", alpha},
                         {"x_basic", x_basic},
                         {"lower_basic", lower_basic},
                         {"upper_basic", upper_basic}});
    if (control[STATUS] != RUNNING)
        return;
    const Index q = control[ENTERING];
    check_lengths(q + 1, {{"lower", lower}, {"upper", upper}, {"reduced_cost", reduced_cost}});
    const Moving moving = {static_cast<double>(control[DIRECTION]), alpha, x_basic, lower_basic,
                           upper_basic};
    const Best best = blocking_position(moving, rows, scalars[SMALL_PIVOT], scalars[HARRIS]);
    const double span = upper[q] - lower[q];
    const double step = best.index == NONE ? INF : moving.free_room(best.index) / best.value;
    control[FLIP_ONLY] = span <= step ? 1 : 0;
    if (span > step) {
        leave_pivot(best.index, basic[best.index], step, reduced_cost[q], moving, control, scalars);
    } else if (span == INF) {
        control[FLIP_ONLY] = 0;
        control[STATUS] = NO_PIVOT;
        return;
    } else {
        control[ALL_FLIPS] += 1;
        scalars[PRIMAL_STEP] = span;
    }
    control[ITERATIONS] += 1;
}

/// The pivot, or the flip of the entering variable to its other bound.
struct Exchange {
    bool flip, to_upper;
    Index position, leaving, entering, made;
    double pivot, primal_step, dual_step, entering_value, weight, bound;
};

/// What a pivot changes by variable.
struct Changed {
    RealsOut lower, upper, x, reduced_cost, weights;
    IntsOut status;
};

/// What a pivot changes by position, and what it reads for that.
struct Positions {
    const Changed &of;
    Reals alpha;
    const BasicsOut &basics;
    Table<double> etas;
};

/// Make the pivot or flip at a position.
void update_position(std::int64_t p, const Exchange &made, const Positions &all) {
    const auto &[basic, value, low, high] = all.basics;
    if (p == made.position && !made.flip) {
        value[p] = made.entering_value + made.primal_step;
        low[p] = all.of.lower[made.entering];
        high[p] = all.of.upper[made.entering];
        basic[p] = made.entering;
        all.etas(p, made.made) = 1.0 / made.pivot - 1.0;
        return;
    }
    value[p] -= made.primal_step * all.alpha[p];
    if (!made.flip)
        all.etas(p, made.made) = -all.alpha[p] / made.pivot;
}

/// Put the leaving variable on its bound.
void leave_basis(const Exchange &made, const Changed &all) {
    const Index j = made.leaving;
    all.reduced_cost[j] = -made.dual_step;
    all.x[j] = made.bound;
    (made.to_upper ? all.upper : all.lower)[j] = made.bound;
    all.status[j] = made.to_upper && all.lower[j] != all.upper[j] ? UPPER : LOWER;
    all.weights[j] = std::max(made.weight / (made.pivot * made.pivot), 1.0);
}

/// Make the pivot at a variable, of which the pivot row has an element.
void update_variable(std::int64_t j, double element, const Exchange &made, const Changed &all) {
    if (j == made.entering) {
        all.reduced_cost[j] = 0.0;
        all.status[j] = BASIC;
    } else if (j == made.leaving) {
        leave_basis(made, all);
    } else if (all.status[j] != BASIC) {
        const double share = element / made.pivot;
        all.reduced_cost[j] -= made.dual_step * element;
        all.weights[j] = std::max(all.weights[j], share * share * made.weight);
    }
}

/// Move the entering variable to its other bound.
void flip_entering(Index q, const Changed &all) {
    const bool up = all.status[q] == LOWER;
    all.x[q] = up ? all.upper[q] : all.lower[q];
    all.status[q] = up ? UPPER : LOWER;
}

/// Whether the pivot element came out the same from column and row; notes error and pivot.
bool note_pivot(Index position, Index leaving, Index entering, Index made, double by_row,
                Table<Index> pivot_log, RealsOut scalars) {
    const double pivot = scalars[PIVOT], error = std::fabs(pivot - by_row);
    scalars[ERROR] = error;
    if (!(error <= scalars[PIVOT_ERROR] * std::min(std::fabs(pivot), std::fabs(by_row))))
        return false;
    pivot_log(made, 0) = position;
    pivot_log(made, 1) = leaving;
    pivot_log(made, 2) = entering;
    return true;
}

/// Make a primal pivot, or flip the entering variable to its other bound.
void update_primal(std::int64_t rows, std::int64_t structurals, std::int64_t most,
                   Table<const double> alpha_rows, Reals alpha, const Changed &of,
                   const BasicsOut &basics, Table<double> etas, Table<Index> pivot_log,
                   const PartialsOut &partials, IntsOut control, RealsOut scalars, int threads) {
    const std::int64_t variables = rows + structurals, groups = groups_of(variables);
    check_lengths(CONTROL_WORDS, {{"control", control}, {"scalars", scalars}});
    check_lengths(variables, {{"lower", of.lower},
                              {"upper", of.upper},
                              {"x", of.x},
                              {"reduced_cost", of.reduced_cost},
                              {"weights", of.weights},
                              {"status", of.status}});
    check(basics, rows);
    check(partials, groups);
    check_lengths(rows, {{"alpha", alpha}});
    check_lengths(most * variables, {{"alpha_rows", alpha_rows}});
    check_lengths(rows * most, {{"etas", etas}});
    check_lengths(3 * most, {{"pivot_log", pivot_log}});
    if (control[STATUS] != RUNNING)
        return;
    const bool flip = control[FLIP_ONLY] == 1;
    const Index made = control[PIVOTS] - 1, r = control[POSITION];
    const Index q = control[ENTERING], leaving = control[LEAVING];
    const Reals row = alpha_rows[flip ? 0 : made];
    if (!flip && !note_pivot(r, leaving, q, made, row[q], pivot_log, scalars)) {
        control[STATUS] = INACCURATE;
        return;
    }
    const double step = static_cast<double>(control[DIRECTION]) * scalars[PRIMAL_STEP];
    const Exchange exchange = {flip,
                               control[TO_UPPER] == 1,
                               r,
                               leaving,
                               q,
                               made,
                               scalars[PIVOT],
                               step,
                               scalars[DUAL_STEP],
                               scalars[ENTERING_VALUE],
                               scalars[WEIGHT],
                               scalars[BOUND]};
    const Positions positions = {of, alpha, basics, etas};
    native::parallel_for(threads, rows,
                         [&](std::int64_t p) { update_position(p, exchange, positions); });
    if (flip)
        flip_entering(q, of);
    const Prices prices = {of.status, of.lower, of.upper, of.reduced_cost, of.weights};
    const double tolerance = scalars[DUAL_TOLERANCE];
    const bool restart = exchange.weight > LARGEST_DEVEX_WEIGHT;
    const auto &[value, index] = partials;
    leave_best(threads, variables, groups, value, index, [&](std::int64_t j) {
        if (!flip)
            update_variable(j, row[j], exchange, of);
        if (restart)
            of.weights[j] = 1.0;
        return prices.merit(j, tolerance);
    });
}

} // namespace
} // namespace simplex::dense_gpu

NATIVE_STRUCT(simplex::dense_gpu::Changed, lower, upper, x, reduced_cost, weights, status)

NATIVE_MODULE(simplex_dense_gpu_primal) {
    using namespace simplex::dense_gpu;
    NATIVE_KERNELS(module, price_costs, choose_entering, choose_leaving, update_primal);
}
