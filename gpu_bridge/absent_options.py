"""Options of other solvers that have no counterpart here.

Three kinds: those that ask for another answer or another end are refused, those that steer a search
are passed over with a warning, and those that change nothing here are passed over in the log.
"""

from __future__ import annotations

from gpu_bridge.other_name import ANY, OtherName


def _without(
    hint: str,
    harmless: frozenset[str] | str = frozenset(),
    *,
    is_word: bool = False,
    steers: bool = False,
    **names: str,
) -> tuple[OtherName, ...]:
    """Return a row for each solver; ``names`` are separated by blanks."""
    fine = frozenset(harmless.split()) if isinstance(harmless, str) else harmless
    return tuple(
        OtherName(solver, tuple(text.split()), None, None, fine, hint, is_word, steers)
        for solver, text in names.items()
    )


_DEFAULT = "0 -1 auto"
_DONE = "on yes true 1 root ifmove forceon auto -1 both before"
CUTS = "there is no option for cuts: branch and bound decides on them"
HEURISTICS = "method='highs' leaves our heuristics out, heuristics_only=True leaves out the proof"
LIMITS = "time_limit, node_limit and iteration_limit are the limits there are"
SECONDS = "time_limit counts seconds of the clock"
TUNING = "it tunes the inside of another solver: leave it out"

REFUSED = (
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
        Gurobi="MemLimit SoftMemLimit",
        CPLEX="mip_limits_treememory",
        SCIP="limits/memory",
    ),
    *_without("tolerance says how exact the answer is", is_word=True, GLPK="exact xcheck"),
    *_without("tolerance says how exact the answer is", "false 0", SCIP="misc/exactsolve"),
    *_without("duals and reduced costs are what the answer tells", "off", HiGHS="ranging"),
    *_without(
        LIMITS,
        "-1",
        HiGHS="mip_max_stall_nodes mip_max_start_nodes mip_max_leaves",
        Gurobi="WorkLimit StartNodeLimit",
        CPLEX="dettimelimit",
        SCIP="limits/stallnodes limits/restarts",
    ),
    *_without(SECONDS, "elapsed", CBC="timeMode"),
    *_without(SECONDS, "1 2", CPLEX="clocktype", SCIP="timing/clocktype"),
    *_without("tm_lim counts milliseconds; time_limit counts seconds", GLPK="tm_lim"),
    *_without(
        "the answer's point and the command's --solution are the way to a file",
        "false 0",
        GLPK="output write",
        Gurobi="ResultFile",
        HiGHS="solution_file write_solution_to_file",
        cuOpt="solution_file",
    ),
    *_without(
        "the model's own interface writes it to a file",
        "false 0",
        GLPK="wlp wmps wfreemps wglp",
        HiGHS="write_model_file write_model_to_file",
    ),
    *_without(
        "start= or warmStart=True gives a point to start from",
        CBC="mipstart",
        GLPK="ini",
        Gurobi="InputFile",
        HiGHS="read_solution_file",
    ),
    *_without(
        "each point of the pool has its objective: leave out those that are too far",
        Gurobi="PoolGap PoolGapAbs",
        CPLEX="mip_pool_relgap mip_pool_absgap",
    ),
)

STEERING = (
    *_without(
        "heuristics_only=True looks for good points and proves nothing",
        _DEFAULT,
        steers=True,
        Gurobi="MIPFocus ImproveStartTime ImproveStartGap ImproveStartNodes",
        CPLEX="emphasis_mip mip_polishafter_time",
    ),
    *_without(
        "tolerance says how exact the answer is",
        "0 -1 auto no false n",
        steers=True,
        Gurobi="NumericFocus Quad MarkowitzTol",
        CPLEX="emphasis_numerical simplex_tolerances_markowitz",
    ),
    *_without(
        CUTS,
        _DONE,
        steers=True,
        CBC="cuts cutsOnOff gomory knapsack probing clique flow mir twoMir reduceAndSplit zeroHalf "
        "gomoryCuts knapsackCuts probingCuts cliqueCuts flowCoverCuts mixedIntegerRoundingCuts "
        "twoMirCuts reduceAndSplitCuts zeroHalfCuts liftAndProjectCuts residualCapacityCuts "
        "GMICuts liftAndProject latwomirCuts cutDepth slowcutpasses passC passCuts passTreeCuts",
        Gurobi="Cuts CutPasses CutAggPasses GomoryPasses CliqueCuts CoverCuts FlowCoverCuts "
        "FlowPathCuts GUBCoverCuts ImpliedCuts InfProofCuts MIPSepCuts MIRCuts ModKCuts "
        "NetworkCuts ProjImpliedCuts RLTCuts StrongCGCuts SubMIPCuts ZeroHalfCuts",
        CPLEX="mip_limits_cutpasses mip_limits_cutsfactor mip_cuts_all mip_cuts_cliques "
        "mip_cuts_covers mip_cuts_disjunctive mip_cuts_flowcovers mip_cuts_gomory "
        "mip_cuts_gubcovers mip_cuts_implied mip_cuts_liftproj mip_cuts_localimplied "
        "mip_cuts_mcfcut mip_cuts_mircut mip_cuts_pathcut mip_cuts_zerohalfcut",
        SCIP="separating/",
    ),
    *_without(CUTS, _DONE, is_word=True, steers=True, GLPK="cuts cover mir gomory clique"),
    *_without(
        HEURISTICS,
        _DONE,
        steers=True,
        CBC="heur heuristics heuristicsOnOff doHeuristic feas feaspump passF "
        "passFeasibilityPump rins rens "
        "dins vnd combineSolutions combine2Solutions diveSolve diveopt divingSome "
        "roundingHeuristic greedyHeuristic localTreeSearch proximitySearch naiveHeuristics "
        "pivotAndFix pivotAndComplement randomizedRounding hOptions VndVariableNeighborhoodSearch",
        HiGHS="mip_heuristic_effort mip_heuristic_run_rins mip_heuristic_run_rens "
        "mip_heuristic_run_root_reduced_cost mip_heuristic_run_feasibility_jump "
        "mip_heuristic_run_zi_round mip_heuristic_run_shifting",
        Gurobi="Heuristics NoRelHeurTime NoRelHeurWork RINS PumpPasses ZeroObjNodes MinRelNodes "
        "SubMIPNodes",
        CPLEX="mip_strategy_heuristicfreq mip_strategy_heuristiceffort mip_strategy_rinsheur "
        "mip_strategy_fpheur mip_strategy_lbheur mip_strategy_dive",
        SCIP="heuristics/",
    ),
    *_without(HEURISTICS, _DONE, is_word=True, steers=True, GLPK="fpump proxy"),
    *_without("threads=1 uses one core", "on true choose", steers=True, HiGHS="parallel"),
    *_without(
        "lp_algorithm='simplex' leaves the variant to HiGHS",
        "0 1",
        steers=True,
        HiGHS="simplex_strategy",
    ),
    *_without(
        *("presolve=False leaves presolve out", _DONE + " equal aggregate sos"),
        steers=True,
        CBC="preprocess",
        Gurobi="Aggregate AggFill PrePasses PreSparsify PreDual",
        CPLEX="preprocessing_aggregator preprocessing_boundstrength preprocessing_coeffreduce "
        "preprocessing_dependency preprocessing_dual preprocessing_fill preprocessing_linear "
        "preprocessing_numpass preprocessing_reduce preprocessing_relax "
        "preprocessing_repeatpresolve",
        SCIP="presolving/ propagating/",
    ),
    *_without(
        TUNING,
        "-1 auto",
        steers=True,
        CBC="strategy strong strongBranching trust trustPseudoCosts costStrategy nodeStrategy "
        "dualPivot primalPivot idiotCrash sprintCrash crash perturbation scaling increment "
        "dualBound infeasibilityWeight moreTune moreSpecialOptions tuneHeuristics extra1 extra2 "
        "extra3 extra4 experiment depthMiniBab fixOnDj expensiveStrong sosOptions "
        "constraintfromCutoff multipleRootPasses maxFactor biasLU force KKT cholesky",
        Gurobi="Symmetry VarBranch BranchDir NodeMethod ScaleFlag ConcurrentMIP ConcurrentMethod "
        "ConcurrentJobs BarHomogeneous BarOrder BarCorrectors DegenMoves Disconnected "
        "NormAdjust ObjScale PerturbValue Sifting SiftMethod SimplexPricing NodefileStart "
        "NodefileDir IntegralityFocus",
        CPLEX="mip_strategy_search mip_strategy_nodeselect mip_strategy_variableselect "
        "mip_strategy_probe mip_strategy_branch mip_strategy_backtrack mip_strategy_order "
        "mip_strategy_file mip_limits_strongcand mip_limits_strongit mip_pool_intensity "
        "preprocessing_symmetry barrier_algorithm barrier_ordering barrier_colnonzeros "
        "simplex_dgradient simplex_pgradient simplex_crash simplex_perturbation read_scale "
        "advance workmem",
        HiGHS="mip_detect_symmetry mip_pool_age_limit mip_pool_soft_limit mip_lp_age_limit "
        "mip_allow_restart mip_allow_cut_separation_at_nodes mip_lp_solver mip_ipm_solver "
        "mip_root_presolve_only mip_min_cliquetable_entries_for_parallelism "
        "simplex_scale_strategy simplex_dual_edge_weight_strategy simplex_crash_strategy "
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
        "presolve_reduction_limit presolve_remove_slacks pdlp_scaling_mode "
        "pdlp_ruiz_iterations pdlp_restart_strategy pdlp_cupdlpc_restart_method "
        "pdlp_step_size_strategy hipo_system hipo_ordering hipo_parallel_type hipo_block_size",
        SCIP="branching/ conflict/ constraints/ concurrent/ lp/ misc/ nodeselection/ pricing/ "
        "randomization/ reoptimization/",
    ),
    *_without(
        TUNING,
        is_word=True,
        steers=True,
        GLPK="dfs bfs bestp bestb drtom mostf first last pcost primal dual steep nosteep relax "
        "norelax flip noflip scale noscale std adv bib cgr cbg luf intopt nointopt minisat "
        "binarize",
    ),
)

IGNORED = (
    *_without(
        TUNING,
        ANY,
        PuLP="keepFiles path",
        CBC="printingOptions solve branch messages",
        HiGHS="mip_min_logging_interval mip_report_level log_dev_level highs_debug_level "
        "allow_unbounded_or_infeasible keep_n_rows glpsol_cost_row_location "
        "blend_multi_objectives timeless_log log_githash",
        Gurobi="DisplayInterval DualReductions LPWarmStart NonConvex QCPDual PreQLinearize "
        "PreQ1Hess LazyConstraints PreCrush UpdateMode JSONSolDetail IISMethod FeasRelaxBigM "
        "InfUnbdInfo",
        CPLEX="mip_interval workdir qpmethod optimalitytarget solutiontarget read_datacheck "
        "output_clonelog feasopt_mode feasopt_tolerance",
        SCIP="display/",
    ),
    # no word of CBC's, which passes over those that it does not know; Pyfrontier gives it this one
    *_without(TUNING, ANY, is_word=True, CBC="revised"),
)

WITHOUT = (*REFUSED, *STEERING, *IGNORED)
