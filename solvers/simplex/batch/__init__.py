"""Many small LPs of one shape at once: the simplex method with an LP to each thread block.

The whole batch is one launch (or a few, where there is a clock to watch or data to bring in); see
``kernels/simplex.py`` for what the kernel does. ``data`` is what goes in and what comes out,
``prepare`` scales the matrix and finds the dictionary of a basis that all share, ``run`` decides
where on the GPU an LP is kept and launches slices, ``transfer`` brings their data to the device and
their answers home, and ``kernels/check.py`` looks at answers where they are. Without a GPU the
kernel's twin does the same on all cores, and so it does where a GPU's memory does not suffice.
Several GPUs get a range of the LPs each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from solvers.core.device import Device, find_devices
from solvers.core.options import EngineOptions
from solvers.core.problem import FloatArray
from solvers.core.progress import LOOK_AGAIN, Progress
from solvers.simplex.batch.data import DEFAULT, BatchAnswer, BatchData, Ending, Parameters, Settings
from solvers.simplex.batch.prepare import prepare
from solvers.simplex.batch.run import run, solve_where_it_fits
from solvers.simplex.batch.slices import kept_stream

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
    return solve_on_each(data, devices, solve_range, progress)


def solve_on_each(
    data: BatchData,
    devices: Sequence[Device],
    solve: Callable[[BatchData, str], BatchAnswer],
    progress: Progress,
) -> BatchAnswer:
    """Return the answer to a batch of which each device solves as many LPs as the others.

    What a GPU had that is lost meanwhile is solved on the CPU.

    Parameters
    ----------
    solve : callable
        Solves a batch on the device of a name.
    """
    ends = np.linspace(0, data.count, len(devices) + 1).astype(int)
    shares = [
        (between(data, int(first), int(last)), device)
        for first, last, device in zip(ends[:-1], ends[1:], devices, strict=True)
        if last > first
    ]
    with ThreadPoolExecutor(len(devices), "batch") as pool:
        running = [
            pool.submit(solve, share, "cpu" if device.kind == "cpu" else f"cuda:{device.index}")
            for share, device in shares
        ]
        while wait(running, LOOK_AGAIN).not_done:
            pass
    found = []
    for future, (share, device) in zip(running, shares, strict=True):
        error = future.exception()
        if error is not None and type(error).__module__.startswith("cupy"):
            progress.log(f"{device} was lost ({error}); its {share.count} LPs go to the CPU.")
            found.append(solve(share, "cpu"))
        else:
            found.append(future.result())
    return joined(found)


def between(data: BatchData, first: int, last: int) -> BatchData:
    """Return the LPs of a batch from ``first`` to ``last``, on the same arrays."""
    names = ("values", "cost", "lower", "upper", "row_lower", "row_upper", "basis", "offset")
    own: dict[str, Any] = {
        name: values[first:last]
        for name in names
        if (values := getattr(data, name)) is not None and len(values) > 1
    }
    return dataclasses.replace(data, count=last - first, **own)


def joined(answers: Sequence[BatchAnswer]) -> BatchAnswer:
    """Return the answers to successive ranges of a batch as one."""
    found = {
        name: np.concatenate([getattr(answer, name) for answer in answers])
        for name in ("x", "row_dual", "ending", "iterations", "basis")
    }
    figures = [answer.figures for answer in answers if answer.figures is not None]
    rays: dict[int, FloatArray] = {}
    first = 0
    for answer in answers:
        rays |= {first + number: ray for number, ray in answer.rays.items()}
        first += len(answer.ending)
    return BatchAnswer(
        **found,
        device=answers[0].device,
        figures=np.concatenate(figures) if len(figures) == len(answers) else None,
        rays=rays,
    )
