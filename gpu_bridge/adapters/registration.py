"""Make the solvers known to Pyomo, PuLP, linopy and CVXPY, whichever is imported first.

No such package has a place where solvers could be found without being imported (``pip install``
alone registers nothing), so an import hook waits for each: when Pyomo's solver factory or PuLP
comes in, before or after this package, the adapter is imported, and registers itself at its end.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, cast

from gpu_bridge.interrupt import uninterrupted_imports

ADAPTERS = {
    "pyomo.contrib.solver.common.factory": "gpu_bridge.adapters.pyomo",
    "pyomo.environ": "gpu_bridge.adapters.pyomo",  # of versions that do not have the first
    "pyomo.contrib.benders.benders_cuts": "gpu_bridge.adapters.pyomo.benders",
    "pulp": "gpu_bridge.adapters.pulp",
    "cvxpy": "gpu_bridge.adapters.cvxpy",
    "linopy": "gpu_bridge.adapters.linopy",
}
"""Which adapter to import once a module of a modelling package has been imported."""


def install_hooks() -> None:
    """Arrange for the adapters to register themselves; safe to call more than once."""
    for trigger in ADAPTERS:
        module = sys.modules.get(trigger)
        if module is not None:
            _import_adapter(module)
    if not any(isinstance(finder, _Hook) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Hook())


class _Hook:
    """Finds what the finders after it find, and hears when the modules waited for are made."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module waited for, with a loader that imports its adapter."""
        if name not in ADAPTERS:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = cast(Any, _Announcing(spec.loader))
                return spec
        return None


class _Announcing:
    """Loads a module as its own loader does, which takes its place, and its adapter after it.

    A loader by what it can do: ``importlib.abc`` takes a while to import.
    """

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return what the module's own loader makes."""
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        """Run the module; nobody who looks at it meets this loader."""
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        _import_adapter(module)


def _import_adapter(module: ModuleType) -> None:
    # An adapter that is itself importing the package right now is found half-made in
    # sys.modules and left alone: it registers at its own end.
    try:
        with uninterrupted_imports():
            import_module(ADAPTERS[module.__name__])
    except (ImportError, AttributeError) as error:
        # Raising here would keep the user from importing their own modelling package.
        warnings.warn(
            f"gpu-bridge does not fit the installed {module.__name__.partition('.')[0]}, so its "
            f"solver is not available there: {error}",
            stacklevel=2,
        )
