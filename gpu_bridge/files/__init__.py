"""Model files in (MPS and LP, parsed by HiGHS), solution files out (``.sol`` and JSON)."""

from __future__ import annotations

from gpu_bridge.atomic_files import check_writable, write_whole
from gpu_bridge.files.reader import read_problem
from gpu_bridge.files.solution import read_solution, write_json, write_solution

__all__ = [
    "check_writable",
    "read_problem",
    "read_solution",
    "write_json",
    "write_solution",
    "write_whole",
]
