"""What a user can set on the solver, and how that becomes the bridge's own options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pyomo.common.config import Bool, ConfigValue

from gpu_bridge.adapters.pyomo.interface import BranchAndBoundConfig
from gpu_bridge.option_values import number_or_text
from gpu_bridge.options import Options, make_options, option_rows, option_table
from solvers.core.errors import OptionError

if TYPE_CHECKING:
    from gpu_bridge.report.improvement import Improvement

PYOMO_NAMES = ("threads", "time_limit", "rel_gap", "abs_gap")
"""Settings that Pyomo names itself; ``solver_options`` of the same name go before them."""


class GpuHeurConfig(BranchAndBoundConfig):  # type: ignore[misc]
    """Pyomo's branch-and-bound settings, the warm start switches and a callback."""

    warmstart: bool
    warmstart_discrete_vars: bool
    on_solution: Callable[[Improvement], object] | None

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        for name, default, domain, description in (
            ("warmstart", False, Bool, "Start from the current values of the variables."),
            (
                *("warmstart_discrete_vars", False, Bool),
                "Start from the current values of the integer variables only.",
            ),
            (
                *("on_solution", None, None),
                "Called with each better point; the solve ends if it returns True.",
            ),
        ):
            self.declare(name, ConfigValue(default, domain, description))


class CallConfig:
    """The settings of one call: those of a solver, and what the call has set.

    A copy of Pyomo's configuration takes as long to make as HiGHS takes for a small model, so there
    is one only where settings of the call have to be checked, those that are not None.
    ``call_options`` are the call's own options, from one place after the other. ``own_variables``
    gives the variables that a caller knows for those of the model that is solved.
    """

    timer: Any
    warmstart: bool
    load_solutions: bool
    raise_exception_on_nonoptimal_result: bool
    on_solution: Callable[[Improvement], object] | None

    def __init__(self, config: Any, **checked: Any) -> None:
        given = {name: value for name, value in checked.items() if value is not None}
        if given:
            config = config(value={}, preserve_implicit=True)
            for name, value in given.items():
                config[name] = value
        self._config = config
        self.call_options: list[Mapping[str, Any]] = []
        self.own_variables: Callable[[Sequence[Any]], Sequence[Any]] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._config, name)

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)


def make_bridge_options(config: Any) -> Options:
    """Return the validated options of one solve.

    Raises
    ------
    OptionError
        For an unknown name in ``solver_options`` (with the nearest valid one), or a bad value.
    """
    found = {name: config[name] for name in PYOMO_NAMES}
    values = {name: value for name, value in found.items() if value is not None}
    of_call = getattr(config, "call_options", ())
    return make_options(values, plain_values(config.solver_options), *of_call)


def read_options(given: Any) -> dict[str, Any]:
    """Return options given as a mapping, as text, or not at all, leaving out those that are None.

    Raises
    ------
    OptionError
        Text that is not a list of ``name=value``.
    """
    if given is None:
        return {}
    if not isinstance(given, str):
        return {name: value for name, value in plain_values(given).items() if value is not None}
    from gpu_bridge.option_translation import stands_alone

    values: dict[str, Any] = {}
    for part in given.replace(",", " ").split():
        name, equals, text = part.partition("=")
        if not equals and not stands_alone(name):
            raise OptionError(f"Options are read as name=value; '{part}' has no '='.")
        values[name] = number_or_text(text) if equals else ""  # not True, as for PuLP
    return values


def split_keywords(keywords: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return those keywords that are options, by whatever solver's name, and the others.

    Options that are None are not given.
    """
    if not keywords:
        return {}, {}
    from gpu_bridge.option_translation import is_known  # with the table of other solvers' names

    named = {name: value for name, value in keywords.items() if is_known(name, option_rows())}
    others = {name: value for name, value in keywords.items() if name not in named}
    return {name: value for name, value in named.items() if value is not None}, others


def plain_values(options: Any) -> dict[str, Any]:
    """Return a mapping of options, be it a dictionary or one of Pyomo's containers, as a dict."""
    plain = options.value() if callable(getattr(options, "value", None)) else options
    return dict(plain) if isinstance(plain, Mapping) else dict(plain.items())


def option_help() -> str:
    """Return a line per option, for docstrings."""
    return "\n".join(f"{row.name} : {row.type}\n    {row.sentence}" for row in option_table())
