"""Model files in (MPS and LP, parsed by HiGHS), solution files out (``.sol`` and JSON)."""

from __future__ import annotations

from gpu_bridge.files.reader import read_problem
from gpu_bridge.files.solution import read_solution, write_json, write_solution
from gpu_bridge.paths import check_writable, write_whole

__all__ = [
    "check_writable",
    "read_problem",
    "read_solution",
    "write_json",
    "write_solution",
    "write_whole",
]
