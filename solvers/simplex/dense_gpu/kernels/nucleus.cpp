// Stored columns of the inverse; nucleus.py states what the kernels do.
#include "arrays.h"

namespace simplex::dense_gpu {
namespace {

/// Write basic columns as dense ones.
void gather_basis(std::int64_t count, Ints starts, Ints indices, Reals values, Ints variables,
                  Ints place_of_row, TableOut nucleus, TableOut rest, int threads) {
    check_lengths(count, {{"variables", variables}});
    check_lengths(starts[starts.size() - 1], {{"indices", indices}, {"values", values}});
    check_lengths(count * count, {{"nucleus", nucleus}});
    check_lengths((place_of_row.size() - count) * count, {{"rest", rest}});
    native::parallel_for(threads, count, [&](std::int64_t c) {
        const Index j = variables[c];
        for (Index k = starts[j], end = starts[j + 1]; k < end; ++k) {
            const Index place = place_of_row[indices[k]];
            if (place >= 0)
                nucleus(place, c) = values[k];
            else
                rest(-1 - place, c) = values[k];
        }
    });
}

/// Put the parts of the inverse together.
void spread_inverse(std::int64_t rows, std::int64_t capacity, std::int64_t count,
                    Ints place_of_position, Table inner, Table outer, TableOut inverse,
                    int threads) {
    check_lengths(rows, {{"place_of_position", place_of_position}});
    check_lengths(count * count, {{"inner", inner}});
    check_lengths((rows - count) * count, {{"outer", outer}});
    check_lengths(rows * capacity, {{"inverse", inverse}});
    native::parallel_for(threads, rows, [&](std::int64_t p) {
        const Index place = place_of_position[p];
        const Reals from = count == 0 ? Reals() : (place >= 0 ? inner[place] : outer[-1 - place]);
        const RealsOut row = inverse[p];
        std::copy(from.begin(), from.begin() + count, row.begin());
        std::fill(row.begin() + count, row.begin() + capacity, 0.0);
    });
}

/// Store unit columns.
void open_slots(std::int64_t rows, std::int64_t capacity, Ints slots, Ints positions,
                TableOut inverse, std::int64_t count, int threads) {
    check_lengths(count, {{"slots", slots}, {"positions", positions}});
    check_lengths(rows * capacity, {{"inverse", inverse}});
    native::parallel_for(threads, rows, [&](std::int64_t p) {
        for (std::int64_t c = 0; c < count; ++c)
            inverse(p, slots[c]) = p == positions[c] ? -1.0 : 0.0;
    });
}

/// Pick the elements of pivot rows that stored columns need.
void gather_eta_rows(std::int64_t rows, std::int64_t capacity, std::int64_t most, Ints row_of_slot,
                     Table eta_rows, TableOut by_slot, std::int64_t count, std::int64_t slots,
                     int threads) {
    check_lengths(slots, {{"row_of_slot", row_of_slot}});
    check_lengths(most * rows, {{"eta_rows", eta_rows}});
    check_lengths(most * capacity, {{"by_slot", by_slot}});
    native::parallel_for(threads, most, [&](std::int64_t e) {
        const RealsOut row = by_slot[e];
        const std::int64_t filled = e < count ? slots : 0;
        for (std::int64_t s = 0; s < filled; ++s)
            row[s] = eta_rows(e, row_of_slot[s]);
        std::fill(row.begin() + filled, row.begin() + capacity, 0.0);
    });
}

/// Move stored columns to where room has become.
void close_slots(std::int64_t rows, std::int64_t capacity, Ints targets, Ints sources,
                 TableOut inverse, std::int64_t count, int threads) {
    check_lengths(count, {{"targets", targets}, {"sources", sources}});
    check_lengths(rows * capacity, {{"inverse", inverse}});
    native::parallel_for(threads, rows, [&](std::int64_t p) {
        for (std::int64_t c = 0; c < count; ++c) {
            if (targets[c] >= 0)
                inverse(p, targets[c]) = inverse(p, sources[c]);
            inverse(p, sources[c]) = 0.0;
        }
    });
}

} // namespace
} // namespace simplex::dense_gpu

NATIVE_MODULE(simplex_dense_gpu_nucleus) {
    using namespace simplex::dense_gpu;
    using native::expose;
    expose(module, "gather_basis", &gather_basis, "count", "starts", "indices", "values",
           "variables", "place_of_row", "nucleus", "rest", "threads");
    expose(module, "spread_inverse", &spread_inverse, "rows", "capacity", "count",
           "place_of_position", "inner", "outer", "inverse", "threads");
    expose(module, "open_slots", &open_slots, "rows", "capacity", "slots", "positions", "inverse",
           "count", "threads");
    expose(module, "gather_eta_rows", &gather_eta_rows, "rows", "capacity", "most", "row_of_slot",
           "eta_rows", "by_slot", "count", "slots", "threads");
    expose(module, "close_slots", &close_slots, "rows", "capacity", "targets", "sources", "inverse",
           "count", "threads");
}
