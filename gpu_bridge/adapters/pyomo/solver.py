"""The solver class of Pyomo's API version 2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gpu_bridge.adapters.pyomo.config import GpuHeurConfig, option_help
from gpu_bridge.adapters.pyomo.interface import Availability, Results, SolverBase
from gpu_bridge.interrupt import solving

if TYPE_CHECKING:
    from gpu_bridge.adapters.pyomo.instance import Instance


class GpuHeur(SolverBase):  # type: ignore[misc]
    """Solve linear and mixed-integer linear Pyomo models with gpu-bridge.

    >>> import gpu_bridge
    >>> from pyomo.contrib.solver.common.factory import SolverFactory
    >>> results = SolverFactory("gpuheur").solve(model, time_limit=60)    # doctest: +SKIP

    The configuration takes Pyomo's own names (``time_limit``, ``threads``, ``rel_gap``,
    ``abs_gap``, ``tee``, ``load_solutions``, ``raise_exception_on_nonoptimal_result``),
    ``warmstart`` and ``warmstart_discrete_vars``; ``solver_options`` takes the options below.
    """

    CONFIG = GpuHeurConfig()

    def available(self) -> Availability:
        """Return FullLicense: without a GPU the same engines run on the CPU."""
        return Availability.FullLicense

    def version(self) -> tuple[int, ...]:
        """Return the version of gpu-bridge."""
        from gpu_bridge import __version__

        return tuple(int(part) for part in __version__.split(".") if part.isdigit())

    def instance_of(self, model: Any, config: Any) -> Instance | None:
        """Return what a persistent solver holds of a model; None of one that is not."""
        return None

    @solving()
    def solve(self, model: Any, **kwds: Any) -> Results:
        """Solve a model and, unless told otherwise, load the solution into it.

        Keywords are those of the configuration and options of the table by name, ours or another
        solver's; they hold for this call only.

        Raises
        ------
        IncompatibleModelError, UnsupportedModelError
            A part of the model is not linear; the message names it.
        ProblemError
            A coefficient, side or bound has no usable value.
        OptionError
            Unknown option or bad value.
        NoOptimalSolutionError
            There is no proven optimum, unless ``raise_exception_on_nonoptimal_result=False``.
        NoFeasibleSolutionError
            There is no point to load, unless ``load_solutions=False``.
        """
        # the engines' side, with NumPy and SciPy, comes in at the first solve
        from gpu_bridge.adapters.pyomo.solve_model import finish, make_results, solve_model

        of_config = {name: value for name, value in kwds.items() if name in self.config}
        named = {name: value for name, value in kwds.items() if name not in of_config}
        config = self.config(value=of_config, preserve_implicit=True)
        config.solver_options.update({k: v for k, v in named.items() if v is not None})
        solved = solve_model(self, model, config)
        finish(solved.loader, config)
        return make_results(self, solved, config)


GpuHeur.__doc__ = f"{GpuHeur.__doc__}\nOptions\n-------\n{option_help()}\n"
