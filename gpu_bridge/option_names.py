"""What other solvers call our options, and which of their options have no counterpart here.

One table for every place where options are given, and for ``docs/option-names.md``. Names are
compared as they are written first and then without case and punctuation, so that ``MIPGap``,
``mipgap`` and ``mip_gap`` are one name. Where two solvers call different things by one name, the
row whose spelling is exactly the caller's is meant.

Sources: the parameter references of CBC 2.10, GLPK 5.0, HiGHS 1.15, Gurobi 12, CPLEX 22.1, SCIP 9
and cuOpt 25, and the solver interfaces of Pyomo, PuLP and SciPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

INTERFACES = ("Pyomo", "PuLP", "SciPy")
"""Whose names are said every day, so that the log is silent about them."""

ANY: frozenset[str] = frozenset({"*"})
"""Harmless values of an option that changes nothing about the answer or the time it takes."""


@dataclass(frozen=True)
class OtherName:
    """Names of one option in another solver.

    Parameters
    ----------
    solver : str
        Whose names they are.
    names : tuple of str
        As that solver writes them.
    option : str, optional
        The option of ours; None where there is none.
    values : mapping, optional
        Their values, as lower-case text, and ours. Without it their values are ours, and so are
        those it does not name if it has :data:`OTHERS`.
    harmless : frozenset of str
        Values that mean what is done here anyway, as lower-case text.
    hint : str
        What to do instead, where we have no such option.
    is_word : bool
        Whether the name stands alone on a command line.
    """

    solver: str
    names: tuple[str, ...]
    option: str | None = None
    values: Mapping[str, Any] | None = None
    harmless: frozenset[str] = frozenset()
    hint: str = ""
    is_word: bool = False

    def takes(self, value: Any) -> bool:
        """Whether a value has a meaning here, be it one that is refused."""
        return self.values is None or OTHERS in self.values or value_text(value) in self.values

    def translated(self, value: Any) -> Any:
        """Return our value for one of theirs."""
        return value if self.values is None else self.values.get(value_text(value), value)

    def is_harmless(self, value: Any) -> bool:
        """Whether a value asks for what is done here anyway."""
        return self.harmless == ANY or value_text(value) in self.harmless


def _same(
    solver: str, option: str, *names: str, values: Mapping[str, Any] | None = None
) -> OtherName:
    return OtherName(solver, names, option, values)


def _word(solver: str, option: str, name: str, value: Any) -> OtherName:
    """Return a row for a name that stands alone, as one of several choices does."""
    return OtherName(solver, (name,), option, {"true": value, "1": value, "": value}, is_word=True)


def _without(
    hint: str, harmless: frozenset[str] | str = frozenset(), is_word: bool = False, **names: str
) -> tuple[OtherName, ...]:
    """Return a row for each solver; ``names`` are separated by blanks."""
    fine = frozenset(harmless.split()) if isinstance(harmless, str) else harmless
    return tuple(
        OtherName(solver, tuple(text.split()), None, None, fine, hint, is_word)
        for solver, text in names.items()
    )


SWITCH = {"on": True, "true": True, "yes": True, "1": True}
SWITCH |= {"off": False, "false": False, "no": False, "0": False}
LEVEL = {"0": False, **{str(level): True for level in range(1, 8)}, **SWITCH}
"""How much a solver prints, from 0 for nothing."""
OTHERS = "*"
"""Stands in a row's values for all others, which are ours."""
NO_LIMIT = {"-1": None, OTHERS: OTHERS}

TIME_LIMITS = (
    _same("Pyomo", "time_limit", "timelimit"),
    _same("PuLP", "time_limit", "timeLimit", "maxSeconds"),
    _same("CBC", "time_limit", "sec", "seconds"),
    _same("GLPK", "time_limit", "tmlim"),
    _same("Gurobi", "time_limit", "TimeLimit"),
    _same("CPLEX", "time_limit", "timelimit", "tilim"),
    _same("SCIP", "time_limit", "limits/time"),
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
    _same("CPLEX", "presolve", "preprocessing_presolve", values=SWITCH),
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
        *("CPLEX", "lp_algorithm", "startalg", "startalgorithm"),
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

_DEFAULT = "0 -1 auto"
_DONE = "on yes true 1 root ifmove forceon auto -1 both before"
CUTS = "there is no option for cuts: branch and bound decides on them"
HEURISTICS = "method='highs' leaves our heuristics out, heuristics_only=True leaves out the proof"
TUNING = "it tunes the inside of another solver: leave it out"
WITHOUT = (
    *_without(
        "state a constraint on the objective instead",
        CBC="cutoff",
        HiGHS="objective_bound objective_target",
        Gurobi="Cutoff BestObjStop BestBdStop",
        CPLEX="mip_tolerances_uppercutoff mip_tolerances_lowercutoff",
        SCIP="limits/objective limits/primal limits/dual",
    ),
    *_without(
        "on_solution is called with each better point and ends the solve where it returns True",
        "-1",
        CBC="maxSolutions maxSol",
        HiGHS="mip_max_improving_sols",
        Gurobi="SolutionLimit",
        CPLEX="mip_limits_solutions",
        SCIP="limits/solutions limits/bestsol",
    ),
    *_without(
        "limit the memory of the process instead, for instance with 'ulimit -v'",
        GLPK="memlim",
        Gurobi="MemLimit SoftMemLimit NodefileStart",
        CPLEX="workmem mip_limits_treememory mip_strategy_file",
        SCIP="limits/memory",
    ),
    *_without(
        "heuristics_only=True looks for good points and proves nothing",
        _DEFAULT,
        Gurobi="MIPFocus ImproveStartTime ImproveStartGap",
        CPLEX="emphasis_mip",
    ),
    *_without("tolerance says how exact the answer is", _DEFAULT, Gurobi="NumericFocus")
    + _without("tolerance says how exact the answer is", "0 no false", CPLEX="emphasis_numerical"),
    *_without(
        CUTS,
        _DONE,
        CBC="cuts cutsOnOff gomory knapsack probing clique flow mir twoMir reduceAndSplit zeroHalf",
        Gurobi="Cuts CutPasses",
        SCIP="separating/maxrounds separating/maxroundsroot",
    ),
    *_without(CUTS, _DONE, is_word=True, GLPK="cuts cover mir"),
    *_without(
        HEURISTICS,
        _DONE,
        CBC="heur heuristics heuristicsOnOff feas feaspump rins rens",
        HiGHS="mip_heuristic_effort",
        Gurobi="Heuristics NoRelHeurTime RINS",
        CPLEX="mip_strategy_heuristicfreq mip_strategy_heuristiceffort mip_strategy_rinsheur",
        SCIP="heuristics/emphasis",
    ),
    *_without(HEURISTICS, _DONE, is_word=True, GLPK="fpump proxy"),
    *_without("threads=1 uses one core", "on true choose", HiGHS="parallel")
    + _without("deterministic=True fixes the path of the heuristics", "0 -1", CPLEX="parallel"),
    *_without("time_limit counts seconds of the clock", "elapsed", CBC="timeMode")
    + _without(
        "time_limit counts seconds of the clock", "1 2", CPLEX="clocktype", SCIP="timing/clocktype"
    )
    + _without("time_limit and node_limit are the limits there are", Gurobi="WorkLimit"),
    *_without("lp_algorithm='simplex' leaves the variant to HiGHS", "0 1", HiGHS="simplex_strategy")
    + _without(
        "presolve=False leaves presolve out", _DONE + " equal aggregate sos", CBC="preprocess"
    )
    + _without("tm_lim counts milliseconds; time_limit counts seconds", GLPK="tm_lim")
    + _without(
        "the answer's point and the command's --solution are the way to a file",
        Gurobi="ResultFile",
        HiGHS="solution_file write_solution_to_file",
        cuOpt="solution_file",
    ),
    *_without(
        "each point of the pool has its objective: leave out those that are too far",
        Gurobi="PoolGap PoolGapAbs",
        CPLEX="mip_pool_relgap mip_pool_absgap",
    )
    + _without("the outcome tells infeasible from unbounded anyway", "0", Gurobi="InfUnbdInfo"),
    *_without(
        TUNING,
        ANY,
        PuLP="keepFiles path",
        CBC="printingOptions solve branch",
        HiGHS="mip_min_logging_interval log_dev_level allow_unbounded_or_infeasible",
        Gurobi="DisplayInterval DualReductions LPWarmStart",
        CPLEX="mip_interval",
        SCIP="display/freq",
    ),
    # no word of CBC's, which passes over those that it does not know; Pyfrontier gives it this one
    *_without(TUNING, ANY, is_word=True, CBC="revised"),
    *_without(
        TUNING,
        CBC="strategy strong strongBranching trust cutDepth passC passF passP costStrategy "
        "dualPivot primalPivot idiotCrash sprintCrash perturbation scaling increment",
        GLPK="exact dfs bfs bestp bestb drtom",
        HiGHS="mip_detect_symmetry mip_max_leaves mip_pool_age_limit mip_lp_age_limit "
        "simplex_scale_strategy simplex_dual_edge_weight_strategy highs_analysis_level",
        Gurobi="Aggregate AggFill Symmetry VarBranch BranchDir NodeMethod PreSparsify PrePasses "
        "ScaleFlag SubMIPNodes ConcurrentMIP ConcurrentMethod BarHomogeneous Quad",
        CPLEX="mip_strategy_search mip_strategy_nodeselect mip_strategy_variableselect "
        "mip_strategy_probe preprocessing_symmetry barrier_algorithm read_scale",
        SCIP="branching/preferbinary misc/usesymmetry nodeselection/childsel lp/solvefreq",
    ),
)

TABLE: tuple[OtherName, ...] = (
    *(*TIME_LIMITS, *GAPS, *TOLERANCES, *LIMITS, *MACHINE, *LOGS),
    *(*PRESOLVE, *ALGORITHMS, *POOLS, *WITHOUT),
)
"""All rows; where names are equal, the first whose values fit is meant."""


def squashed(name: str) -> str:
    """Return a name without case, blanks and punctuation."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def value_text(value: Any) -> str:
    """Return a value as the table writes it."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip().lower()


@cache
def exact_rows(name: str) -> tuple[OtherName, ...]:
    """Return the rows that have a name in this very spelling."""
    return tuple(row for row in TABLE if name in row.names)


@cache
def near_rows(name: str) -> tuple[OtherName, ...]:
    """Return the rows that have a name, but for case and punctuation."""
    key = squashed(name)
    return tuple(row for row in TABLE if key in map(squashed, row.names))
