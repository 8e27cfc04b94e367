// The dual ratio test; ratio.py states what it computes.
#include <vector>

#include "arrays.h"
#include "sides.h"

namespace simplex::dense_gpu {
namespace {

/// What pricing has left of all variables.
struct Candidates {
    Reals lower, upper, alpha, ratio;
    Ints status;
    Reals reduced_cost;
    std::int64_t variables;

    double span(std::int64_t j) const { return upper[j] - lower[j]; }
    double size(std::int64_t j) const { return std::fabs(alpha[j]); }
    /// Whether a break point equals one at this ratio, but for the tolerance.
    bool near(std::int64_t j, double bound) const {
        return ratio[j] <= bound || distance_of(status[j], reduced_cost[j]) <= bound * size(j);
    }
};

/// The least ratio and the number of candidates.
struct Reach {
    double smallest = INF;
    std::int64_t total = 0;
};

Reach reach_of(const Candidates &all) {
    Reach reach;
    for (std::int64_t j = 0; j < all.variables; ++j)
        if (all.ratio[j] < INF) {
            reach.smallest = std::min(reach.smallest, all.ratio[j]);
            ++reach.total;
        }
    return reach;
}

/// The largest pivot element among break points that equal the least one.
Index best_of_first_group(const Candidates &all, double least) {
    Best best;
    for (std::int64_t j = 0; j < all.variables; ++j)
        if (all.ratio[j] != INF && all.near(j, least))
            best.take(all.size(j), j);
    return best.index;
}

/// Break points within reach; ``wide`` says that there are more than may be held.
struct Points {
    std::int64_t chosen[MOST_FLIPS];
    std::int64_t length = 0;
    bool wide = false;
};

/// Look as far as the slope stays positive.
void select_points(Points &points, const Candidates &all, const Reach &reach, double slope) {
    double select = std::max(SELECTION_GROWTH * reach.smallest, FIRST_SELECTION), before = 0.0;
    bool last = false;
    while (true) {
        double lost = 0.0;
        points.length = 0;
        for (std::int64_t j = 0; j < all.variables; ++j) {
            if (!(all.ratio[j] <= select))
                continue;
            if (points.length < MOST_FLIPS) {
                points.chosen[points.length] = j;
                lost += all.size(j) * all.span(j);
            }
            ++points.length;
        }
        if (points.length > MOST_FLIPS) {
            points.wide = before == 0.0;
            if (points.wide)
                return;
            select = before;
            last = true;
        } else if (last || lost >= slope || points.length == reach.total) {
            return;
        } else {
            before = select;
            select *= SELECTION_GROWTH;
        }
    }
}

/// Groups of break points that are passed, and the largest pivot element of each.
struct Groups {
    Best best[MOST_GROUPS];
    std::int64_t of[MOST_FLIPS];
    std::int64_t count = 0, passed = 0;
    double largest = 0.0;
};

/// Pass groups while the slope stays positive; what is left of it.
double pass_groups(Groups &groups, const Points &points, const Candidates &all, double slope) {
    std::fill(groups.of, groups.of + points.length, -1);
    while (groups.count < MOST_GROUPS && groups.passed < points.length && slope >= 0.0) {
        double bound = INF;
        for (std::int64_t place = 0; place < points.length; ++place)
            if (groups.of[place] < 0)
                bound = std::min(bound, all.ratio[points.chosen[place]]);
        double change = 0.0;
        Best &best = groups.best[groups.count];
        for (std::int64_t place = 0; place < points.length; ++place) {
            const std::int64_t j = points.chosen[place];
            if (groups.of[place] >= 0 || !all.near(j, bound))
                continue;
            groups.of[place] = groups.count;
            ++groups.passed;
            change += all.size(j) * all.span(j);
            best.take(all.size(j), j);
        }
        slope -= change;
        groups.largest = std::max(groups.largest, best.value);
        ++groups.count;
    }
    return slope;
}

/// The group whose column enters: the last one, or one before it with a larger pivot element.
std::int64_t entering_group(const Groups &groups) {
    const double required = std::min(RELATIVE_PIVOT * groups.largest, SUFFICIENT_PIVOT);
    std::int64_t at = groups.count - 1;
    while (at > 0 && groups.best[at].value <= required)
        --at;
    return at;
}

/// List the break points before a group, and how far they are flipped; how many there are.
std::int64_t list_flips(const Groups &groups, std::int64_t before, const Points &points,
                        const Candidates &all, IntsOut flips, RealsOut steps) {
    std::int64_t count = 0;
    for (std::int64_t place = 0; place < points.length; ++place) {
        if (groups.of[place] < 0 || groups.of[place] >= before)
            continue;
        const std::int64_t j = points.chosen[place];
        flips[count] = static_cast<Index>(j);
        steps[count] =
            all.status[j] == LOWER ? all.upper[j] - all.lower[j] : all.lower[j] - all.upper[j];
        ++count;
    }
    return count;
}

/// The entering variable, NONE if the dual is unbounded, and the number of flips before it.
struct Choice {
    Index entering = NONE;
    std::int64_t flips = 0;
};

Choice choose(const Candidates &all, double excess, double tolerance, IntsOut flips,
              RealsOut steps) {
    const Reach reach = reach_of(all);
    if (reach.smallest == INF)
        return {};
    Points points;
    select_points(points, all, reach, std::fabs(excess));
    if (points.wide)
        return {best_of_first_group(all, reach.smallest), 0};
    Groups groups;
    const double slope = pass_groups(groups, points, all, std::fabs(excess));
    const bool all_passed = points.length == reach.total && groups.passed == points.length;
    if (slope > tolerance && all_passed)
        return {};
    const std::int64_t at = entering_group(groups);
    return {groups.best[at].index, list_flips(groups, at, points, all, flips, steps)};
}

/// Products of the right sides with the delayed pivot rows.
void leave_dots(Index q, const Flips &flips, std::int64_t made, Table alpha_rows,
                RealsOut column_dots, RealsOut flip_dots) {
    for (std::int64_t e = 0; e < made; ++e) {
        const Reals earlier = alpha_rows[e];
        double sum = 0.0;
        for (std::int64_t f = 0; f < flips.count; ++f)
            sum += earlier[flips.variables[f]] * flips.steps[f];
        column_dots[e] = earlier[q];
        flip_dots[e] = sum;
    }
}

/// Leave the dual step, or the shift of the cost that makes it zero where its sign is wrong.
void leave_step(double price, double pivot, RealsOut scalars) {
    const double step = price / pivot;
    const bool wrong = step != 0.0 && (step < 0.0) != (scalars[EXCESS] < 0.0);
    scalars[DUAL_STEP] = wrong ? 0.0 : step;
    scalars[COST_SHIFT] = wrong ? price : 0.0;
    scalars[PIVOT] = pivot;
}

/// Choose the entering variable and the flips before it.
void choose_column(std::int64_t rows, std::int64_t structurals, std::int64_t most, std::int64_t,
                   std::int64_t, std::int64_t steepest, Ints starts, Ints indices, Reals values,
                   Ints slot_of_row, Ints reference, Reals lower, Reals upper, Table alpha_rows,
                   Reals ratio, Reals, Ints, Reals squares, Reals dots, Ints status, Reals x,
                   Reals reduced_cost, IntsOut flips, RealsOut flip_steps, IntsOut places,
                   RealsOut amounts, RealsOut column, RealsOut column_slots, RealsOut flip_column,
                   RealsOut flip_slots, RealsOut column_dots, RealsOut flip_dots, IntsOut control,
                   RealsOut scalars, int) {
    const std::int64_t variables = rows + structurals;
    const Matrix matrix = {rows, structurals, starts, indices, values, slot_of_row};
    const Target target = {places, amounts, column, column_slots, flip_column, flip_slots};
    check_sides(matrix, target, control);
    check_lengths(variables, {{"reference", reference},
                              {"lower", lower},
                              {"upper", upper},
                              {"ratio", ratio},
                              {"status", status},
                              {"x", x},
                              {"reduced_cost", reduced_cost}});
    check_lengths(most * variables, {{"alpha_rows", alpha_rows}});
    check_lengths(MOST_FLIPS, {{"flips", flips}, {"flip_steps", flip_steps}});
    check_lengths(most, {{"column_dots", column_dots}, {"flip_dots", flip_dots}});
    check_lengths(most + 1, {{"dots", dots}});
    check_lengths(SCALAR_WORDS, {{"scalars", scalars}});
    if (control[STATUS] != RUNNING)
        return;
    const Index made = control[PIVOTS];
    const Reals alpha = alpha_rows[made];
    const Candidates all = {lower, upper, alpha, ratio, status, reduced_cost, variables};
    const Choice choice =
        choose(all, scalars[EXCESS], scalars[PRIMAL_TOLERANCE], flips, flip_steps);
    const Index q = choice.entering;
    if (q == NONE) {
        control[STATUS] = NO_PIVOT;
        return;
    }
    const Flips flipped = {flips, flip_steps, choice.flips};
    make_sides(q, flipped, steepest == 1, matrix, target, control);
    leave_dots(q, flipped, made, alpha_rows, column_dots, flip_dots);
    leave_step(reduced_cost[q], alpha[q], scalars);
    double norm = dots[most];
    if (steepest == 0) {
        double sum = 0.0;
        for (const double square : squares)
            sum += square;
        norm = std::max(1.0, sum + reference[control[LEAVING]]);
    }
    scalars[ENTERING_VALUE] = x[q];
    scalars[NORM] = norm;
    control[RESET] = steepest == 0 && scalars[WEIGHT] > DEVEX_ERROR * norm ? 1 : 0;
    control[ENTERING] = q;
    control[FLIPS] = static_cast<Index>(choice.flips);
    control[MADE] = made;
}

} // namespace
} // namespace simplex::dense_gpu

NATIVE_MODULE(simplex_dense_gpu_ratio) {
    using namespace simplex::dense_gpu;
    NATIVE_KERNELS(module, choose_column);
}
