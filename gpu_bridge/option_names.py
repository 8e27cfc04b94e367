"""What other solvers call our options; :mod:`gpu_bridge.absent_options` has what is not here.

One table for every place where options are given, and for ``docs/option-names.md``. Names are
compared as they are written first and then without case and punctuation, so that ``MIPGap``,
``mipgap`` and ``mip_gap`` are one name. Where two solvers call different things by one name, the
row whose spelling is exactly the caller's is meant.

Sources: the parameter references of CBC 2.10, GLPK 5.0, HiGHS 1.15, Gurobi 12, CPLEX 22.1, SCIP 9
and cuOpt 25, and the solver interfaces of Pyomo, PuLP, SciPy and CVXPY.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from gpu_bridge.absent_options import WITHOUT
from gpu_bridge.other_name import OTHERS, OtherName, squashed

INTERFACES = ("Pyomo", "PuLP", "SciPy", "CVXPY")
"""Whose names are said every day, so that the log is silent about them."""


def _same(
    solver: str, option: str, *names: str, values: Mapping[str, Any] | None = None
) -> OtherName:
    return OtherName(solver, names, option, values)


def _word(solver: str, option: str, name: str, value: Any) -> OtherName:
    """Return a row for a name that stands alone, as one of several choices does."""
    return OtherName(solver, (name,), option, {"true": value, "1": value, "": value}, is_word=True)


SWITCH = {"on": True, "true": True, "yes": True, "1": True}
SWITCH |= {"off": False, "false": False, "no": False, "0": False}
LEVEL = {"0": False, **{str(level): True for level in range(1, 8)}, **SWITCH}
"""How much a solver prints, from 0 for nothing."""
NO_LIMIT = {"-1": None, OTHERS: OTHERS}

TIME_LIMITS = (
    _same("Pyomo", "time_limit", "timelimit"),
    _same("PuLP", "time_limit", "timeLimit", "maxSeconds"),
    _same("CBC", "time_limit", "sec", "seconds"),
    _same("GLPK", "time_limit", "tmlim"),
    _same("Gurobi", "time_limit", "TimeLimit"),
    _same("CPLEX", "time_limit", "timelimit", "tilim"),
    _same("SCIP", "time_limit", "limits/time"),
    _same("CVXPY", "time_limit", "time_limit_sec"),  # of GLOP and PDLP
)
GAPS = (
    _same("PuLP", "rel_gap", "gapRel", "fracGap"),
    _same("CBC", "rel_gap", "ratio", "ratioGap"),
    _same("GLPK", "rel_gap", "mipgap", "mip_gap"),
    _same("HiGHS", "rel_gap", "mip_rel_gap"),
    _same("Gurobi", "rel_gap", "MIPGap"),
    _same("CPLEX", "rel_gap", "mip_tolerances_mipgap", "mipgap", "epgap"),
    _same("SCIP", "rel_gap", "limits/gap"),
    _same("cuOpt", "rel_gap", "mip_relative_gap"),
    _same("PuLP", "abs_gap", "gapAbs"),
    _same("CBC", "abs_gap", "allow", "allowableGap"),
    _same("HiGHS", "abs_gap", "mip_abs_gap"),
    _same("Gurobi", "abs_gap", "MIPGapAbs"),
    _same("CPLEX", "abs_gap", "mip_tolerances_absmipgap", "absmipgap", "epagap"),
    _same("SCIP", "abs_gap", "limits/absgap"),
    _same("cuOpt", "abs_gap", "mip_absolute_gap"),
)
TOLERANCES = (
    _same("CBC", "tolerance", "primalT", "primalTolerance", "dualT", "dualTolerance"),
    _same("GLPK", "tolerance", "tol_bnd", "tol_dj"),
    _same(
        *("HiGHS", "tolerance", "primal_feasibility_tolerance", "dual_feasibility_tolerance"),
        *("ipm_optimality_tolerance", "pdlp_optimality_tolerance", "kkt_tolerance"),
    ),
    _same("Gurobi", "tolerance", "FeasibilityTol", "OptimalityTol", "BarConvTol"),
    _same(
        *("CPLEX", "tolerance", "simplex_tolerances_feasibility", "simplex_tolerances_optimality"),
        "barrier_convergetol",
    ),
    _same("SCIP", "tolerance", "numerics/feastol", "numerics/dualfeastol"),
    _same(
        *("cuOpt", "tolerance", "relative_primal_tolerance", "relative_dual_tolerance"),
        "relative_gap_tolerance",
    ),
    _same("CBC", "integrality_tolerance", "integerT", "integerTolerance"),
    _same("GLPK", "integrality_tolerance", "tol_int"),
    _same("HiGHS", "integrality_tolerance", "mip_feasibility_tolerance"),
    _same("Gurobi", "integrality_tolerance", "IntFeasTol"),
    _same("CPLEX", "integrality_tolerance", "mip_tolerances_integrality", "epint"),
    _same("cuOpt", "integrality_tolerance", "mip_integrality_tolerance"),
)
LIMITS = (
    _same("PuLP", "node_limit", "maxNodes"),
    _same("CBC", "node_limit", "maxN", "maxNodes"),
    _same("HiGHS", "node_limit", "mip_max_nodes"),
    _same("Gurobi", "node_limit", "NodeLimit"),
    _same("CPLEX", "node_limit", "mip_limits_nodes", "nodelim"),
    _same("SCIP", "node_limit", "limits/nodes", "limits/totalnodes", values=NO_LIMIT),
    _same("SciPy", "iteration_limit", "maxiter"),
    _same("CBC", "iteration_limit", "maxIterations"),
    _same("GLPK", "iteration_limit", "it_lim"),
    _same(
        *("HiGHS", "iteration_limit", "simplex_iteration_limit", "ipm_iteration_limit"),
        "pdlp_iteration_limit",
    ),
    _same("Gurobi", "iteration_limit", "IterationLimit", "BarIterLimit", "PDHGIterLimit"),
    _same("CPLEX", "iteration_limit", "simplex_limits_iterations", "barrier_limits_iteration"),
    _same("SCIP", "iteration_limit", "lp/iterlim", values=NO_LIMIT),
)
MACHINE = (
    _same("SCIP", "threads", "parallel/maxnthreads", "lp/threads"),
    _same("cuOpt", "threads", "num_cpu_threads"),
    _same("HiGHS", "threads", "parallel", values={"off": 1, "false": 1}),
    _same("CPLEX", "deterministic", "parallel", values={"1": True, "0": False, "-1": False}),
    _same("CBC", "seed", "randomSeed", "randomCbcSeed", "randomC", "randomS"),
    _same("HiGHS", "seed", "random_seed"),
    _same("Gurobi", "seed", "Seed"),
    _same("CPLEX", "seed", "randomseed"),
    _same("SCIP", "seed", "randomization/randomseedshift"),
)
LOGS = (
    _same("PuLP", "log_file", "logPath"),
    _same("SciPy", "log", "disp"),
    _same("Gurobi", "log_file", "LogFile", values={"": None, OTHERS: OTHERS}),
    _same("CBC", "log", "log", "logLevel", values=LEVEL),
    _same("GLPK", "log", "msg_lev", values=LEVEL),
    _same("HiGHS", "log", "output_flag", "log_to_console"),
    _same("Gurobi", "log", "OutputFlag", "LogToConsole"),
    _same("CPLEX", "log", "mip_display", "simplex_display", values=LEVEL),
    _same("SCIP", "log", "display/verblevel", values=LEVEL),
    _same("GLPK", "log_file", "log"),  # behind CBC's, whose levels are no files
)
PRESOLVE = (
    _same("CBC", "presolve", "presolve", values=SWITCH | {"more": True, "file": True}),
    _word("GLPK", "presolve", "presol", True),
    _word("GLPK", "presolve", "nopresol", False),
    _same("HiGHS", "presolve", "presolve", values=SWITCH | {"choose": True}),
    _same("Gurobi", "presolve", "Presolve", values={"-1": True, "2": True, **SWITCH}),
    _same(
        *("CPLEX", "presolve", "preprocessing_presolve"),
        values=SWITCH | {"y": True, "n": False},
    ),
    _same("SCIP", "presolve", "presolving/maxrounds", values={"-1": True, "0": False}),
)
_SIMPLEX = {"simplex": "simplex", "primal": "simplex", "dual": "simplex"}
ALGORITHMS = (
    _word("CBC", "lp_algorithm", "primalSimplex", "simplex"),
    _word("CBC", "lp_algorithm", "dualSimplex", "simplex"),
    _word("CBC", "lp_algorithm", "barrier", "ipm"),
    _word("GLPK", "lp_algorithm", "simplex", "simplex"),
    _word("GLPK", "lp_algorithm", "interior", "ipm"),
    _same(
        *("HiGHS", "lp_algorithm", "solver"),
        values={"choose": "auto", "simplex": "simplex", "ipm": "ipm", "ipx": "ipm"}
        | {"hipo": "ipm", "pdlp": "pdlp"},
    ),
    _same(
        *("Gurobi", "lp_algorithm", "Method"),
        values={"-1": "auto", "0": "simplex", "1": "simplex", "2": "ipm", "3": "auto"}
        | {"4": "auto", "5": "auto", "6": "pdlp"},
    ),
    _same(
        *("CPLEX", "lp_algorithm", "startalg", "startalgorithm", "mip_strategy_startalgorithm"),
        values={**_SIMPLEX, "barrier": "ipm", "auto": "auto", "0": "auto"}
        | {"1": "simplex", "2": "simplex", "4": "ipm"},
    ),
    _same(
        *("CPLEX", "lp_algorithm", "lpmethod"),
        values={"0": "auto", "1": "simplex", "2": "simplex", "4": "ipm", "6": "auto"},
    ),
    _same(
        *("SCIP", "lp_algorithm", "lp/initalgorithm"),
        values={"s": "auto", "p": "simplex", "d": "simplex", "b": "ipm", "c": "ipm"},
    ),
    _same(
        *("CBC", "crossover", "crossover"),
        # CBC knows no numbers here and crosses over where it is given one, as vrpy does
        values={"on": "on", "off": "off", "maybe": "auto", "presolve": "on", "0": "on"},
    ),
    _same(
        *("HiGHS", "crossover", "run_crossover"),
        values={"on": "on", "off": "off", "choose": "auto"},
    ),
    _same(
        *("Gurobi", "crossover", "Crossover"),
        values={"-1": "auto", "0": "off", **{str(way): "on" for way in range(1, 5)}},
    ),
    _same(*("CPLEX", "crossover", "solutiontype"), values={"0": "auto", "1": "on", "2": "off"}),
    _same(
        *("CPLEX", "crossover", "barrier_crossover"),
        values={"-1": "off", "0": "auto", "1": "on", "2": "on"},
    ),
    _same(
        *("cuOpt", "crossover", "crossover"),
        values={"true": "on", "1": "on", "false": "off"},
    ),
    _word("GLPK", "relax", "nomip", True),
    _same("HiGHS", "relax", "solve_relaxation"),
    _same("cuOpt", "heuristics_only", "mip_heuristics_only"),
)
POOLS = (
    _same("CBC", "pool_size", "maxSavedSolutions"),
    _same("Gurobi", "pool_size", "PoolSolutions"),
    _same("CPLEX", "pool_size", "mip_pool_capacity"),
    _same("SCIP", "pool_size", "limits/maxsol"),
    _same(
        *("Gurobi", "pool_search", "PoolSearchMode"),
        values={"0": "found", "1": "best", "2": "best"},
    ),
)

TABLE: tuple[OtherName, ...] = (
    *(*TIME_LIMITS, *GAPS, *TOLERANCES, *LIMITS, *MACHINE, *LOGS),
    *(*PRESOLVE, *ALGORITHMS, *POOLS, *WITHOUT),
)
"""All rows; where names are equal, the first whose values fit is meant."""


@cache
def exact_rows(name: str) -> tuple[OtherName, ...]:
    """Return the rows that have a name in this very spelling."""
    return tuple(row for row in TABLE if name in row.names)


@cache
def near_rows(name: str) -> tuple[OtherName, ...]:
    """Return the rows that have a name, but for case and punctuation, or names that begin so."""
    key = squashed(name)
    near = tuple(row for row in TABLE if key in row.squashed)
    return near or tuple(row for row in TABLE if row.begins(name))
