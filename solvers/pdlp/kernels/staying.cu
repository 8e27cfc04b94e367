// Iterations of reflected Halpern PDHG by threads that stay; staying.py states the contract.
//
// Units of slices go round the teams, four to a block, in an order that is always the same; all
// blocks meet after each half of an iteration. What other blocks wrote is read through plain loads
// after the acquire at the barrier, so that the first-level cache serves repeated gathers within
// a half. (Copies of the matrix in shared memory made no model faster and some slower: they take
// that cache's room.)

#include "owners.cuh"

#define TEAMS 4

// Wait for all blocks. `meeting` counts the barriers so far.
__device__ __forceinline__ void meet(INDEX* arrivals, unsigned meeting) {
    __syncthreads();
    if (threadIdx.x == 0) {
        const unsigned wanted = meeting * gridDim.x;
        unsigned seen;
        asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrivals) : "memory");
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];"
                         : "=r"(seen)
                         : "l"(arrivals)
                         : "memory");
        } while (seen < wanted);
    }
    __syncthreads();
}

__device__ __forceinline__ void barrier_steps(
    const Slices<COLUMN_INDICES_T, COLUMN_VALUES_T>& by_column,
    const Slices<ROW_INDICES_T, ROW_VALUES_T>& by_row, const ColumnSide& x, const RowSide& y,
    const REAL* control, int count, int blocks, INDEX* arrivals) {
    __shared__ REAL scratch_of_teams[TEAMS * TEAM_SUMS];
    if (control[STOP] != REAL(0)) return;
    const int team = threadIdx.x / TEAM;
    const int first = blockIdx.x + team * gridDim.x, stride = TEAMS * gridDim.x;
    REAL* scratch = scratch_of_teams + team * TEAM_SUMS;
    for (int offset = 0; offset < count; ++offset) {
        const int keep =
            (offset == 0 ? KEEP_FIRST : 0) | (offset == count - 1 ? KEEP_LAST : 0);
        Owner<ColumnSide, true> columns(x, Iteration{control, TAU, offset, keep});
        run_units(first, stride, by_column, Products<1>{{y.point}}, columns, scratch, team);
        meet(arrivals, 2 * offset + 1);
        Owner<RowSide, true> rows(y, Iteration{control, SIGMA, offset, keep});
        run_units(first, stride, by_row, Products<1>{{x.reflected}}, rows, scratch, team);
        meet(arrivals, 2 * offset + 2);
    }
}

// Without barriers: staying.py says why no element is overwritten before all have read it.

// An element and the number of its iteration: each half of the value beside the tag.
__device__ __forceinline__ void store_tagged(REAL* place, REAL value, unsigned tag) {
    const double wide = (double)value;
    asm volatile("st.relaxed.gpu.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(place),
                 "r"(__double2loint(wide)), "r"(tag), "r"(__double2hiint(wide)), "r"(tag)
                 : "memory");
}

__device__ __forceinline__ uint4 load_tagged(const REAL* place) {
    uint4 seen;
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(seen.x), "=r"(seen.y), "=r"(seen.z), "=r"(seen.w)
                 : "l"(place)
                 : "memory");
    return seen;
}

#define BATCH 4

// Products with a vector whose elements are waited for; tag 0 stands for a plain vector.
struct TaggedProducts {
    static const int TERMS = 1;
    const REAL* plain;
    const REAL* tagged;
    unsigned tag;

    static __device__ __forceinline__ REAL neutral(int) { return REAL(0); }
    static __device__ __forceinline__ REAL join(int, REAL a, REAL b) { return a + b; }
};

template <class Index, class Value>
__device__ __forceinline__ void plain_terms(
    int steps, const SliceEntries<Index, Value>& entries, const REAL* vector, REAL& sum) {
    const int lane = threadIdx.x & 31;
    for (int step = 0; step < steps; ++step) {
        const int entry = step * 32 + lane;
        const REAL a = entry_value(entries.values[entry], entries.table);
        if (a != REAL(0)) sum += a * vector[entries.indices[entry]];
    }
}

template <class Index, class Value>
__device__ __forceinline__ void lane_terms(
    int steps, const SliceEntries<Index, Value>& entries, const TaggedProducts& work,
    REAL (&terms)[1]) {
    const int lane = threadIdx.x & 31;
    REAL sum = REAL(0);
    if (work.tag == 0) {
        plain_terms(steps, entries, work.plain, sum);
        terms[0] = sum;
        return;
    }
    for (int step = 0; step < steps; step += BATCH) {
        REAL a[BATCH];
        int column[BATCH];
        uint4 seen[BATCH];
#pragma unroll
        for (int b = 0; b < BATCH; ++b) {
            a[b] = REAL(0);
            if (step + b < steps) {
                const int entry = (step + b) * 32 + lane;
                a[b] = entry_value(entries.values[entry], entries.table);
                column[b] = (int)entries.indices[entry];
            }
            seen[b].y = work.tag - 1;
        }
        // All that is missing is asked for at once, as often as any lane misses something: lanes
        // that went on alone would run what follows one after the other.
        bool missing = true;
        while (__any_sync(0xffffffffu, missing)) {
            missing = false;
#pragma unroll
            for (int b = 0; b < BATCH; ++b) {
                if (a[b] != REAL(0) && seen[b].y != work.tag) {
                    seen[b] = load_tagged(work.tagged + 2 * (long long)column[b]);
                }
            }
#pragma unroll
            for (int b = 0; b < BATCH; ++b) {
                if (a[b] == REAL(0)) continue;
                if (seen[b].y != seen[b].w) seen[b].y = work.tag - 1;
                missing |= seen[b].y != work.tag;
            }
        }
#pragma unroll
        for (int b = 0; b < BATCH; ++b) {
            if (a[b] == REAL(0)) continue;
            sum += a[b] * (REAL)__hiloint2double((int)seen[b].z, (int)seen[b].x);
        }
    }
    terms[0] = sum;
}

// An owner that also sends the element the other side reads.
template <class Side>
struct Sender {
    Owner<Side, false> owner;  // who waits for an element reads all else before
    REAL* tagged;
    unsigned tag;

    __device__ __forceinline__ void prepare(INDEX row) { owner.prepare(row); }

    __device__ __forceinline__ void finish(INDEX row, const REAL (&products)[1]) {
        const Moved moved = owner.move(row, products[0]);
        store_tagged(tagged + 2 * (long long)row, PRIMAL<Side> ? moved.mirrored : moved.point, tag);
        owner.store(row, moved);
    }
};

__device__ __forceinline__ void flow_steps(
    const Slices<COLUMN_INDICES_T, COLUMN_VALUES_T>& by_column,
    const Slices<ROW_INDICES_T, ROW_VALUES_T>& by_row, const ColumnSide& x, const RowSide& y,
    const REAL* control, int count, int blocks, REAL* tagged_reflected,
    REAL* tagged_y) {
    __shared__ REAL scratch_of_teams[TEAMS * TEAM_SUMS];
    if (control[STOP] != REAL(0)) return;
    const int team = threadIdx.x / TEAM;
    const int first = blockIdx.x + team * gridDim.x, stride = TEAMS * gridDim.x;
    REAL* scratch = scratch_of_teams + team * TEAM_SUMS;
    const unsigned before = (unsigned)(long long)control[ITERATIONS];
    for (int offset = 0; offset < count; ++offset) {
        const int keep =
            (offset == 0 ? KEEP_FIRST : 0) | (offset == count - 1 ? KEEP_LAST : 0);
        const unsigned tag = before + offset + 1;
        const TaggedProducts of_columns = {y.point, tagged_y, offset == 0 ? 0 : tag - 1};
        Sender<ColumnSide> columns = {
            Owner<ColumnSide, false>(x, Iteration{control, TAU, offset, keep}), tagged_reflected, tag};
        run_units(first, stride, by_column, of_columns, columns, scratch, team);
        const TaggedProducts of_rows = {nullptr, tagged_reflected, tag};
        Sender<RowSide> rows = {
            Owner<RowSide, false>(y, Iteration{control, SIGMA, offset, keep}), tagged_y, tag};
        run_units(first, stride, by_row, of_rows, rows, scratch, team);
    }
}
