// The pivot row; row.py states what the kernels compute.
#include "dual_kernels.h"

namespace simplex::dense_gpu {

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

namespace {

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

} // namespace

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

namespace {

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

} // namespace

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

} // namespace simplex::dense_gpu

NATIVE_MODULE(simplex_dense_gpu_row) {
    using namespace simplex::dense_gpu;
    using native::expose;
    expose(module, "choose_row", &choose_row, "rows", "x_basic", "lower_basic", "upper_basic",
           "weights", "scalars", "partial_value", "partial_index", "threads");
    expose(module, "pivot_row", &pivot_row, "rows", "capacity", "most", "groups", "inverse",
           "unit_row", "slot_of_row", "basic", "etas", "x_basic", "lower_basic", "upper_basic",
           "weights", "partial_value", "partial_index", "eta_rows", "row_slots", "control",
           "scalars", "threads");
    expose(module, "price_row", &price_row, "rows", "structurals", "most", "lanes", "full", "dual",
           "steepest", "starts", "indices", "values", "eta_rows", "status", "reference", "lower",
           "upper", "reduced_cost", "control", "scalars", "alpha_rows", "ratios", "least", "counts",
           "squares", "dots", "threads");
}
