// Geometric scaling; scale.py states what is computed.
#include "pivots.h"

namespace simplex::paper {
namespace {

/// Scales that bring the smallest and largest coefficient of an owner round one.
void geometric(std::int64_t size, Ints starts, Ints indices, Reals values, Reals other,
               RealsOut scale, int threads) {
    check_lengths(size + 1, {{"starts", starts}});
    check_lengths(starts[size], {{"indices", indices}, {"values", values}});
    check_lengths(size, {{"scale", scale}});
    native::parallel_for(threads, size, [&](std::int64_t owner) {
        double smallest = 0.0, largest = 0.0;
        for (Index k = starts[owner]; k < starts[owner + 1]; ++k) {
            const double entry = std::fabs(values[k] * other[indices[k]]);
            if (entry == 0.0)
                continue;
            smallest = smallest == 0.0 ? entry : std::min(smallest, entry);
            largest = std::max(largest, entry);
        }
        scale[owner] = largest > 0.0 ? 1.0 / std::sqrt(smallest * largest) : 1.0;
    });
}

/// Multiply coefficients by the scales of their row and column.
void apply_scales(std::int64_t size, Ints starts, Ints indices, Reals values, Reals own,
                  Reals other, RealsOut scaled, int threads) {
    check_lengths(size + 1, {{"starts", starts}});
    check_lengths(starts[size], {{"indices", indices}, {"values", values}, {"scaled", scaled}});
    check_lengths(size, {{"own", own}});
    native::parallel_for(threads, size, [&](std::int64_t owner) {
        for (Index k = starts[owner]; k < starts[owner + 1]; ++k)
            scaled[k] = values[k] * own[owner] * other[indices[k]];
    });
}

} // namespace
} // namespace simplex::paper

NATIVE_MODULE(papers_simplex_variants_scale) {
    using namespace simplex::paper;
    using native::expose;
    expose(module, "geometric", &geometric, "size", "starts", "indices", "values", "other", "scale",
           "threads");
    expose(module, "apply_scales", &apply_scales, "size", "starts", "indices", "values", "own",
           "other", "scaled", "threads");
}
