"""Which mixed-integer models the benchmark runs: named sets over an index of files.

The index is a file INSTANCES.csv with the columns ``name, file, kind, nonzeros, integers,
best_objective, optimal_known``; files are relative to it.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

SETS = ("peers", "reporting", "mipcc26", "quick", "wide", "small", "all")

QUICK_SIZE = 30
"""Models in the set ``quick``."""

QUICK_NONZEROS = (500, 100_000)
"""Sizes of the models in the set ``quick``."""

WIDE_SIZE, WIDE_NONZEROS = 60, (500, 300_000)
"""Models in the set ``wide``, and their sizes."""

SMALL_SIZE, SMALL_NONZEROS = 64, (300, 40_000)
"""Models in the set ``small``, and their sizes: for runs of some seconds."""


REPORTING = (
    "berlin_5_8_0",
    "bppc8-09",
    "csched010",
    "danoint",
    "e20100",
    "eil33-2",
    "gen_ip_025",
    "gen_ip_032",
    "mad",
    "markshare_4_0",
    "mkc",
    "neos-3072252-nete",
    "neos-4387871-tavua",
    "neos-4954672-berkel",
    "ran13x13",
    "rout",
    "sp98ir",
)
"""Small files of the half for reporting (``halves.py``) that an earlier version had left open after
20 s. That half is out of bounds for PDLP's constants only: heuristics were tried on 13 of these."""


@dataclass(frozen=True)
class Entry:
    """A model of the index; ``best`` is its best known objective in the sense of the file."""

    name: str
    path: Path
    nonzeros: int
    best: float | None
    proven: bool


def read_index(folder: Path) -> list[Entry]:
    """Return the mixed-integer models of ``folder/INSTANCES.csv``, smallest first.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    """
    with (folder / "INSTANCES.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] == "mip"]
    entries = [
        Entry(
            name=row["name"],
            path=folder / row["file"],
            nonzeros=int(row["nonzeros"] or 0),
            best=float(row["best_objective"]) if row["best_objective"] else None,
            proven=row["optimal_known"] == "yes",
        )
        for row in rows
    ]
    return sorted(entries, key=lambda entry: (entry.nonzeros, entry.name))


def choose(
    entries: Sequence[Entry], name: str | None, instances: Sequence[str], peers: Sequence[str]
) -> list[Entry]:
    """Return the models of a set, or those named, smallest first.

    Parameters
    ----------
    entries : sequence of Entry
        Of the index.
    name : str, optional
        One of :data:`SETS`; None for ``instances`` alone.
    instances : sequence of str
        Names of further models.
    peers : sequence of str
        Models with recorded figures of other solvers, the set ``peers``.

    Raises
    ------
    KeyError
        There is no such set or model.
    """
    known = {entry.name: entry for entry in entries}
    for one in instances:
        if one not in known:
            raise KeyError(f"There is no mixed-integer model '{one}' in the index.")
    wanted = set(instances)
    if name == "peers":
        wanted |= set(peers)
    elif name == "reporting":
        wanted |= set(REPORTING)
    elif name == "mipcc26":
        wanted |= {one for one in known if one.startswith("mipcc26")}
    elif name == "quick":
        wanted |= {entry.name for entry in quick(entries)}
    elif name == "wide":
        wanted |= {entry.name for entry in spread(entries, WIDE_SIZE, WIDE_NONZEROS)}
    elif name == "small":
        wanted |= {entry.name for entry in spread(entries, SMALL_SIZE, SMALL_NONZEROS)}
    elif name == "all":
        wanted |= set(known)
    elif name is not None:
        raise KeyError(f"There is no set '{name}'; sets are {', '.join(SETS)}.")
    return [entry for entry in entries if entry.name in wanted]


def quick(entries: Sequence[Entry]) -> list[Entry]:
    """Return about thirty models of moderate size, each of another family."""
    return spread(entries, QUICK_SIZE, QUICK_NONZEROS)


def spread(entries: Sequence[Entry], count: int, sizes: tuple[int, int]) -> list[Entry]:
    """Return so many models within sizes, each of another family, spread over the sizes.

    The rule knows names and sizes and no results: of models with a known best objective whose
    names begin alike the largest is kept, and of those every k-th by size.
    """
    low, high = sizes
    families: dict[str, Entry] = {}
    for entry in entries:
        if entry.best is not None and low <= entry.nonzeros <= high:
            families[family(entry.name)] = entry
    ordered = sorted(families.values(), key=lambda entry: (entry.nonzeros, entry.name))
    if len(ordered) <= count:
        return ordered
    step = (len(ordered) - 1) / (count - 1)
    return [ordered[round(k * step)] for k in range(count)]


def family(name: str) -> str:
    """Return what names of related models begin with: the first letters."""
    letters = re.match(r"[A-Za-z]+", name)
    return letters.group().lower() if letters else name
