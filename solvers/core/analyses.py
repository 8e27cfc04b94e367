"""What a caller's session keeps of the structure of its models from solve to solve."""

from __future__ import annotations

from typing import Any


class Analyses:
    """Holds what an engine has found out about the structure of the latest problem.

    It is taken out for a solve and put back after it, so that a second solve at the same time finds
    nothing here and begins anew. It holds as much memory as the engine needs for it.
    """

    def __init__(self) -> None:
        self._kept: tuple[bytes, Any] | None = None

    def __reduce__(self) -> tuple[type[Analyses], tuple[()]]:
        return Analyses, ()  # a copy of it has yet to solve

    def take(self, structure: bytes) -> Any | None:
        """Return what was kept for a structure; what was kept for another one is let go."""
        kept, self._kept = self._kept, None
        return kept[1] if kept is not None and kept[0] == structure else None

    def keep(self, structure: bytes, analysis: Any) -> None:
        """Keep this for the next solve."""
        self._kept = structure, analysis
