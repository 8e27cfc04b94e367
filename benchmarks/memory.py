"""The most memory that this process has held, from a moment on; Linux only.

The system keeps the largest resident size of a process, and starts anew when it is told to
(``man 5 proc``, ``clear_refs``). Whatever allocates counts: NumPy, compiled code, threads. Child
processes do not.
"""

from __future__ import annotations

import re
from pathlib import Path

STATUS, RESTART = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def restart_peak() -> int | None:
    """Forget the peak so far and return the bytes held now; None where there is no such thing."""
    try:
        RESTART.write_text("5", encoding="ascii")
    except OSError:
        return None
    return _read("VmRSS")


def peak() -> int:
    """Return the bytes held at most since :func:`restart_peak`."""
    return _read("VmHWM")


def mapped() -> int:
    """Return the bytes held of files, devices and shared memory, as a GPU's driver maps them."""
    return _read("RssFile") + _read("RssShmem")


def _read(field: str) -> int:
    found = re.search(rf"^{field}:\s+(\d+) kB", STATUS.read_text(encoding="ascii"), re.MULTILINE)
    assert found is not None  # every Linux has both fields
    return 1024 * int(found[1])
