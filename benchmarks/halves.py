"""Which models constants are chosen on, and which only say afterwards what that was worth.

Whoever tunes a method until a set of models likes it has measured the set. So all models are split
once: on the half for *choosing* anything may be tried, on the half for *reporting* no constant of
PDLP is, and figures are given for both. The half follows from the name alone, so that a new model
has its own before anybody has seen it, and a model that comes in several sizes (``pds-10``,
``pds-50``) or a made-up family is on one side with all of its sizes and seeds.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

CHOOSING, REPORTING = "choosing", "reporting"
HALVES = (CHOOSING, REPORTING)


def half_of(name: str) -> str:
    """Return the half of a model, of a relaxation by the name of its model, or of a family."""
    kin = re.sub(r"([-_.]?\d+)+$", "", name.lower()) or name
    digest = hashlib.sha256(kin.encode()).digest()
    return HALVES[digest[0] % 2]


def members(names: Iterable[str], half: str) -> list[str]:
    """Return those of the names that are in a half."""
    return [name for name in names if half_of(name) == half]
