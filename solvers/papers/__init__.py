"""The seed papers' own algorithms as published, for comparison and teaching.

No method of ``gpu_bridge.solve`` reaches them: each is called by its own name.
``examples/papers`` has a script for each that prints the paper's table.

========================= =========================================================================
simplex_variants          Tissier et al., *GPU Accelerated Simplex Solver* (ETH Zurich): primal
                          revised simplex in four variants. ``solve(problem, variant="graphs")``
knapsack_branch_and_bound Boukedjar, Lalami, El Baz, *Parallel branch and bound on a CPU-GPU system*
                          (PDP 2012): breadth-first branch and bound. ``solve(problem)``
dense_lu                  De Luca, Fiorillo, Marcellino, *A GPU-CUDA numerical algorithm for solving
                          a biological model* (2025): elimination by three kernels.
                          ``solve_by_elimination(matrix, side, device)``; ``lu`` beside it is ours
sparse_formats            Thies, Hager, Anzt, *Performance Engineering for Sparse Linear Solvers*
                          (ISC 2026): sparse formats below the roofline.
                          ``survey(matrix, device, machine)``
========================= =========================================================================

An outcome of ``solve`` is the algorithm's own claim in the minimised sense;
``gpu_bridge.verify.verify`` checks one.
"""
