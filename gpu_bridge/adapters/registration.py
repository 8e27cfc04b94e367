"""Make the solvers known to Pyomo and PuLP, whichever is imported first.

Neither package has a place where solvers could be found without being imported (``pip install``
alone registers nothing), so an import hook waits for each: when Pyomo's solver factory or PuLP
comes in, before or after this package, the adapter is imported, and registers itself at its end.
"""

from __future__ import annotations

import warnings
from importlib import import_module
from types import ModuleType

from wrapt import register_post_import_hook

from gpu_bridge.interrupt import uninterrupted_imports

ADAPTERS = {
    "pyomo.contrib.solver.common.factory": "gpu_bridge.adapters.pyomo",
    "pulp": "gpu_bridge.adapters.pulp",
}
"""Which adapter to import once a module of a modelling package has been imported."""

_waiting: set[str] = set()


def install_hooks() -> None:
    """Arrange for the adapters to register themselves; safe to call more than once."""
    for trigger in ADAPTERS:
        if trigger not in _waiting:
            _waiting.add(trigger)
            register_post_import_hook(_import_adapter, trigger)


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
