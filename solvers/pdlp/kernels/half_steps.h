// The two halves of an iteration on the CPU; step.py states the formulas.
#pragma once

#include "slices.h"

namespace {

#include "sides.cuh"

constexpr int KEEP_NONE = 0, KEEP_FIRST = 1, KEEP_LAST = 2;

/// How far the next point is from the reflected one, and from the anchor.
struct Averaging {
    double gamma, weight;

    Averaging(Numbers control, std::int64_t offset) : gamma(control[REFLECTION]) {
        const double k = control[ITERATIONS_SINCE_RESTART] + static_cast<double>(offset);
        weight = (k + 1.0) / (k + 2.0);
    }
    /// Put the next point i and what is kept of the step into place.
    template <class Side>
    void advance(const Side &side, std::int64_t i, double current, double projected,
                 double mirrored, int keep) const {
        const double relaxed = gamma * mirrored + (1.0 - gamma) * current;
        side.point[i] = weight * relaxed + (1.0 - weight) * side.anchor[i];
        if (keep & KEEP_FIRST)
            side.first_difference[i] = mirrored - current;
        if (keep & KEEP_LAST) {
            side.projection[i] = projected;
            side.difference[i] = mirrored - current;
        }
    }
};

/// The half that owns the columns; the matrix is A'.
template <class Index> struct PrimalHalf {
    const Slices<Index> &matrix;
    Numbers y;
    const ColumnSide &x;
    Numbers control;

    void check() const {
        native::check_length("control", control.size(), STOP + 1);
        check_owned(matrix, x.point, x.anchor, x.cost, x.lower, x.upper, x.metric, x.reflected,
                    x.projection, x.difference, x.first_difference);
    }

    void advance(std::int64_t offset, int keep, int threads) const {
        if (control[STOP] != 0.0)
            return;
        const Averaging averaging(control, offset);
        const double tau = control[TAU];
        for_each_row(matrix, threads, [&](std::int64_t j, const auto &row, const auto &rows) {
            const double product = products_of(rows, row, y)[0], current = x.point[j];
            const double moved = current - tau * x.metric[j] * (x.cost[j] - product);
            const double projected = std::min(std::max(moved, x.lower[j]), x.upper[j]);
            const double mirrored = 2.0 * projected - current;
            x.reflected[j] = mirrored;
            averaging.advance(x, j, current, projected, mirrored, keep);
        });
    }
};

/// The half that owns the rows; the matrix is A.
template <class Index> struct DualHalf {
    const Slices<Index> &matrix;
    Numbers reflected;
    const RowSide &y;
    Numbers control;

    void check() const {
        native::check_length("control", control.size(), STOP + 1);
        check_owned(matrix, y.point, y.anchor, y.lower, y.upper, y.metric, y.projection,
                    y.difference, y.first_difference);
    }

    void advance(std::int64_t offset, int keep, int threads) const {
        if (control[STOP] != 0.0)
            return;
        const Averaging averaging(control, offset);
        const double sigma = control[SIGMA];
        for_each_row(matrix, threads, [&](std::int64_t i, const auto &row, const auto &rows) {
            const double product = products_of(rows, row, reflected)[0], current = y.point[i];
            const double step = sigma * y.metric[i];
            const double moved = current - step * product;
            const double projected =
                moved - std::min(std::max(moved, -step * y.upper[i]), -step * y.lower[i]);
            averaging.advance(y, i, current, projected, 2.0 * projected - current, keep);
        });
    }
};

/// Run the iterations of a block one after the other.
template <class Index>
inline void run_iterations(const PrimalHalf<Index> &primal, const DualHalf<Index> &dual,
                           std::int64_t count) {
    primal.check();
    dual.check();
    for (std::int64_t offset = 0; offset < count; ++offset) {
        native::poll();
        const int keep =
            (offset == 0 ? KEEP_FIRST : KEEP_NONE) | (offset == count - 1 ? KEEP_LAST : KEEP_NONE);
        primal.advance(offset, keep, 1);
        dual.advance(offset, keep, 1);
    }
}

} // namespace

NATIVE_STRUCT(ColumnSide, point, anchor, cost, lower, upper, metric, codes, pairs, reflected,
              projection, difference, first_difference)
NATIVE_STRUCT(RowSide, point, anchor, lower, upper, metric, codes, pairs, projection, difference,
              first_difference)
