"""Random numbers, ties and sums as the device has them, for the twins of this folder."""
# mypy: allow-untyped-defs, allow-untyped-decorators

from __future__ import annotations

import numba
import numpy as np

from solvers.mip.walkers.kernels.fields import TOLERANCE

_MASK = np.uint64(0xFFFFFFFF)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
STEP_DRAWS = 64
WARP_LANES = 32

part = numba.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""Compiles a function that only compiled ones call: without a door to Python, in half the time."""


@part
def mix(z):
    """Return the bits of a 64-bit number well mixed (the finalizer of SplitMix64)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@part
def key_of(seed, walker, epoch):
    """Return the key of a walker's random numbers."""
    name = ((np.uint64(seed) & _MASK) << np.uint64(32)) | np.uint64(walker)
    return mix(name + (np.uint64(epoch) & _MASK) * _GOLDEN)


@part
def draw(key, step, purpose):
    """Return the 32 random bits that belong to a step and a purpose."""
    counter = np.uint64(np.int64(step) * STEP_DRAWS + np.int64(purpose))
    return mix(key + counter * _GOLDEN) >> np.uint64(32)


@part
def below(key, step, purpose, bound):
    """Return a random number from 0 to ``bound`` - 1."""
    return np.int64((draw(key, step, purpose) * np.uint64(bound)) >> np.uint64(32))


@part
def chance(key, step, purpose, probability):
    """Return True with a probability."""
    return np.float64(draw(key, step, purpose)) < probability * 4294967296.0


@part
def tie_rank(base, candidate):
    """Return the rank for ties of a candidate, never 0."""
    h = (base + np.uint64(candidate) * np.uint64(0x9E3779B9)) & _MASK
    h = ((h ^ (h >> np.uint64(16))) * np.uint64(0x85EBCA6B)) & _MASK
    h = ((h ^ (h >> np.uint64(13))) * np.uint64(0xC2B2AE35)) & _MASK
    h ^= h >> np.uint64(16)
    return np.int64((h & np.uint64(0xFFFFF000)) | np.uint64(candidate + 1))


@part
def lane_sum(parts):
    """Return the sum of the lanes' parts in the order in which a group adds them."""
    total = 0.0
    for warp in range(parts.size // WARP_LANES):
        own = parts[warp * WARP_LANES : (warp + 1) * WARP_LANES]
        offset = WARP_LANES // 2
        while offset:
            for lane in range(offset):
                own[lane] += own[lane + offset]
            offset //= 2
        total = own[0] if warp == 0 else total + own[0]
    return total


@numba.njit(inline="always")
def violation(slack, width):
    """Return by how much a row is violated; 0 within the tolerance."""
    beyond = -slack if slack < 0.0 else slack - width
    return beyond if beyond > TOLERANCE else 0.0
