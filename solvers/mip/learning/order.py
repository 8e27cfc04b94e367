"""Which column is decided next: a heap of the open columns by score."""

from __future__ import annotations

from solvers.mip.domain.internal import as_index
from solvers.mip.learning.sides import Sides
from solvers.mip.learning.state import HEAP, STEP, State
from solvers.mip.search.loops import called, inlined

LARGEST_SCORE = 1e100
"""Scores are scaled down before they are larger."""

FADING = 0.95
"""Scores fade by this from one contradiction to the next (MiniSat's figure)."""


@inlined
def sift_up(state: State, place: int) -> None:
    """Move what stands at a place of the heap up to where it belongs."""
    heap, heap_place, score = state.heap, state.heap_place, state.score
    j = as_index(heap[place])
    while place > 0:
        parent = (place - 1) >> 1
        other = as_index(heap[parent])
        if score[other] >= score[j]:
            break
        heap[place] = other
        heap_place[other] = place
        place = parent
    heap[place] = j
    heap_place[j] = place


@inlined
def put_in_heap(state: State, j: int) -> None:
    """Put a column into the heap, unless it is there."""
    if state.heap_place[j] < 0:
        place = state.counts[HEAP]
        state.counts[HEAP] += 1
        state.heap[place] = j
        state.heap_place[j] = place
        sift_up(state, place)


@inlined
def take_top(state: State) -> None:
    """Take the first column out of the heap."""
    heap, heap_place, score = state.heap, state.heap_place, state.score
    size = state.counts[HEAP] - 1
    state.counts[HEAP] = size
    heap_place[heap[0]] = -1
    if size == 0:
        return
    j = as_index(heap[size])
    place = 0
    while 2 * place + 1 < size:
        child = 2 * place + 1
        if child + 1 < size and score[heap[child + 1]] > score[heap[child]]:
            child += 1
        other = as_index(heap[child])
        if score[j] >= score[other]:
            break
        heap[place] = other
        heap_place[other] = place
        place = child
    heap[place] = j
    heap_place[j] = place


@inlined
def next_column(state: State) -> int:
    """Return the open column with the highest score, or -1; it stays in the heap."""
    while state.counts[HEAP] > 0:
        j = as_index(state.heap[0])
        if state.bound[2 * j] != -state.bound[2 * j + 1]:
            return j
        take_top(state)
    return -1


@inlined
def bump(sides: Sides, state: State, j: int) -> None:
    """Raise the score of a column that is part of a contradiction."""
    if sides.is_integer[j] == 0:
        return
    score = state.score
    score[j] += state.numbers[STEP]
    if score[j] > LARGEST_SCORE:
        for k in range(score.size):
            score[k] /= LARGEST_SCORE
        state.numbers[STEP] /= LARGEST_SCORE
    if state.heap_place[j] >= 0:
        sift_up(state, as_index(state.heap_place[j]))


@called
def fill_heap(sides: Sides, state: State) -> None:
    """Put every open integer column of the model into the heap."""
    for j in range(sides.is_integer.size - 1):
        if sides.is_integer[j] == 1 and state.bound[2 * j] != -state.bound[2 * j + 1]:
            put_in_heap(state, j)
