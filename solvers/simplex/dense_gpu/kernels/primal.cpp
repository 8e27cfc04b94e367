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
void choose_entering(std::int64_t rows, std::int64_t structurals, std::int64_t most, std::int64_t,
                     std::int64_t groups, Ints starts, Ints indices, Reals values, Ints slot_of_row,
                     Reals x, Reals reduced_cost, Reals weights, Table alpha_rows,
                     Reals partial_value, Ints partial_index, IntsOut places, RealsOut amounts,
                     RealsOut column, RealsOut column_slots, RealsOut flip_column,
                     RealsOut flip_slots, RealsOut column_dots, IntsOut control, RealsOut scalars,
                     int) {
    const std::int64_t variables = rows + structurals;
    const Matrix matrix = {rows, structurals, starts, indices, values, slot_of_row};
    const Target target = {places, amounts, column, column_slots, flip_column, flip_slots};
    check_sides(matrix, target, control);
    check_lengths(variables, {{"x", x}, {"reduced_cost", reduced_cost}, {"weights", weights}});
    check_lengths(most * variables, {{"alpha_rows", alpha_rows}});
    check_lengths(groups, {{"partial_value", partial_value}, {"partial_index", partial_index}});
    check_lengths(most, {{"column_dots", column_dots}});
    check_lengths(SCALAR_WORDS, {{"scalars", scalars}});
    if (control[STATUS] != RUNNING)
        return;
    const std::int64_t made = control[PIVOTS];
    if (made >= most || control[ITERATIONS] >= control[LIMIT]) {
        control[STATUS] = made >= most ? FOLD : OUT_OF_PIVOTS;
        return;
    }
    const Index q = best_of(partial_value, partial_index, groups).index;
    if (q == NONE) {
        control[STATUS] = DONE;
        return;
    }
    make_sides(q, {}, false, matrix, target, control);
    for (std::int64_t e = 0; e < made; ++e)
        column_dots[e] = alpha_rows(e, q);
    control[ENTERING] = q;
    control[DIRECTION] = reduced_cost[q] < 0.0 ? 1 : -1;
    scalars[ENTERING_VALUE] = x[q];
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

/// What a pivot changes by position, and what it reads for that.
struct Positions {
    Reals lower, upper, alpha;
    TableOut etas;
    RealsOut value, low, high;
    IntsOut variable;
};

/// What a pivot changes by variable.
struct Variables {
    Reals alpha;
    RealsOut lower, upper, x, reduced_cost, weights;
    IntsOut status;
};

/// Make the pivot or flip at a position.
void update_position(std::int64_t p, const Exchange &made, const Positions &all) {
    if (p == made.position && !made.flip) {
        all.value[p] = made.entering_value + made.primal_step;
        all.low[p] = all.lower[made.entering];
        all.high[p] = all.upper[made.entering];
        all.variable[p] = made.entering;
        all.etas(p, made.made) = 1.0 / made.pivot - 1.0;
        return;
    }
    all.value[p] -= made.primal_step * all.alpha[p];
    if (!made.flip)
        all.etas(p, made.made) = -all.alpha[p] / made.pivot;
}

/// Put the leaving variable on its bound.
void leave_basis(const Exchange &made, const Variables &all) {
    const Index j = made.leaving;
    all.reduced_cost[j] = -made.dual_step;
    all.x[j] = made.bound;
    (made.to_upper ? all.upper : all.lower)[j] = made.bound;
    all.status[j] = made.to_upper && all.lower[j] != all.upper[j] ? UPPER : LOWER;
    all.weights[j] = std::max(made.weight / (made.pivot * made.pivot), 1.0);
}

/// Make the pivot at a variable.
void update_variable(std::int64_t j, const Exchange &made, const Variables &all) {
    if (j == made.entering) {
        all.reduced_cost[j] = 0.0;
        all.status[j] = BASIC;
    } else if (j == made.leaving) {
        leave_basis(made, all);
    } else if (all.status[j] != BASIC) {
        const double share = all.alpha[j] / made.pivot;
        all.reduced_cost[j] -= made.dual_step * all.alpha[j];
        all.weights[j] = std::max(all.weights[j], share * share * made.weight);
    }
}

/// Move the entering variable to its other bound.
void flip_entering(Index q, const Variables &all) {
    const bool up = all.status[q] == LOWER;
    all.x[q] = up ? all.upper[q] : all.lower[q];
    all.status[q] = up ? UPPER : LOWER;
}

/// Whether the pivot element came out the same from column and row; notes error and pivot.
bool note_pivot(Index position, Index leaving, Index entering, Index made, double by_row,
                native::Grid<Index> pivot_log, RealsOut scalars) {
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
void update_primal(std::int64_t rows, std::int64_t structurals, std::int64_t most, Table alpha_rows,
                   Reals alpha, RealsOut lower, RealsOut upper, TableOut etas, RealsOut x_basic,
                   RealsOut lower_basic, RealsOut upper_basic, RealsOut x, RealsOut reduced_cost,
                   RealsOut weights, IntsOut basic, IntsOut status, native::Grid<Index> pivot_log,
                   RealsOut partial_value, IntsOut partial_index, IntsOut control, RealsOut scalars,
                   int threads) {
    const std::int64_t variables = rows + structurals, groups = groups_of(variables);
    check_lengths(CONTROL_WORDS, {{"control", control}, {"scalars", scalars}});
    check_lengths(variables, {{"lower", lower},
                              {"upper", upper},
                              {"x", x},
                              {"reduced_cost", reduced_cost},
                              {"weights", weights},
                              {"status", status}});
    check_lengths(rows, {{"alpha", alpha},
                         {"x_basic", x_basic},
                         {"lower_basic", lower_basic},
                         {"upper_basic", upper_basic},
                         {"basic", basic}});
    check_lengths(most * variables, {{"alpha_rows", alpha_rows}});
    check_lengths(rows * most, {{"etas", etas}});
    check_lengths(3 * most, {{"pivot_log", pivot_log}});
    check_lengths(groups, {{"partial_value", partial_value}, {"partial_index", partial_index}});
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
    const Positions positions = {lower,   upper,       alpha,       etas,
                                 x_basic, lower_basic, upper_basic, basic};
    native::parallel_for(threads, rows,
                         [&](std::int64_t p) { update_position(p, exchange, positions); });
    const Variables of = {row, lower, upper, x, reduced_cost, weights, status};
    if (flip)
        flip_entering(q, of);
    const Prices prices = {status, lower, upper, reduced_cost, weights};
    const double tolerance = scalars[DUAL_TOLERANCE];
    const bool restart = exchange.weight > LARGEST_DEVEX_WEIGHT;
    leave_best(threads, variables, groups, partial_value, partial_index, [&](std::int64_t j) {
        if (!flip)
            update_variable(j, exchange, of);
        if (restart)
            weights[j] = 1.0;
        return prices.merit(j, tolerance);
    });
}

} // namespace
} // namespace simplex::dense_gpu

NATIVE_MODULE(simplex_dense_gpu_primal) {
    using namespace simplex::dense_gpu;
    NATIVE_KERNELS(module, price_costs, choose_entering, choose_leaving, update_primal);
}
