"""PuLP's entry point: the class ``GPUHEUR``, which registers itself when this is imported."""

from __future__ import annotations

import pulp

from gpu_bridge.adapters.pulp.solver import GPUHEUR

__all__ = ["GPUHEUR", "register"]


def register() -> None:
    """Make ``GPUHEUR`` known to ``pulp.getSolver`` and ``pulp.listSolvers``; only once."""
    if any(known.name == GPUHEUR.name for known in pulp.apis._all_solvers):
        return
    add = getattr(pulp.apis, "addSolver", None)  # the official hook, from PuLP 4 on
    if add is not None:
        add(GPUHEUR)
    else:
        pulp.apis._all_solvers.append(GPUHEUR)


register()
