// A matrix on its way into the factorisation, its factors, and residuals; inspect.py states the
// contracts.
//
// take_in and weigh: a block owns 128 rows of 32 neighbouring columns, tile after tile of 32 by 32,
// and its threads are 32 lanes in 8 rows; the rows' sums are added in their order. residual: a warp
// owns a row of the matrix for one right-hand side.

// Double-double numbers: unevaluated sums of two doubles (Dekker 1971; Ogita, Rump, Oishi,
// "Accurate sum and dot product", SIAM J. Sci. Comput. 26, 2005). The roundings are spelt out, for
// the compiler may fuse a product and a sum otherwise.

struct DoubleDouble {
    REAL high, low;
};

__device__ __forceinline__ double rounded_sum(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ float rounded_sum(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ double rounded_product(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ float rounded_product(float a, float b) { return __fmul_rn(a, b); }

// a + b and what its rounding lost.
__device__ __forceinline__ DoubleDouble exact_sum(REAL a, REAL b) {
    const REAL sum = rounded_sum(a, b);
    const REAL part = rounded_sum(sum, -a);
    const REAL lost =
        rounded_sum(rounded_sum(a, -rounded_sum(sum, -part)), rounded_sum(b, -part));
    return DoubleDouble{sum, lost};
}

__device__ __forceinline__ DoubleDouble plus(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble sum = exact_sum(a.high, b.high);
    return exact_sum(sum.high, rounded_sum(sum.low, rounded_sum(a.low, b.low)));
}

__device__ __forceinline__ DoubleDouble minus_product(DoubleDouble a, REAL b, REAL c) {
    const REAL product = rounded_product(b, c);
    const REAL lost = fma(b, c, -product);
    const DoubleDouble sum = exact_sum(a.high, -product);
    return DoubleDouble{sum.high, rounded_sum(sum.low, rounded_sum(a.low, -lost))};
}

#define LANES 32
#define ROWS 8
#define PART 128

__device__ __forceinline__ REAL magnitude(REAL value) { return value < REAL(0) ? -value : value; }

// The sum of the rows' values for each lane, in row 0; ends with all threads together.
__device__ __forceinline__ REAL add_rows(REAL value, int lane, int row) {
    __shared__ REAL part[ROWS][LANES];
    part[row][lane] = value;
    __syncthreads();
    REAL sum = REAL(0);
    if (row == 0) {
        for (int other = 0; other < ROWS; ++other) sum += part[other][lane];
    }
    return sum;
}

extern "C" __global__ void take_in(
    INDEX n, const REAL* __restrict__ matrix, REAL* __restrict__ columns,
    REAL* __restrict__ sums) {
    __shared__ REAL tile[LANES][LANES + 1];
    const int lane = threadIdx.x % LANES;
    const int row = threadIdx.x / LANES;
    const long long strips = ((long long)n + LANES - 1) / LANES;
    const long long first = blockIdx.x % strips * LANES;
    const long long part = blockIdx.x / strips;
    const long long end = (part + 1) * PART < n ? (part + 1) * PART : n;
    const long long column = first + lane;
    REAL sum = REAL(0);
    for (long long top = part * PART; top < end; top += LANES) {
        for (int i = row; i < LANES; i += ROWS) {
            REAL value = REAL(0);
            if (top + i < n && column < n) value = matrix[(top + i) * n + column];
            tile[i][lane] = value;
            sum += magnitude(value);
        }
        __syncthreads();
        for (int j = row; j < LANES; j += ROWS) {
            if (first + j < n && top + lane < n) {
                columns[(first + j) * n + top + lane] = tile[lane][j];
            }
        }
        __syncthreads();
    }
    sum = add_rows(sum, lane, row);
    if (row == 0 && column < n) sums[part * n + column] = sum;
}

extern "C" __global__ void weigh(
    INDEX n, const REAL* __restrict__ columns, REAL* __restrict__ sums) {
    __shared__ REAL upper[LANES][LANES + 1];
    const int lane = threadIdx.x % LANES;
    const int row = threadIdx.x / LANES;
    const long long strips = ((long long)n + LANES - 1) / LANES;
    const long long first = blockIdx.x % strips * LANES;
    const long long part = blockIdx.x / strips;
    const long long last = first + LANES < n ? first + LANES : n;  // beyond the largest k
    const long long end = (part + 1) * PART < last ? (part + 1) * PART : last;
    const long long k = first + lane;
    REAL sum = REAL(0);
    for (long long top = part * PART; top < end; top += LANES) {
        for (int j = row; j < LANES; j += ROWS) {  // U[top + lane, first + j]
            const bool there = first + j < n && top + lane < first + j;
            upper[j][lane] = there ? columns[(first + j) * n + top + lane] : REAL(0);
        }
        __syncthreads();
        for (int i = row; i < LANES; i += ROWS) {
            if (k < n && top + i < k) sum += magnitude(columns[(top + i) * n + k] * upper[lane][i]);
        }
        __syncthreads();
    }
    sum = add_rows(sum, lane, row);
    if (row == 0 && k < n) sums[part * n + k] = sum;
}

extern "C" __global__ void conclude(
    INDEX n, int parts, REAL epsilon, const REAL* __restrict__ columns,
    const REAL* __restrict__ sums, const REAL* __restrict__ weights, REAL* __restrict__ report) {
    const long long k = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n) return;
    REAL sum = REAL(0), weight = REAL(0);
    for (long long part = 0; part < parts; ++part) {
        sum += sums[part * n + k];
        weight += weights[part * n + k];
    }
    report[k] = sum;
    report[n + k] = REAL(k) * epsilon * weight;
    report[2 * (long long)n + k] = columns[k * n + k];
}

extern "C" __global__ void residual(
    INDEX n, int sides, const REAL* __restrict__ matrix, const REAL* __restrict__ x,
    const REAL* __restrict__ b, REAL* __restrict__ r, REAL* __restrict__ scale) {
    const long long warp = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / LANES;
    const int lane = threadIdx.x % LANES;
    if (warp >= (long long)n * sides) return;  // a whole warp
    const long long side = warp / n;
    const long long i = warp % n;
    const REAL* own = matrix + i * n;
    const REAL* at = x + side * n;
    DoubleDouble sum = {REAL(0), REAL(0)};
    REAL total = REAL(0);
    for (long long j = lane; j < n; j += LANES) {
        sum = minus_product(sum, own[j], at[j]);
        total += magnitude(own[j] * at[j]);
    }
    for (int distance = LANES / 2; distance > 0; distance /= 2) {
        const DoubleDouble other = {__shfl_xor_sync(0xffffffffu, sum.high, distance),
                             __shfl_xor_sync(0xffffffffu, sum.low, distance)};
        sum = plus(sum, other);
        total += __shfl_xor_sync(0xffffffffu, total, distance);
    }
    if (lane == 0) {
        const REAL start = b[warp];
        sum = plus(sum, DoubleDouble{start, REAL(0)});
        r[warp] = sum.high + sum.low;
        scale[warp] = total + magnitude(start);
    }
}
