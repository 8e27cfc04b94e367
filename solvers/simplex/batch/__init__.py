"""Many small LPs of one shape at once: the simplex method with an LP to each thread block.

The whole batch is one launch (or a few, where there is a clock to watch or data to bring in); see
``kernels/simplex.py`` for what the kernel does. ``data`` is what goes in and what comes out,
``prepare`` scales the matrix and finds the dictionary of a basis that all share, ``layout`` decides
where on the GPU an LP is kept, and ``run`` launches slices: ``transfer`` brings their data to the
device and their answers home, ``slices`` is the loop, and ``check`` looks at answers where they
are. Without a GPU the kernel's twin does the same on all cores, and so it does where a GPU's memory
does not suffice. Several GPUs (``several``) get a range of the LPs each.
"""

from __future__ import annotations

from solvers.core.device import Device, find_devices
from solvers.core.options import EngineOptions
from solvers.core.progress import Progress
from solvers.simplex.batch.data import DEFAULT, BatchAnswer, BatchData, Ending, Parameters, Settings
from solvers.simplex.batch.prepare import prepare
from solvers.simplex.batch.run import run, solve_where_it_fits
from solvers.simplex.batch.several import solve_on_each
from solvers.simplex.batch.transfer import kept_stream

__all__ = ["BatchAnswer", "BatchData", "Ending", "Parameters", "Settings", "solve"]


def solve(
    data: BatchData,
    options: EngineOptions,
    progress: Progress,
    *,
    settings: Settings = DEFAULT,
    check: bool = False,
) -> BatchAnswer:
    """Solve all LPs of ``data``, each to a vertex, a Farkas row or a ray.

    Parameters
    ----------
    data : BatchData
        Rows, columns and entries may each be none.
    options : EngineOptions
        ``device``, ``threads`` and ``iteration_limit`` are read; the tolerances are those of
        ``settings``.
    progress : Progress
        Asked about time and interruption between launches.
    settings : Settings
        Constants of the method.
    check : bool
        Whether a GPU is to find the answer's ``figures`` while data and points are there.

    Returns
    -------
    BatchAnswer
        Points, duals and bases of all LPs and how each ended. Nothing here is verified but by the
        engine's own check of the point.

    Raises
    ------
    DeviceError
        A GPU was asked for where there is none.
    """

    def solve_range(own: BatchData, place: str) -> BatchAnswer:
        def solve_on(device: Device) -> BatchAnswer:
            prepared = prepare(own, settings)
            with kept_stream(device):
                return run(prepared, device, options, progress, settings, check=check)

        return solve_where_it_fits(place, progress, solve_on)

    devices = find_devices(options.device)
    if len(devices) == 1 or data.count < len(devices):
        return solve_range(data, options.device)
    return solve_on_each(data, devices, solve_range)
