// Numbers in a narrower type on the CPU.
#include "native/threads.h"
#include "native/variants.h"

using namespace native;

namespace {

/// Copy number after number.
void narrow(std::int64_t count, Span<const std::int32_t> wide,
            AnySpan<std::uint8_t, std::uint16_t, std::int32_t> values, int threads) {
    check_length("wide", wide.size(), count);
    std::visit(
        [&](auto values) {
            check_length("values", values.size(), count);
            using Narrow = typename decltype(values)::Element;
            parallel_for(threads, count,
                         [&](std::int64_t i) { values[i] = static_cast<Narrow>(wide[i]); });
        },
        values);
}

} // namespace

NATIVE_MODULE(simplex_batch_narrow) { NATIVE_KERNELS(module, narrow); }
