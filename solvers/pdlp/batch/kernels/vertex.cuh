// The vertex of a basis that the iterates point at.

#pragma once

#include "lp.cuh"

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
