// Chains of moves, for rows that no single step can walk on.
//
// One column alone always leaves an equation. A chain starts with a step that is worth nothing by
// itself and goes on, each link repairing a row that the chain has violated, until the sum of all
// progress is positive; otherwise everything is put back.
// Chains of two are the equality pairs (step of k = -a_j step of j / a_k) and the swaps 1 <-> 0 in
// set partitioning rows, those of three and four the exchanges of assignments and the detours of
// flows; continuous columns take up what an integer column has left over.
#pragma once

#include <algorithm>

#include "candidates.h"

namespace mip::local_search {

/// Rows of a column among which the row to be repaired next is looked for.
constexpr std::int64_t ROW_LOOKS = 32;

/// Change a column for a trial, remember its value from before, and sum up the chain's gain.
///
/// Rows are judged from the chain's beginning to where they stand now. Step by step, a row that
/// one link opens wide and two others close a little would seem to be won.
inline void try_link(const Matrix &matrix, const State &state, bool jump, Pair move) {
    Status &status = state.status[0];
    const std::int64_t j = move.place;
    state.chain[status.num_chain] = {j, state.columns[j].x};
    status.num_chain += 1;
    double gain = 0.0;
    const std::int64_t first = matrix.columns.indptr[j], last = matrix.columns.indptr[j + 1];
    status.work += last - first;
    for (std::int64_t k = first; k < last; ++k) {
        const std::int64_t i = matrix.columns.indices[k];
        const Row &row = state.rows[i];
        Pair &origin = state.origins[i];
        const double now = row.activity, after = now + matrix.columns.data[k] * move.value;
        if (origin.place == status.chains)
            gain -= row_progress(row, jump, origin.value, now);
        else
            origin = {status.chains, now};
        gain += row_progress(row, jump, origin.value, after);
    }
    status.chain_gain += gain;
    const Column &column = state.columns[j]; // the sum may be beyond a bound by its rounding
    set_value(matrix, state, j, std::clamp(column.x + move.value, column.lower, column.upper));
}

/// The heaviest violated row of column j among those looked at, but for ``before``; -1 for none.
inline std::int64_t heaviest_row(const Matrix &matrix, const State &state, std::int64_t j,
                                 std::int64_t before) {
    const std::int64_t first = matrix.columns.indptr[j],
                       length = matrix.columns.indptr[j + 1] - first;
    std::int64_t at = length > ROW_LOOKS ? draw(state.status[0], length) : 0;
    std::int64_t best = -1;
    double heaviest = -1.0;
    for (std::int64_t look = 0; look < std::min(length, ROW_LOOKS); ++look) {
        const std::int64_t i = matrix.columns.indices[first + at];
        at = at + 1 < length ? at + 1 : 0;
        const Row &row = state.rows[i];
        if (row.place >= 0 && i != before) {
            const double weight = row.activity < row.lower ? row.lower_weight : row.upper_weight;
            if (weight > heaviest) {
                best = i;
                heaviest = weight;
            }
        }
    }
    return best;
}

/// A violated row of the chain's columns, the heaviest seen, -1 without one.
///
/// Rows of the last link come first; ``before`` holds for links that were looked through.
inline std::int64_t opened_row(const Matrix &matrix, const State &state, std::int64_t before) {
    for (std::int64_t link = state.status[0].num_chain - 1; link >= 0; --link) {
        const std::int64_t best = heaviest_row(matrix, state, state.chain[link].place, before);
        if (best >= 0)
            return best;
    }
    return -1;
}

/// The progress of the chain: of its rows, and of the objective, from end to end.
inline double worth(const State &state, bool jump, double before) {
    const Status &status = state.status[0];
    return status.chain_gain + objective_progress(status, before, jump, status.objective - before);
}

/// Take the columns of the chain out of the candidates for its next link.
inline std::int64_t drop_used(const State &state, std::int64_t count) {
    for (std::int64_t place = 0; place < state.status[0].num_chain; ++place) {
        const std::int64_t j = state.chain[place].place;
        std::int64_t at = 0;
        while (at < count) {
            if (state.links[at].place == j)
                state.links[at] = state.links[--count];
            else
                ++at;
        }
    }
    return count;
}

/// Add links to the chain while it is worth nothing; returns whether it came to be.
///
/// ``before`` is the objective at its beginning.
inline bool follow(const Matrix &matrix, const State &state, const Settings &settings,
                   double before) {
    const Status &status = state.status[0];
    std::int64_t last = -1;
    while (status.num_chain < settings.chain_depth) {
        const std::int64_t i = opened_row(matrix, state, last);
        if (i < 0)
            return false;
        last = i;
        std::int64_t count = gather_row(matrix, state, settings, i, gap_of(state.rows[i]),
                                        settings.chain_breadth, state.links, 0, Tabu::FREE_ONLY);
        count = drop_used(state, count);
        const std::int64_t best = choose(matrix, state, settings.jump, state.links, count);
        if (best < 0)
            return false;
        try_link(matrix, state, settings.jump, state.links[best]);
        if (worth(state, settings.jump, before) > SAME)
            return true;
    }
    return false;
}

/// Count the moves of the chain, and forbid the way back.
inline void keep_chain(const State &state, const Settings &settings) {
    Status &status = state.status[0];
    for (std::int64_t link = 0; link < status.num_chain; ++link) {
        Column &column = state.columns[state.chain[link].place];
        forbid_return(status, settings, column, column.x > state.chain[link].value);
    }
    status.moves += status.num_chain;
    status.moves_since_refresh += status.num_chain;
}

/// Give the columns of the chain the values from before, the last one first.
inline void put_back(const Matrix &matrix, const State &state) {
    Status &status = state.status[0];
    while (status.num_chain > 0) {
        status.num_chain -= 1;
        const Pair link = state.chain[status.num_chain];
        set_value(matrix, state, link.place, link.value);
    }
}

/// Try chains from the ``count`` candidates of this step, the one at ``first`` to begin with.
///
/// Returns whether one was worth it and stands; without, everything is as before.
inline bool try_chains(const Matrix &matrix, const State &state, const Settings &settings,
                       std::int64_t count, std::int64_t first) {
    Status &status = state.status[0];
    for (std::int64_t trial = 0; trial < settings.chain_trials; ++trial) {
        const std::int64_t place = trial == 0 ? first : draw(status, count);
        status.num_chain = 0;
        status.chain_gain = 0.0;
        status.chains += 1;
        const double before = status.objective;
        try_link(matrix, state, settings.jump, state.candidates[place]);
        if (follow(matrix, state, settings, before)) {
            keep_chain(state, settings);
            return true;
        }
        put_back(matrix, state);
    }
    return false;
}

} // namespace mip::local_search
