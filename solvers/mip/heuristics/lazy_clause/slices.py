"""How a slice of the search ends."""

RUNNING, CANDIDATE, RESTART, EXHAUSTED, REFUTED = range(5)
"""Work spent, all integers fixed, time for a restart, nothing left to search, nothing left below a
rung."""
