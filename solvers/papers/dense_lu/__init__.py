"""Dense factorisations; ``solvers.papers.dense_lu.lu`` is the front door."""
