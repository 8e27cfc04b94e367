"""From our options to those of HiGHS."""

from __future__ import annotations

from solvers.core.concurrency import usable_cores
from solvers.core.options import EngineOptions
from solvers.highs.task import Setting

TIGHTEST = 1e-10
"""HiGHS takes no feasibility tolerance below this."""

SIMPLEX_TOLERANCE = 1e-7
"""Simplex gains nothing from tolerances looser than its default."""

IPM_PATIENCE = 1000
"""Interior-point iterations after which simplex takes over; most models need fewer than 100."""


def lp_settings(options: EngineOptions) -> dict[str, Setting]:
    """Return HiGHS options for a linear program.

    HiGHS's tolerances are absolute and ours relative to the size of sides and costs, so a tenth
    of ours is asked for. Its simplex, interior-point and first-order codes are serial: one
    thread spares the start of the others.
    """
    tolerance = max(TIGHTEST, 0.1 * options.tolerance)
    first_order = options.lp_algorithm == "pdlp"
    values: dict[str, Setting] = {
        **_common(options),
        "threads": 1,
        "solver": "choose" if options.lp_algorithm == "auto" else options.lp_algorithm,
        "run_crossover": "on" if options.wants_vertex else "off",
        "ipm_iteration_limit": IPM_PATIENCE,
        "ipm_optimality_tolerance": min(1e-8, max(1e-12, 0.01 * options.tolerance)),
    }
    if first_order:
        # its C code prints past HiGHS's log whenever the log is on
        values.update(output_flag=False, kkt_tolerance=tolerance)
    else:
        values["primal_feasibility_tolerance"] = min(SIMPLEX_TOLERANCE, tolerance)
        values["dual_feasibility_tolerance"] = min(SIMPLEX_TOLERANCE, tolerance)
    if options.iteration_limit is not None:
        limit = min(options.iteration_limit, 2**31 - 1)
        for kind in ("simplex", "ipm", "pdlp"):
            values[f"{kind}_iteration_limit"] = limit
    return values


def mip_settings(options: EngineOptions) -> dict[str, Setting]:
    """Return HiGHS options for branch and bound.

    HiGHS measures rows and integrality of a MIP by the same absolute tolerance.
    """
    tolerance = max(TIGHTEST, min(1e-6, options.tolerance, options.integrality_tolerance))
    values: dict[str, Setting] = {
        **_common(options),
        "threads": options.threads or usable_cores(),
        "mip_rel_gap": options.rel_gap,
        "mip_abs_gap": options.abs_gap,
        "mip_feasibility_tolerance": tolerance,
        "primal_feasibility_tolerance": min(SIMPLEX_TOLERANCE, tolerance),
        "dual_feasibility_tolerance": min(SIMPLEX_TOLERANCE, tolerance),
    }
    if options.node_limit is not None:
        values["mip_max_nodes"] = min(options.node_limit, 2**31 - 1)
    return values


def _common(options: EngineOptions) -> dict[str, Setting]:
    return {
        "output_flag": True,  # needed for the log callback; nothing goes to the console
        "log_to_console": False,
        "large_matrix_value": float("inf"),
        "infinite_bound": float("inf"),
        "infinite_cost": float("inf"),
        "random_seed": options.seed,
        "presolve": "choose" if options.presolve else "off",
    }
