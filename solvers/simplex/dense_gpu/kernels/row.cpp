// The pivot row; row.py states what the kernels compute.
//
// Solving with the basis; row.py states what it computes.
#include "structures.h"

namespace simplex::dense_gpu {
namespace {

/// Leave the best position of each block.
void choose_row(std::int64_t rows, Reals x_basic, Reals lower_basic, Reals upper_basic,
                Reals weights, Reals scalars, RealsOut partial_value, IntsOut partial_index,
                int threads) {
    const std::int64_t groups = groups_of(rows);
    check_lengths(rows, {{"x_basic", x_basic},
                         {"lower_basic", lower_basic},
                         {"upper_basic", upper_basic},
                         {"weights", weights}});
    check_lengths(groups, {{"partial_value", partial_value}, {"partial_index", partial_index}});
    check_lengths(SCALAR_WORDS, {{"scalars", scalars}});
    const double tolerance = scalars[PRIMAL_TOLERANCE];
    leave_best(threads, rows, groups, partial_value, partial_index, [&](std::int64_t p) {
        const double over = excess_of(x_basic[p], lower_basic[p], upper_basic[p], tolerance);
        return over * over / weights[p];
    });
}

/// Take the position from partial results, or say why there is none.
bool take_position(std::int64_t most, std::int64_t made, const Basics &basics, Reals weights,
                   const Best &best, IntsOut control, RealsOut scalars) {
    if (made >= most || control[ITERATIONS] >= control[LIMIT]) {
        control[STATUS] = made >= most ? FOLD : OUT_OF_PIVOTS;
        return false;
    }
    const Index place = best.index;
    if (place == NONE) {
        control[STATUS] = DONE;
        return false;
    }
    const double value = basics.x_basic[place];
    const double lower = basics.lower_basic[place], upper = basics.upper_basic[place];
    const double excess = excess_of(value, lower, upper, scalars[PRIMAL_TOLERANCE]);
    control[POSITION] = place;
    control[LEAVING] = basics.basic[place];
    scalars[VALUE] = value;
    scalars[EXCESS] = excess;
    scalars[BOUND] = excess < 0.0 ? lower : upper;
    scalars[WEIGHT] = weights[place];
    return true;
}

/// Find the leaving position and its row of the inverse.
void pivot_row(std::int64_t rows, std::int64_t groups, const InverseOut &inverse, Ints slot_of_row,
               const Basics &basics, Reals weights, const Partials &partials, IntsOut control,
               RealsOut scalars, int threads) {
    check(inverse, rows);
    check(basics, rows);
    check(partials, groups);
    check_lengths(rows, {{"slot_of_row", slot_of_row}, {"weights", weights}});
    check_lengths(CONTROL_WORDS, {{"control", control}, {"scalars", scalars}});
    if (control[STATUS] != RUNNING || (groups == 0 && control[FLIP_ONLY] != 0))
        return;
    const std::int64_t made = control[PIVOTS] - (groups == 0 ? 1 : 0);
    if (groups > 0) {
        const Best best = best_of(partials.partial_value, partials.partial_index, groups);
        if (!take_position(inverse.most, made, basics, weights, best, control, scalars))
            return;
    }
    const std::int64_t position = control[POSITION];
    const Reals stored = inverse.inverse[position], eta = inverse.etas[position];
    const Table<double> &eta_rows = inverse.eta_rows;
    const Index unit_of = inverse.unit_row[position];
    native::parallel_for(threads, rows, [&](std::int64_t i) {
        const Index slot = slot_of_row[i];
        double value = slot >= 0 ? stored[slot] : (unit_of == i ? -1.0 : 0.0);
        for (std::int64_t j = 0; j < made; ++j)
            value += eta[j] * eta_rows(j, i);
        eta_rows(made, i) = value;
        if (slot >= 0)
            inverse.row_slots[slot] = value;
    });
}

/// What pricing reads of variables, and what it leaves of them.
struct Pricing {
    const Matrix &matrix;
    const Variables &of;
    bool dual;
    Reals row;
    Index leaving;
    double side, smallest, relax;
    RealsOut alpha;
    const CandidatesOut &found;

    /// The product of the pivot row with a column.
    double product(std::int64_t j) const {
        if (of.status[j] == BASIC)
            return j == leaving ? 1.0 : 0.0;
        if (j >= matrix.structurals)
            return -row[j - matrix.structurals];
        double sum = 0.0;
        const Index end = matrix.starts[j + 1];
        for (Index k = matrix.starts[j]; k < end; ++k)
            sum += matrix.values[k] * row[matrix.indices[k]];
        return sum;
    }
    /// The ratio of a variable, infinite for all but candidates for entering.
    double ratio(std::int64_t j, double share) const {
        const Index kind = of.status[j];
        const double size = std::fabs(share);
        if (kind == BASIC || !(size > smallest && of.lower[j] < of.upper[j]) ||
            !may_enter(kind, side * share))
            return INF;
        return (distance_of(kind, of.reduced_cost[j]) + relax) / size;
    }
};

/// A block's variables and the first of its segments.
struct Block {
    std::int64_t first, end, segment, segments, width;
};

/// How variables are shared out: first blocks of structurals, then of logicals.
struct Spread {
    std::int64_t rows, structurals, per_block, width, structural, all;

    Spread(std::int64_t rows, std::int64_t structurals, std::int64_t lanes)
        : rows(rows), structurals(structurals), per_block(BLOCK / lanes),
          width(segment_width(static_cast<int>(lanes))),
          structural((structurals + per_block - 1) / per_block),
          all(structural + (rows + BLOCK - 1) / BLOCK) {}

    std::int64_t segments() const {
        return (structural * per_block + (all - structural) * BLOCK) / width;
    }
    Block block(std::int64_t at) const {
        if (at < structural) {
            const std::int64_t first = at * per_block;
            return {first, std::min(first + per_block, structurals), first / width,
                    per_block / width, width};
        }
        const std::int64_t logical = (at - structural) * BLOCK;
        return {structurals + logical, structurals + std::min(logical + BLOCK, rows),
                (structural * per_block + logical) / width, BLOCK / width, width};
    }
};

/// Price a block's variables; the sum of squares over the reference framework.
double price_block(const Pricing &all, const Block &block) {
    const auto &[ratios, least, counts, squares, dots] = all.found;
    if (all.dual)
        for (std::int64_t s = block.segment; s < block.segment + block.segments; ++s) {
            least[s] = INF;
            counts[s] = 0;
        }
    double square = 0.0;
    for (std::int64_t j = block.first; j < block.end; ++j) {
        const double share = all.product(j);
        all.alpha[j] = share;
        if (!all.dual)
            continue;
        const double ratio = all.ratio(j, share);
        ratios[j] = ratio;
        if (all.of.status[j] != BASIC && all.of.reference[j] != 0)
            square += share * share;
        if (!(ratio < INF))
            continue;
        const std::int64_t s = block.segment + (j - block.first) / block.width;
        least[s] = std::min(least[s], ratio);
        counts[s] += 1;
    }
    return square;
}

/// Multiply the pivot row with every column; find the candidates for entering.
void price_row(const Matrix &matrix, int most, int dual, int steepest, Table<const double> eta_rows,
               const Variables &of, Ints control, Reals scalars, Table<double> alpha_rows,
               const CandidatesOut &found, int threads) {
    const std::int64_t rows = matrix.rows, variables = count_variables(matrix);
    const Spread spread(rows, matrix.structurals, matrix.lanes);
    check(matrix);
    check(of, variables);
    check_lengths(variables, {{"ratios", found.ratios}});
    check_lengths(most * rows, {{"eta_rows", eta_rows}});
    check_lengths(most * variables, {{"alpha_rows", alpha_rows}});
    check_lengths(spread.segments(), {{"least", found.least}, {"counts", found.counts}});
    check_lengths(spread.all, {{"squares", found.squares}});
    check_lengths(most + 1, {{"dots", found.dots}});
    check_lengths(CONTROL_WORDS, {{"control", control}, {"scalars", scalars}});
    if (control[STATUS] != RUNNING || (dual == 0 && control[FLIP_ONLY] != 0))
        return;
    const std::int64_t made = control[PIVOTS] - (dual == 0 ? 1 : 0);
    const double side = scalars[EXCESS] < 0.0 ? -1.0 : 1.0;
    const Pricing pricing = {matrix,
                             of,
                             dual == 1,
                             eta_rows[made],
                             control[LEAVING],
                             side,
                             scalars[SMALL_PIVOT],
                             scalars[HARRIS],
                             alpha_rows[made],
                             found};
    native::parallel_for(threads, spread.all, [&](std::int64_t at) {
        const double square = price_block(pricing, spread.block(at));
        if (dual == 1 && steepest == 0)
            found.squares[at] = square;
    });
    for (std::int64_t e = 0; steepest == 1 && e <= made; ++e) {
        const Reals one = eta_rows[e], other = eta_rows[made];
        double sum = 0.0;
        for (std::int64_t i = 0; i < rows; ++i)
            sum += one[i] * other[i];
        found.dots[e < made ? e : most] = sum;
    }
}

struct Sums {
    double alpha = 0.0, beta = 0.0, tau = 0.0;
};

/// The right sides: ``entries`` of a list, or, if that is negative, sums by slot and by row.
struct Rights {
    std::int64_t entries, of_flips, slots;
    bool flipped;
    const RightSides &of;
};

/// Add the list's products with a row of the stored inverse.
void add_list(Sums &sums, Reals row, Index unit, const Rights &rights) {
    for (std::int64_t u = 0; u < rights.entries; ++u) {
        const Index place = rights.of.places[u];
        const double element = place >= 0 ? row[place] : (-1 - place == unit ? -1.0 : 0.0);
        (u < rights.of_flips ? sums.beta : sums.alpha) += element * rights.of.amounts[u];
    }
}

/// The product of a row of the stored inverse with a vector by slot.
double product(Reals row, Reals by_slot, std::int64_t slots) {
    double sum = 0.0;
    for (std::int64_t s = 0; s < slots; ++s)
        sum += row[s] * by_slot[s];
    return sum;
}

/// Add the products of a row of the inverse with the sums by slot and by row.
void add_sums(Sums &sums, Reals row, Index unit, const Rights &rights) {
    sums.alpha = product(row, rights.of.column_slots, rights.slots);
    if (rights.flipped)
        sums.beta = product(row, rights.of.flip_slots, rights.slots);
    if (unit < 0)
        return;
    sums.alpha -= rights.of.column[unit];
    if (rights.flipped)
        sums.beta -= rights.of.flip_column[unit];
}

/// Multiply the right sides of this iteration with the inverse.
void solve_column(std::int64_t rows, int dual, int steepest, const Inverse &inverse,
                  const RightSides &sides, Reals dots, Ints control, const SolutionsOut &solved,
                  int threads) {
    check(inverse, rows);
    check(sides, rows, inverse.most, control);
    check(solved, rows);
    check_lengths(inverse.most, {{"dots", dots}});
    check_lengths(control[SLOTS], {{"row_slots", inverse.row_slots}});
    check_lengths(control[ENTRIES], {{"places", sides.places}, {"amounts", sides.amounts}});
    if (control[STATUS] != RUNNING)
        return;
    const std::int64_t slots = control[SLOTS], made = control[PIVOTS];
    const bool flipped = dual == 1 && control[FLIPS] > 0;
    const Rights rights = {control[ENTRIES], control[FLIP_ENTRIES], slots, flipped, sides};
    native::parallel_for(threads, rows, [&](std::int64_t p) {
        const Reals row = inverse.inverse[p], eta = inverse.etas[p];
        const Index unit = inverse.unit_row[p];
        Sums sums;
        if (rights.entries >= 0)
            add_list(sums, row, unit, rights);
        else
            add_sums(sums, row, unit, rights);
        if (steepest == 1) {
            sums.tau = product(row, inverse.row_slots, slots);
            if (unit >= 0)
                sums.tau -= inverse.eta_rows(made, unit);
        }
        for (std::int64_t e = 0; e < made; ++e) {
            sums.alpha += eta[e] * sides.column_dots[e];
            if (flipped)
                sums.beta += eta[e] * sides.flip_dots[e];
            if (steepest == 1)
                sums.tau += eta[e] * dots[e];
        }
        solved.alpha[p] = sums.alpha;
        if (dual == 1)
            solved.beta[p] = sums.beta;
        if (steepest == 1)
            solved.tau[p] = sums.tau;
    });
}

} // namespace
} // namespace simplex::dense_gpu

NATIVE_MODULE(simplex_dense_gpu_row) {
    using namespace simplex::dense_gpu;
    NATIVE_KERNELS(module, choose_row, pivot_row, price_row, solve_column);
}
