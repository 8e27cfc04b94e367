// The dual ratio test; ratio.py states what it computes.
#include <vector>

#include "sides.h"

namespace simplex::dense_gpu {
namespace {

/// All variables, their share of the pivot row, and their ratios.
struct Field {
    const Variables &of;
    Reals alpha, ratio;
    std::int64_t variables;

    double span(std::int64_t j) const { return of.upper[j] - of.lower[j]; }
    double size(std::int64_t j) const { return std::fabs(alpha[j]); }
    /// Whether a break point equals one at this ratio, but for the tolerance.
    bool near(std::int64_t j, double bound) const {
        return ratio[j] <= bound ||
               distance_of(of.status[j], of.reduced_cost[j]) <= bound * size(j);
    }
};

/// The least ratio and the number of candidates.
struct Reach {
    double smallest = INF;
    std::int64_t total = 0;
};

Reach reach_of(const Field &all) {
    Reach reach;
    for (std::int64_t j = 0; j < all.variables; ++j)
        if (all.ratio[j] < INF) {
            reach.smallest = std::min(reach.smallest, all.ratio[j]);
            ++reach.total;
        }
    return reach;
}

/// The largest pivot element among break points that equal the least one.
Index best_of_first_group(const Field &all, double least) {
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
void select_points(Points &points, const Field &all, const Reach &reach, double slope) {
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
double pass_groups(Groups &groups, const Points &points, const Field &all, double slope) {
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
                        const Field &all, IntsOut flips, RealsOut steps) {
    std::int64_t count = 0;
    for (std::int64_t place = 0; place < points.length; ++place) {
        if (groups.of[place] < 0 || groups.of[place] >= before)
            continue;
        const std::int64_t j = points.chosen[place];
        flips[count] = static_cast<Index>(j);
        steps[count] = all.of.status[j] == LOWER ? all.span(j) : -all.span(j);
        ++count;
    }
    return count;
}

/// The entering variable, NONE if the dual is unbounded, and the number of flips before it.
struct Choice {
    Index entering = NONE;
    std::int64_t flips = 0;
};

Choice choose(const Field &all, double excess, double tolerance, IntsOut flips, RealsOut steps) {
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
void leave_dots(Index q, const Flips &flips, std::int64_t made, Table<const double> alpha_rows,
                const RightSidesOut &rights) {
    for (std::int64_t e = 0; e < made; ++e) {
        const Reals earlier = alpha_rows[e];
        double sum = 0.0;
        for (std::int64_t f = 0; f < flips.count; ++f)
            sum += earlier[flips.variables[f]] * flips.steps[f];
        rights.column_dots[e] = earlier[q];
        rights.flip_dots[e] = sum;
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
void choose_column(const Matrix &matrix, int most, int steepest, const Variables &of,
                   Table<const double> alpha_rows, const Candidates &priced,
                   const FlippedOut &passed, const RightSidesOut &rights, IntsOut control,
                   RealsOut scalars, int) {
    const std::int64_t variables = count_variables(matrix);
    check(matrix);
    check(of, variables);
    check(rights, matrix.rows, most, control);
    check_lengths(variables, {{"ratios", priced.ratios}});
    check_lengths(most * variables, {{"alpha_rows", alpha_rows}});
    check_lengths(MOST_FLIPS, {{"flips", passed.flips}, {"flip_steps", passed.flip_steps}});
    check_lengths(most + 1, {{"dots", priced.dots}});
    check_lengths(SCALAR_WORDS, {{"scalars", scalars}});
    if (control[STATUS] != RUNNING)
        return;
    const Index made = control[PIVOTS];
    const Field all = {of, alpha_rows[made], priced.ratios, variables};
    const Choice choice =
        choose(all, scalars[EXCESS], scalars[PRIMAL_TOLERANCE], passed.flips, passed.flip_steps);
    const Index q = choice.entering;
    if (q == NONE) {
        control[STATUS] = NO_PIVOT;
        return;
    }
    const Flips flips = {passed.flips, passed.flip_steps, choice.flips};
    make_sides(q, flips, steepest == 1, matrix, rights, control);
    leave_dots(q, flips, made, alpha_rows, rights);
    leave_step(of.reduced_cost[q], all.alpha[q], scalars);
    double norm = priced.dots[most];
    if (steepest == 0) {
        double sum = 0.0;
        for (const double square : priced.squares)
            sum += square;
        norm = std::max(1.0, sum + of.reference[control[LEAVING]]);
    }
    scalars[ENTERING_VALUE] = of.x[q];
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
