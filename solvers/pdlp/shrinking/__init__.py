"""Leaving out what takes no part any more: columns held at their bounds, rows that are slack.

``part`` says which these are, makes the problem without them and takes the iteration there and
back; ``compaction`` decides when.
"""

from __future__ import annotations

from solvers.pdlp.shrinking.compaction import Compaction

__all__ = ["Compaction"]
