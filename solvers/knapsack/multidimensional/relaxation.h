// The relaxation of a node, by the dual simplex method with bound flips.
//
// Bounds come from the duals alone: whatever u is, with u >= 0 for capacities, no packing is worth
// more than
//
//     profit decided + u'(capacities left) + sum over free j of max(0, p_j - u'a_j),
//
// and the sum is taken anew from the data at every step. So a basis inverse that has lost digits
// makes bounds weaker, never wrong; what the sum itself rounds is added to it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/numbers.h"
#include "native/threads.h"
#include "node.h"

namespace knapsack::rows {

/// What ``reoptimise`` ends with: an optimal basis; a proof that the node holds nothing better than
/// the target; or neither, because digits are lost.
enum : std::int64_t { OPTIMAL, CUT_OFF, STUCK };

/// Values this far outside their bounds are inside; largest coefficients are one half to one.
inline constexpr double FEASIBLE = 1e-9;

/// Pivots for each row in one call after which a basis is taken for cycling; usual are two in all.
inline constexpr std::int64_t PIVOTS_PER_ROW = 40;

/// Reduced costs this far on the wrong side, relative to the item's profit, are set right.
inline constexpr double DUAL_FEASIBLE = 1e-9;

/// Relative rounding of one addition or product of doubles, rounded up.
inline constexpr double UNIT = 2.3e-16;

/// The dual simplex method at one node.
class Relaxation {
  public:
    Relaxation(const Rows &rows, const Node &node)
        : rows_(rows), node_(node), n_(rows.items()), m_(rows.rows()) {}

    std::int64_t reoptimise(std::int64_t target) {
        for (std::int64_t pivot = 0; pivot < PIVOTS_PER_ROW * m_; ++pivot) {
            native::poll();
            if (node_.counts[PIVOTS] >= REFRESH)
                refresh(rows_, node_);
            compute_duals();
            choose_leaving();
            bound_above();
            node_.bound[0] = bound_;
            if (bound_ < double(target))
                return CUT_OFF;
            if (!is_dual_feasible_)
                continue;
            if (leaving_ < 0)
                return OPTIMAL;
            choose_entering();
            if (entering_ < 0)
                return is_empty() ? CUT_OFF : STUCK;
            exchange();
            ++node_.counts[PIVOTS];
        }
        node_.counts[PIVOTS] = REFRESH;
        return STUCK;
    }

  private:
    void compute_duals() {
        const Span<double> dual = node_.dual;
        std::fill(dual.begin(), dual.end(), 0.0);
        for (std::int64_t k = 0; k < m_; ++k) {
            if (node_.basis[k] >= n_)
                continue;
            const double price = rows_.price[node_.basis[k]];
            const Span<const double> inverse = node_.inverse[k];
            for (std::int64_t i = 0; i < m_; ++i)
                dual[i] += price * inverse[i];
        }
        for (std::int64_t i = 0; i < m_; ++i)
            if (!rows_.equation[i] && !(dual[i] > 0.0))
                dual[i] = 0.0;
    }

    /// Compute the basic columns' values, and choose the one farthest outside its bounds.
    void choose_leaving() {
        leaving_ = -1;
        violation_ = FEASIBLE;
        above_ = false;
        for (std::int64_t k = 0; k < m_; ++k) {
            const Span<const double> inverse = node_.inverse[k];
            double total = 0.0;
            for (std::int64_t i = 0; i < m_; ++i)
                total += inverse[i] * node_.side[i];
            node_.activity[k] = total;
            const std::int64_t j = node_.basis[k];
            double low = 0.0, high = 1.0;
            if (j >= n_)
                high = rows_.equation[j - n_] ? 0.0 : native::INF;
            else if (node_.value[j] != UNDECIDED)
                low = high = double(node_.value[j]);
            if (total - high > violation_) {
                leaving_ = k;
                violation_ = total - high;
                above_ = true;
            } else if (low - total > violation_) {
                leaving_ = k;
                violation_ = low - total;
                above_ = false;
            }
        }
        sign_ = above_ ? 1.0 : -1.0;
    }

    /// Compute bound, reduced costs and pivot row in one pass over the free items.
    ///
    /// Items on the wrong side of their reduced costs are put right.
    void bound_above() {
        const Span<const std::int32_t> free = node_.free_items();
        const double decided = double(node_.counts[PROFIT]), count = double(free.size());
        bound_ = size_ = decided;
        proof_ = 0.0;
        for (std::int64_t i = 0; i < m_; ++i) {
            const double left = double(node_.residual[i]) * rows_.scale[i];
            bound_ += node_.dual[i] * left;
            size_ += std::abs(node_.dual[i] * left);
            if (rows_.equation[i]) // of either sign, so that sums may be larger than their results
                size_ += 2.0 * std::abs(node_.dual[i]) * count;
        }
        is_dual_feasible_ = true;
        if (leaving_ >= 0)
            pass<true>(free);
        else
            pass<false>(free);
        bound_ += UNIT * (2.0 * double(m_) + count + 8.0) * size_;
    }

    template <bool with_row> void pass(Span<const std::int32_t> free) {
        const Span<const double> price = rows_.price, dual = node_.dual;
        const Span<const double> inverse = node_.inverse[with_row ? leaving_ : 0];
        const Span<double> reduced = node_.reduced, row = node_.row;
        const Span<std::int8_t> place = node_.place;
        double bound = bound_, size = size_, proof = proof_;
        for (const std::int64_t j : free) {
            const Span<const double> column = rows_.column[j];
            double cost = price[j], entry = 0.0;
            for (std::int64_t i = 0; i < m_; ++i) {
                cost -= dual[i] * column[i];
                if (with_row)
                    entry += inverse[i] * column[i];
            }
            if (with_row) {
                entry *= sign_;
                row[j] = entry;
                if (entry > 0.0)
                    proof += entry;
            }
            reduced[j] = cost;
            size += price[j] + std::abs(cost);
            if (cost > 0.0)
                bound += cost;
            const bool is_wrong = (cost > 0.0) != (place[j] == AT_UPPER) && place[j] != BASIC;
            if (is_wrong && std::abs(cost) > DUAL_FEASIBLE * price[j]) {
                is_dual_feasible_ = false;
                flip(j);
            }
        }
        bound_ = bound;
        size_ = size;
        proof_ = proof;
    }

    /// Put a nonbasic item to its other bound.
    void flip(std::int64_t j) {
        const bool up = node_.place[j] == AT_LOWER;
        const Span<const double> column = rows_.column[j];
        for (std::int64_t i = 0; i < m_; ++i)
            node_.side[i] -= (up ? 1.0 : -1.0) * column[i];
        node_.place[j] = up ? AT_UPPER : AT_LOWER;
    }

    /// Ratio test: flip boxed columns while the dual objective still improves beyond them.
    void choose_entering() {
        double slope = violation_;
        for (;;) {
            const double weight = smallest_ratio();
            if (entering_ < 0 || entering_ >= n_ || slope - weight <= 0.0)
                return;
            slope -= weight;
            flip(entering_);
            node_.row[entering_] = 0.0; // passed
        }
    }

    /// Choose the column of smallest ratio; return the size of its entry.
    double smallest_ratio() {
        const Span<const double> row = node_.row, reduced = node_.reduced;
        const Span<const std::int8_t> place = node_.place;
        double best = native::INF, weight = 0.0;
        entering_ = -1;
        for (const std::int64_t j : node_.free_items()) {
            double ratio;
            if (place[j] == AT_LOWER && row[j] > SMALLEST_PIVOT)
                ratio = std::max(-reduced[j], 0.0) / row[j];
            else if (place[j] == AT_UPPER && row[j] < -SMALLEST_PIVOT)
                ratio = std::max(reduced[j], 0.0) / -row[j];
            else
                continue;
            if (ratio < best || (ratio == best && std::abs(row[j]) > weight)) {
                best = ratio;
                weight = std::abs(row[j]);
                entering_ = j;
            }
        }
        for (std::int64_t i = 0; i < m_; ++i) {
            const double entry = sign_ * node_.inverse(leaving_, i);
            const bool can_enter = place[n_ + i] == AT_LOWER && rows_.equation[i] == 0;
            if (can_enter && entry > SMALLEST_PIVOT && node_.dual[i] / entry < best) {
                best = node_.dual[i] / entry;
                weight = entry;
                entering_ = n_ + i;
            }
        }
        return weight;
    }

    /// Check Farkas' proof that a node is empty: y'(capacities left) > sum of max(0, y'a_j).
    ///
    /// y is the row of the inverse, with the sign that makes its entries of capacities
    /// non-positive.
    bool is_empty() const {
        double proof = proof_, size = proof, total = 0.0;
        for (std::int64_t i = 0; i < m_; ++i) {
            const double left = double(node_.residual[i]) * rows_.scale[i];
            const double part = sign_ * node_.inverse(leaving_, i) * left;
            total += part;
            size += std::abs(part);
            if (rows_.equation[i] == 0 && part > 0.0)
                proof += part; // rounding: a slack that helps, by no more than the capacity left
        }
        const double count = double(node_.counts[FREE]);
        const double margin = UNIT * (2.0 * double(m_) + count + 8.0) * size + FEASIBLE;
        return total > proof + margin;
    }

    /// Pivot: the entering column takes the place of the leaving one.
    void exchange() {
        const std::int64_t gone = node_.basis[leaving_];
        node_.place[gone] = AT_LOWER;
        if (gone < n_ && (node_.value[gone] == UNDECIDED ? above_ : node_.value[gone] == 1)) {
            node_.place[gone] = AT_UPPER;
            for (std::int64_t i = 0; i < m_; ++i)
                node_.side[i] -= rows_.column(gone, i);
        }
        if (entering_ < n_ && node_.place[entering_] == AT_UPPER)
            for (std::int64_t i = 0; i < m_; ++i)
                node_.side[i] += rows_.column(entering_, i);
        node_.place[entering_] = BASIC;
        node_.basis[leaving_] = static_cast<std::int32_t>(entering_);
        update_inverse();
    }

    void update_inverse() {
        const Span<double> activity = node_.activity; // the entering column in terms of the basis
        for (std::int64_t k = 0; k < m_; ++k) {
            const Span<const double> inverse = node_.inverse[k];
            if (entering_ < n_) {
                const Span<const double> column = rows_.column[entering_];
                double total = 0.0;
                for (std::int64_t i = 0; i < m_; ++i)
                    total += inverse[i] * column[i];
                activity[k] = total;
            } else {
                activity[k] = inverse[entering_ - n_];
            }
        }
        const Span<double> pivot = node_.inverse[leaving_];
        const double factor = 1.0 / activity[leaving_];
        for (std::int64_t i = 0; i < m_; ++i)
            pivot[i] *= factor;
        for (std::int64_t k = 0; k < m_; ++k) {
            if (k == leaving_ || activity[k] == 0.0)
                continue;
            const Span<double> inverse = node_.inverse[k];
            const double part = activity[k];
            for (std::int64_t i = 0; i < m_; ++i)
                inverse[i] -= part * pivot[i];
        }
    }

    const Rows &rows_;
    const Node &node_;
    std::int64_t n_, m_;
    std::int64_t leaving_ = -1, entering_ = -1;
    bool above_ = false, is_dual_feasible_ = true;
    double violation_ = 0.0, sign_ = 0.0;
    double bound_ = 0.0; // what no packing below the node exceeds
    double size_ = 0.0;  // of all that was added up for it, which rounds it
    double proof_ = 0.0; // sum of the pivot row's positive entries
};

/// Solve the relaxation of a node, or prove that it has no packing worth ``target``.
///
/// Leaves duals, reduced costs of free items and ``bound`` for the last basis. The bound holds
/// whatever is returned.
inline std::int64_t reoptimise(const Rows &rows, const Node &node, std::int64_t target) {
    return Relaxation(rows, node).reoptimise(target);
}

} // namespace knapsack::rows
