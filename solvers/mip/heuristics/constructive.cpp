// The loops of a sweep: one over the rows that are violated, one over columns that cost.
//
// A row's distances to its two sides stand side by side, so that a look at it touches one line of
// the cache. Everything is a plain loop in the order of the model.
#include "mip/model.h"

#include <algorithm>
#include <cmath>

namespace mip::constructive {

using native::Grid;
using native::INF;
using native::Span;

namespace {

/// Columns of a row that are compared for one step: in a long row the best of so many is nearly the
/// best of all.
constexpr std::int64_t CANDIDATES = 16;

/// A prime: by its multiples rows begin at different places.
constexpr std::int64_t STRIDE = 7919;

/// A step of a column, what it does to other rows, and what it costs for what it mends.
struct Step {
    std::int64_t column = -1;
    double size = 0.0;
    std::int64_t balance;
    double price = INF;
};

/// A sweep over the rows of a model: distances to both sides of each row, the point, and which
/// columns rose (1) or fell (2).
struct Sweep {
    const Model &model;
    Grid<double> distance;
    Span<double> x;
    Span<std::uint8_t> moved;
};

/// By how many more rows are violated after a step of a column, or worse than before.
std::int64_t effect(const Model &model, const Grid<double> &distance, std::int64_t j, double step) {
    std::int64_t balance = 0;
    for (std::int64_t p = model.columns.indptr[j]; p < model.columns.indptr[j + 1]; ++p) {
        const std::int64_t i = model.columns.indices[p];
        const double change = model.columns.data[p] * step, size = std::abs(change);
        const std::int64_t side = change < 0.0 ? 0 : 1;
        const double toward = distance(i, side), away = distance(i, 1 - side);
        balance += toward - size < -SAME * std::max(1.0, size);
        balance -= away < -SAME && away + size >= -SAME;
    }
    return balance;
}

/// Move a column, and its rows' distances along.
void take_step(const Model &model, const Grid<double> &distance, const Span<double> &x,
               std::int64_t j, double step) {
    x[j] += step;
    for (std::int64_t p = model.columns.indptr[j]; p < model.columns.indptr[j + 1]; ++p) {
        const std::int64_t i = model.columns.indices[p];
        const double change = model.columns.data[p] * step;
        distance(i, 0) += change;
        distance(i, 1) -= change;
    }
}

/// How far entry p's column may go to bring its row ``need`` nearer to a side; 0 for not at all.
double step_of(const Sweep &sweep, std::int64_t p, std::int64_t side, double need) {
    const Model &model = sweep.model;
    const std::int64_t j = model.rows.indices[p];
    const double a = model.rows.data[p];
    if (std::abs(a) < SLOP)
        return 0.0;
    const bool rises = (a > 0.0) == (side == 0);
    const double room = rises ? model.upper[j] - sweep.x[j] : sweep.x[j] - model.lower[j];
    double size = need / std::abs(a);
    if (model.is_integer[j] == 1)
        size = std::ceil(size - SAME);
    size = std::min(size, room);
    if (size <= 0.0 || sweep.moved[j] == (rises ? 2 : 1))
        return 0.0;
    return rises ? size : -size;
}

/// Take the better one of two steps: fewer rows violated, then a lower price.
void compare(const Sweep &sweep, std::int64_t p, double step, double need, Step &best) {
    const Model &model = sweep.model;
    const std::int64_t j = model.rows.indices[p];
    const std::int64_t balance = effect(model, sweep.distance, j, step);
    const double size = std::abs(step);
    const double price =
        model.cost[j] * step / std::min(1.0, std::abs(model.rows.data[p]) * size / need);
    if (balance < best.balance || (balance == best.balance && price < best.price))
        best = {j, step, balance, price};
}

/// Mend row i, if it is violated; returns the entries visited, some more than ``allowed`` at most.
std::int64_t mend_row(const Sweep &sweep, std::int64_t i, std::int64_t most, std::int64_t allowed) {
    const Model &model = sweep.model;
    const std::int64_t begin = model.rows.indptr[i], length = model.rows.indptr[i + 1] - begin;
    std::int64_t place = i * STRIDE % std::max<std::int64_t>(1, length);
    std::int64_t left = length, work = 0;
    while (left > 0 && work <= allowed) {
        const std::int64_t side = sweep.distance(i, 0) < -SAME ? 0 : 1;
        const double need = -sweep.distance(i, side);
        if (need <= SAME)
            break;
        Step best;
        best.balance = most + 1;
        for (std::int64_t seen = 0; seen < CANDIDATES && left > 0; --left) {
            const std::int64_t p = begin + place;
            place = place + 1 < length ? place + 1 : 0;
            const double step = step_of(sweep, p, side, need);
            if (step == 0.0)
                continue;
            ++seen;
            compare(sweep, p, step, need, best);
            const std::int64_t j = model.rows.indices[p];
            work += model.columns.indptr[j + 1] - model.columns.indptr[j];
        }
        if (best.column >= 0) {
            take_step(model, sweep.distance, sweep.x, best.column, best.size);
            sweep.moved[best.column] = best.size > 0.0 ? 1 : 2;
        }
    }
    return work + length - left + 1;
}

void check(const Model &model, const Grid<double> &distance, const Span<double> &x) {
    check_shapes(model);
    native::check_length("distance", distance.shape(0), model.row_lower.size());
    native::check_length("distance", distance.shape(1), 2);
    native::check_length("x", x.size(), model.cost.size());
}

/// Mend what is violated from row ``first`` on; returns the next row and the entries visited.
///
/// Ends once more than ``allowed`` entries were visited, if need be in the middle of a row.
///
/// Of the columns that help, that one moves by which the fewest other rows are newly violated, at
/// most ``most`` more than are mended, and among those the one that costs least for what it does.
/// None turns round within a sweep: ``moved`` is 1 for columns that rose, 2 for those that fell.
std::tuple<std::int64_t, std::int64_t> mend_rows(const Model &model, Grid<double> distance,
                                                 Span<double> x, Span<std::uint8_t> moved,
                                                 std::int64_t first, std::int64_t most,
                                                 std::int64_t allowed) {
    check(model, distance, x);
    native::check_length("moved", moved.size(), x.size());
    const Sweep sweep{model, distance, x, moved};
    std::int64_t work = 0, i = first;
    for (; i < model.row_lower.size() && work <= allowed; ++i) {
        native::poll();
        work += mend_row(sweep, i, most, allowed - work);
    }
    return {i, work};
}

/// Move the given columns as far as their rows let them to where they cost least.
void give_back(const Model &model, Grid<double> distance, Span<double> x,
               Span<const std::int32_t> order) {
    check(model, distance, x);
    for (std::int64_t place = 0; place < order.size(); ++place) {
        native::poll();
        const std::int64_t j = order[place];
        const bool falls = model.cost[j] > 0.0;
        double room = falls ? x[j] - model.lower[j] : model.upper[j] - x[j];
        for (std::int64_t p = model.columns.indptr[j]; p < model.columns.indptr[j + 1]; ++p) {
            const double a = model.columns.data[p];
            if (a == 0.0)
                continue;
            const std::int64_t side = (a > 0.0) == falls ? 0 : 1;
            const double left = distance(model.columns.indices[p], side);
            room = std::min(room, std::max(0.0, left) / std::abs(a));
        }
        if (model.is_integer[j] == 1)
            room = std::floor(room + SAME);
        if (0.0 < room && room < INF)
            take_step(model, distance, x, j, falls ? -room : room);
    }
}

} // namespace
} // namespace mip::constructive

NATIVE_MODULE(mip_heuristics_constructive) {
    using namespace mip::constructive;
    native::expose(module, "mend_rows", &mend_rows, "model", "distance", "x", "moved", "first",
                   "most", "allowed");
    native::expose(module, "give_back", &give_back, "model", "distance", "x", "order");
}
