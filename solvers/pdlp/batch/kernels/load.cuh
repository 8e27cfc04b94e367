// Loading an LP and scaling it.

#pragma once

#include "lp.cuh"

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
