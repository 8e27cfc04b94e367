"""What can be wrong with an answer, and how much."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Verdict(Enum):
    """What was found about an answer or a solve."""

    STATUS = "wrong status"
    POINT = "wrong point"
    OBJECTIVE = "wrong objective"
    OPTIMALITY = "not optimal"
    BOUND = "wrong bound"
    EXCEPTION = "exception"
    DIED = "process died"
    HUNG = "hung"
    LATE = "late"
    NO_ANSWER = "no answer"
    AT_LIMIT = "at a limit"
    DISPUTED = "others differ"
    TOLERANCE = "only within tolerance"

    @property
    def is_wrong(self) -> bool:
        """Whether a user was told something false."""
        return self in _WRONG

    @property
    def is_failure(self) -> bool:
        """Whether the campaign fails."""
        return self.is_wrong or self in (Verdict.EXCEPTION, Verdict.DIED, Verdict.HUNG)

    @property
    def is_kept(self) -> bool:
        """Whether the model is kept in a file."""
        return self not in (Verdict.AT_LIMIT, Verdict.TOLERANCE)


_WRONG = (
    Verdict.STATUS,
    Verdict.POINT,
    Verdict.OBJECTIVE,
    Verdict.OPTIMALITY,
    Verdict.BOUND,
)


@dataclass(frozen=True)
class Ruling:
    """A verdict and the sentence that says why."""

    verdict: Verdict
    detail: str
