"""Dense factorisations; ``solvers.linalg.lu`` is the front door."""
