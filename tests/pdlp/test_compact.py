"""What waits in less memory comes back as it was."""

from __future__ import annotations

import numpy as np
import pytest

from solvers.core.device import cpu
from solvers.core.options import EngineOptions
from solvers.core.problem import FloatArray
from solvers.core.progress import Progress
from solvers.pdlp import compact, prepare
from solvers.pdlp.compact import Compact, parked, without_passing
from solvers.pdlp.execution import iteration_blocks
from solvers.pdlp.state import State
from tests.pdlp.lps import random_lp


@pytest.mark.parametrize("filled", [0, 3, 6, 7, 9])
def test_a_vector_comes_back(filled):
    vector = np.where(np.arange(9) < filled, np.arange(9) - 20.0, 0.0)
    kept = Compact.of(vector)
    assert (kept.places is None) == (filled > 6)
    assert np.array_equal(kept.vector, vector)


@pytest.mark.parametrize("filled", [0.0, 0.3, 0.9])
def test_any_number_of_threads_keeps_the_same(filled, monkeypatch):
    generator = np.random.default_rng(0)
    vector = generator.standard_normal(1001) * (generator.random(1001) < filled)
    monkeypatch.setattr(compact, "threads_for", lambda work, threads: threads)
    one, three = Compact.of(vector), Compact.of(vector, 3)
    assert np.array_equal(three.vector, vector)
    assert np.array_equal(three.values, one.values)


def advanced(state: State, count: int) -> None:
    blocks = iteration_blocks(state, Progress())
    for _ in range(count):
        blocks.submit(40)
        blocks.take()


def bits(state: State) -> list[bytes]:
    sides = [vars(side).values() for side in (state.x, state.y)]
    vectors = [vector for side in sides for vector in side]
    return [np.asarray(one).tobytes() for one in (*vectors, state.feasible_x, state.control)]


@pytest.mark.parametrize("blocks", [0, 1, 5])
def test_a_state_goes_on_as_if_it_had_not_waited(blocks):
    problem = random_lp(3, 30, 40)
    states = [prepare(problem, EngineOptions(tolerance=1e-10), cpu(), Progress()) for _ in range(2)]
    for state in states:
        advanced(state, blocks)
    make_ready = parked(states[1])
    assert sum(side.point.size + side.best.size for side in (states[1].x, states[1].y)) == 0
    make_ready()
    for state in states:
        advanced(state, 3)
    assert bits(states[0]) == bits(states[1])


def passing(state: State) -> FloatArray:
    vectors = (state.reflected, state.x.first_difference, state.y.first_difference)
    return np.concatenate(vectors)


def test_a_state_goes_on_within_its_blocks_without_what_they_write_anew() -> None:
    problem = random_lp(3, 30, 40)
    states = [prepare(problem, EngineOptions(tolerance=1e-10), cpu(), Progress()) for _ in range(2)]
    blocks = [iteration_blocks(state, Progress()) for state in states]
    for _ in range(3):
        for own in blocks:
            own.submit(40)
            own.take()
        assert passing(states[1]).any()
        without_passing(states[1])
        assert not passing(states[1]).any()
    for own in blocks:
        own.submit(40)
    assert bits(states[0]) == bits(states[1])
