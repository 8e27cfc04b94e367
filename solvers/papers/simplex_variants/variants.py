"""Who makes the pivots: the paper's four variants (its section 3.2) behind one face.

========= =========================================================================================
cpu       dense LU of every basis by LAPACK, everything on the host
naive     the same LU on the GPU by cuSOLVER in every iteration, ratio test on the host
resident  an explicit inverse on the device, rank-one updates, ratio test in one block ("GPU-RS")
graphs    iterations in a CUDA graph, x updated, ratio test over the grid, snapshot and stream
          ("GPU-RS+G")
========= =========================================================================================

The last three run on a machine without GPU as well: ``naive`` by NumPy, the others by the twins of
their kernels.
"""

from __future__ import annotations

from collections.abc import Callable

from solvers.core.device import Device
from solvers.core.errors import OptionError
from solvers.papers.simplex_variants.device_pivots import GraphsPivots, ResidentPivots
from solvers.papers.simplex_variants.host_pivots import HostPivots
from solvers.papers.simplex_variants.pivots import Pivots
from solvers.papers.simplex_variants.scaling import ScaledForm

VARIANTS = ("cpu", "naive", "resident", "graphs")


def make_pivots(variant: str, form: ScaledForm, device: Device) -> Pivots:
    """Return the pivots of a variant by its name.

    Raises
    ------
    OptionError
        There is no such variant.
    """
    makers: dict[str, Callable[[], Pivots]] = {
        "cpu": lambda: _host(form, None),
        "naive": lambda: _host(form, device),
        "resident": lambda: _on_device(form, device, "resident"),
        "graphs": lambda: _on_device(form, device, "graphs"),
    }
    if variant not in makers:
        raise OptionError(f"There is no variant '{variant}'; there are {', '.join(VARIANTS)}.")
    return makers[variant]()


def _host(form: ScaledForm, device: Device | None) -> Pivots:
    return HostPivots(form, device)


def _on_device(form: ScaledForm, device: Device, variant: str) -> Pivots:
    return (ResidentPivots if variant == "resident" else GraphsPivots)(form, device)
