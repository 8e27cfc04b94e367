"""The same solver behind Pyomo's old interface, ``pyomo.environ.SolverFactory('gpuheur')``.

Pyomo wraps new solvers for its old interface itself, but its wrapper keeps the options of a call
for later calls, refuses ``warmstart``, ``logfile`` and ``suffixes``, raises where a model is
infeasible and reports unproven points as optimal. This class does what the old solvers do.
"""

from __future__ import annotations

import difflib
import inspect
import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyomo.core.kernel.block import IBlock

from gpu_bridge.adapters.pyomo.config import (
    CallConfig,
    plain_values,
    read_options,
    split_keywords,
)
from gpu_bridge.adapters.pyomo.interface import LegacySolverWrapper
from gpu_bridge.adapters.pyomo.solver import GpuHeur
from gpu_bridge.interrupt import solving
from gpu_bridge.options import make_options
from gpu_bridge.report.log_output import safe
from solvers.core.errors import OptionError

if TYPE_CHECKING:
    from gpu_bridge.report.improvement import Improvement

logger = logging.getLogger(__name__)

SUFFIXES = ("dual", "rc", "slack")
"""The suffixes the solver can fill."""

CAPABILITIES = frozenset({"linear", "integer", "sos1", "sos2"})
"""What Pyomo's frameworks ask for by ``has_capability``."""


class LegacyGpuHeur(LegacySolverWrapper, GpuHeur):  # type: ignore[misc]
    """Solve Pyomo models through the old interface.

    >>> import gpu_bridge
    >>> import pyomo.environ as pyo
    >>> pyo.SolverFactory("gpuheur").solve(model, timelimit=60, tee=True)    # doctest: +SKIP

    ``options`` takes the names of the option table and those of other solvers. Options set on the
    object hold for all its solves, those given to :meth:`solve` for that call only.
    """

    name = type = "gpuheur"
    """What old solvers are registered as, and frameworks look at."""

    def __init__(self, **kwargs: Any) -> None:
        self._capabilities: dict[str, bool] = dict.fromkeys(CAPABILITIES, True)
        for meant_for_programs in NO_FILES | {"executable", "validate", "manage_env"}:
            kwargs.pop(meant_for_programs, None)
        of_pyomo = (*self.CONFIG, "name", "options")
        of_config = {name: kwargs.pop(name) for name in [*kwargs] if name in of_pyomo}
        named, unknown = split_keywords(kwargs)
        super().__init__(**of_config)
        # a solve refuses unknown ones; an exception in here Pyomo would take for a missing solver
        self.options.update(named | unknown)

    @solving()
    def solve(
        self,
        model: Any,
        *,
        tee: Any = None,
        load_solutions: bool = True,
        timelimit: float | None = None,
        time_limit: float | None = None,
        threads: int | None = None,
        rel_gap: float | None = None,
        abs_gap: float | None = None,
        options: Mapping[str, Any] | str | None = None,
        solver_options: Mapping[str, Any] | str | None = None,
        options_string: str | None = None,
        warmstart: bool = False,
        logfile: str | None = None,
        suffixes: Sequence[str] | str = (),
        raise_exception_on_nonoptimal_result: bool = False,
        report_timing: bool = False,
        timer: Any = None,
        on_solution: Callable[[Improvement], object] | None = None,
        **ignored: Any,
    ) -> Any:
        """Solve a model and return results of the old interface.

        Parameters
        ----------
        model : Block
            What to solve.
        tee : bool, stream or logger
            Where the log of the solve goes, besides ``logfile``.
        load_solutions : bool
            Load values and suffixes into the model; otherwise they are in ``results.solution``.
        timelimit, time_limit : float
            Seconds of wall-clock time, conversion included.
        threads, rel_gap, abs_gap
            As in the new interface.
        options, solver_options, options_string
            Options of this call by name, as a dictionary or as text like ``"rel_gap=0.01"``.
        warmstart : bool
            Start from the current values of the variables.
        suffixes : list of str
            Names or regular expressions of suffixes to bring along in ``results.solution``.
        raise_exception_on_nonoptimal_result : bool
            Raise NoOptimalSolutionError without a proven optimum; old solvers do not.
        report_timing : bool
            Write a table of times to standard output.
        timer : HierarchicalTimer
            Where the times go.
        on_solution : callable
            Called with an ``Improvement`` for each better point, whose ``values`` map variables to
            values; if it returns True the solve ends with the best point.
        **ignored
            Options by name, ours or another solver's. What other solvers need for their files and
            signals, such as ``keepfiles``, ``warmstart_file`` and ``use_signal_handling``, is
            ignored. Any other name is an error.

        Raises
        ------
        OptionError
            Unknown argument or option.
        """
        from gpu_bridge.adapters.pyomo.legacy_results import make_legacy_results, wanted_suffixes
        from gpu_bridge.adapters.pyomo.solve_model import finish, solve_model

        twin = None
        if isinstance(model, IBlock):
            from gpu_bridge.adapters.pyomo.kernel import KernelTwin

            twin = KernelTwin(model)
            model = twin.model
        named, others = split_keywords(ignored)
        _check_ignored(others)
        wanted = wanted_suffixes(suffixes, SUFFIXES)
        config = CallConfig(self.config, tee=tee, timer=timer)
        named["time_limit"] = timelimit if time_limit is None else time_limit
        named |= {"threads": threads, "rel_gap": rel_gap, "abs_gap": abs_gap}
        named["log_file"] = logfile
        config.call_options = [*map(read_options, (named, options, solver_options, options_string))]
        config.warmstart = config.warmstart or warmstart
        config.load_solutions = False
        config.raise_exception_on_nonoptimal_result = raise_exception_on_nonoptimal_result
        if on_solution is not None:
            config.on_solution = on_solution
        if twin is not None:
            config.own_variables = twin.own_variables
        solved = solve_model(self, model, config)
        failure = solved.loader.failure
        if failure is None:
            finish(solved.loader, config)
        if report_timing:
            # what the old interface promises; the answer is not lost where it breaks
            safe(sys.stdout).write(f"{solved.timer}\n")
        load_here = load_solutions and (twin is None or not solved.loader.may_be_loaded)
        translated = make_legacy_results(self, model, solved, load_here, wanted)
        if twin is not None:
            twin.give_back(translated, load_solutions)
        if failure is not None:
            raise failure
        return translated

    def set_options(self, options: Any) -> None:
        """Set options for all later solves, from a mapping or from text."""
        read = read_options(options)
        make_options(plain_values(self.options), read)
        for name, value in read.items():
            self.options[name] = value

    def has_capability(self, cap: str) -> bool:
        """Return whether models may have a feature, by Pyomo's name for it.

        Parameters
        ----------
        cap : str
            ``linear``, ``integer``, ``sos1``, ``sos2``; whatever else there is, is not.

        Raises
        ------
        TypeError
            It is no text.
        """
        if not isinstance(cap, str):
            raise TypeError(f"A capability is a text such as 'integer', not {cap!r}.")
        return self._capabilities.get(cap, False)

    def reset(self) -> None:
        """Forget the last answer, so that the next solve starts from nothing; options stay."""
        from gpu_bridge.adapters.last_answer import remember_basis

        remember_basis(self, None, None)

    def warm_start_capable(self) -> bool:
        """Return True: ``solve(model, warmstart=True)`` works."""
        return True


NO_FILES = frozenset(
    {"keepfiles", "solnfile", "solver_io", "file_determinism", "writer_config", "io_options"}
    | {"symbolic_solver_labels", "warmstart_file", "save_results", "use_signal_handling"}
    | {"results_format", "problem_format"}
)
"""Arguments of Pyomo's solvers that mean nothing to one that writes no files."""


def _check_ignored(ignored: Mapping[str, Any]) -> None:
    """Refuse arguments that no solver knows; note those that have no meaning here."""
    for name, value in ignored.items():
        if name in NO_FILES:
            if value:
                logger.debug("gpuheur writes no files; %s=%r is ignored.", name, value)
            continue
        known = inspect.signature(LegacyGpuHeur.solve).parameters
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        hint = f"; did you mean '{near[0]}'?" if near else "."
        raise OptionError(f"solve() has no argument '{name}'{hint}")
