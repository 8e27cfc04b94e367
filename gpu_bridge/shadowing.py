"""The import package ``solvers`` has a common name; make sure that Python found ours."""

from __future__ import annotations

import os.path
from importlib.util import find_spec


def check_solvers_package() -> None:
    """Raise ImportError if ``solvers`` is not the package installed beside ``gpu_bridge``."""
    beside = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    expected = os.path.join(beside, "solvers", "__init__.py")
    spec = find_spec("solvers")
    found = None if spec is None or spec.origin is None else os.path.realpath(spec.origin)
    if found == expected:
        return
    where = "nowhere" if found is None else f"at '{found}'"
    raise ImportError(
        f"gpu_bridge needs the package 'solvers' that is installed beside it, but Python found "
        f"one {where}. Rename that file, or run Python with -P so that the current folder is "
        "not searched first."
    )
