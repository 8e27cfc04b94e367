"""Where things lie that tests read, whichever folder a test is in."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent
DATA = ROOT / "tests" / "data"
NETLIB_MODELS = ROOT / "tests" / "simplex" / "data"
MODELS = ROOT / "examples" / "data"
