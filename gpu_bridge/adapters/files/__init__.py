"""Model files in (MPS and LP, parsed by HiGHS), solution files out (``.sol`` and JSON)."""

from __future__ import annotations

from gpu_bridge.adapters.files.reader import read_problem

__all__ = ["read_problem"]
