"""Leaving out what takes no part any more: columns held at their bounds, rows that are slack.

``idle`` says which these are and makes the problem without them, ``handover`` takes the
iteration from one to the other, and ``compaction`` decides when.
"""

from __future__ import annotations

from solvers.pdlp.shrinking.compaction import Compaction

__all__ = ["Compaction"]
