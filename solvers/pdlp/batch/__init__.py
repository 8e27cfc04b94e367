"""Many small LPs of one sparsity pattern at once: PDLP with an LP to each thread block.

The whole batch is one launch (or a few, where there is a clock to watch or data to bring in); see
``kernels/solve.py`` for what the kernel does. ``data`` is what goes in, ``answer`` what comes out,
``prepare`` scales a matrix that all share, ``layout`` decides where on the GPU an LP is kept, and
``run`` launches. Without a GPU the kernel's twin does the same on all cores.
"""

from __future__ import annotations

from solvers.device import Device
from solvers.kernels.batch.fallback import solve_where_it_fits
from solvers.kernels.batch.slices import kept_stream
from solvers.options import EngineOptions
from solvers.pdlp.batch.answer import BatchAnswer, Ending
from solvers.pdlp.batch.data import BatchData
from solvers.pdlp.batch.prepare import prepare
from solvers.pdlp.batch.run import run
from solvers.pdlp.batch.settings import DEFAULT, Settings
from solvers.progress import Progress

__all__ = ["BatchAnswer", "BatchData", "Ending", "Settings", "solve"]


def solve(
    data: BatchData,
    options: EngineOptions,
    progress: Progress,
    *,
    settings: Settings = DEFAULT,
    check: bool = False,
) -> BatchAnswer:
    """Solve all LPs of ``data`` to ``options.tolerance``.

    Parameters
    ----------
    data : BatchData
        At least one row, column and entry.
    options : EngineOptions
        ``device``, ``threads``, ``tolerance`` and ``iteration_limit`` are read; without a limit
        that of ``settings`` holds.
    progress : Progress
        Asked about time and interruption between launches.
    settings : Settings
        Constants of the method.
    check : bool
        Whether a GPU is to find the answer's ``figures`` while data and points are there.

    Returns
    -------
    BatchAnswer
        Points and duals of all LPs and how each ended. Nothing here is verified but by the
        engine's own check, which is on the scaled data, mapped back.

    Raises
    ------
    DeviceError
        A GPU was asked for where there is none.
    """

    def solve_on(device: Device) -> BatchAnswer:
        prepared = prepare(data, options, settings)
        with kept_stream(device):
            return run(prepared, device, options, progress, settings, check=check)

    return solve_where_it_fits(options.device, progress, solve_on)
