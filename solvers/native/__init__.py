"""The loops compiled ahead of time: each ``NATIVE_MODULE(name)`` in C++ is ``solvers.native.name``.

Importing this package loads the extension module. Where the installation has none, or the processor
cannot run it, the import raises an error of ours, and what needs no loop goes on without.
"""

from __future__ import annotations

import sys
import types

from solvers.errors import EngineError

try:
    from solvers.native import _core
except ImportError as error:
    raise EngineError(
        "This installation of gpu-bridge lacks its compiled part, or it does not fit this machine "
        f"({error}). Install a wheel that fits, or build it with 'pip install .' and a C++ "
        "compiler; method='highs' works without it."
    ) from error

Interrupted = _core.Interrupted
"""Raised by a loop that was told to end."""

for _name, _found in vars(_core).items():
    if isinstance(_found, types.ModuleType):
        sys.modules[f"{__name__}.{_name}"] = _found
