// One thread in place of a group (group.cuh): all lanes' work in turn, in the order of lanes.
#pragma once

#include "host.h"

namespace {

/// What Group<LANES> does, by one thread.
template <int LANES> struct Single {
    static constexpr int STRIDE = 1, TOGETHER = LANES, FETCHED = 1;
    static constexpr int lane = 0;
    int waiting = 0, taken = 0;
    int rows[LANES];

    void sync() const {}
    void poll() const { native::poll(); }
    int first(bool flag) const { return flag ? 0 : -1; }
    int rank(bool flag, int &total) const {
        total = flag;
        return 0;
    }
    template <class T> T from(int, T value) const { return value; }
    long long count(long long value) const { return value; }

    template <class Part> Score total_score(bool alone, Part part) const {
        if (alone)
            return part(0, 1);
        double progress[LANES], bonus[LANES];
        for (int lane = 0; lane < LANES; ++lane) {
            const Score own = part(lane, LANES);
            progress[lane] = own.progress;
            bonus[lane] = own.bonus;
        }
        return {lane_sum(progress, LANES), lane_sum(bonus, LANES)};
    }

    template <class Part> double total(Part part) const {
        double parts[LANES];
        for (int lane = 0; lane < LANES; ++lane)
            parts[lane] = part(lane, LANES);
        return lane_sum(parts, LANES);
    }

    template <class Part> double least_of(bool, Part part) const { return part(0, 1); }

    /// Rows wait until all lanes' entries have been looked at.
    int next_of(int row, bool &flag, bool ends) {
        if (flag)
            rows[waiting++] = row;
        flag = false;
        if (!ends)
            return -1;
        if (taken < waiting)
            return rows[taken++];
        waiting = taken = 0;
        return -1;
    }

    template <class Look> void each_lane(Look look) const {
        for (int lane = 0; lane < LANES; ++lane)
            look(lane);
    }
};

template <int LANES> inline Choice best_of(const Single<LANES> &, const Choice &own) { return own; }

} // namespace
