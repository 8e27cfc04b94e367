"""What every benchmark does with its figures: a table on the terminal and a JSON file.

The file says what a reader needs to judge the figures: machine, versions, commit, seed, time.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from solvers.core.device import Device, cpu, find_device

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("gpu-bridge", "numpy", "scipy", "highspy", "cupy-cuda12x", "cupy-cuda13x")
PLAIN_WIDTH = 160
"""Width of a table that goes to a file or a pipe."""


@dataclass(frozen=True)
class Column:
    """A column of a table; numbers in it show ``digits`` significant digits."""

    title: str
    digits: int = 4

    def text(self, value: Any) -> str:
        """Return a cell as the table shows it."""
        if value is None:
            return ""
        return f"{value:.{self.digits}g}" if isinstance(value, float) else str(value)


def print_table(title: str, columns: Sequence[Column], rows: Sequence[Sequence[Any]]) -> None:
    """Print rows of cells under their columns; numbers stand on the right."""
    table = Table(title=title)
    for place, column in enumerate(columns):
        cells = [row[place] for row in rows]
        numeric = all(isinstance(cell, (int, float, type(None))) for cell in cells)
        table.add_column(column.title, justify="right" if numeric else "left")
    for row in rows:
        cells = [column.text(cell) for column, cell in zip(columns, row, strict=True)]
        table.add_row(*cells)
    console = Console()
    if not console.is_terminal:
        console = Console(width=PLAIN_WIDTH)
    console.print(table)


def write_record(
    name: str,
    content: Mapping[str, Any],
    *,
    device: Device | None = None,
    seed: int | None = None,
    folder: Path = RESULTS,
) -> Path:
    """Write figures to ``NAME-MACHINE-TIME.json`` and return its path.

    Parameters
    ----------
    name : str
        Of the benchmark.
    content : mapping
        The figures, and what they depend on beside the machine; anything that JSON can hold.
    device : Device, optional
        Where it ran; by default what ``device='auto'`` finds.
    seed : int, optional
        Of the data or the solver.
    folder : Path
        Where the file goes.
    """
    where = find_device("auto") if device is None else device
    now = datetime.now(timezone.utc)
    document = {
        "benchmark": name,
        "time": now.isoformat(timespec="seconds"),
        "machine": machine(where),
        "versions": versions(),
        "commit": commit(),
        "seed": seed,
        **content,
    }
    folder.mkdir(parents=True, exist_ok=True)
    label = re.sub(r"[^A-Za-z0-9]+", "-", where.name.split(",")[0]).strip("-").lower()
    path = folder / f"{name}-{label}-{now:%Y%m%d-%H%M%S}.json"
    path.write_text(json.dumps(document, indent=1, default=_plain) + "\n", encoding="utf-8")
    Console().print(f"written: {path}")
    return path


def machine(device: Device) -> dict[str, Any]:
    """Return what the figures depend on of the machine."""
    found: dict[str, Any] = {
        "device": device.name,
        "kind": device.kind,
        "cpu": cpu().name,
        "os": platform.system(),
    }
    if device.kind == "cuda":
        runtime = device.xp.cuda.runtime
        found["driver"] = runtime.driverGetVersion()
        found["cuda"] = runtime.runtimeGetVersion()
    return found


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that are installed."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def commit() -> str:
    """Return the commit measured, with '+' if files differ from it, or 'unknown'.

    Where the code was copied without its history, or onto another one, ``BENCHMARK_COMMIT`` names
    it.
    """
    if "BENCHMARK_COMMIT" in os.environ:
        return os.environ["BENCHMARK_COMMIT"]
    here = Path(__file__).parent
    try:
        head = _git(here, "rev-parse", "--short=12", "HEAD")
        changed = _git(here, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return head + ("+" if changed else "")


def _git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def _plain(value: Any) -> Any:
    """Turn NumPy scalars into what JSON knows, and the rest into text."""
    return value.item() if hasattr(value, "item") else str(value)
