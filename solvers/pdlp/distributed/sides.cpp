// Who owns and who reads the rows of a matrix; sides.py has the whole.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

/// Say which devices own columns that each row has entries in: those read the row's element.
template <class Index>
void find_readers(const SparseRows<Index> &rows, Span<const std::uint8_t> owner, Grid<bool> read,
                  int threads) {
    check_rows("rows", rows, read.shape(1));
    const std::int64_t devices = read.shape(0);
    parallel_for(threads, read.shape(1), [&](std::int64_t i) {
        for (std::int64_t device = 0; device < devices; ++device)
            read(device, i) = false;
        for (Index entry = rows.indptr[i]; entry < rows.indptr[i + 1]; ++entry)
            read(owner[rows.indices[entry]], i) = true;
    });
}

std::int64_t bin_of(double place, std::int64_t bins) {
    return static_cast<std::int64_t>(place * static_cast<double>(bins - 1));
}

/// Sum up the work of the rows at places in each of the bins of [0, 1]: ``each`` and their entries.
template <class Index>
void work_of_bins(Span<const Index> starts, Span<const double> places, std::int64_t each,
                  Span<std::int64_t> work, int threads) {
    const std::int64_t rows = places.size(), parts = std::max(1, threads);
    check_length("starts", starts.size(), rows + 1);
    std::vector<std::vector<std::int64_t>> own(parts);
    parallel_for(threads, parts, [&](std::int64_t part) {
        poll();
        own[part].assign(work.size(), 0);
        for (std::int64_t i = rows * part / parts; i < rows * (part + 1) / parts; ++i)
            own[part][bin_of(places[i], work.size())] += each + starts[i + 1] - starts[i];
    });
    parallel_for(threads, work.size(), [&](std::int64_t bin) {
        work[bin] = 0;
        for (const auto &found : own)
            work[bin] += found[bin];
    });
}

/// Give each row the owner of its place's bin.
void give_out(Span<const double> places, Span<const std::uint8_t> of_bin, Span<std::uint8_t> owner,
              int threads) {
    check_length("places", places.size(), owner.size());
    parallel_for(threads, owner.size(),
                 [&](std::int64_t i) { owner[i] = of_bin[bin_of(places[i], of_bin.size())]; });
}

/// Bring rows in an order into that of their parts: of each device's those that others read, then
/// the rest; ``sizes`` are those of all parts.
void part_rows(Span<const std::int32_t> order, Span<const std::uint8_t> owner,
               Grid<const bool> read, Span<std::int32_t> parted, Span<std::int64_t> sizes,
               int threads) {
    const std::int64_t rows = order.size(), devices = read.shape(0), chunks = std::max(1, threads);
    check_length("parted", parted.size(), rows);
    check_length("sizes", sizes.size(), 2 * devices);
    const auto part_of = [&](std::int32_t row) {
        std::int64_t part = 2 * owner[row] + 1;
        for (std::int64_t device = 0; device < devices; ++device)
            if (read(device, row) && device != owner[row])
                part = 2 * owner[row];
        return part;
    };
    std::vector<std::vector<std::int64_t>> next(chunks);
    const auto each_row = [&](std::int64_t chunk, const auto &work) {
        poll();
        for (std::int64_t at = rows * chunk / chunks; at < rows * (chunk + 1) / chunks; ++at)
            work(order[at], part_of(order[at]));
    };
    parallel_for(threads, chunks, [&](std::int64_t chunk) {
        next[chunk].assign(sizes.size(), 0);
        each_row(chunk, [&](std::int32_t, std::int64_t part) { ++next[chunk][part]; });
    });
    std::int64_t placed = 0;
    for (std::int64_t part = 0; part < sizes.size(); ++part) {
        sizes[part] = -placed;
        for (auto &own : next)
            placed += std::exchange(own[part], placed);
        sizes[part] += placed;
    }
    parallel_for(threads, chunks, [&](std::int64_t chunk) {
        each_row(chunk,
                 [&](std::int32_t row, std::int64_t part) { parted[next[chunk][part]++] = row; });
    });
}

/// Say of rows in an order where each of them stands.
void number(Span<const std::int32_t> order, Span<std::int32_t> position, int threads) {
    parallel_for(threads, order.size(),
                 [&](std::int64_t at) { position[order[at]] = static_cast<std::int32_t>(at); });
}

template <class Index> void declare(native::Module &module) {
    expose(module, "find_readers", &find_readers<Index>, "rows", "owner", "read", "threads");
    expose(module, "work_of_bins", &work_of_bins<Index>, "starts", "places", "each", "work",
           "threads");
}

} // namespace

NATIVE_MODULE(pdlp_distributed_sides) {
    expose(module, "give_out", &give_out, "places", "of_bin", "owner", "threads");
    expose(module, "part_rows", &part_rows, "order", "owner", "read", "parted", "sizes", "threads");
    expose(module, "number", &number, "order", "position", "threads");
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
}
