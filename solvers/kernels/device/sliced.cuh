// A matrix in slices as kernels get it; solvers/sparse/slices.py says how it is laid out.

#pragma once

#include "both.cuh"

template <class Index, class Indices, class Values> struct SlicedMatrix {
    int slices, height;
    Table<const Index> meta; // of each slice: first entry / height, steps, first row, code
    Indices indices;
    Values values;
    Array<const REAL> table;   // what codes stand for
    Table<const Index> splits; // of units of one row: first partial, which, how many
    Table<REAL> partials;      // a CPU needs no memory for parts of long rows
    Array<Index> tickets;
};

BOTH int slice_lanes(int code) { return 1 << (code & 15); }
BOTH int slice_kind(int code) { return (code >> 4) & 3; }
BOTH int slice_rows(int code) { return (code >> 6) & 63; }
