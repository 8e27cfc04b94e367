"""Who takes part in solving one model on a cluster: seeds, emphases, and parts of the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gpu_bridge.cluster.connection import Node
from gpu_bridge.options import Options
from solvers.core.errors import DeviceError

MEMBER_CORES = 8
"""Cores of a member: two branch and bounds, and six threads of heuristics."""

LEAST_FOR_LEAVES = 4
"""Members from which on half of them have parts of the model, as a power of two allows."""

DEEPEST = 6
"""Branching decisions, at most."""

SEED_STEP = 7919
"""Distance of the members' seeds, so that they are none that a user is likely to try next."""


@dataclass(frozen=True)
class Seat:
    """What a member has."""

    cores: int
    gpus: int


@dataclass(frozen=True)
class Member:
    """One of those who solve the model.

    Parameters
    ----------
    name : str
    seat : Seat
    seed : int
    points_only : bool
        Only heuristics, no branch and bound.
    leaf : int or None
        Number of its part of the model; None for the whole.
    """

    name: str
    seat: Seat
    seed: int
    points_only: bool = False
    leaf: int | None = None


def seats(nodes: Sequence[Node], options: Options) -> list[Seat]:
    """Return what there is room for on the nodes, those with a GPU first.

    Raises
    ------
    DeviceError
        A GPU was asked for, and no node has one.
    """
    found: list[Seat] = []
    for node in nodes:
        gpus = 0 if options.device == "cpu" else node.gpus
        cores = node.cpus
        for _ in range(gpus):
            size = options.threads or max(1, min(MEMBER_CORES, node.cpus // gpus))
            found.append(Seat(size, 1))
            cores -= size
        if not options.device.startswith("cuda") and cores > 0:
            size = options.threads or min(MEMBER_CORES, cores)
            found += [Seat(size, 0)] * (cores // size)
    if options.device.startswith("cuda") and not found:
        raise DeviceError(
            f"device='{options.device}' was asked for, but no node of the cluster has a GPU; use "
            "device='cpu' or 'auto'."
        )
    # one in any case: a cluster that grows does so when there is something to do
    found = found or [Seat(options.threads or 1, 0)]
    return sorted(found, key=lambda seat: -seat.gpus)


def line_up(seats: Sequence[Seat], options: Options) -> list[Member]:
    """Return who takes which seat: the first is what one machine would do."""
    depth = 0
    if len(seats) >= LEAST_FOR_LEAVES and not options.heuristics_only:
        depth = min(DEEPEST, (len(seats) // 2).bit_length() - 1)
    leaves = 2**depth if depth else 0
    members: list[Member] = []
    for number, seat in enumerate(seats):
        seed = (options.seed + SEED_STEP * number) % 2**31
        leaf = number - (len(seats) - leaves)
        if leaf >= 0:
            members.append(Member(f"leaf {leaf}", seat, seed, leaf=leaf))
        elif number % 3 == 2 or options.heuristics_only:
            members.append(Member(f"points, seed {seed}", seat, seed, points_only=True))
        else:
            members.append(Member(f"seed {seed}", seat, seed))
    return members


def depth_of(members: Sequence[Member]) -> int:
    """Return how many branching decisions make the parts of these members."""
    return sum(member.leaf is not None for member in members).bit_length() - 1
