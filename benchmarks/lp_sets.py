"""Which models a benchmark runs: named sets over an index of files.

The index is a file INSTANCES.csv with the columns ``name, file, kind, nonzeros, integers,
best_objective, optimal_known``; files are relative to it. Mixed-integer models stand for their
linear relaxations, whose optimum the index does not know.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PEERS = (
    *("nug08", "greenbea", "qap12", "ex3sta1", "stocfor3", "fome11", "pilot87", "rat1", "leader"),
    *("ken-13", "pds-10", "gen4", "p10", "maros-r7", "routing", "cre-d", "rail582", "t0331-4l"),
    *("pds-50", "osa-30", "irish-electricity", "rmine11"),
)
"""The models with recorded figures of other solvers, by number of nonzeros."""

SMALL = ("afiro", "adlittle", "sc50a", "share2b", "brandy", "scagr25", "ship04s", "25fv47")
"""A minute's trial of everything."""

INFEASIBLE, INFEASIBLE_KINDS = "infeasible", ("infeasible", "unbounded")
"""The set of models without an optimum, and of what kinds they are in the index."""

RELAXATIONS = (30_000, 1_200_000)
"""Nonzeros of the mixed-integer models in the set of that name."""


@dataclass(frozen=True)
class Entry:
    """One model of the index; ``optimum`` in the file's sense, where it is known."""

    name: str
    path: Path
    kind: str
    nonzeros: int
    optimum: float | None


def read_index(folder: Path, kinds: Sequence[str] = ("lp", "mip")) -> list[Entry]:
    """Return the linear and mixed-integer models of ``folder/INSTANCES.csv``, or other kinds.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    """
    with (folder / "INSTANCES.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["kind"] in kinds]
    return [_entry(folder, row) for row in rows]


def choose(entries: Sequence[Entry], names: Sequence[str]) -> list[Entry]:
    """Return the models of the sets or of the names given, smallest first, each once.

    Raises
    ------
    KeyError
        A name is neither a set nor a model of the index, or a set without a model of the kinds
        that were read.
    """
    by_name = {entry.name: entry for entry in entries}
    chosen: dict[str, Entry] = {}
    for name in names:
        members = _members(by_name, name)
        if not members:
            raise KeyError(f"No model of the set '{name}' is of a kind that was read.")
        chosen |= {entry.name: entry for entry in members}
    return sorted(chosen.values(), key=lambda entry: (entry.nonzeros, entry.name))


def _members(by_name: dict[str, Entry], name: str) -> list[Entry]:
    if name in by_name:
        return [by_name[name]]
    lists = {"peers": PEERS, "small": SMALL}
    if name in lists:
        return [by_name[member] for member in lists[name] if member in by_name]
    entries = list(by_name.values())
    if name == "relaxations":
        low, high = RELAXATIONS
        return [e for e in entries if e.kind == "mip" and low <= e.nonzeros <= high]
    if name in ("netlib", "lp-large"):
        return [e for e in entries if e.kind == "lp" and e.path.parent.name == name]
    if name == INFEASIBLE:
        return [e for e in entries if e.kind in INFEASIBLE_KINDS]
    if name == "lp":
        return [entry for entry in entries if entry.kind == "lp"]
    raise KeyError(
        f"There is no set or model '{name}'; sets are peers, small, netlib, lp-large, lp, "
        "relaxations, infeasible."
    )


def _entry(folder: Path, row: dict[str, str]) -> Entry:
    known = row["kind"] == "lp" and row["optimal_known"] == "yes" and row["best_objective"] != ""
    return Entry(
        name=row["name"],
        path=folder / row["file"],
        kind=row["kind"],
        nonzeros=int(row["nonzeros"] or 0),
        optimum=float(row["best_objective"]) if known else None,
    )
