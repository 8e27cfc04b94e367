// Loops over long vectors, the same bits for any number of threads.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

/// Bytes that a thread copies at a time.
constexpr std::int64_t COPIED = 1 << 20;

/// Copy memory, on up to ``threads`` threads.
void copy_bytes(Span<const std::uint8_t> source, Span<std::uint8_t> target, int threads) {
    const std::int64_t size = source.size();
    check_length("target", target.size(), size);
    parallel_for(threads, (size + COPIED - 1) / COPIED, [&](std::int64_t piece) {
        const std::int64_t first = piece * COPIED;
        std::memcpy(target.data() + first, source.data() + first, std::min(COPIED, size - first));
    });
}

/// Values whose smallest and largest size are found together.
constexpr std::int64_t BLOCK = 1 << 16;

/// Find the smallest size of the finite values but zero, INF without any, and the largest, or 0.
void size_range(Span<const double> values, Span<double> range, int threads) {
    check_length("range", range.size(), 2);
    const std::int64_t blocks = (values.size() + BLOCK - 1) / BLOCK;
    std::vector<double> least(blocks, INF), most(blocks, 0.0);
    parallel_for(threads, blocks, [&](std::int64_t block) {
        poll();
        const std::int64_t end = std::min(values.size(), (block + 1) * BLOCK);
        for (std::int64_t k = block * BLOCK; k < end; ++k) {
            const double size = std::abs(values[k]);
            if (size > 0.0 && size < INF) {
                least[block] = std::min(least[block], size);
                most[block] = std::max(most[block], size);
            }
        }
    });
    range[0] = blocks > 0 ? *std::min_element(least.begin(), least.end()) : INF;
    range[1] = blocks > 0 ? *std::max_element(most.begin(), most.end()) : 0.0;
}

/// Products that are added one after the other; blocks are added in pairs.
constexpr std::int64_t ADDED = 256;

/// Put what each block has of a'b into ``sums``.
void inner_of_blocks(Span<const double> a, Span<const double> b, Span<double> sums, int threads) {
    check_length("b", b.size(), a.size());
    check_length("sums", sums.size(), (a.size() + ADDED - 1) / ADDED);
    parallel_for(threads, sums.size(), [&](std::int64_t block) {
        const std::int64_t end = std::min(a.size(), (block + 1) * ADDED);
        double sum = 0.0;
        for (std::int64_t k = block * ADDED; k < end; ++k)
            sum += a[k] * b[k];
        sums[block] = sum;
    });
}

} // namespace

NATIVE_MODULE(core_vectors) {
    expose(module, "size_range", &size_range, "values", "range", "threads");
    NATIVE_CONSTANTS(module, "solvers.core.vectors", ADDED);
    expose(module, "inner_of_blocks", &inner_of_blocks, "a", "b", "sums", "threads");
    expose(module, "copy_bytes", &copy_bytes, "source", "target", "threads");
}
