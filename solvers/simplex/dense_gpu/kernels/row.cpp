// The pivot row; row.py states what the kernels compute.
//
// Solving with the basis; row.py states what it computes.
#include "arrays.h"

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
    const Basics basics = {x_basic, lower_basic, upper_basic, weights};
    const double tolerance = scalars[PRIMAL_TOLERANCE];
    leave_best(threads, rows, groups, partial_value, partial_index,
               [&](std::int64_t p) { return basics.merit(p, tolerance); });
}

/// Take the position from partial results, or say why there is none.
bool take_position(std::int64_t most, std::int64_t made, const Basics &basics, Ints basic,
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
    const double excess = basics.excess(place, scalars[PRIMAL_TOLERANCE]);
    control[POSITION] = place;
    control[LEAVING] = basic[place];
    scalars[VALUE] = basics.value[place];
    scalars[EXCESS] = excess;
    scalars[BOUND] = excess < 0.0 ? basics.lower[place] : basics.upper[place];
    scalars[WEIGHT] = basics.weights[place];
    return true;
}

/// Find the leaving position and its row of the inverse.
void pivot_row(std::int64_t rows, std::int64_t capacity, std::int64_t most, std::int64_t groups,
               Table inverse, Ints unit_row, Ints slot_of_row, Ints basic, Table etas,
               Reals x_basic, Reals lower_basic, Reals upper_basic, Reals weights,
               Reals partial_value, Ints partial_index, TableOut eta_rows, RealsOut row_slots,
               IntsOut control, RealsOut scalars, int threads) {
    check_lengths(rows, {{"unit_row", unit_row},
                         {"slot_of_row", slot_of_row},
                         {"basic", basic},
                         {"x_basic", x_basic},
                         {"lower_basic", lower_basic},
                         {"upper_basic", upper_basic},
                         {"weights", weights}});
    check_lengths(groups, {{"partial_value", partial_value}, {"partial_index", partial_index}});
    check_lengths(rows * capacity, {{"inverse", inverse}});
    check_lengths(rows * most, {{"etas", etas}, {"eta_rows", eta_rows}});
    check_lengths(capacity, {{"row_slots", row_slots}});
    check_lengths(CONTROL_WORDS, {{"control", control}, {"scalars", scalars}});
    if (control[STATUS] != RUNNING || (groups == 0 && control[FLIP_ONLY] != 0))
        return;
    const std::int64_t made = control[PIVOTS] - (groups == 0 ? 1 : 0);
    const Basics basics = {x_basic, lower_basic, upper_basic, weights};
    if (groups > 0 &&
        !take_position(most, made, basics, basic, best_of(partial_value, partial_index, groups),
                       control, scalars))
        return;
    const std::int64_t position = control[POSITION];
    const Reals stored = inverse[position], eta = etas[position];
    const Index unit_of = unit_row[position];
    native::parallel_for(threads, rows, [&](std::int64_t i) {
        const Index slot = slot_of_row[i];
        double value = slot >= 0 ? stored[slot] : (unit_of == i ? -1.0 : 0.0);
        for (std::int64_t j = 0; j < made; ++j)
            value += eta[j] * eta_rows(j, i);
        eta_rows(made, i) = value;
        if (slot >= 0)
            row_slots[slot] = value;
    });
}

/// What pricing reads of variables, and what it leaves of them.
struct Pricing {
    std::int64_t structurals;
    bool dual, devex;
    Ints starts, indices;
    Reals values, row;
    Ints status, reference;
    Reals lower, upper, reduced_cost;
    Index leaving;
    double side, smallest, relax;
    RealsOut alpha, ratios, least;
    IntsOut counts;

    /// The product of the pivot row with a column.
    double product(std::int64_t j) const {
        if (status[j] == BASIC)
            return j == leaving ? 1.0 : 0.0;
        if (j >= structurals)
            return -row[j - structurals];
        double sum = 0.0;
        const Index end = starts[j + 1];
        for (Index k = starts[j]; k < end; ++k)
            sum += values[k] * row[indices[k]];
        return sum;
    }
    /// The ratio of a variable, infinite for all but candidates for entering.
    double ratio(std::int64_t j, double share) const {
        const Index kind = status[j];
        const double size = std::fabs(share);
        if (kind == BASIC || !(size > smallest && lower[j] < upper[j]) ||
            !may_enter(kind, side * share))
            return INF;
        return (distance_of(kind, reduced_cost[j]) + relax) / size;
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
    if (all.dual)
        for (std::int64_t s = block.segment; s < block.segment + block.segments; ++s) {
            all.least[s] = INF;
            all.counts[s] = 0;
        }
    double square = 0.0;
    for (std::int64_t j = block.first; j < block.end; ++j) {
        const double share = all.product(j);
        all.alpha[j] = share;
        if (!all.dual)
            continue;
        const double ratio = all.ratio(j, share);
        all.ratios[j] = ratio;
        if (all.status[j] != BASIC && all.reference[j] != 0)
            square += share * share;
        if (!(ratio < INF))
            continue;
        const std::int64_t s = block.segment + (j - block.first) / block.width;
        all.least[s] = std::min(all.least[s], ratio);
        all.counts[s] += 1;
    }
    return square;
}

/// Multiply the pivot row with every column; find the candidates for entering.
void price_row(std::int64_t rows, std::int64_t structurals, std::int64_t most, std::int64_t lanes,
               std::int64_t, std::int64_t dual, std::int64_t steepest, Ints starts, Ints indices,
               Reals values, Table eta_rows, Ints status, Ints reference, Reals lower, Reals upper,
               Reals reduced_cost, Ints control, Reals scalars, TableOut alpha_rows,
               RealsOut ratios, RealsOut least, IntsOut counts, RealsOut squares, RealsOut dots,
               int threads) {
    const std::int64_t variables = rows + structurals;
    const Spread spread(rows, structurals, lanes);
    check_lengths(structurals + 1, {{"starts", starts}});
    check_lengths(starts[structurals], {{"indices", indices}, {"values", values}});
    check_lengths(variables, {{"status", status},
                              {"reference", reference},
                              {"lower", lower},
                              {"upper", upper},
                              {"reduced_cost", reduced_cost},
                              {"ratios", ratios}});
    check_lengths(most * rows, {{"eta_rows", eta_rows}});
    check_lengths(most * variables, {{"alpha_rows", alpha_rows}});
    check_lengths(spread.segments(), {{"least", least}, {"counts", counts}});
    check_lengths(spread.all, {{"squares", squares}});
    check_lengths(most + 1, {{"dots", dots}});
    check_lengths(CONTROL_WORDS, {{"control", control}, {"scalars", scalars}});
    if (control[STATUS] != RUNNING || (dual == 0 && control[FLIP_ONLY] != 0))
        return;
    const std::int64_t made = control[PIVOTS] - (dual == 0 ? 1 : 0);
    const Pricing pricing = {structurals,
                             dual == 1,
                             steepest == 0,
                             starts,
                             indices,
                             values,
                             eta_rows[made],
                             status,
                             reference,
                             lower,
                             upper,
                             reduced_cost,
                             control[LEAVING],
                             scalars[EXCESS] < 0.0 ? -1.0 : 1.0,
                             scalars[SMALL_PIVOT],
                             scalars[HARRIS],
                             alpha_rows[made],
                             ratios,
                             least,
                             counts};
    native::parallel_for(threads, spread.all, [&](std::int64_t at) {
        const double square = price_block(pricing, spread.block(at));
        if (dual == 1 && steepest == 0)
            squares[at] = square;
    });
    for (std::int64_t e = 0; steepest == 1 && e <= made; ++e) {
        const Reals one = eta_rows[e], other = eta_rows[made];
        double sum = 0.0;
        for (std::int64_t i = 0; i < rows; ++i)
            sum += one[i] * other[i];
        dots[e < made ? e : most] = sum;
    }
}

struct Sums {
    double alpha = 0.0, beta = 0.0, tau = 0.0;
};

/// The right sides: ``entries`` of a list, or, if that is negative, sums by slot and by row.
struct Rights {
    std::int64_t entries, of_flips, slots;
    bool flipped;
    Ints places;
    Reals amounts, column, column_slots, flip_column, flip_slots;
};

/// Add the list's products with a row of the stored inverse.
void add_list(Sums &sums, Reals row, Index unit, const Rights &rights) {
    for (std::int64_t u = 0; u < rights.entries; ++u) {
        const Index place = rights.places[u];
        const double element = place >= 0 ? row[place] : (-1 - place == unit ? -1.0 : 0.0);
        (u < rights.of_flips ? sums.beta : sums.alpha) += element * rights.amounts[u];
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
    sums.alpha = product(row, rights.column_slots, rights.slots);
    if (rights.flipped)
        sums.beta = product(row, rights.flip_slots, rights.slots);
    if (unit < 0)
        return;
    sums.alpha -= rights.column[unit];
    if (rights.flipped)
        sums.beta -= rights.flip_column[unit];
}

/// Multiply the right sides of this iteration with the inverse.
void solve_column(std::int64_t rows, std::int64_t capacity, std::int64_t most, std::int64_t dual,
                  std::int64_t steepest, Table inverse, Ints unit_row, Table etas, Table eta_rows,
                  Reals row_slots, Ints places, Reals amounts, Reals column, Reals column_slots,
                  Reals flip_column, Reals flip_slots, Reals column_dots, Reals flip_dots,
                  Reals dots, Ints control, RealsOut alpha, RealsOut beta, RealsOut tau,
                  int threads) {
    check_lengths(CONTROL_WORDS, {{"control", control}});
    check_lengths(rows * capacity, {{"inverse", inverse}});
    check_lengths(rows * most, {{"etas", etas}, {"eta_rows", eta_rows}});
    check_lengths(rows, {{"unit_row", unit_row},
                         {"column", column},
                         {"flip_column", flip_column},
                         {"alpha", alpha},
                         {"beta", beta},
                         {"tau", tau}});
    check_lengths(
        control[SLOTS],
        {{"row_slots", row_slots}, {"column_slots", column_slots}, {"flip_slots", flip_slots}});
    check_lengths(most, {{"column_dots", column_dots}, {"flip_dots", flip_dots}, {"dots", dots}});
    check_lengths(control[ENTRIES], {{"places", places}, {"amounts", amounts}});
    if (control[STATUS] != RUNNING)
        return;
    const std::int64_t slots = control[SLOTS], made = control[PIVOTS];
    const bool flipped = dual == 1 && control[FLIPS] > 0;
    const Rights rights = {
        control[ENTRIES], control[FLIP_ENTRIES], slots,       flipped,   places, amounts,
        column,           column_slots,          flip_column, flip_slots};
    native::parallel_for(threads, rows, [&](std::int64_t p) {
        const Reals row = inverse[p], eta = etas[p];
        const Index unit = unit_row[p];
        Sums sums;
        if (rights.entries >= 0)
            add_list(sums, row, unit, rights);
        else
            add_sums(sums, row, unit, rights);
        if (steepest == 1) {
            sums.tau = product(row, row_slots, slots);
            if (unit >= 0)
                sums.tau -= eta_rows(made, unit);
        }
        for (std::int64_t e = 0; e < made; ++e) {
            sums.alpha += eta[e] * column_dots[e];
            if (flipped)
                sums.beta += eta[e] * flip_dots[e];
            if (steepest == 1)
                sums.tau += eta[e] * dots[e];
        }
        alpha[p] = sums.alpha;
        if (dual == 1)
            beta[p] = sums.beta;
        if (steepest == 1)
            tau[p] = sums.tau;
    });
}

} // namespace
} // namespace simplex::dense_gpu

NATIVE_MODULE(simplex_dense_gpu_row) {
    using namespace simplex::dense_gpu;
    NATIVE_KERNELS(module, choose_row, pivot_row, price_row, solve_column);
}
