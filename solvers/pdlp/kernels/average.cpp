// Means over the rows of a matrix, on the CPU; average.py states the contract.
#include "native/bindings.h"
#include "native/threads.h"

using namespace native;

namespace {

using Starts = AnySpan<const std::int32_t, const std::int64_t>;

void average(int rows, const Starts &starts, Span<const std::int32_t> indices,
             Span<const double> values, Span<double> mean, int threads) {
    check_length("mean", mean.size(), rows);
    const auto run = [&](auto begins) {
        check_length("starts", begins.size(), std::int64_t{rows} + 1);
        check_length("indices", indices.size(), begins[rows]);
        parallel_for(threads, rows, [&](std::int64_t i) {
            double sum = 0.0;
            for (std::int64_t entry = begins[i]; entry < begins[i + 1]; ++entry)
                sum += values[indices[entry]];
            if (begins[i + 1] > begins[i])
                mean[i] = sum / static_cast<double>(begins[i + 1] - begins[i]);
        });
    };
    std::visit(run, starts);
}

} // namespace

NATIVE_MODULE(pdlp_average) { NATIVE_KERNELS(module, average); }
