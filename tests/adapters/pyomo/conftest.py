"""Which of these tests are about things that older versions of Pyomo do not have."""

from __future__ import annotations

from gpu_bridge.adapters.pyomo.interface import HAS_NEW_INTERFACE

collect_ignore = (
    []
    if HAS_NEW_INTERFACE
    else [
        *("test_v2.py", "test_pool.py", "test_statuses.py", "test_registration.py"),
        *("test_persistent.py", "test_persistent_changes.py", "test_same_as_compiler.py"),
        *("test_sos.py", "test_suffixes.py"),
    ]
)
