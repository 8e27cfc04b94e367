"""The hook that makes pages of the documentation, loaded as MkDocs does."""

from __future__ import annotations

import importlib.util
from typing import Any

from tests.locations import ROOT


def docs_hook() -> Any:
    """Return the module."""
    spec = importlib.util.spec_from_file_location("generated", ROOT / "docs/hooks/generated.py")
    assert spec is not None
    assert spec.loader is not None
    hook = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hook)
    return hook
