// Vectors without their zeros; compact.py has the rest.
#include <cstdint>

#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

/// Call work(at) for the places of one of ``parts`` of a vector.
template <class Work>
void in_part(std::int64_t size, std::int64_t part, std::int64_t parts, const Work &work) {
    poll();
    for (std::int64_t at = size * part / parts; at < size * (part + 1) / parts; ++at)
        work(at);
}

/// Count what is not zero in each of some parts of a vector.
void count_filled(Span<const double> vector, Span<std::int64_t> counts, int threads) {
    parallel_for(threads, counts.size(), [&](std::int64_t part) {
        std::int64_t found = 0;
        in_part(vector.size(), part, counts.size(),
                [&](std::int64_t at) { found += vector[at] != 0.0; });
        counts[part] = found;
    });
}

/// Write what is not zero, and where, that of each part from where it ``begins``.
void compact(Span<const double> vector, Span<const std::int64_t> begins, Span<std::int32_t> places,
             Span<double> values, int threads) {
    const std::int64_t parts = begins.size() - 1;
    check_length("places", places.size(), begins[parts]);
    check_length("values", values.size(), begins[parts]);
    parallel_for(threads, parts, [&](std::int64_t part) {
        std::int64_t to = begins[part];
        in_part(vector.size(), part, parts, [&](std::int64_t at) {
            if (vector[at] != 0.0) {
                places[to] = static_cast<std::int32_t>(at);
                values[to++] = vector[at];
            }
        });
    });
}

} // namespace

NATIVE_MODULE(pdlp_compact) {
    expose(module, "count_filled", &count_filled, "vector", "counts", "threads");
    expose(module, "compact", &compact, "vector", "begins", "places", "values", "threads");
}
