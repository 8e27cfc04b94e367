"""Sparse LU of a simplex basis, with updates, for compiled loops.

``basis.BasisFactor`` factorises; ``solves.ftran``, ``solves.ftran_entering``, ``solves.btran``,
``updates.update`` and ``updates.refactorisation_pays`` are called from compiled code with
``BasisFactor.arrays``.

    basis.py        the object that owns the memory, repairs singular bases, measures residuals
    stages.py       a factorisation: peel.py (logicals and singletons), then
                    markowitz.py (sparse elimination), then dense.py (what has filled up)
    pivots.py       what these write; assemble.py turns it into the triangles of arrays.py
    nucleus.py      the matrix under elimination; lists.py and chains.py change it,
                    search.py finds its next pivot
    solves.py       ftran and btran over triangles.py (hypersparse or in order); patterns.py
    updates.py      Forrest and Tomlin's update; spikes.py its arithmetic
    inner.py        how functions are compiled that only compiled functions call
"""
