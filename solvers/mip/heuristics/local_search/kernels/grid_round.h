// A round of the walk by one thread (grid_rounds.cuh), with the bits of a grid, and the tree by
// one.
#pragma once

#include <bit>

#include "host.h"

namespace {

using TREE_T = std::int32_t;
using CLAIMS_T = std::int64_t;
using MOVES_T = double;
using SLOTS_T = double;
using PARTIALS_T = double;
using SHARES_T = double;
using CONTROL_T = std::int32_t;
#include "grid_numbers.cuh"

/// The tree over so many rows, for which there has to be room.
inline Tree check_tree(native::Span<INDEX> nodes, int rows) {
    Tree tree;
    tree.shape(reinterpret_cast<unsigned *>(nodes.data()), rows);
    native::check_length("tree", nodes.size(), tree.size);
    return tree;
}

/// Note that a row has become violated or holds again.
inline void tree_change(const Tree &tree, int row, bool enters) {
    tree.nodes[row >> 5] ^= 1u << (row & 31);
    int node = row >> 10;
    for (int level = 1; level <= tree.top; ++level, node >>= 5)
        tree.nodes[tree.first[level] + node] += enters ? 1u : ~0u;
}

/// Number of violated rows.
inline int tree_count(const Tree &tree) {
    unsigned total = 0;
    for (int node = 0; node < 32; ++node)
        total += tree.nodes[tree.first[tree.top] + node];
    return static_cast<int>(total);
}

/// The violated row with ``rank`` lower ones before it.
inline int tree_find(const Tree &tree, int rank) {
    int node = 0;
    for (int level = tree.top; level >= 0; --level) {
        node *= 32;
        for (;; ++node) {
            const unsigned own = tree.nodes[tree.first[level] + node];
            const int rows = level > 0 ? static_cast<int>(own) : std::popcount(own);
            if (rank < rows)
                break;
            rank -= rows;
        }
    }
    unsigned bits = tree.nodes[node];
    for (; rank > 0; --rank)
        bits &= bits - 1;
    return 32 * node + std::countr_zero(bits);
}

#include "grid_lead.cuh"

/// What neighbouring entries of a column say, as the lanes of a warp join it.
inline Score joined_entries(const Walk &walk, int j, REAL delta, int begin, int end) {
    if (walk.mode == LIFT)
        return walk.entries(j, delta, begin, end, 1);
    double progress[LANES], bonus[LANES];
    for (int lane = 0; lane < LANES; ++lane) {
        const Score own = walk.entries(j, delta, begin + lane, end, LANES);
        progress[lane] = own.progress;
        bonus[lane] = own.bonus;
    }
    return {lane_sum(progress, LANES), lane_sum(bonus, LANES)};
}

/// Put a column of more than a chunk into the team's slot, if it has one in this round.
inline void offer_slot(const Walk &walk, int team, const Candidate &found) {
    const int number = slot_of(walk, team);
    if (number < 0)
        return;
    double *slot = walk.slots + MOVE * number;
    slot[0] = found.column;
    slot[1] = found.value;
    walk.control[HUGE_USED] += 1;
}

/// The best of a team's candidates, one for each lane.
template <class Find> inline Choice best_candidate(const Walk &walk, int team, Find find) {
    const unsigned base = walk.random.draw(walk.step, team, DRAW_TIE);
    Choice best = no_choice();
    Candidate huge = no_candidate();
    int longer = 0;
    for (int lane = 0; lane < LANES; ++lane) {
        const Candidate found = find(lane);
        if (found.column < 0)
            continue;
        const int begin = walk.column_begin(found.column), end = walk.column_end(found.column);
        const REAL delta = found.value - found.state.first;
        if (end - begin > CHUNK) {
            if (huge.column < 0)
                huge = found;
            continue;
        }
        Score score;
        if (end - begin > LANE_COLUMN) {
            const int before = longer;
            longer += end - begin;
            if (before >= TEAM_WORK)
                continue;
            score = joined_entries(walk, found.column, delta, begin, end);
        } else {
            score = walk.entries(found.column, delta, begin, end, 1);
        }
        walk.control[SEEN] += end - begin;
        const Choice own =
            walk.judged(found.column, found.value, found.state, score, tie_rank(base, lane));
        if (own.tie != 0 && own.beats(best))
            best = own;
    }
    if (huge.column >= 0)
        offer_slot(walk, team, huge);
    return best;
}

inline void claim_rows(const Walk &walk, int team, const Choice &move) {
    const int j = move.column;
    const REAL delta = move.value - walk.values[j].first;
    const unsigned long long claim = claim_of(walk, team, move.progress);
    for (int e = walk.column_begin(j); e < walk.column_end(j); ++e) {
        unsigned long long &own = walk.claims[walk.model.column_row[e]];
        if (!is_free(walk, team, e, delta))
            own = larger(own, claim);
    }
}

/// A team's move, or the violated row for which it found none.
inline void propose(const Walk &walk, int team) {
    int row = -1;
    Choice best = no_choice();
    if (team < walk.row_teams) {
        const Place place = place_of(walk, team);
        row = tree_find(*walk.tree, place.rank);
        const int offset = offset_of(walk, team, place, row);
        best = best_candidate(walk, team,
                              [&](int lane) { return in_row(walk, place, row, offset, lane); });
        if (place.part != 0)
            row = -1; // one team of each row speaks for it
    } else if (team - walk.row_teams < walk.objective_teams) {
        const int first = LANES * (team - walk.row_teams);
        best =
            best_candidate(walk, team, [&](int lane) { return in_objective(walk, first + lane); });
    }
    const bool goes = best.column >= 0 && (best.progress > LEAST_GAIN || walk.forced > 0);
    if (goes)
        claim_rows(walk, team, best);
    for (std::int64_t number = 0; number < walk.lines.shared_count; ++number)
        walk.shares[number * walk.teams + team] = 0.0;
    note_move(walk, team, goes ? &best : nullptr, row);
}

inline void change_row(const Walk &walk, int row, double change) {
    bool violated;
    if (shift_row(walk, row, change, violated))
        tree_change(*walk.tree, row, violated);
}

/// Move a column's rows; what a team's move takes from shared ones is noted only.
inline void change_rows(const Walk &walk, int team, int j, REAL delta) {
    for (int e = walk.column_begin(j); e < walk.column_end(j); ++e) {
        const int row = walk.model.column_row[e];
        const double change = walk.model.column_value[e] * delta;
        const std::int64_t shared = team < 0 ? -1 : walk.shared_number(row);
        if (shared >= 0)
            walk.shares[shared * walk.teams + team] = change;
        else
            change_row(walk, row, change);
    }
}

/// Make a team's move if all of its rows are its own; let a row without a move gain weight.
inline void settle(const Walk &walk, int team) {
    double *move = walk.moves + MOVE * std::int64_t(team);
    const int j = static_cast<int>(move[0]);
    if (j < 0) {
        bump(walk, static_cast<int>(move[1]));
        return;
    }
    const unsigned long long claim = claim_of(walk, team, move[2]);
    const REAL value = move[1], delta = value - walk.values[j].first;
    for (int e = walk.column_begin(j); e < walk.column_end(j); ++e)
        if (walk.claims[walk.model.column_row[e]] != claim && !is_free(walk, team, e, delta))
            return;
    change_rows(walk, team, j, delta);
    move[3] = set_column(walk, team, j, value, delta);
    walk.control[MOVED] += 1;
}

/// Make the move of the slot that goes alone in this round.
inline void settle_slot(const Walk &walk) {
    const double *slot = walk.slots + MOVE * walk.control[EXCLUSIVE];
    const int j = static_cast<int>(slot[0]);
    change_rows(walk, -1, j, slot[3]);
    set_column(walk, MOST_TEAMS, j, slot[1], slot[3]);
    walk.control[MOVED] += 1;
}

/// What the chunks of a column in a slot say together.
inline Score slot_score(const Walk &walk, const double *slot) {
    const int j = static_cast<int>(slot[0]);
    const int begin = walk.column_begin(j), end = walk.column_end(j);
    const REAL delta = slot[1] - walk.values[j].first;
    double progress[LANES] = {}, bonus[LANES] = {}, least = NONE;
    for (int chunk = 0; begin + chunk * CHUNK < end; ++chunk) {
        const int first = begin + chunk * CHUNK;
        const Score own = joined_entries(walk, j, delta, first, smaller(first + CHUNK, end));
        least = smaller(least, own.progress);
        progress[chunk % LANES] += own.progress;
        bonus[chunk % LANES] += own.bonus;
    }
    walk.control[SEEN] += end - begin;
    if (walk.mode == LIFT)
        return {least, 0.0};
    return {lane_sum(progress, LANES), lane_sum(bonus, LANES)};
}

/// Let the best slot's move go alone if no team has a better one.
inline void choose_slot(const Walk &walk) {
    for (int at = 0; at < SLOTS; ++at) {
        double *slot = walk.slots + MOVE * at;
        if (slot[0] >= 0.0)
            judge_slot(walk, slot, slot_score(walk, slot));
    }
    double largest = -NONE;
    for (int team = 0; team < walk.teams; ++team)
        if (walk.moves[MOVE * team] >= 0.0)
            largest = larger(largest, walk.moves[MOVE * team + 2]);
    pick_slot(walk, largest);
}

inline void empty_slots(const Walk &walk) {
    for (int slot = 0; slot < SLOTS; ++slot)
        walk.slots[MOVE * slot] = -1.0;
}

/// Take from shared rows what the round's moves have noted.
inline void change_shared(const Walk &walk) {
    for (std::int64_t at = 0; at < walk.lines.shared_count; ++at) {
        double parts[LANES] = {};
        for (int team = 0; team < walk.teams; ++team)
            parts[team % LANES] += walk.shares[at * walk.teams + team];
        change_row(walk, walk.lines.shared_rows[at], lane_sum(parts, LANES));
    }
}

inline void end_round(Walk &walk) {
    double parts[BLOCK] = {};
    for (int team = 0; team < walk.teams; ++team)
        parts[team % BLOCK] += walk.moves[MOVE * team + 3];
    if (walk.control[EXCLUSIVE] < 0)
        change_shared(walk);
    close_round(walk, lane_sum(parts, BLOCK), tree_count(*walk.tree));
    empty_slots(walk);
}

inline void copy_point(const Walk &walk) {
    for (int j = 0; j < walk.model.columns; ++j)
        walk.kept[j] = walk.values[j].first;
}

inline void play_round(Walk &walk) {
    walk.load_round();
    if (walk.control[SMOOTH])
        for (int row = 0; row < walk.model.rows; ++row)
            smooth_row(walk, row);
    if (walk.control[COPY])
        copy_point(walk);
    for (int team = 0; team < walk.teams; ++team)
        propose(walk, team);
    if (walk.control[HUGE_USED])
        choose_slot(walk);
    if (walk.control[EXCLUSIVE] >= 0)
        settle_slot(walk);
    else
        for (int team = 0; team < walk.teams; ++team)
            settle(walk, team);
    end_round(walk);
}

} // namespace
