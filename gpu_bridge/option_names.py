"""What other solvers call our options, and which options of theirs have no counterpart here.

One table for every place where options are given, and for ``docs/option-names.md``. Names are
compared as they are written first and then without case and punctuation, so that ``MIPGap``,
``mipgap`` and ``mip_gap`` are one name. Where two solvers call different things by one name, the
row whose spelling is exactly the caller's is meant.

Options without a counterpart are of three kinds: those that ask for another answer or another end
are refused, those that steer a search are passed over with a warning, and those that change nothing
here are passed over in the log.

Sources: the parameter references of CBC 2.10, GLPK 5.0, HiGHS 1.15, Gurobi 12, CPLEX 22.1, SCIP 9
and cuOpt 25, and the solver interfaces of Pyomo, PuLP, SciPy and CVXPY.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

OTHERS = "*"
"""Stands in a row's values for all others, which are ours."""

ANY: frozenset[str] = frozenset({"*"})
"""Harmless values of an option that changes nothing about the answer or the time it takes."""


@dataclass(frozen=True)
class OtherName:
    """Names of one option in another solver."""

    solver: str
    """Whose names they are."""
    names: tuple[str, ...]
    """As that solver writes them; one that ends in ``/`` stands for all that begin so."""
    option: str | None = None
    """The option of ours; None where there is none."""
    values: Mapping[str, Any] | None = None
    """Their values, as lower-case text, and ours. Without it their values are ours, and so are
    those it does not name if it has :data:`OTHERS`."""
    harmless: frozenset[str] = frozenset()
    """Values that mean what is done here anyway, as lower-case text."""
    hint: str = ""
    """What to do instead, where we have no such option."""
    is_word: bool = False
    """Whether the name stands alone on a command line."""
    steers: bool = False
    """Whether it says how another solver shall search, not what is asked: it is passed over with a
    warning."""

    @cached_property
    def squashed(self) -> frozenset[str]:
        """The names without case and punctuation; those that only begin others are none."""
        return frozenset(squashed(name) for name in self.names if not name.endswith("/"))

    def takes(self, value: Any) -> bool:
        """Whether a value has a meaning here, be it one that is refused."""
        return self.values is None or OTHERS in self.values or value_text(value) in self.values

    def translated(self, value: Any) -> Any:
        """Return our value for one of theirs."""
        return value if self.values is None else self.values.get(value_text(value), value)

    def begins(self, name: str) -> bool:
        """Whether the row stands for all names that begin as this one does."""
        return any(own.endswith("/") and name.startswith(own) for own in self.names)

    def is_harmless(self, value: Any) -> bool:
        """Whether a value asks for what is done here anyway."""
        return self.harmless == ANY or value_text(value) in self.harmless


def squashed(name: str) -> str:
    """Return a name without case, blanks and punctuation."""
    return "".join(letter for letter in name.lower() if letter.isalnum())


def value_text(value: Any) -> str:
    """Return a value as the table writes it."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip().lower()


INTERFACES = ("Pyomo", "PuLP", "SciPy", "CVXPY")
"""Whose names are said every day, so that the log is silent about them."""


def _by_solver(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Give solvers and their names from ``Solver name name; Solver name``."""
    for part in text.split(";"):
        solver, *names = part.split()
        yield solver, tuple(names)


def _ours(
    option: str, text: str, values: Mapping[str, Any] | str | None = None
) -> tuple[OtherName, ...]:
    """Return a row for each solver that has an option of ours under other names.

    Values that are texts may be given as one, ``theirs=ours`` or what is the same in both.
    """
    if isinstance(values, str):
        pairs = (word.partition("=") for word in values.split())
        values = {theirs: own or theirs for theirs, _, own in pairs}
    return tuple(OtherName(solver, names, option, values) for solver, names in _by_solver(text))


def _word(option: str, text: str, value: Any) -> tuple[OtherName, ...]:
    """Return rows for names that stand alone, as one of several choices does."""
    rows = _ours(option, text, {"true": value, "1": value, "": value})
    return tuple(replace(row, is_word=True) for row in rows)


def _absent(
    hint: str,
    text: str,
    harmless: frozenset[str] | str = frozenset(),
    *,
    is_word: bool = False,
) -> tuple[OtherName, ...]:
    """Return a row for each solver that has options without a counterpart.

    A word that may be harmless is so where it stands alone.
    """
    fine = frozenset(harmless.split()) if isinstance(harmless, str) else harmless
    if is_word and fine and fine != ANY:
        fine |= {""}
    return tuple(
        OtherName(solver, names, None, None, fine, hint, is_word)
        for solver, names in _by_solver(text)
    )


SWITCH = {"on": True, "true": True, "yes": True, "1": True}
SWITCH |= {"off": False, "false": False, "no": False, "0": False}
_LEVEL = {"0": False, **{str(level): True for level in range(1, 8)}, **SWITCH}
"""How much a solver prints, from 0 for nothing."""
_NO_LIMIT = {"-1": None, OTHERS: OTHERS}

_OURS = (
    *_ours(
        "time_limit",
        "Pyomo timelimit; PuLP timeLimit maxSeconds; CBC sec seconds; GLPK tmlim; "
        "Gurobi TimeLimit; CPLEX timelimit tilim; SCIP limits/time; "
        "CVXPY time_limit_sec",  # of GLOP and PDLP
    ),
    *_ours(
        "rel_gap",
        "PuLP gapRel fracGap; CBC ratio ratioGap; GLPK mipgap mip_gap; HiGHS mip_rel_gap; "
        "Gurobi MIPGap; CPLEX mip_tolerances_mipgap mipgap epgap; SCIP limits/gap; "
        "cuOpt mip_relative_gap",
    ),
    *_ours(
        "abs_gap",
        "PuLP gapAbs; CBC allow allowableGap; HiGHS mip_abs_gap; Gurobi MIPGapAbs; "
        "CPLEX mip_tolerances_absmipgap absmipgap epagap; SCIP limits/absgap; "
        "cuOpt mip_absolute_gap",
    ),
    *_ours(
        "tolerance",
        "CBC primalT primalTolerance dualT dualTolerance; GLPK tol_bnd tol_dj; "
        "HiGHS primal_feasibility_tolerance dual_feasibility_tolerance ipm_optimality_tolerance "
        "pdlp_optimality_tolerance kkt_tolerance; Gurobi FeasibilityTol OptimalityTol BarConvTol; "
        "CPLEX simplex_tolerances_feasibility simplex_tolerances_optimality barrier_convergetol; "
        "SCIP numerics/feastol numerics/dualfeastol; "
        "cuOpt relative_primal_tolerance relative_dual_tolerance relative_gap_tolerance",
    ),
    *_ours(
        "integrality_tolerance",
        "CBC integerT integerTolerance; GLPK tol_int; HiGHS mip_feasibility_tolerance; "
        "Gurobi IntFeasTol; CPLEX mip_tolerances_integrality epint; "
        "cuOpt mip_integrality_tolerance",
    ),
    *_ours(
        "node_limit",
        "PuLP maxNodes; CBC maxN maxNodes; HiGHS mip_max_nodes; Gurobi NodeLimit; "
        "CPLEX mip_limits_nodes nodelim",
    ),
    *_ours("node_limit", "SCIP limits/nodes limits/totalnodes", _NO_LIMIT),
    *_ours(
        "iteration_limit",
        "SciPy maxiter; CBC maxIterations; GLPK it_lim; "
        "HiGHS simplex_iteration_limit ipm_iteration_limit pdlp_iteration_limit; "
        "Gurobi IterationLimit BarIterLimit PDHGIterLimit; "
        "CPLEX simplex_limits_iterations barrier_limits_iteration",
    ),
    *_ours("iteration_limit", "SCIP lp/iterlim", _NO_LIMIT),
    *_ours("threads", "SCIP parallel/maxnthreads lp/threads; cuOpt num_cpu_threads"),
    *_ours("threads", "HiGHS parallel", {"off": 1, "false": 1}),
    *_ours("deterministic", "CPLEX parallel", {"1": True, "0": False, "-1": False}),
    *_ours(
        "seed",
        "CBC randomSeed randomCbcSeed randomC randomS; HiGHS random_seed; Gurobi Seed; "
        "CPLEX randomseed; SCIP randomization/randomseedshift",
    ),
    *_ours("log_file", "PuLP logPath"),
    *_ours("log", "SciPy disp"),
    *_ours("log_file", "Gurobi LogFile", {"": None, OTHERS: OTHERS}),
    *_ours("log", "CBC log logLevel; GLPK msg_lev", _LEVEL),
    *_ours("log", "HiGHS output_flag log_to_console; Gurobi OutputFlag LogToConsole"),
    *_ours("log", "CPLEX mip_display simplex_display; SCIP display/verblevel", _LEVEL),
    *_ours("log_file", "GLPK log"),  # behind CBC's, whose levels are no files
    *_ours("presolve", "CBC presolve", SWITCH | {"more": True, "file": True}),
    *_word("presolve", "GLPK presol", True),
    *_word("presolve", "GLPK nopresol", False),
    *_ours("presolve", "HiGHS presolve", SWITCH | {"choose": True}),
    *_ours("presolve", "Gurobi Presolve", {"-1": True, "2": True, **SWITCH}),
    *_ours("presolve", "CPLEX preprocessing_presolve", SWITCH | {"y": True, "n": False}),
    *_ours("presolve", "SCIP presolving/maxrounds", {"-1": True, "0": False}),
    *_word("lp_algorithm", "CBC primalSimplex dualSimplex", "simplex"),
    *_word("lp_algorithm", "CBC barrier", "ipm"),
    *_word("lp_algorithm", "GLPK simplex", "simplex"),
    *_word("lp_algorithm", "GLPK interior", "ipm"),
    *_ours("lp_algorithm", "HiGHS solver", "choose=auto simplex ipm ipx=ipm hipo=ipm pdlp"),
    *_ours(
        "lp_algorithm",
        "Gurobi Method",
        "-1=auto 0=simplex 1=simplex 2=ipm 3=auto 4=auto 5=auto 6=pdlp",
    ),
    *_ours(
        "lp_algorithm",
        "CPLEX startalg startalgorithm mip_strategy_startalgorithm",
        "simplex primal=simplex dual=simplex barrier=ipm auto 0=auto 1=simplex 2=simplex 4=ipm",
    ),
    *_ours("lp_algorithm", "CPLEX lpmethod", "0=auto 1=simplex 2=simplex 4=ipm 6=auto"),
    *_ours("lp_algorithm", "SCIP lp/initalgorithm", "s=auto p=simplex d=simplex b=ipm c=ipm"),
    # CBC knows no numbers here and crosses over where it is given one, as vrpy does
    *_ours("crossover", "CBC crossover", "on off maybe=auto presolve=on 0=on"),
    *_ours("crossover", "HiGHS run_crossover", "on off choose=auto"),
    *_ours("crossover", "Gurobi Crossover", "-1=auto 0=off 1=on 2=on 3=on 4=on"),
    *_ours("crossover", "CPLEX solutiontype", "0=auto 1=on 2=off"),
    *_ours("crossover", "CPLEX barrier_crossover", "-1=off 0=auto 1=on 2=on"),
    *_ours("crossover", "cuOpt crossover", "true=on 1=on false=off"),
    *_word("relax", "GLPK nomip", True),
    *_ours("relax", "HiGHS solve_relaxation"),
    *_ours("heuristics_only", "cuOpt mip_heuristics_only"),
    *_ours(
        "pool_size",
        "CBC maxSavedSolutions; Gurobi PoolSolutions; CPLEX mip_pool_capacity; SCIP limits/maxsol",
    ),
    *_ours("pool_search", "Gurobi PoolSearchMode", "0=found 1=best 2=best"),
)

_DEFAULT = "0 -1 auto"
_DONE = "on yes true 1 root ifmove forceon auto -1 both before"
_CUTS = "there is no option for cuts: branch and bound decides on them"
_HEURISTICS = "method='highs' leaves our heuristics out, heuristics_only=True leaves out the proof"
_LIMITS = "time_limit, node_limit and iteration_limit are the limits there are"
_SECONDS = "time_limit counts seconds of the clock"
_TUNING = "it tunes the inside of another solver: leave it out"

_REFUSED = (
    *_absent(
        "state a constraint on the objective instead",
        "CBC cutoff; HiGHS objective_bound objective_target; Gurobi Cutoff BestObjStop "
        "BestBdStop; CPLEX mip_tolerances_uppercutoff mip_tolerances_lowercutoff; "
        "SCIP limits/objective limits/primal limits/dual",
    ),
    *_absent(
        "on_solution is called with each better point and ends the solve where it returns True",
        "PuLP callbackTuple callbacksToActivate; CBC maxSolutions maxSol; "
        "HiGHS mip_max_improving_sols; Gurobi SolutionLimit; "
        "CPLEX mip_limits_solutions; SCIP limits/solutions limits/bestsol",
        "-1",
    ),
    *_absent(
        "limit the memory of the process instead, for instance with 'ulimit -v'",
        "PuLP maxMemory; GLPK memlim; Gurobi MemLimit SoftMemLimit; "
        "CPLEX mip_limits_treememory; SCIP limits/memory",
    ),
    *_absent("tolerance says how exact the answer is", "GLPK exact xcheck", is_word=True),
    *_absent("tolerance says how exact the answer is", "SCIP misc/exactsolve", "false 0"),
    *_absent("duals and reduced costs are what the answer tells", "HiGHS ranging", "off"),
    *_absent(
        _LIMITS,
        "HiGHS mip_max_stall_nodes mip_max_start_nodes mip_max_leaves; Gurobi WorkLimit "
        "StartNodeLimit; CPLEX dettimelimit; SCIP limits/stallnodes limits/restarts",
        "-1",
    ),
    *_absent(_SECONDS, "CBC timeMode", "elapsed"),
    *_absent(_SECONDS, "CPLEX clocktype; SCIP timing/clocktype", "1 2"),
    *_absent("tm_lim counts milliseconds; time_limit counts seconds", "GLPK tm_lim"),
    *_absent(
        "the answer's point and the command's --solution are the way to a file",
        "GLPK output write; Gurobi ResultFile; HiGHS solution_file write_solution_to_file; "
        "cuOpt solution_file",
        "false 0",
    ),
    *_absent(
        "the model's own interface writes it to a file",
        "GLPK wlp wmps wfreemps wglp; HiGHS write_model_file write_model_to_file",
        "false 0",
    ),
    *_absent(
        "start= or warmStart=True gives a point to start from",
        "CBC mipstart; GLPK ini; Gurobi InputFile; HiGHS read_solution_file",
    ),
    *_absent(
        "each point of the pool has its objective: leave out those that are too far",
        "Gurobi PoolGap PoolGapAbs; CPLEX mip_pool_relgap mip_pool_absgap",
    ),
)
_STEERING = (
    *_absent(
        "heuristics_only=True looks for good points and proves nothing",
        "Gurobi MIPFocus ImproveStartTime ImproveStartGap ImproveStartNodes; CPLEX emphasis_mip "
        "mip_polishafter_time",
        _DEFAULT,
    ),
    *_absent(
        "tolerance says how exact the answer is",
        "Gurobi NumericFocus Quad MarkowitzTol; CPLEX emphasis_numerical "
        "simplex_tolerances_markowitz",
        "0 -1 auto no false n",
    ),
    *_absent(
        _CUTS,
        "CBC cuts cutsOnOff gomory knapsack probing clique flow mir twoMir reduceAndSplit "
        "zeroHalf gomoryCuts knapsackCuts probingCuts cliqueCuts flowCoverCuts "
        "mixedIntegerRoundingCuts twoMirCuts reduceAndSplitCuts zeroHalfCuts liftAndProjectCuts "
        "residualCapacityCuts GMICuts liftAndProject latwomirCuts cutDepth slowcutpasses passC "
        "passCuts passTreeCuts; Gurobi Cuts CutPasses CutAggPasses GomoryPasses CliqueCuts "
        "CoverCuts FlowCoverCuts FlowPathCuts GUBCoverCuts ImpliedCuts InfProofCuts MIPSepCuts "
        "MIRCuts ModKCuts NetworkCuts ProjImpliedCuts RLTCuts StrongCGCuts SubMIPCuts "
        "ZeroHalfCuts; CPLEX mip_limits_cutpasses mip_limits_cutsfactor mip_cuts_all "
        "mip_cuts_cliques mip_cuts_covers mip_cuts_disjunctive mip_cuts_flowcovers "
        "mip_cuts_gomory mip_cuts_gubcovers mip_cuts_implied mip_cuts_liftproj "
        "mip_cuts_localimplied mip_cuts_mcfcut mip_cuts_mircut mip_cuts_pathcut "
        "mip_cuts_zerohalfcut; SCIP separating/",
        _DONE,
    ),
    *_absent(_CUTS, "GLPK cuts cover mir gomory clique", _DONE, is_word=True),
    *_absent(
        _HEURISTICS,
        "CBC heur heuristics heuristicsOnOff doHeuristic feas feaspump passF passFeasibilityPump "
        "rins rens dins vnd combineSolutions combine2Solutions diveSolve diveopt divingSome "
        "roundingHeuristic greedyHeuristic localTreeSearch proximitySearch naiveHeuristics "
        "pivotAndFix pivotAndComplement randomizedRounding hOptions "
        "VndVariableNeighborhoodSearch; HiGHS mip_heuristic_effort mip_heuristic_run_rins "
        "mip_heuristic_run_rens mip_heuristic_run_root_reduced_cost "
        "mip_heuristic_run_feasibility_jump mip_heuristic_run_zi_round "
        "mip_heuristic_run_shifting; Gurobi Heuristics NoRelHeurTime NoRelHeurWork RINS "
        "PumpPasses ZeroObjNodes MinRelNodes SubMIPNodes; CPLEX mip_strategy_heuristicfreq "
        "mip_strategy_heuristiceffort mip_strategy_rinsheur mip_strategy_fpheur "
        "mip_strategy_lbheur mip_strategy_dive; SCIP heuristics/",
        _DONE,
    ),
    *_absent(_HEURISTICS, "GLPK fpump proxy", _DONE, is_word=True),
    *_absent("threads=1 uses one core", "HiGHS parallel", "on true choose"),
    *_absent("lp_algorithm='simplex' leaves the variant to HiGHS", "HiGHS simplex_strategy", "0 1"),
    *_absent(
        "presolve=False leaves presolve out",
        "CBC preprocess; Gurobi Aggregate AggFill PrePasses PreSparsify PreDual; "
        "CPLEX preprocessing_aggregator preprocessing_boundstrength preprocessing_coeffreduce "
        "preprocessing_dependency preprocessing_dual preprocessing_fill preprocessing_linear "
        "preprocessing_numpass preprocessing_reduce preprocessing_relax "
        "preprocessing_repeatpresolve; SCIP presolving/ propagating/",
        _DONE + " equal aggregate sos",
    ),
    *_absent(
        _TUNING,
        "CBC strategy strong strongBranching trust trustPseudoCosts costStrategy nodeStrategy "
        "dualPivot primalPivot idiotCrash sprintCrash crash perturbation scaling increment "
        "dualBound infeasibilityWeight moreTune moreSpecialOptions tuneHeuristics extra1 extra2 "
        "extra3 extra4 experiment depthMiniBab fixOnDj expensiveStrong sosOptions "
        "constraintfromCutoff multipleRootPasses maxFactor biasLU force KKT cholesky; "
        "Gurobi Symmetry VarBranch BranchDir NodeMethod ScaleFlag ConcurrentMIP ConcurrentMethod "
        "ConcurrentJobs BarHomogeneous BarOrder BarCorrectors DegenMoves Disconnected NormAdjust "
        "ObjScale PerturbValue Sifting SiftMethod SimplexPricing NodefileStart NodefileDir "
        "IntegralityFocus; CPLEX mip_strategy_search mip_strategy_nodeselect "
        "mip_strategy_variableselect mip_strategy_probe mip_strategy_branch "
        "mip_strategy_backtrack mip_strategy_order mip_strategy_file mip_limits_strongcand "
        "mip_limits_strongit mip_pool_intensity preprocessing_symmetry barrier_algorithm "
        "barrier_ordering barrier_colnonzeros simplex_dgradient simplex_pgradient simplex_crash "
        "simplex_perturbation read_scale advance workmem; HiGHS mip_detect_symmetry "
        "mip_pool_age_limit mip_pool_soft_limit mip_lp_age_limit mip_allow_restart "
        "mip_allow_cut_separation_at_nodes mip_lp_solver mip_ipm_solver mip_root_presolve_only "
        "mip_min_cliquetable_entries_for_parallelism simplex_scale_strategy "
        "simplex_dual_edge_weight_strategy simplex_crash_strategy "
        "simplex_primal_edge_weight_strategy simplex_min_concurrency simplex_max_concurrency "
        "simplex_price_strategy simplex_update_limit dual_simplex_cost_perturbation_multiplier "
        "primal_simplex_bound_perturbation_multiplier rebuild_refactor_solution_error_tolerance "
        "highs_analysis_level user_bound_scale user_cost_scale user_objective_scale "
        "allowed_matrix_scale_factor restart_presolve_reduction_limit presolve_rule_off "
        "less_infeasible_DSE_check less_infeasible_DSE_choose_row use_warm_start icrash "
        "run_centring max_centring_steps centring_ratio_tolerance ipx_dualize_strategy "
        "mip_pscost_minreliable mip_lifting_for_probing simplex_dualize_strategy "
        "simplex_permute_strategy simplex_unscaled_solution_strategy "
        "max_dual_simplex_cleanup_level no_unnecessary_rebuild_refactor factor_pivot_threshold "
        "factor_pivot_tolerance presolve_pivot_threshold presolve_substitution_maxfillin "
        "presolve_reduction_limit presolve_remove_slacks pdlp_scaling_mode pdlp_ruiz_iterations "
        "pdlp_restart_strategy pdlp_cupdlpc_restart_method pdlp_step_size_strategy hipo_system "
        "hipo_ordering hipo_parallel_type hipo_block_size; SCIP branching/ conflict/ constraints/ "
        "concurrent/ lp/ misc/ nodeselection/ pricing/ randomization/ reoptimization/",
        "-1 auto",
    ),
    *_absent(
        _TUNING,
        "GLPK dfs bfs bestp bestb drtom mostf first last pcost primal dual steep nosteep relax "
        "norelax flip noflip scale noscale std adv bib cgr cbg luf intopt nointopt minisat "
        "binarize",
        is_word=True,
    ),
)
_IGNORED = (
    *_absent(
        _TUNING,
        "PuLP keepFiles path env envOptions manageEnv; CBC printingOptions solve branch messages; "
        "HiGHS mip_min_logging_interval mip_report_level log_dev_level highs_debug_level "
        "allow_unbounded_or_infeasible keep_n_rows glpsol_cost_row_location "
        "blend_multi_objectives timeless_log log_githash; Gurobi DisplayInterval DualReductions "
        "LPWarmStart NonConvex QCPDual PreQLinearize PreQ1Hess LazyConstraints PreCrush "
        "UpdateMode JSONSolDetail IISMethod FeasRelaxBigM InfUnbdInfo; CPLEX mip_interval workdir "
        "qpmethod optimalitytarget solutiontarget read_datacheck output_clonelog feasopt_mode "
        "feasopt_tolerance; SCIP display/",
        ANY,
    ),
    # no word of CBC's, which passes over those that it does not know; Pyfrontier gives it this one
    *_absent(_TUNING, "CBC revised", ANY, is_word=True),
)

TABLE: tuple[OtherName, ...] = (
    *(*_OURS, *_REFUSED),
    *(*(replace(row, steers=True) for row in _STEERING), *_IGNORED),
)
"""All rows; where names are equal, the first whose values fit is meant."""
