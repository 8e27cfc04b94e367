"""The loops compiled ahead of time: each ``NATIVE_MODULE(name)`` in C++ is ``solvers.native.name``.

Importing this package loads the extension module. Where the installation has none, or the processor
cannot run it, the import raises an error of ours, and what needs no loop goes on without.
"""

from __future__ import annotations

import platform
import sys
import types

from solvers.errors import EngineError

BASELINE = {"ssse3", "sse4_1", "sse4_2", "popcnt", "cx16"}
"""What x86-64-v2 adds, by the names of Linux: without it a loop would end the process."""


def _missing_instructions() -> set[str]:
    """Return what this processor lacks; nothing where that cannot be told."""
    if platform.machine() != "x86_64":
        return set()
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith("flags"):
                    return BASELINE - set(line.split(":", 1)[1].split())
    except OSError:
        return set()
    return set()


def _refuse(reason: str) -> EngineError:
    return EngineError(
        f"The compiled part of gpu-bridge cannot be used here: {reason}. Install a wheel that fits "
        "this machine, or build one with 'pip install .' and a C++ compiler; method='highs' works "
        "without it."
    )


if _lacking := _missing_instructions():
    raise _refuse(f"the processor has no {', '.join(sorted(_lacking))}")
try:
    import solvers.native._core as _core
except ModuleNotFoundError as error:
    _here = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
    raise _refuse(f"this installation has none for {_here}") from error
except ImportError as error:
    raise _refuse(str(error)) from error

Interrupted = _core.Interrupted
"""Raised by a loop that was told to end."""

for _name, _found in vars(_core).items():
    if isinstance(_found, types.ModuleType):
        sys.modules[f"{__name__}.{_name}"] = _found
