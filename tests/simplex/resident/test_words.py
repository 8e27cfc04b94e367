"""Host and device agree about the words that steer the kernels."""

from __future__ import annotations

import re

from solvers.kernels.family import load_source
from solvers.simplex.resident import control
from solvers.simplex.state import BASIC, LOWER, UPPER, ZERO

SOURCE = load_source("solvers.simplex.resident.kernels", "core.cuh")
KINDS = {"LOWER": LOWER, "BASIC": BASIC, "UPPER": UPPER, "ZERO": ZERO}


def enumerated(name: str) -> dict[str, int]:
    body = re.search(rf"enum {name} \{{(.*?)\}}", SOURCE, re.S)
    assert body is not None
    names = [part.split("=")[0].strip() for part in body[1].split(",")]
    return {word: place for place, word in enumerate(names)}


def test_words_have_the_same_places():
    for name in ("Word", "Status", "Scalar"):
        for word, place in enumerated(name).items():
            if word != "NO_SCALAR":
                assert getattr(control, word) == place, word
    assert enumerated("Kind") == KINDS


CONSTANTS = (
    "BLOCK", "MOST_DELAYED", "MOST_GROUPS", "MOST_FLIPS", "NONE", "SPARSE_BELOW", "GATHER_BELOW",
    "SIDE_ROWS", "SEGMENT",
)  # fmt: skip


def test_constants_are_the_same():
    for name in CONSTANTS:
        found = re.search(rf"#define {name} (\d+)", SOURCE)
        assert found is not None
        assert int(found[1]) == getattr(control, name)
