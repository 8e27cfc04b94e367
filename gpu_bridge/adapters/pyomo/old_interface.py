"""Stand-ins for the classes of Pyomo's new solver interface where Pyomo has none or an older one.

Each does what the old interface of ``gpuheur`` asks of Pyomo's class of the same name, and no more.
"""

from __future__ import annotations

import enum
import logging
import sys
from typing import Any

from pyomo.common.config import (
    Bool,
    ConfigDict,
    ConfigValue,
    NonNegativeFloat,
    NonNegativeInt,
)
from pyomo.common.errors import ApplicationError, PyomoException
from pyomo.common.log import LogStream


class Availability(enum.IntEnum):
    """Whether a solver can be used."""

    NotFound = 0
    FullLicense = 2


TerminationCondition = enum.Enum(
    "TerminationCondition",
    "convergenceCriteriaSatisfied maxTimeLimit iterationLimit unbounded provenInfeasible "
    "error interrupted unknown",
)
"""Why a solver stopped."""


SolutionStatus = enum.Enum("SolutionStatus", "noSolution infeasible feasible optimal")
"""What a solver holds."""


class Results:
    """Results of the new interface, which nobody asks for here."""


class _Failure(PyomoException):  # type: ignore[misc]
    default_message = "The solve has not come to what was asked for."

    def __init__(self, *told: Any) -> None:
        super().__init__(*(told or (self.default_message,)))


class NoFeasibleSolutionError(_Failure):
    """There is no point to load."""

    default_message = "A feasible solution was not found, so no solution can be loaded."


class NoOptimalSolutionError(_Failure):
    """No optimum is proven."""

    default_message = (
        "Solver did not find the optimal solution. Set "
        "raise_exception_on_nonoptimal_result=False to bypass this error."
    )


class NoSolutionError(_Failure):
    """There is no point to look at."""

    default_message = "There is no valid solution."


class NoDualsError(_Failure):
    """There are no duals."""

    default_message = "There are no valid duals."


class NoReducedCostsError(_Failure):
    """There are no reduced costs."""

    default_message = "There are no valid reduced costs."


class IncompatibleModelError(_Failure):
    """A model has parts that the solver cannot treat."""

    default_message = "Model is not compatible with the chosen solver."


class SolutionLoader:
    """Puts a solution into the model."""

    def load_solution(self) -> None:
        """Load everything there is."""
        self.load_vars()  # type: ignore[attr-defined]
        self.load_import_suffixes()  # type: ignore[attr-defined]


def _streams(given: Any) -> list[Any]:
    """Return what ``tee`` means: streams to write to."""
    several = given if isinstance(given, (list, tuple)) else [given]
    streams = [sys.stdout if one is True else one for one in several if one is not False]
    return [
        LogStream(level=logging.INFO, logger=one) if isinstance(one, logging.Logger) else one
        for one in streams
    ]


class BranchAndBoundConfig(ConfigDict):  # type: ignore[misc]
    """Settings of a solver for mixed-integer programs."""

    def __init__(self, **kwds: Any) -> None:
        super().__init__(**kwds)
        self.declare("tee", ConfigValue(default=False, domain=_streams))
        self.declare("load_solutions", ConfigValue(default=True, domain=Bool))
        raises = "raise_exception_on_nonoptimal_result"
        self.declare(raises, ConfigValue(default=True, domain=Bool))
        self.declare("timer", ConfigValue(default=None))
        self.declare("threads", ConfigValue(default=None, domain=NonNegativeInt))
        for name in ("time_limit", "rel_gap", "abs_gap"):
            self.declare(name, ConfigValue(default=None, domain=NonNegativeFloat))
        self.declare("solver_options", ConfigDict(implicit=True))


class AutoUpdateConfig(ConfigDict):  # type: ignore[misc]
    """Which changes of its model a persistent solver of the new interface looks for."""


class SolverBase:
    """A solver with a configuration."""

    CONFIG = BranchAndBoundConfig()

    def __init__(self, **kwds: Any) -> None:
        self.name = kwds.pop("name", getattr(self, "name", None) or type(self).__name__.lower())
        self.config = self.CONFIG(value=kwds)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        pass


class PersistentSolverBase:
    """What persistent solvers of the new interface have in common."""


class _Options(ConfigDict):  # type: ignore[misc]
    """Options that can be updated as old solvers' can."""

    __slots__ = ()

    def update(self, value: Any) -> None:
        """Set several options."""
        self.set_value(value)


class LegacySolverWrapper:
    """What makes a solver one of the old interface."""

    name: str
    config: Any

    def __init__(self, **kwargs: Any) -> None:
        given = kwargs.pop("options", None)
        if given is not None:
            kwargs["solver_options"] = given
        super().__init__(**kwargs)
        self.options = self.config.solver_options
        object.__setattr__(self.options, "__class__", _Options)  # else a key of it by that name

    def __setattr__(self, attr: str, value: Any) -> None:
        if attr in ("options", "config") and attr in self.__dict__:
            getattr(self, attr).set_value(value)
        else:
            super().__setattr__(attr, value)

    def available(self, exception_flag: bool = True) -> bool:
        """Return whether the solver can be used, or raise if it cannot."""
        found = bool(super().available())  # type: ignore[misc]
        if exception_flag and not found:
            raise ApplicationError(f"Solver '{self.name}' is not available.")
        return found

    def license_is_valid(self) -> bool:
        """Return whether the solver may be used."""
        return self.available()

    def default_variable_value(self) -> None:
        """Return the value of variables that a solution does not name: none."""
        return None
