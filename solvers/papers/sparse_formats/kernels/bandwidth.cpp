// Reading for the machine's bandwidth on the CPU: as bandwidth.cu does it (bandwidth.py states the
// contract), and the way a processor likes it.
#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

/// Sum what each reader reads.
void stream_read(std::int64_t readers, std::int64_t size, std::int64_t repeats,
                 Span<const double> source, Span<double> sums, int threads) {
    check_length("source", source.size(), size);
    check_length("sums", sums.size(), readers);
    parallel_for(threads, readers, [&](std::int64_t own) {
        std::int64_t place = own;
        double total = 0.0;
        for (std::int64_t r = 0; r < repeats; ++r) {
            total += source[place];
            place += readers;
            if (place >= size)
                place -= size;
        }
        sums[own] = total;
    });
}

/// Sums that do not wait for each other: four of the widest vectors.
constexpr std::int64_t CHAINS = 32;

/// Vectors that lie across two lines of the cache are read at half the speed.
constexpr std::uintptr_t LINE_BYTES = 64;

NATIVE_HOT std::int64_t sum_of(const std::int64_t *source, std::int64_t size) {
    std::int64_t sums[CHAINS] = {};
    std::int64_t total = 0;
    std::int64_t k = 0;
    for (; k < size && reinterpret_cast<std::uintptr_t>(source + k) % LINE_BYTES != 0; ++k)
        total += source[k];
    for (; k + CHAINS <= size; k += CHAINS)
        for (std::int64_t chain = 0; chain < CHAINS; ++chain)
            sums[chain] += source[k + chain];
    for (; k < size; ++k)
        total += source[k];
    for (const std::int64_t sum : sums)
        total += sum;
    return total;
}

/// Let each of ``parts`` workers read its ``part`` neighbouring integers ``repeats`` times.
///
/// Integers, because their sums may be taken in any order and so by whole vectors; a chain of
/// floating-point additions would be slower than the reading.
void read_fast(std::int64_t parts, std::int64_t part, std::int64_t repeats,
               Span<const std::int64_t> source, Span<std::int64_t> sums, int threads) {
    check_length("source", source.size(), parts * part);
    check_length("sums", sums.size(), parts);
    parallel_for(threads, parts, [&](std::int64_t own) {
        const std::int64_t first = own * part;
        std::int64_t total = 0;
        for (std::int64_t r = 0; r < repeats; ++r) // no pass is like the one before: none is saved
            total += sum_of(source.data() + first + (r & 1), part - (r & 1));
        sums[own] = total;
    });
}

} // namespace

NATIVE_MODULE(papers_sparse_formats_bandwidth) {
    expose(module, "read_fast", &read_fast, "parts", "part", "repeats", "source", "sums",
           "threads");
    NATIVE_KERNELS(module, stream_read);
}
