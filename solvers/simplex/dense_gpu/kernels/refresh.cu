// Stored columns of the inverse; refresh.py states what the kernels do.
//
// Values and reduced costs from scratch; refresh.py states what the kernels compute.

#include "core.cuh"

extern "C" __global__ void __launch_bounds__(BLOCK) gather_basis(
    int count, const INDEX* __restrict__ starts, const INDEX* __restrict__ indices,
    const REAL* __restrict__ values, const INDEX* __restrict__ variables,
    const INDEX* __restrict__ place_of_row, REAL* __restrict__ nucleus,
    REAL* __restrict__ rest) {
    const int c = (blockIdx.x * BLOCK + threadIdx.x) >> 5;
    if (c >= count) return;
    const INDEX j = variables[c], end = starts[j + 1];
    for (INDEX k = starts[j] + (threadIdx.x & 31); k < end; k += 32) {
        const long long place = place_of_row[indices[k]];
        if (place >= 0) {
            nucleus[place * count + c] = values[k];
        } else {
            rest[(-1 - place) * count + c] = values[k];
        }
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) spread_inverse(
    int rows, int capacity, int count, const INDEX* __restrict__ place_of_position,
    const REAL* __restrict__ inner, const REAL* __restrict__ outer, REAL* __restrict__ inverse) {
    const long long at = blockIdx.x * (long long)BLOCK + threadIdx.x;
    if (at >= (long long)rows * capacity) return;
    const long long s = at % capacity, place = place_of_position[at / capacity];
    REAL element = REAL(0);
    if (s < count) element = place >= 0 ? inner[place * count + s] : outer[(-1 - place) * count + s];
    inverse[at] = element;
}

extern "C" __global__ void __launch_bounds__(BLOCK) open_slots(
    int rows, int capacity, const INDEX* __restrict__ slots,
    const INDEX* __restrict__ positions, REAL* __restrict__ inverse, int count) {
    const long long at = blockIdx.x * (long long)BLOCK + threadIdx.x;
    if (at >= (long long)rows * count) return;
    const long long p = at / count, c = at % count;
    inverse[p * capacity + slots[c]] = p == positions[c] ? REAL(-1) : REAL(0);
}

extern "C" __global__ void __launch_bounds__(BLOCK) gather_eta_rows(
    int rows, int capacity, int most, const INDEX* __restrict__ row_of_slot,
    const REAL* __restrict__ eta_rows, REAL* __restrict__ by_slot, int count, int slots) {
    const long long at = blockIdx.x * (long long)BLOCK + threadIdx.x;
    if (at >= (long long)most * capacity) return;
    const long long e = at / capacity, s = at % capacity;
    by_slot[at] = e < count && s < slots ? eta_rows[e * rows + row_of_slot[s]] : REAL(0);
}

extern "C" __global__ void __launch_bounds__(BLOCK) close_slots(
    int rows, int capacity, const INDEX* __restrict__ targets,
    const INDEX* __restrict__ sources, REAL* __restrict__ inverse, int count) {
    const long long at = blockIdx.x * (long long)BLOCK + threadIdx.x;
    if (at >= (long long)rows * count) return;
    const long long p = at / count, c = at % count;
    REAL* row = inverse + p * capacity;
    if (targets[c] >= 0) row[targets[c]] = row[sources[c]];
    row[sources[c]] = REAL(0);
}

extern "C" __global__ void __launch_bounds__(BLOCK) row_residual(
    int rows, int structurals, int lanes, const INDEX* __restrict__ starts,
    const INDEX* __restrict__ indices, const REAL* __restrict__ values,
    const REAL* __restrict__ x, REAL* __restrict__ residual) {
    const long long i = (blockIdx.x * (long long)BLOCK + threadIdx.x) / lanes;
    const int lane = threadIdx.x % lanes;
    REAL sum = REAL(0);
    if (i < rows) {
        const INDEX end = starts[i + 1];
        for (INDEX k = starts[i] + lane; k < end; k += lanes) sum += values[k] * x[indices[k]];
    }
    sum = lanes_reduce<Sum>(sum, lanes);
    if (i < rows && lane == 0) residual[i] = sum - x[structurals + i];
}

extern "C" __global__ void __launch_bounds__(BLOCK) apply_inverse(
    int rows, int capacity, int slots, const REAL* __restrict__ inverse,
    const INDEX* __restrict__ unit_row, const INDEX* __restrict__ row_of_slot,
    const REAL* __restrict__ right, REAL* __restrict__ result) {
    const int p = (blockIdx.x * BLOCK + threadIdx.x) >> 5;
    if (p >= rows) return;  // a whole warp
    const int lane = threadIdx.x & 31;
    const REAL* row = inverse + (long long)p * capacity;
    REAL sum = REAL(0);
#pragma unroll 4
    for (int s = lane; s < slots; s += 32) sum += row[s] * right[row_of_slot[s]];
    sum = lanes_reduce<Sum>(sum, 32);
    if (lane != 0) return;
    if (unit_row[p] >= 0) sum -= right[unit_row[p]];
    result[p] = sum;
}

extern "C" __global__ void __launch_bounds__(BLOCK) correct_basics(
    int rows, const INDEX* __restrict__ basic, const REAL* __restrict__ lower,
    const REAL* __restrict__ upper, const REAL* __restrict__ change, REAL* __restrict__ x,
    REAL* __restrict__ x_basic, REAL* __restrict__ lower_basic, REAL* __restrict__ upper_basic) {
    const int p = blockIdx.x * BLOCK + threadIdx.x;
    if (p >= rows) return;
    const INDEX j = basic[p];
    const REAL value = x[j] - change[p];
    x[j] = value;
    x_basic[p] = value;
    lower_basic[p] = lower[j];
    upper_basic[p] = upper[j];
}

extern "C" __global__ void __launch_bounds__(BLOCK) spread_basics(
    int rows, const INDEX* __restrict__ basic, const REAL* __restrict__ x_basic,
    REAL* __restrict__ x) {
    const int p = blockIdx.x * BLOCK + threadIdx.x;
    if (p < rows) x[basic[p]] = x_basic[p];
}

extern "C" __global__ void __launch_bounds__(BLOCK) gather_basics(
    int rows, const INDEX* __restrict__ basic, const REAL* __restrict__ vector,
    REAL* __restrict__ by_position) {
    const int p = blockIdx.x * BLOCK + threadIdx.x;
    if (p < rows) by_position[p] = vector[basic[p]];
}

extern "C" __global__ void __launch_bounds__(BLOCK) place_dual(
    int rows, const INDEX* __restrict__ slot_of_row, const INDEX* __restrict__ unit_position,
    const REAL* __restrict__ product, const REAL* __restrict__ by_position,
    REAL* __restrict__ dual) {
    const int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= rows) return;
    const INDEX slot = slot_of_row[i];
    dual[i] += slot >= 0 ? product[slot] : -by_position[unit_position[i]];
}

extern "C" __global__ void __launch_bounds__(BLOCK) reduced_costs(
    int rows, int structurals, int lanes, const INDEX* __restrict__ starts,
    const INDEX* __restrict__ indices, const REAL* __restrict__ values,
    const REAL* __restrict__ cost, const REAL* __restrict__ dual,
    REAL* __restrict__ reduced_cost) {
    const long long thread = blockIdx.x * (long long)BLOCK + threadIdx.x;
    const long long spread = (long long)structurals * lanes;
    const bool structural = thread < spread;
    const long long j = structural ? thread / lanes : structurals + (thread - spread);
    const int lane = structural ? (int)(thread % lanes) : 0;
    REAL sum = REAL(0);
    if (structural) {
        const INDEX end = starts[j + 1];
        for (INDEX k = starts[j] + lane; k < end; k += lanes) sum += values[k] * dual[indices[k]];
    }
    // Logicals may share a warp with structurals; what they get from neighbours is not used.
    sum = lanes_reduce<Sum>(sum, lanes);
    if (structural) {
        if (lane == 0) reduced_cost[j] = cost[j] - sum;
    } else if (j < (long long)structurals + rows) {
        reduced_cost[j] = cost[j] + dual[j - structurals];
    }
}

extern "C" __global__ void __launch_bounds__(BLOCK) settle_duals(
    int variables, int repair, INDEX* __restrict__ status, const REAL* __restrict__ lower,
    const REAL* __restrict__ upper, REAL* __restrict__ x, REAL* __restrict__ cost,
    REAL* __restrict__ reduced_cost, const REAL* __restrict__ scalars) {
    const int j = blockIdx.x * BLOCK + threadIdx.x;
    if (j >= variables) return;
    const INDEX kind = status[j];
    const REAL d = reduced_cost[j], tolerance = scalars[DUAL_TOLERANCE];
    if (kind == BASIC) {
        reduced_cost[j] = REAL(0);
        return;
    }
    if (repair != 1 || !(lower[j] < upper[j])) return;
    const bool too_low = d < -tolerance && kind != UPPER;
    const bool too_high = d > tolerance && kind != LOWER;
    if (too_low && kind == LOWER && upper[j] < INFINITE) {
        status[j] = UPPER;
        x[j] = upper[j];
    } else if (too_high && kind == UPPER && lower[j] > -INFINITE) {
        status[j] = LOWER;
        x[j] = lower[j];
    } else if (too_low || too_high) {
        cost[j] -= d;
        reduced_cost[j] = REAL(0);
    }
}

extern "C" __global__ void __launch_bounds__(1024) largest(
    int count, int place, const REAL* __restrict__ vector, REAL* __restrict__ scalars) {
    REAL best = REAL(0);
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        const REAL size = fabs(vector[i]);
        if (!(size <= best)) best = size == size ? size : INFINITE;
    }
    best = block_best(Best{best, (INDEX)0}).value;
    if (threadIdx.x == 0) scalars[place] = best;
}
