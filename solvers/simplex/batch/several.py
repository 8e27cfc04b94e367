"""A batch over several GPUs: each solves a range of the LPs, in a thread of its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from solvers.core.device import Device
from solvers.core.problem import FloatArray
from solvers.simplex.batch.data import BatchAnswer, BatchData

LOOK_AGAIN = 0.1
"""Seconds of sleep at a time: a main thread that sleeps for longer may miss an interruption."""


def solve_on_each(
    data: BatchData, devices: Sequence[Device], solve: Callable[[BatchData, str], BatchAnswer]
) -> BatchAnswer:
    """Return the answer to a batch of which each device solves as many LPs as the others.

    Parameters
    ----------
    data : BatchData
    devices : sequence of Device
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
    return joined([future.result() for future in running])


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
