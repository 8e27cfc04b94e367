// How many sectors of memory gathers touch, and what makes them fewer, on the host.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

/// Rows that may share steps, entries of each that are looked at, numbers in a sector of memory,
/// and lanes of a step.
constexpr int GROUP = 8, LOOKED_AT = 64, SECTOR = 4, LANES = 32;

/// What a stored entry costs, in sectors that are gathered.
constexpr double STORED = 0.25;

/// Sectors for each entry up to which rows stay alone: dense columns that shared steps, which
/// touched 0.04 instead of 0.25, took a third longer, as their last units end later.
constexpr double GOOD = 0.5;

/// Where the entries of a group of rows, longest first, are gathered from.
template <class Index> struct Group {
    Span<const Index> starts, indices;
    Span<const std::int32_t> rows, column_position;

    std::int64_t length(int row) const { return starts[rows[row] + 1] - starts[rows[row]]; }

    /// Sectors gathered and entries stored for each entry, with so many lanes for each row.
    double cost(int lanes) const {
        const int together = LANES / lanes;
        std::int64_t sectors = 0, gathered = 0, stored = 0, entries = 0;
        for (int first = 0; first < GROUP; first += together) {
            stored += together * length(first);
            for (int row = first; row < first + together; ++row)
                entries += length(row);
            for (std::int64_t step = 0; step * lanes < LOOKED_AT; ++step)
                count(first, together, lanes, step * lanes, sectors, gathered);
        }
        return static_cast<double>(sectors) / std::max<double>(1.0, gathered) +
               STORED * stored / std::max<double>(1.0, entries);
    }

  private:
    /// Count the sectors that one step of some rows gathers from.
    void count(int first, int together, int lanes, std::int64_t from, std::int64_t &sectors,
               std::int64_t &gathered) const {
        std::array<std::int32_t, LANES> found;
        int size = 0;
        for (int row = first; row < first + together; ++row) {
            const std::int64_t begin = starts[rows[row]];
            const std::int64_t skipped = std::max<std::int64_t>(0, length(row) - LOOKED_AT) / 2;
            const std::int64_t end = std::min<std::int64_t>(from + lanes, length(row) - skipped);
            for (std::int64_t at = from; at < end; ++at)
                found[size++] = column_position[indices[begin + skipped + at]] / SECTOR;
        }
        std::sort(found.begin(), found.begin() + size);
        sectors += std::unique(found.begin(), found.begin() + size) - found.begin();
        gathered += size;
    }
};

/// Find for each group of rows, longest first, with how many lanes a row its gathers are cheapest.
///
/// ``rows`` are their old numbers; what is over after the last whole group counts for nothing.
template <class Index>
void choose_lanes(Span<const Index> starts, Span<const Index> indices,
                  Span<const std::int32_t> rows, Span<const std::int32_t> column_position,
                  Span<std::int64_t> lanes, int threads) {
    check_length("lanes", lanes.size(), rows.size() / GROUP);
    parallel_for(threads, lanes.size(), [&](std::int64_t which) {
        const auto own = rows.part(which * GROUP, (which + 1) * GROUP);
        const Group<Index> group{starts, indices, own, column_position};
        const double alone = group.cost(LANES);
        double least = alone;
        lanes[which] = LANES;
        if (alone <= GOOD + STORED)
            return;
        for (int fewer = LANES / 2; fewer >= LANES / GROUP; fewer /= 2) {
            const double cost = group.cost(fewer);
            if (cost < least) {
                least = cost;
                lanes[which] = fewer;
            }
        }
    });
}

/// The least or the greatest place of each row's columns; behind all columns for an empty row.
template <class Index>
void extreme_places(Span<const Index> starts, Span<const Index> indices,
                    Span<const std::int32_t> column_position, bool greatest,
                    Span<std::int32_t> places, int threads) {
    check_length("starts", starts.size(), places.size() + 1);
    const auto none = static_cast<std::int32_t>(column_position.size());
    parallel_for(threads, places.size(), [&](std::int64_t row) {
        const std::int64_t begin = starts[row], end = starts[row + 1];
        std::int32_t found = begin == end ? none : column_position[indices[begin]];
        for (std::int64_t entry = begin + 1; entry < end; ++entry) {
            const std::int32_t place = column_position[indices[entry]];
            found = greatest ? std::max(found, place) : std::min(found, place);
        }
        places[row] = found;
    });
}

/// Digits of a radix sort, and the bits of each.
constexpr int DIGITS = 2, BITS = 16;

/// Number rows by their places, those of one place as they are.
void order_by_place(Span<const std::int32_t> places, Span<std::int32_t> order, int threads) {
    const std::int64_t rows = places.size(), parts = std::max(1, threads);
    check_length("order", order.size(), rows);
    // threads are the first to touch what they fill: that alone takes as long as a pass
    auto from = std::make_unique_for_overwrite<std::int32_t[]>(rows);
    auto to = std::make_unique_for_overwrite<std::int32_t[]>(rows);
    std::vector<std::int32_t> most(parts, 0);
    const auto each_place = [&](std::int64_t part, const auto &work) {
        for (std::int64_t at = rows * part / parts; at < rows * (part + 1) / parts; ++at)
            work(at);
    };
    parallel_for(threads, parts, [&](std::int64_t part) {
        poll();
        each_place(part, [&](std::int64_t at) {
            from[at] = static_cast<std::int32_t>(at);
            most[part] = std::max(most[part], places[at]);
        });
    });
    const std::int32_t greatest = *std::max_element(most.begin(), most.end());
    for (int digit = 0; digit < DIGITS; ++digit) {
        if (greatest >> digit * BITS == 0)
            break; // the digits that are left are zero
        const auto bucket = [&](std::int32_t row) {
            return places[row] >> digit * BITS & ((1 << BITS) - 1);
        };
        std::vector<std::vector<std::int64_t>> next(parts);
        parallel_for(threads, parts, [&](std::int64_t part) {
            poll();
            next[part].assign(1 << BITS, 0);
            each_place(part, [&](std::int64_t at) { ++next[part][bucket(from[at])]; });
        });
        std::int64_t placed = 0;
        for (int which = 0; which < 1 << BITS; ++which)
            for (auto &own : next)
                placed += std::exchange(own[which], placed);
        parallel_for(threads, parts, [&](std::int64_t part) {
            poll();
            each_place(part,
                       [&](std::int64_t at) { to[next[part][bucket(from[at])]++] = from[at]; });
        });
        std::swap(from, to);
    }
    parallel_for(threads, parts, [&](std::int64_t part) {
        each_place(part, [&](std::int64_t at) { order[at] = from[at]; });
    });
}

/// Steps that are looked at in all, and of one row.
constexpr std::int64_t SAMPLES = 4096, STEPS_OF_ROW = 4;

/// The sectors that a step gathers from for each of its entries, on the average of some steps.
///
/// Rows stand in ``order``, longest first, with so many steps at the most while they have fewer
/// than 32 lanes. Steps are taken evenly from all entries.
template <class Index>
double gathered_sectors(Span<const Index> starts, Span<const Index> indices,
                        Span<const std::int32_t> order, Span<const Index> lengths,
                        Span<const std::int32_t> column_position, std::int64_t steps) {
    const std::int64_t rows = order.size(), entries = starts[starts.size() - 1];
    const std::int64_t between = std::max<std::int64_t>(1, entries * STEPS_OF_ROW / SAMPLES);
    std::int64_t sectors = 0, gathered = 0, passed = 0, wanted = between / 2;
    for (std::int64_t row = 0; row < rows; ++row) {
        passed += lengths[row];
        if (passed <= wanted)
            continue;
        const std::int64_t own = (passed - wanted - 1) / between + 1;
        wanted += own * between;
        std::int64_t lanes = 1;
        while (lanes < LANES && lanes * steps < lengths[row])
            lanes *= 2;
        const std::int64_t together = LANES / lanes, first = row / together * together;
        const std::int64_t count = (lengths[row] + lanes - 1) / lanes;
        const std::int64_t looks = std::min(count, own * STEPS_OF_ROW);
        for (std::int64_t look = 0; look < looks; ++look) {
            std::array<std::int32_t, LANES> found;
            int size = 0;
            const std::int64_t from = look * count / looks * lanes;
            for (std::int64_t other = first; other < std::min(rows, first + together); ++other) {
                const std::int64_t end = std::min<std::int64_t>(lengths[other], from + lanes);
                for (std::int64_t at = from; at < end; ++at)
                    found[size++] = column_position[indices[starts[order[other]] + at]] / SECTOR;
            }
            std::sort(found.begin(), found.begin() + size);
            sectors += std::unique(found.begin(), found.begin() + size) - found.begin();
            gathered += size;
        }
    }
    return static_cast<double>(sectors) / std::max<double>(1.0, gathered);
}

template <class Index> void declare(native::Module &module) {
    expose(module, "choose_lanes", &choose_lanes<Index>, "starts", "indices", "rows",
           "column_position", "lanes", "threads");
    expose(module, "extreme_places", &extreme_places<Index>, "starts", "indices", "column_position",
           "greatest", "places", "threads");
    expose(module, "gathered_sectors", &gathered_sectors<Index>, "starts", "indices", "order",
           "lengths", "column_position", "steps");
}

} // namespace

NATIVE_MODULE(sparse_locality) {
    NATIVE_CONSTANTS(module, "solvers.sparse.shape", GROUP);
    expose(module, "order_by_place", &order_by_place, "places", "order", "threads");
    declare<std::int32_t>(module);
    declare<std::int64_t>(module);
}
