// The kernels of a dual iteration, which dual_loop.cpp runs one after the other.
#pragma once

#include "arrays.h"

namespace simplex::dense_gpu {

void choose_row(std::int64_t rows, Reals x_basic, Reals lower_basic, Reals upper_basic,
                Reals weights, Reals scalars, RealsOut partial_value, IntsOut partial_index,
                int threads);

void pivot_row(std::int64_t rows, std::int64_t capacity, std::int64_t most, std::int64_t groups,
               Table inverse, Ints unit_row, Ints slot_of_row, Ints basic, Table etas,
               Reals x_basic, Reals lower_basic, Reals upper_basic, Reals weights,
               Reals partial_value, Ints partial_index, TableOut eta_rows, RealsOut row_slots,
               IntsOut control, RealsOut scalars, int threads);

void price_row(std::int64_t rows, std::int64_t structurals, std::int64_t most, std::int64_t lanes,
               std::int64_t full, std::int64_t dual, std::int64_t steepest, Ints starts,
               Ints indices, Reals values, Table eta_rows, Ints status, Ints reference, Reals lower,
               Reals upper, Reals reduced_cost, Ints control, Reals scalars, TableOut alpha_rows,
               RealsOut ratios, RealsOut least, IntsOut counts, RealsOut squares, RealsOut dots,
               int threads);

void choose_column(std::int64_t rows, std::int64_t structurals, std::int64_t most,
                   std::int64_t lanes, std::int64_t full, std::int64_t steepest, Ints starts,
                   Ints indices, Reals values, Ints slot_of_row, Ints reference, Reals lower,
                   Reals upper, Table alpha_rows, Reals ratio, Reals least, Ints counts,
                   Reals squares, Reals dots, Ints status, Reals x, Reals reduced_cost,
                   IntsOut flips, RealsOut flip_steps, IntsOut places, RealsOut amounts,
                   RealsOut column, RealsOut column_slots, RealsOut flip_column,
                   RealsOut flip_slots, RealsOut column_dots, RealsOut flip_dots, IntsOut control,
                   RealsOut scalars, int threads);

void solve_column(std::int64_t rows, std::int64_t capacity, std::int64_t most, std::int64_t dual,
                  std::int64_t steepest, Table inverse, Ints unit_row, Table etas, Table eta_rows,
                  Reals row_slots, Ints places, Reals amounts, Reals column, Reals column_slots,
                  Reals flip_column, Reals flip_slots, Reals column_dots, Reals flip_dots,
                  Reals dots, Ints control, RealsOut alpha, RealsOut beta, RealsOut tau,
                  int threads);

void update_dual(std::int64_t rows, std::int64_t structurals, std::int64_t most,
                 std::int64_t steepest, Reals lower, Reals upper, Table alpha_rows, Reals alpha,
                 Reals beta, Reals tau, Ints flips, Reals flip_steps, TableOut etas,
                 RealsOut x_basic, RealsOut lower_basic, RealsOut upper_basic, RealsOut weights,
                 RealsOut x, RealsOut cost, RealsOut reduced_cost, IntsOut basic, IntsOut status,
                 IntsOut reference, native::Grid<Index> pivot_log, RealsOut partial_value,
                 IntsOut partial_index, IntsOut control, RealsOut scalars, int threads);

} // namespace simplex::dense_gpu
