"""Who takes part on which nodes."""

from __future__ import annotations

import pytest

from gpu_bridge.cluster.connection import Node
from gpu_bridge.options import make_options
from gpu_bridge.pipeline.routes.cluster_members import MEMBER_CORES, Seat, depth_of, line_up, seats
from solvers.core.errors import DeviceError

CPUS, GPUS = Node(2 * MEMBER_CORES, 0), Node(2 * MEMBER_CORES, 2)


def test_seats_fill_the_nodes_those_with_a_gpu_first():
    found = seats([CPUS, GPUS, Node(3, 0)], make_options())
    whole = Seat(MEMBER_CORES, 0)
    assert found == [Seat(MEMBER_CORES, 1)] * 2 + [whole, whole, Seat(3, 0)]


def test_threads_are_the_cores_of_a_member():
    assert seats([Node(7, 0)], make_options(threads=3)) == [Seat(3, 0)] * 2


def test_nodes_without_the_device_asked_for_are_left_out():
    assert seats([CPUS, GPUS], make_options(device="cuda")) == [Seat(MEMBER_CORES, 1)] * 2
    assert all(seat.gpus == 0 for seat in seats([CPUS, GPUS], make_options(device="cpu")))
    with pytest.raises(DeviceError, match="no node of the cluster has a GPU"):
        seats([CPUS], make_options(device="cuda"))


def test_a_cluster_that_has_nothing_yet_has_one_seat():
    assert len(seats([Node(0, 0)], make_options())) == 1


@pytest.mark.parametrize(("count", "depth"), [(1, 0), (3, 0), (4, 1), (7, 1), (8, 2), (16, 3)])
def test_half_of_many_have_parts_which_are_all_there(count, depth):
    members = line_up([Seat(1, 0)] * count, make_options(seed=5))
    leaves = [member.leaf for member in members if member.leaf is not None]
    assert leaves == list(range(2**depth if depth else 0))
    assert depth_of(members) == depth or not leaves
    assert (members[0].seed, members[0].points_only, members[0].leaf) == (5, False, None)
    assert len({member.seed for member in members}) == count


def test_heuristics_alone_have_no_parts():
    members = line_up([Seat(1, 0)] * 8, make_options(heuristics_only=True))
    assert all(member.points_only and member.leaf is None for member in members)
