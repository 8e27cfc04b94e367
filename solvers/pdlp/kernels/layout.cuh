// What laying a matrix out takes together, on both devices; layout.py states the contract.

#pragma once

#include "sliced.cuh"

// Slices, which hold the places from first_row on, before last_row, and what becomes of entries.
template <class Indices, class Values> struct LaidSlices {
    int slices, height;
    Table<const INDEX> meta;
    int first_row, last_row;
    int codes;
    Array<const REAL> table;
    Indices laid_indices;
    Values laid_values;
};

// Where rows begin among the entries, and the places of rows and columns.
template <class Starts> struct PlacedRows {
    int rows;
    Starts starts;
    Array<const INDEX> position, column_position;
};

// The entries that are laid out, of which there are so many before them in each piece.
struct Piece {
    int piece, piece_entries, count;
    Array<const INDEX> indices;
    Array<const REAL> values;
};
