// Many small LPs, a block each, from the first scaling to the last check; solve.py says what for.
//
// A block takes LPs from a queue until there are none. The LP's matrix, scaled, stays in shared
// memory: as rows padded to `leading` so that neither rows nor columns meet bank conflicts, or as
// two copies of the entries, by rows and by columns; or, where it does not fit, in global memory.
// `lanes` threads own a row and add along a fixed tree; sums over the block are added in a fixed
// order, and every thread keeps the same scalars, so that all take the same decisions without
// asking. What is not done in every iteration stands out of line, to keep the loop's registers and
// the compiler's time within bounds. Which block solves an LP makes no difference to its answer.

#include "reduce.cuh"

#define DENSE 0
#define SPARSE 1
#define MIXED 2  // matrix in global memory, vectors in shared memory
#define LARGE 3  // both in global memory

#define LIMIT 0
#define CONVERGED 1
#define DUAL_RAY 2
#define PRIMAL_RAY 3
#define TROUBLE 4
#define VERTEX 5

#define NO_SIGNATURE 0xffffffffffffffffull

enum Parameter {
    TOLERANCE, NORM, STEP_FRACTION, NORM_MARGIN, SUFFICIENT, NECESSARY, ARTIFICIAL,
    PROPORTIONAL, INTEGRAL, MEMORY, VERTEX_FROM, PIVOT, RAY_LEFTOVER, RAY_MARGIN, RAY_FROM,
    PRIMAL_RAY_LEFTOVER
};

struct Lp {
    int m, n;
    const INDEX* starts;
    const INDEX* indices;
    const INDEX* column_starts;
    const INDEX* column_rows;
    REAL* by_rows;     // DENSE: (m, leading); otherwise entries in the order of the rows
    REAL* by_columns;  // entries in the order of the columns; not for DENSE
    int leading, row_lanes, column_lanes;
    int groups, group, column;  // DENSE: groups that share a column's rows, and this thread's place
    REAL *x, *x_anchor, *x_hat, *x_bar, *x_step, *cost, *lower, *upper, *column_scale;
    REAL *y, *y_anchor, *y_hat, *product, *y_step, *y_trial, *row_lower, *row_upper, *row_scale;
    REAL *residual, *partial, *M;
    int *inside, *active, *place;
    REAL side_norm, cost_norm, offset;
};

struct Sums {
    REAL primal, dual, value, support, x_travel, y_travel, x_step, y_step, cross;
};

struct Errors {
    REAL primal, dual, gap;
    __device__ __forceinline__ REAL worst() const {
        const REAL largest = primal > dual ? primal : dual;
        return largest > gap ? largest : gap;
    }
    __device__ __forceinline__ bool is_finite() const {
        const REAL sum = primal + dual + gap;
        return sum - sum == REAL(0);
    }
};

__device__ __forceinline__ bool is_finite(REAL value) { return value - value == REAL(0); }

__device__ __forceinline__ REAL between(REAL low, REAL value, REAL high) {
    return value < low ? low : (value > high ? high : value);
}

__device__ __forceinline__ REAL larger(REAL a, REAL b) { return a > b ? a : b; }

// The largest power of two that gives every owner its lanes at once and no lane nothing to do.
__device__ __forceinline__ int lanes_for(int owners, long long entries) {
    int lanes = 1;
    while (2 * lanes <= 32 && 2LL * lanes * owners <= (long long)blockDim.x &&
           (long long)lanes * owners < entries) {
        lanes *= 2;
    }
    return lanes;
}

// Sums of COUNT values over the block; all threads get them, added in the same order.
template <int COUNT>
__device__ __forceinline__ void block_sums(REAL (&values)[COUNT]) {
    __shared__ REAL of_warp[COUNT * 32];
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    const int warps = blockDim.x >> 5;
    for (int s = 0; s < COUNT; ++s) {
        const REAL sum = lanes_reduce<Sum>(values[s], 32);
        if (lane == 0) of_warp[s * 32 + warp] = sum;
    }
    __syncthreads();
    for (int s = 0; s < COUNT; ++s) {
        REAL sum = REAL(0);
        for (int w = 0; w < warps; ++w) sum += of_warp[s * 32 + w];
        values[s] = sum;
    }
    __syncthreads();
}

// done(i, total) for every row i, total over its entries of term(value, column).
template <int STORAGE, class Operation, class Term, class Done>
__device__ __forceinline__ void over_rows(const Lp& lp, Term term, Done done) {
    const int lanes = lp.row_lanes;
    const int lane = threadIdx.x & (lanes - 1);
    const int stride = blockDim.x / lanes;
    for (int base = 0; base < lp.m; base += stride) {
        const int i = base + threadIdx.x / lanes;
        REAL total = Operation::neutral();
        if (i < lp.m) {
            if constexpr (STORAGE == DENSE) {
                const REAL* row = lp.by_rows + i * lp.leading;
                for (int j = lane; j < lp.n; j += lanes) {
                    total = Operation::combine(total, term(row[j], j));
                }
            } else {
                const INDEX end = lp.starts[i + 1];
                for (INDEX entry = lp.starts[i] + lane; entry < end; entry += lanes) {
                    total = Operation::combine(
                        total, term(lp.by_rows[entry], (int)lp.indices[entry]));
                }
            }
        }
        total = lanes_reduce<Operation>(total, lanes);
        if (i < lp.m && lane == 0) done(i, total);
    }
}

template <class Operation, class Term>
__device__ __forceinline__ REAL part_of_column(
    const Lp& lp, int j, int first, int stride, Term term) {
    REAL total = Operation::neutral();
    for (int i = first; i < lp.m; i += stride) {
        total = Operation::combine(total, term(lp.by_rows[i * lp.leading + j], i));
    }
    return total;
}

// The same for every column j, with term(value, row). DENSE: groups of threads share the rows.
template <int STORAGE, class Operation, class Term, class Done>
__device__ __forceinline__ void over_columns(const Lp& lp, Term term, Done done) {
    if constexpr (STORAGE != DENSE) {
        const int lanes = lp.column_lanes;
        const int lane = threadIdx.x & (lanes - 1);
        const int stride = blockDim.x / lanes;
        for (int base = 0; base < lp.n; base += stride) {
            const int j = base + threadIdx.x / lanes;
            REAL total = Operation::neutral();
            if (j < lp.n) {
                const INDEX end = lp.column_starts[j + 1];
                for (INDEX entry = lp.column_starts[j] + lane; entry < end; entry += lanes) {
                    total = Operation::combine(
                        total, term(lp.by_columns[entry], (int)lp.column_rows[entry]));
                }
            }
            total = lanes_reduce<Operation>(total, lanes);
            if (j < lp.n && lane == 0) done(j, total);
        }
    } else if (lp.groups == 1) {
        for (int j = threadIdx.x; j < lp.n; j += blockDim.x) {
            done(j, part_of_column<Operation>(lp, j, 0, 1, term));
        }
    } else {
        if (lp.group < lp.groups) {
            lp.partial[threadIdx.x] =
                part_of_column<Operation>(lp, lp.column, lp.group, lp.groups, term);
        }
        __syncthreads();
        if ((int)threadIdx.x < lp.n) {
            REAL total = lp.partial[threadIdx.x];
            for (int g = 1; g < lp.groups; ++g) {
                total = Operation::combine(total, lp.partial[g * lp.n + threadIdx.x]);
            }
            done((int)threadIdx.x, total);
        }
    }
}

template <int STORAGE, class Done>
__device__ __forceinline__ void row_products(const Lp& lp, const REAL* vector, Done done) {
    over_rows<STORAGE, Sum>(
        lp, [&](REAL value, int j) { return value * vector[j]; }, done);
}

template <int STORAGE, class Done>
__device__ __forceinline__ void column_products(const Lp& lp, const REAL* vector, Done done) {
    over_columns<STORAGE, Sum>(
        lp, [&](REAL value, int i) { return value * vector[i]; }, done);
}

// One step of the iteration, with both halves' barriers.
template <int STORAGE>
__device__ __forceinline__ void iterate(const Lp& lp, REAL tau, REAL sigma, int k) {
    const REAL weight = (k + REAL(1)) / (k + REAL(2));
    column_products<STORAGE>(lp, lp.y, [&](int j, REAL product) {
        const REAL current = lp.x[j];
        const REAL projected =
            between(lp.lower[j], current - tau * (lp.cost[j] - product), lp.upper[j]);
        const REAL mirrored = REAL(2) * projected - current;
        lp.x_hat[j] = projected;
        lp.x_bar[j] = mirrored;
        lp.x_step[j] = mirrored - current;
        lp.x[j] = weight * mirrored + (REAL(1) - weight) * lp.x_anchor[j];
    });
    __syncthreads();
    row_products<STORAGE>(lp, lp.x_bar, [&](int i, REAL product) {
        const REAL current = lp.y[i];
        const REAL free_step = current - sigma * product;
        const REAL projected =
            free_step - between(-sigma * lp.row_upper[i], free_step, -sigma * lp.row_lower[i]);
        const REAL mirrored = REAL(2) * projected - current;
        lp.y_hat[i] = projected;
        lp.y_step[i] = mirrored - current;
        lp.y[i] = weight * mirrored + (REAL(1) - weight) * lp.y_anchor[i];
    });
    __syncthreads();
}

// The sums of the fixed-point metric.
template <int STORAGE>
__device__ __noinline__ void sum_steps(const Lp& lp, Sums& sums) {
    REAL terms[3] = {0, 0, 0};
    row_products<STORAGE>(lp, lp.x_step, [&](int i, REAL product) {
        const REAL step = lp.y_step[i];
        terms[1] += step * step;
        terms[2] += step * product;
    });
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) terms[0] += lp.x_step[j] * lp.x_step[j];
    block_sums(terms);
    sums.x_step = terms[0];
    sums.y_step = terms[1];
    sums.cross = terms[2];
}

__device__ __forceinline__ REAL metric_squared(const Sums& sums, REAL omega, REAL eta) {
    return omega * sums.x_step + sums.y_step / omega + REAL(2) * eta * sums.cross;
}

// Residuals and objectives of (x, y), and the way from the anchor.
template <int STORAGE>
__device__ __noinline__ Errors errors(const Lp& lp, const REAL* x, const REAL* y, Sums& sums) {
    REAL terms[6] = {0, 0, 0, 0, 0, 0};
    row_products<STORAGE>(lp, x, [&](int i, REAL activity) {
        const REAL low = lp.row_lower[i];
        const REAL high = lp.row_upper[i];
        const REAL outside = (activity - between(low, activity, high)) / lp.row_scale[i];
        const REAL dual = y[i];
        const REAL travel = dual - lp.y_anchor[i];
        terms[0] += outside * outside;
        if (dual != REAL(0)) terms[3] += dual * (dual > REAL(0) ? low : high);
        terms[5] += travel * travel;
    });
    column_products<STORAGE>(lp, y, [&](int j, REAL product) {
        const REAL reduced = lp.cost[j] - product;
        const REAL side = reduced > REAL(0) ? lp.lower[j] : lp.upper[j];
        const REAL travel = x[j] - lp.x_anchor[j];
        if (is_finite(side)) {
            terms[3] += reduced * side;
        } else {
            const REAL wrong = reduced / lp.column_scale[j];
            terms[1] += wrong * wrong;
        }
        terms[2] += lp.cost[j] * x[j];
        terms[4] += travel * travel;
    });
    block_sums(terms);
    sums.primal = terms[0];
    sums.dual = terms[1];
    sums.value = terms[2];
    sums.support = terms[3];
    sums.x_travel = terms[4];
    sums.y_travel = terms[5];
    const REAL value = sums.value + lp.offset;
    const REAL support = sums.support + lp.offset;
    Errors found;
    found.primal = sqrt(sums.primal) / (REAL(1) + lp.side_norm);
    found.dual = sqrt(sums.dual) / (REAL(1) + lp.cost_norm);
    found.gap = fabs(value - support) / (REAL(1) + fabs(value) + fabs(support));
    return found;
}

// Whether the dual step, left in y_trial without what leans on nothing, looks like a ray.
template <int STORAGE>
__device__ __noinline__ bool dual_ray(const Lp& lp, const REAL* parameters) {
    REAL terms[2] = {0, 0};
    REAL largest = REAL(0);
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) {
        const REAL step = lp.y_step[i];
        const REAL side = step > REAL(0) ? lp.row_lower[i] : lp.row_upper[i];
        const REAL kept = is_finite(side) ? step : REAL(0);
        lp.y_trial[i] = kept;
        largest = larger(largest, fabs(kept));
        if (kept != REAL(0)) {
            terms[0] += kept * side;
            terms[1] += fabs(kept * side);
        }
    }
    __syncthreads();
    REAL leftover = REAL(0);
    column_products<STORAGE>(lp, lp.y_trial, [&](int j, REAL pull) {
        const REAL side = pull > REAL(0) ? lp.upper[j] : lp.lower[j];
        if (is_finite(side)) {
            terms[0] -= pull * side;
            terms[1] += fabs(pull * side);
        } else {
            leftover = larger(leftover, fabs(pull));
        }
    });
    block_sums(terms);
    largest = block_reduce<Largest>(largest);
    leftover = block_reduce<Largest>(leftover);
    return leftover <= parameters[RAY_LEFTOVER] * largest &&
           terms[0] > parameters[RAY_MARGIN] * (largest + terms[1]);
}

// Whether one could go on along the primal step for ever at falling cost.
template <int STORAGE>
__device__ __noinline__ bool primal_ray(const Lp& lp, const REAL* parameters) {
    REAL terms[2] = {0, 0};
    REAL largest = REAL(0);
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) {
        const REAL step = lp.x_step[j];
        const REAL kept = is_finite(step > REAL(0) ? lp.upper[j] : lp.lower[j]) ? REAL(0) : step;
        lp.x_bar[j] = kept;
        largest = larger(largest, fabs(kept));
        terms[0] += lp.cost[j] * kept;
        terms[1] += fabs(lp.cost[j] * kept);
    }
    __syncthreads();
    REAL leftover = REAL(0);
    row_products<STORAGE>(lp, lp.x_bar, [&](int i, REAL moved) {
        if (is_finite(moved > REAL(0) ? lp.row_upper[i] : lp.row_lower[i])) {
            leftover = larger(leftover, fabs(moved));
        }
    });
    block_sums(terms);
    largest = block_reduce<Largest>(largest);
    leftover = block_reduce<Largest>(leftover);
    return leftover <= parameters[PRIMAL_RAY_LEFTOVER] * largest &&
           -terms[0] > parameters[RAY_MARGIN] * (largest + terms[1]);
}

// One warp lists the numbers of the flagged, in order, and adds their share to the signature.
template <class Flag, class Share>
__device__ __forceinline__ int list_flagged(
    int size, int* list, unsigned* signature, Flag flag, Share share) {
    const int lane = threadIdx.x & 31;
    int count = 0;
    unsigned sum = 0;
    for (int base = 0; base < size; base += 32) {
        const int k = base + lane;
        const bool flagged = k < size && flag(k);
        const unsigned mask = __ballot_sync(0xffffffffu, flagged);
        if (flagged) {
            list[count + __popc(mask & ((1u << lane) - 1u))] = k;
            sum += share(k);
        }
        count += __popc(mask);
    }
    for (int distance = 16; distance > 0; distance >>= 1) {
        sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    }
    *signature += sum;
    return count;
}

struct Basis {
    int columns, rows;
    unsigned signature;
};

// The columns off their bounds and the rows with duals.
__device__ __forceinline__ Basis find_basis(const Lp& lp) {
    __shared__ Basis found;
    if (threadIdx.x < 32) {
        unsigned signature = 0;
        const int columns = list_flagged(
            lp.n, lp.inside, &signature,
            [&](int j) { return lp.lower[j] < lp.x_hat[j] && lp.x_hat[j] < lp.upper[j]; },
            [&](int j) { return (unsigned)(j + 1) * 2654435761u; });
        const int rows = list_flagged(
            lp.m, lp.active, &signature, [&](int i) { return lp.y_hat[i] != REAL(0); },
            [&](int i) {
                const int side = lp.y_hat[i] > REAL(0) ? 1 : 2;
                return (unsigned)(lp.n + 2 * i + side) * 2246822519u;
            });
        if (threadIdx.x == 0) {
            found.columns = columns;
            found.rows = rows;
            found.signature = signature;
        }
    }
    __syncthreads();
    const Basis basis = found;
    __syncthreads();
    return basis;
}

// The first row from p on with the greatest magnitude in column p; all threads get it.
__device__ __forceinline__ int find_pivot(const REAL* M, int size, int p) {
    __shared__ int found;
    if (threadIdx.x < 32) {
        REAL best = REAL(-1);
        int row = size;
        for (int i = p + (int)threadIdx.x; i < size; i += 32) {
            const REAL magnitude = fabs(M[i * size + p]);
            if (magnitude > best) {
                best = magnitude;
                row = i;
            }
        }
        for (int distance = 16; distance > 0; distance >>= 1) {
            const REAL other = __shfl_xor_sync(0xffffffffu, best, distance);
            const int other_row = __shfl_xor_sync(0xffffffffu, row, distance);
            if (other > best || (other == best && other_row < row)) {
                best = other;
                row = other_row;
            }
        }
        if (threadIdx.x == 0) found = row < size ? row : p;
    }
    __syncthreads();
    return found;  // written again only after the barriers of the elimination
}

// Invert M (size, size) in place by Gauss-Jordan with row pivoting; whether it went.
__device__ __forceinline__ bool invert(const Lp& lp, int size, REAL smallest) {
    REAL* M = lp.M;
    REAL* factor = lp.x_bar;
    int* swapped = lp.place;
    const int lane = threadIdx.x & 31;
    const int warp = threadIdx.x >> 5;
    const int warps = blockDim.x >> 5;
    for (int p = 0; p < size; ++p) {
        const int pivot = find_pivot(M, size, p);
        for (int i = threadIdx.x; i < size; i += blockDim.x) {
            const int from = i == p ? pivot : (i == pivot ? p : i);
            factor[i] = M[from * size + p];
        }
        if (threadIdx.x == 0) swapped[p] = pivot;
        __syncthreads();
        const REAL value = factor[p];
        if (!(fabs(value) > smallest)) {
            __syncthreads();  // factor is x_bar, which the next iteration writes
            return false;
        }
        const REAL inverse = REAL(1) / value;
        for (int j = threadIdx.x; j < size; j += blockDim.x) {
            const REAL above = M[p * size + j];
            const REAL chosen = M[pivot * size + j];
            if (pivot != p) M[pivot * size + j] = above;
            M[p * size + j] = (j == p ? REAL(1) : chosen) * inverse;
        }
        __syncthreads();
        for (int i = warp; i < size; i += warps) {
            if (i == p) continue;
            const REAL share = factor[i];
            for (int j = lane; j < size; j += 32) {
                const REAL before = j == p ? REAL(0) : M[i * size + j];
                M[i * size + j] = before - share * M[p * size + j];
            }
        }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
        for (int p = size - 1; p >= 0; --p) {
            const int q = swapped[p];
            const REAL kept = M[i * size + p];
            M[i * size + p] = M[i * size + q];
            M[i * size + q] = kept;
        }
    }
    __syncthreads();
    return true;
}

// The square part of the matrix that belongs to the basis.
template <int STORAGE>
__device__ __forceinline__ void gather_basis(const Lp& lp, int size) {
    if constexpr (STORAGE == DENSE) {
        for (int e = threadIdx.x; e < size * size; e += blockDim.x) {
            const int r = e / size;
            lp.M[e] = lp.by_rows[lp.active[r] * lp.leading + lp.inside[e - r * size]];
        }
    } else {
        for (int j = threadIdx.x; j < lp.n; j += blockDim.x) lp.place[j] = -1;
        for (int e = threadIdx.x; e < size * size; e += blockDim.x) lp.M[e] = REAL(0);
        __syncthreads();
        for (int s = threadIdx.x; s < size; s += blockDim.x) lp.place[lp.inside[s]] = s;
        __syncthreads();
        for (int r = threadIdx.x; r < size; r += blockDim.x) {
            const int i = lp.active[r];
            for (INDEX entry = lp.starts[i]; entry < lp.starts[i + 1]; ++entry) {
                const int s = lp.place[lp.indices[entry]];
                if (s >= 0) lp.M[r * size + s] = lp.by_rows[entry];
            }
        }
    }
    __syncthreads();
}

// Put the vertex of a basis into x_step and y_trial; whether the basis is regular.
template <int STORAGE>
__device__ __forceinline__ bool vertex(const Lp& lp, int size, REAL smallest) {
    REAL* x = lp.x_step;
    REAL* y = lp.y_trial;
    gather_basis<STORAGE>(lp, size);
    if (!invert(lp, size, smallest)) return false;
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) x[j] = lp.x_hat[j];
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) y[i] = REAL(0);
    __syncthreads();
    for (int s = threadIdx.x; s < size; s += blockDim.x) x[lp.inside[s]] = REAL(0);
    __syncthreads();
    const int lane = threadIdx.x & 31;
    for (int round = 0; round < 2; ++round) {  // the second refines
        row_products<STORAGE>(lp, x, [&](int i, REAL product) { lp.product[i] = product; });
        __syncthreads();
        for (int r = threadIdx.x; r < size; r += blockDim.x) {
            const int i = lp.active[r];
            const REAL side = lp.y_hat[i] > REAL(0) ? lp.row_lower[i] : lp.row_upper[i];
            lp.residual[r] = side - lp.product[i];
        }
        __syncthreads();
        for (int s = threadIdx.x >> 5; s < size; s += blockDim.x >> 5) {
            REAL change = REAL(0);
            for (int r = lane; r < size; r += 32) change += lp.M[s * size + r] * lp.residual[r];
            change = lanes_reduce<Sum>(change, 32);
            if (lane == 0) x[lp.inside[s]] += change;
        }
        column_products<STORAGE>(
            lp, y, [&](int j, REAL product) { lp.x_bar[j] = lp.cost[j] - product; });
        __syncthreads();
        for (int r = threadIdx.x; r < size; r += blockDim.x) {
            REAL change = REAL(0);
            for (int s = 0; s < size; ++s) change += lp.M[s * size + r] * lp.x_bar[lp.inside[s]];
            y[lp.active[r]] += change;
        }
        __syncthreads();
    }
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) {
        x[j] = between(lp.lower[j], x[j], lp.upper[j]);
    }
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) {
        if (!is_finite(y[i] > REAL(0) ? lp.row_lower[i] : lp.row_upper[i])) y[i] = REAL(0);
    }
    __syncthreads();
    return true;
}

struct Weight {
    REAL value, best, imbalance, sum;
};

__device__ __forceinline__ REAL imbalance(const Errors& found) {
    if (!(found.primal > REAL(0) && found.dual > REAL(0))) return REAL(-1);
    return fabs(log10(found.dual / found.primal));
}

__device__ __forceinline__ void note_balance(Weight& weight, const Errors& found) {
    const REAL now = imbalance(found);
    if (now >= REAL(0) && now < weight.imbalance) {
        weight.best = weight.value;
        weight.imbalance = now;
    }
}

__device__ __forceinline__ bool telling(REAL distance) {
    return distance > REAL(1e-16) && distance < REAL(1e12);
}

__device__ __forceinline__ void next_weight(
    Weight& weight, const Sums& sums, const Errors& found, const REAL* parameters) {
    const REAL x_travel = sqrt(sums.x_travel);
    const REAL y_travel = sqrt(sums.y_travel);
    if (!telling(x_travel) || !telling(y_travel) || imbalance(found) > REAL(8)) {
        weight.value = weight.best;
        weight.sum = REAL(0);
        return;
    }
    const REAL error = log(y_travel) - log(x_travel) - log(weight.value);
    weight.sum = parameters[MEMORY] * weight.sum + error;
    weight.value *= exp(parameters[PROPORTIONAL] * error + parameters[INTEGRAL] * weight.sum);
}

__device__ __noinline__ void restart(const Lp& lp) {
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) lp.x[j] = lp.x_anchor[j] = lp.x_hat[j];
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) lp.y[i] = lp.y_anchor[i] = lp.y_hat[i];
    __syncthreads();
}

__device__ __noinline__ void take_trial(const Lp& lp, bool primal) {
    for (int j = threadIdx.x; primal && j < lp.n; j += blockDim.x) lp.x_hat[j] = lp.x_step[j];
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) lp.y_hat[i] = lp.y_trial[i];
    __syncthreads();
}

// Try the basis unless it is not square, moving or known; whether its vertex meets the criteria.
template <int STORAGE>
__device__ __noinline__ bool vertex_converged(
    const Lp& lp, const REAL* parameters, int vertex_limit, unsigned long long* before,
    unsigned long long* tried) {
    const Basis basis = find_basis(lp);
    const bool stands = basis.signature == *before;
    *before = basis.signature;
    if (!stands || basis.columns != basis.rows || basis.columns > vertex_limit) return false;
    if (basis.signature == *tried) return false;
    *tried = basis.signature;
    if (!vertex<STORAGE>(lp, basis.columns, parameters[PIVOT])) return false;
    Sums sums;
    const Errors found = errors<STORAGE>(lp, lp.x_step, lp.y_trial, sums);
    return found.is_finite() && found.worst() <= parameters[TOLERANCE];
}

// Iterate to the end; the point is in x_hat and y_hat. `hot` is a copy of `lp` whose address no
// function out of line gets to see, so that the compiler knows which of it is in shared memory.
template <int STORAGE>
__device__ __forceinline__ int run(
    const Lp& lp, const Lp& hot, REAL omega, REAL eta, const REAL* parameters,
    int iteration_limit, int check_interval, int vertex_limit, int* iterations) {
    constexpr int COLD = STORAGE == DENSE ? DENSE : SPARSE;
    Weight weight = {omega, omega, REAL(1) / REAL(0), REAL(0)};
    Sums sums;
    REAL first = REAL(1) / REAL(0), previous = first;
    unsigned long long before = NO_SIGNATURE, tried = NO_SIGNATURE;
    int total = 0, k = 0;
    for (int checks = 1; total < iteration_limit; ++checks) {
        const int left = iteration_limit - total;
        const int count = left < check_interval ? left : check_interval;
        for (int step = 0; step < count; ++step) {
            iterate<STORAGE>(hot, eta / weight.value, eta * weight.value, k);
            if (k == 0) {
                sum_steps<COLD>(lp, sums);
                first = sqrt(larger(REAL(0), metric_squared(sums, weight.value, eta)));
                previous = REAL(1) / REAL(0);
            }
            ++k;
        }
        total += count;
        *iterations = total;
        const Errors found = errors<COLD>(lp, lp.x_hat, lp.y_hat, sums);
        sum_steps<COLD>(lp, sums);
        const REAL squared = metric_squared(sums, weight.value, eta);
        if (!found.is_finite() || !is_finite(squared)) return TROUBLE;
        if (found.worst() <= parameters[TOLERANCE]) return CONVERGED;
        if (checks % 5 == 0 && total >= parameters[RAY_FROM]) {
            if (dual_ray<COLD>(lp, parameters)) {
                take_trial(lp, false);
                return DUAL_RAY;
            }
            if (primal_ray<COLD>(lp, parameters)) return PRIMAL_RAY;
        }
        if (found.worst() <= parameters[VERTEX_FROM] &&
            vertex_converged<COLD>(lp, parameters, vertex_limit, &before, &tried)) {
            take_trial(lp, true);
            return VERTEX;
        }
        note_balance(weight, found);
        const REAL metric = sqrt(larger(REAL(0), squared));
        if (squared < REAL(0)) eta /= parameters[NORM_MARGIN];
        const bool due = checks == 1 || metric <= parameters[SUFFICIENT] * first ||
                         (metric <= parameters[NECESSARY] * first && metric > previous) ||
                         k >= parameters[ARTIFICIAL] * total;
        previous = metric;
        if (due) {
            next_weight(weight, sums, found, parameters);
            restart(lp);
            k = 0;
        }
    }
    return LIMIT;
}

// The unscaled matrix, where the block keeps it.
template <int STORAGE>
__device__ __noinline__ void load_matrix(
    const Lp& lp, const INDEX* column_entries, const REAL* __restrict__ values, INDEX nonzeros) {
    if constexpr (STORAGE != DENSE) {
        for (INDEX e = threadIdx.x; e < nonzeros; e += blockDim.x) {
            lp.by_rows[e] = values[e];
            lp.by_columns[e] = values[column_entries[e]];
        }
    } else {
        for (int e = threadIdx.x; e < lp.m * lp.leading; e += blockDim.x) lp.by_rows[e] = REAL(0);
        __syncthreads();
        const int lane = threadIdx.x & 31;
        for (int i = threadIdx.x >> 5; i < lp.m; i += blockDim.x >> 5) {
            for (INDEX e = lp.starts[i] + lane; e < lp.starts[i + 1]; e += 32) {
                lp.by_rows[i * lp.leading + lp.indices[e]] = values[e];
            }
        }
    }
    __syncthreads();
}

__device__ __forceinline__ REAL inverse_root(REAL size) {
    return size > REAL(0) && is_finite(size) ? REAL(1) / sqrt(size) : REAL(1);
}

// One pass on top of the scales that are there: by the largest magnitudes or by their sums.
template <int STORAGE, class Operation>
__device__ __noinline__ void scale_once(const Lp& lp) {
    over_rows<STORAGE, Operation>(
        lp, [&](REAL value, int j) { return fabs(value) * lp.column_scale[j]; },
        [&](int i, REAL size) { lp.product[i] = inverse_root(size * lp.row_scale[i]); });
    over_columns<STORAGE, Operation>(
        lp, [&](REAL value, int i) { return fabs(value) * lp.row_scale[i]; },
        [&](int j, REAL size) { lp.x_bar[j] = inverse_root(size * lp.column_scale[j]); });
    __syncthreads();
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) lp.row_scale[i] *= lp.product[i];
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) lp.column_scale[j] *= lp.x_bar[j];
    __syncthreads();
}

template <int STORAGE>
__device__ __noinline__ void scale_matrix(const Lp& lp) {
    const int lane = threadIdx.x & 31;
    for (int i = threadIdx.x >> 5; i < lp.m; i += blockDim.x >> 5) {
        const REAL scale = lp.row_scale[i];
        if constexpr (STORAGE == DENSE) {
            for (int j = lane; j < lp.n; j += 32) {
                lp.by_rows[i * lp.leading + j] *= scale * lp.column_scale[j];
            }
        } else {
            for (INDEX e = lp.starts[i] + lane; e < lp.starts[i + 1]; e += 32) {
                lp.by_rows[e] *= scale * lp.column_scale[lp.indices[e]];
            }
        }
    }
    if constexpr (STORAGE != DENSE) {
        for (int j = threadIdx.x >> 5; j < lp.n; j += blockDim.x >> 5) {
            for (INDEX e = lp.column_starts[j] + lane; e < lp.column_starts[j + 1]; e += 32) {
                lp.by_columns[e] *= lp.column_scale[j] * lp.row_scale[lp.column_rows[e]];
            }
        }
    }
    __syncthreads();
}

// ||A||_2 by a few power iterations with a margin, at most the 1 that scaling grants.
template <int STORAGE>
__device__ __noinline__ REAL find_norm(const Lp& lp, int power_iterations, REAL margin) {
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) {
        lp.y[i] = (unsigned)(i + 1) * 2654435761u / REAL(4294967296.0) - REAL(0.5);
    }
    REAL eigenvalue = REAL(0);
    for (int count = 0; count < power_iterations; ++count) {
        REAL length[1] = {0};
        for (int i = threadIdx.x; i < lp.m; i += blockDim.x) length[0] += lp.y[i] * lp.y[i];
        block_sums(length);
        if (!(length[0] > REAL(0))) return REAL(1);
        const REAL root = sqrt(length[0]);
        for (int i = threadIdx.x; i < lp.m; i += blockDim.x) lp.y[i] /= root;
        __syncthreads();
        column_products<STORAGE>(lp, lp.y, [&](int j, REAL product) { lp.x_bar[j] = product; });
        __syncthreads();
        REAL term[1] = {0};
        row_products<STORAGE>(lp, lp.x_bar, [&](int i, REAL product) {
            term[0] += lp.y[i] * product;
            lp.y[i] = product;
        });
        block_sums(term);
        eigenvalue = term[0];
    }
    if (!(eigenvalue > REAL(0))) return REAL(1);
    const REAL norm = margin * sqrt(eigenvalue);
    return norm < REAL(1) ? norm : REAL(1);
}

// Scale the data and the start; set the norms and return the weight to begin with.
__device__ __noinline__ REAL load_vectors(
    Lp& lp, const REAL* cost, const REAL* lower, const REAL* upper, const REAL* row_lower,
    const REAL* row_upper, const REAL* x0, const REAL* y0) {
    REAL terms[4] = {0, 0, 0, 0};
    for (int j = threadIdx.x; j < lp.n; j += blockDim.x) {
        const REAL scale = lp.column_scale[j];
        const REAL price = cost[j];
        const REAL low = lower[j] / scale;
        const REAL high = upper[j] / scale;
        REAL start = x0[j] / scale;
        if (lp.column_starts[j] == lp.column_starts[j + 1] && price != REAL(0)) {
            const REAL preferred = price > REAL(0) ? low : high;
            start = is_finite(preferred) ? preferred : start;
        }
        lp.cost[j] = price * scale;
        lp.lower[j] = low;
        lp.upper[j] = high;
        lp.x[j] = lp.x_anchor[j] = lp.x_hat[j] = between(low, start, high);
        terms[0] += price * price;
        terms[1] += lp.cost[j] * lp.cost[j];
    }
    for (int i = threadIdx.x; i < lp.m; i += blockDim.x) {
        const REAL scale = lp.row_scale[i];
        const REAL low = row_lower[i];
        const REAL high = row_upper[i];
        REAL start = y0[i] / scale;
        if (!is_finite(start > REAL(0) ? low : high)) start = REAL(0);
        REAL size = REAL(0);
        lp.row_lower[i] = low * scale;
        lp.row_upper[i] = high * scale;
        if (is_finite(low)) {
            size = fabs(low);
            terms[3] += lp.row_lower[i] * lp.row_lower[i];
        }
        if (is_finite(high)) {
            size = larger(size, fabs(high));
            if (low != high) terms[3] += lp.row_upper[i] * lp.row_upper[i];
        }
        lp.y[i] = lp.y_anchor[i] = lp.y_hat[i] = start;
        terms[2] += size * size;
    }
    block_sums(terms);
    lp.cost_norm = sqrt(terms[0]);
    lp.side_norm = sqrt(terms[2]);
    return (REAL(1) + sqrt(terms[1])) / (REAL(1) + sqrt(terms[3]));
}

// Share a piece of memory out over the vectors of an LP; return what is left of it.
__device__ __forceinline__ REAL* place_vectors(Lp& lp, REAL* memory) {
    REAL** const of_columns[9] = {&lp.x, &lp.x_anchor, &lp.x_hat, &lp.x_bar, &lp.x_step,
                                  &lp.cost, &lp.lower, &lp.upper, &lp.column_scale};
    REAL** const of_rows[10] = {&lp.y, &lp.y_anchor, &lp.y_hat, &lp.product, &lp.y_step,
                                &lp.y_trial, &lp.row_lower, &lp.row_upper, &lp.row_scale,
                                &lp.residual};
    for (int v = 0; v < 9; ++v, memory += lp.n) *of_columns[v] = memory;
    for (int v = 0; v < 10; ++v, memory += lp.m) *of_rows[v] = memory;
    lp.inside = (int*)memory;
    lp.place = lp.inside + lp.n;
    lp.active = lp.place + lp.n;
    const long long bytes = 4LL * (2LL * lp.n + lp.m);
    return memory + (bytes + sizeof(REAL) - 1) / sizeof(REAL);
}

__device__ __forceinline__ int take(int* queue) { return atomicAdd(queue, 1); }
__device__ __forceinline__ long long take(long long* queue) {
    return (long long)atomicAdd((unsigned long long*)queue, 1ull);
}

// The row that LP p has of an array, by the array's bit.
__device__ __forceinline__ const REAL* own_row(
    const REAL* values, long long width, INDEX p, int varying, int bit) {
    return values + (((varying >> bit) & 1) ? (long long)p * width : 0LL);
}

// Where everything stands. What is known at compile time to be in shared memory is read as such.
template <int STORAGE>
__device__ __forceinline__ void place(
    Lp& lp, REAL* near, REAL* far, REAL* ready, INDEX nonzeros, bool large, bool vertex_shared) {
    if constexpr (STORAGE == DENSE) {
        near = place_vectors(lp, near);
        lp.partial = near;
        lp.by_rows = near + blockDim.x;
        lp.by_columns = near;
        near = lp.by_rows + lp.m * lp.leading;
    } else if constexpr (STORAGE == SPARSE) {
        near = place_vectors(lp, near);
        lp.by_rows = near;
        lp.by_columns = near + nonzeros;
        lp.partial = near;
        near += 2 * nonzeros;
    } else {
        if (large) {
            far = place_vectors(lp, far);
        } else {
            near = place_vectors(lp, near);
        }
        lp.by_rows = ready ? ready : far;
        lp.by_columns = lp.by_rows + nonzeros;
        lp.partial = near;
        if (!ready) far += 2 * (long long)nonzeros;
    }
    lp.M = vertex_shared ? near : far;
}

template <int STORAGE>
__device__ __forceinline__ void solve_all(
    Lp hot, REAL* near, REAL* far, REAL* prepared, bool large, bool vertex_shared, INDEX count, const INDEX* column_entries, int varying, const REAL* values,
    const REAL* cost, const REAL* lower, const REAL* upper, const REAL* row_lower,
    const REAL* row_upper, const REAL* offset, const REAL* x0, const REAL* y0,
    const REAL* row_scale, const REAL* column_scale, const REAL* parameters, int ruiz_passes,
    int power_iterations, int iteration_limit, int check_interval, int vertex_limit,
    INDEX nonzeros, INDEX* queue, REAL* x, REAL* y, INDEX* status, INDEX* iterations) {
    __shared__ INDEX next;
    place<STORAGE>(hot, near, far, prepared, nonzeros, large, vertex_shared);
    Lp lp = hot;
    constexpr int COLD = STORAGE == DENSE ? DENSE : SPARSE;
    const int m = hot.m, n = hot.n;
    while (true) {
        if (threadIdx.x == 0) next = take(queue);
        __syncthreads();
        const INDEX p = next;
        __syncthreads();
        if (p >= count) return;
        for (int j = threadIdx.x; j < n; j += blockDim.x) lp.column_scale[j] = column_scale[j];
        for (int i = threadIdx.x; i < m; i += blockDim.x) lp.row_scale[i] = row_scale[i];
        __syncthreads();
        REAL norm = parameters[NORM];
        const bool scaled = norm > REAL(0);
        if (prepared == nullptr) {
            load_matrix<COLD>(
                lp, column_entries, own_row(values, nonzeros, p, varying, 0), nonzeros);
            for (int pass = 0; !scaled && pass < ruiz_passes; ++pass) {
                scale_once<COLD, Largest>(lp);
            }
            if (!scaled) scale_once<COLD, Sum>(lp);
            scale_matrix<COLD>(lp);
        }
        if (!scaled) norm = find_norm<COLD>(lp, power_iterations, parameters[NORM_MARGIN]);
        const REAL* low = own_row(lower, n, p, varying, 2);
        const REAL* high = own_row(upper, n, p, varying, 3);
        const REAL omega = load_vectors(
            lp, own_row(cost, n, p, varying, 1), low, high, own_row(row_lower, m, p, varying, 4),
            own_row(row_upper, m, p, varying, 5), own_row(x0, n, p, varying, 7),
            own_row(y0, m, p, varying, 8));
        lp.offset = own_row(offset, 1, p, varying, 6)[0];
        int made = 0;
        const int how = run<STORAGE>(
            lp, hot, omega, parameters[STEP_FRACTION] / norm, parameters, iteration_limit,
            check_interval, vertex_limit, &made);
        for (int j = threadIdx.x; j < n; j += blockDim.x) {
            x[(long long)p * n + j] = between(low[j], lp.x_hat[j] * lp.column_scale[j], high[j]);
        }
        for (int i = threadIdx.x; i < m; i += blockDim.x) {
            y[(long long)p * m + i] = lp.y_hat[i] * lp.row_scale[i];
        }
        if (threadIdx.x == 0) {
            status[p] = how;
            iterations[p] = made;
        }
        __syncthreads();
    }
}

// Blocks of up to 512 threads, with as many registers as these can have.
extern "C" __launch_bounds__(512) __global__ void solve(
    INDEX, INDEX, INDEX, const INDEX*, const INDEX*, const INDEX*, const INDEX*, const INDEX*, int,
    const REAL*, const REAL*, const REAL*, const REAL*, const REAL*, const REAL*, const REAL*,
    const REAL*, const REAL*, const REAL*, const REAL*, const REAL*, int, int, int, int, int, int,
    int, int, int, int, int, INDEX, REAL*, INDEX*, REAL*, REAL*, INDEX*, INDEX*);

extern "C" __global__ void solve(
    INDEX count, INDEX rows, INDEX columns, const INDEX* __restrict__ starts,
    const INDEX* __restrict__ indices, const INDEX* __restrict__ column_starts,
    const INDEX* __restrict__ column_rows, const INDEX* __restrict__ column_entries, int varying,
    const REAL* __restrict__ values, const REAL* __restrict__ cost,
    const REAL* __restrict__ lower, const REAL* __restrict__ upper,
    const REAL* __restrict__ row_lower, const REAL* __restrict__ row_upper,
    const REAL* __restrict__ offset, const REAL* __restrict__ x0, const REAL* __restrict__ y0,
    const REAL* __restrict__ row_scale, const REAL* __restrict__ column_scale,
    const REAL* __restrict__ parameters, int ruiz_passes, int power_iterations,
    int iteration_limit, int check_interval, int vertex_limit, int storage, int leading,
    int vertex_shared, int block, int blocks, int shared, INDEX scratch_step,
    REAL* __restrict__ scratch, INDEX* __restrict__ queue, REAL* __restrict__ x,
    REAL* __restrict__ y, INDEX* __restrict__ status, INDEX* __restrict__ iterations) {
    extern __shared__ double memory[];
    REAL* near = (REAL*)memory;
    REAL* far = scratch + (long long)blockIdx.x * scratch_step;
    const INDEX nonzeros = starts[rows];
    // A matrix that all share stands behind what the blocks have for themselves.
    const bool one_for_all = storage >= MIXED && !(varying & 1);
    REAL* prepared = one_for_all ? scratch + (long long)blocks * scratch_step : nullptr;
    Lp lp;
    lp.m = (int)rows;
    lp.n = (int)columns;
    lp.starts = starts;
    lp.indices = indices;
    lp.column_starts = column_starts;
    lp.column_rows = column_rows;
    lp.leading = leading;
    lp.row_lanes = lanes_for(lp.m, storage == DENSE ? (long long)rows * columns : nonzeros);
    lp.column_lanes = lanes_for(lp.n, nonzeros);
    lp.groups = lp.n < (int)blockDim.x ? (int)blockDim.x / lp.n : 1;
    lp.group = threadIdx.x / lp.n;
    lp.column = threadIdx.x - lp.group * lp.n;
#define SOLVE_ALL(STORAGE)                                                                      \
    solve_all<STORAGE>(                                                                         \
        lp, near, far, prepared, storage == LARGE, vertex_shared != 0, count, column_entries,   \
        varying, values, cost, lower, upper, row_lower, row_upper, offset, x0, y0, row_scale,   \
        column_scale, parameters, ruiz_passes, power_iterations, iteration_limit,               \
        check_interval, vertex_limit, nonzeros, queue, x, y, status, iterations)
    if (storage == DENSE) {
        SOLVE_ALL(DENSE);
    } else if (storage == SPARSE) {
        SOLVE_ALL(SPARSE);
    } else {
        SOLVE_ALL(MIXED);
    }
#undef SOLVE_ALL
}
