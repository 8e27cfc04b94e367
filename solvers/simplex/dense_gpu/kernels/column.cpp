// Solving with the basis; column.py states what it computes.
#include "dual_kernels.h"

namespace simplex::dense_gpu {
namespace {

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

} // namespace

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

} // namespace simplex::dense_gpu

NATIVE_MODULE(simplex_dense_gpu_column) {
    using namespace simplex::dense_gpu;
    native::expose(module, "solve_column", &solve_column, "rows", "capacity", "most", "dual",
                   "steepest", "inverse", "unit_row", "etas", "eta_rows", "row_slots", "places",
                   "amounts", "column", "column_slots", "flip_column", "flip_slots", "column_dots",
                   "flip_dots", "dots", "control", "alpha", "beta", "tau", "threads");
}
