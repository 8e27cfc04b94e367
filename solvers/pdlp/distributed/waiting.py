"""Waiting for several GPUs of which one may be lost.

The others then wait for its messages for ever, and so would whoever waited inside CUDA for one of
them. So nobody does: all are asked in turn, and NCCL too.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from solvers.core.device import Device
from solvers.core.errors import DeviceError
from solvers.core.threads import told_to_end
from solvers.pdlp.distributed.communication import Links

POLL_SECONDS = 1e-4
"""Pause between two looks at whether a block is done; one takes tens of milliseconds."""

SUCCESS, NOT_READY = 0, 600
"""What CUDA says of an event that has happened, and of one that has not yet."""


def wait_for(events: Sequence[Any], members: Sequence[Device], links: Links) -> None:
    """Wait until events, one on each GPU, have happened.

    Raises
    ------
    DeviceError
        A GPU was lost, or a link between them.
    solvers.native.Interrupted
        Nobody waits for this thread any more.
    """
    while not all([_has_happened(*pair) for pair in zip(events, members, strict=True)]):
        links.check()
        if told_to_end():
            from solvers.native import Interrupted

            raise Interrupted
        time.sleep(POLL_SECONDS)


def is_loss(error: BaseException, members: Sequence[Device]) -> bool:
    """Whether an exception says that a GPU, or a link, does its work no more.

    CuPy raises much else, such as of a full memory. CUDA fails at whatever it is asked of a GPU
    that was lost, so it is asked about the current streams, none of which may be recording.
    """
    if isinstance(error, DeviceError) or type(error).__name__ == "NcclError":
        return True
    from_cupy = type(error).__module__.startswith("cupy")
    return from_cupy and any(_is_lost(member) for member in members)


def _is_lost(member: Device) -> bool:
    if member.kind == "cpu":
        return False
    cuda = member.xp.cuda
    stream = cuda.get_current_stream(member.index)
    return cuda.runtime.streamQuery(stream.ptr) not in (SUCCESS, NOT_READY)


def _has_happened(event: Any, member: Device) -> bool:
    status = member.xp.cuda.runtime.eventQuery(event.ptr)
    if status in (SUCCESS, NOT_READY):
        return bool(status == SUCCESS)
    raise DeviceError(
        f"GPU {member.index} ({member.name}) was lost during the solve (CUDA error {status})"
    )
