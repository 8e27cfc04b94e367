// Sums in the order in which the lanes of warps and blocks add.
#pragma once

namespace {

/// The sum of the lanes' parts in the order in which a group adds them; spoils them.
inline double lane_sum(double *parts, int lanes) {
    for (int warp = 0; warp < lanes; warp += 32)
        for (int offset = 16; offset > 0; offset /= 2)
            for (int lane = warp; lane < warp + offset; ++lane)
                parts[lane] += parts[lane + offset];
    double total = parts[0];
    for (int warp = 32; warp < lanes; warp += 32)
        total += parts[warp];
    return total;
}

} // namespace
