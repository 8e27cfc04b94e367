// Dual iterations: the single kernels, one after the other; dual_loop.py states what they make.
#include <vector>

#include "dual_kernels.h"

namespace simplex::dense_gpu {
namespace {

/// An array that lasts as long as the call.
template <class T> class Scratch {
  public:
    explicit Scratch(std::int64_t size) : held_(size) {}
    operator native::Span<T>() { return all(); }
    operator native::Span<const T>() { return all(); }
    native::Span<T> all() { return {held_.data(), static_cast<std::int64_t>(held_.size())}; }

  private:
    std::vector<T> held_;
};

/// Make dual pivots.
void iterate_dual(std::int64_t rows, std::int64_t structurals, std::int64_t capacity,
                  std::int64_t most, std::int64_t lanes, std::int64_t full, std::int64_t steepest,
                  Ints starts, Ints indices, Reals values, Table inverse, Ints unit_row,
                  Ints slot_of_row, Reals lower, Reals upper, TableOut eta_rows, RealsOut row_slots,
                  IntsOut, TableOut etas, TableOut alpha_rows, RealsOut ratios, RealsOut least,
                  IntsOut counts, RealsOut squares, RealsOut dots, IntsOut places, RealsOut amounts,
                  RealsOut column, RealsOut column_slots, RealsOut flip_column, RealsOut flip_slots,
                  RealsOut alpha, RealsOut beta, RealsOut tau, RealsOut x_basic,
                  RealsOut lower_basic, RealsOut upper_basic, RealsOut weights, RealsOut x,
                  RealsOut cost, RealsOut reduced_cost, IntsOut basic, IntsOut status,
                  IntsOut reference, native::Grid<Index> pivot_log, RealsOut, IntsOut,
                  IntsOut control, Reals scalars, IntsOut, std::int64_t, std::int64_t count, int) {
    check_lengths(CONTROL_WORDS, {{"control", control}, {"scalars", scalars}});
    const std::int64_t groups = groups_of(rows);
    Scratch<double> words(scalars.size()); // where the single kernels tell each other of the pivot
    std::copy(scalars.begin(), scalars.end(), words.all().begin());
    Scratch<Index> flips(MOST_FLIPS), place(groups);
    Scratch<double> flip_steps(MOST_FLIPS), column_dots(most), flip_dots(most), best(groups);
    if (control[STATUS] == RUNNING)
        choose_row(rows, x_basic, lower_basic, upper_basic, weights, words, best, place, 1);
    for (std::int64_t made = 0; made < count && control[STATUS] == RUNNING; ++made) {
        native::poll();
        pivot_row(rows, capacity, most, groups, inverse, unit_row, slot_of_row, basic, etas,
                  x_basic, lower_basic, upper_basic, weights, best, place, eta_rows, row_slots,
                  control, words, 1);
        price_row(rows, structurals, most, lanes, full, 1, steepest, starts, indices, values,
                  eta_rows, status, reference, lower, upper, reduced_cost, control, words,
                  alpha_rows, ratios, least, counts, squares, dots, 1);
        choose_column(rows, structurals, most, lanes, full, steepest, starts, indices, values,
                      slot_of_row, reference, lower, upper, alpha_rows, ratios, least, counts,
                      squares, dots, status, x, reduced_cost, flips, flip_steps, places, amounts,
                      column, column_slots, flip_column, flip_slots, column_dots, flip_dots,
                      control, words, 1);
        solve_column(rows, capacity, most, 1, steepest, inverse, unit_row, etas, eta_rows,
                     row_slots, places, amounts, column, column_slots, flip_column, flip_slots,
                     column_dots, flip_dots, dots, control, alpha, beta, tau, 1);
        update_dual(rows, structurals, most, steepest, lower, upper, alpha_rows, alpha, beta, tau,
                    flips, flip_steps, etas, x_basic, lower_basic, upper_basic, weights, x, cost,
                    reduced_cost, basic, status, reference, pivot_log, best, place, control, words,
                    1);
    }
}

} // namespace
} // namespace simplex::dense_gpu

NATIVE_MODULE(simplex_dense_gpu_dual_loop) {
    using namespace simplex::dense_gpu;
    NATIVE_KERNELS(module, iterate_dual);
}
