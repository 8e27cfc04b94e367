// The two halves of an iteration on the CPU; step.py states the formulas.
#pragma once

#include "slices.h"

namespace {

#include "control.cuh"

constexpr int KEEP_NONE = 0, KEEP_FIRST = 1, KEEP_LAST = 2;

/// What the points of one side and their steps are written to.
struct Side {
    NumbersOut point;
    Numbers anchor;
    NumbersOut projection, difference, first_difference;

    void check(const char *name, std::int64_t owners) const {
        native::check_length(name, point.size(), owners);
        for (const std::int64_t size :
             {anchor.size(), projection.size(), difference.size(), first_difference.size()})
            native::check_length("a vector beside it", size, point.size());
    }
};

/// How far the next point is from the reflected one, and from the anchor.
struct Averaging {
    double gamma, weight;

    Averaging(Numbers control, std::int64_t offset) : gamma(control[REFLECTION]) {
        const double k = control[ITERATIONS_SINCE_RESTART] + static_cast<double>(offset);
        weight = (k + 1.0) / (k + 2.0);
    }
    /// Put the next point i and what is kept of the step into place.
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
    Slices<Index> matrix;
    Numbers y, cost, lower, upper, metric;
    NumbersOut reflected;
    Side x;
    Numbers control;

    void check() const {
        native::check_length("control", control.size(), STOP + 1);
        x.check("x", matrix.height == 1 ? matrix.slices : 0);
        for (const std::int64_t size :
             {cost.size(), lower.size(), upper.size(), metric.size(), reflected.size()})
            native::check_length("a vector of the columns", size, x.point.size());
    }

    void advance(std::int64_t offset, int keep, int threads) const {
        if (control[STOP] != 0.0)
            return;
        const Averaging averaging(control, offset);
        const double tau = control[TAU];
        for_each_row(matrix, threads, [&](std::int64_t j, const auto &row, const auto &rows) {
            const double product = products_of(rows, row, y)[0], current = x.point[j];
            const double moved = current - tau * metric[j] * (cost[j] - product);
            const double projected = std::min(std::max(moved, lower[j]), upper[j]);
            const double mirrored = 2.0 * projected - current;
            reflected[j] = mirrored;
            averaging.advance(x, j, current, projected, mirrored, keep);
        });
    }
};

/// The half that owns the rows; the matrix is A.
template <class Index> struct DualHalf {
    Slices<Index> matrix;
    Numbers reflected, row_lower, row_upper, metric;
    Side y;
    Numbers control;

    void check() const {
        native::check_length("control", control.size(), STOP + 1);
        y.check("y", matrix.height == 1 ? matrix.slices : 0);
        for (const std::int64_t size : {row_lower.size(), row_upper.size(), metric.size()})
            native::check_length("a vector of the rows", size, y.point.size());
    }

    void advance(std::int64_t offset, int keep, int threads) const {
        if (control[STOP] != 0.0)
            return;
        const Averaging averaging(control, offset);
        const double sigma = control[SIGMA];
        for_each_row(matrix, threads, [&](std::int64_t i, const auto &row, const auto &rows) {
            const double product = products_of(rows, row, reflected)[0], current = y.point[i];
            const double step = sigma * metric[i];
            const double moved = current - step * product;
            const double projected =
                moved - std::min(std::max(moved, -step * row_upper[i]), -step * row_lower[i]);
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
