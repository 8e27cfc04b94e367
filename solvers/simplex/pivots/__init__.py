"""The CPU core: compiled dual and primal pivots over a sparse factorisation."""
