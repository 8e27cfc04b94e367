"""What a campaign has found so far, and its table."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.campaign.trial import Finding, Trial
from tests.campaign.verdicts import Verdict

MOST_LISTED = 200
COLUMNS = (
    Verdict.EXCEPTION,
    Verdict.LATE,
    Verdict.NO_ANSWER,
    Verdict.AT_LIMIT,
    Verdict.DISPUTED,
    Verdict.TOLERANCE,
)


@dataclass
class Row:
    """The counts of one kind."""

    models: int = 0
    solves: int = 0
    undecided: int = 0
    seconds: float = 0.0
    verdicts: Counter[Verdict] = field(default_factory=Counter)

    @property
    def wrong(self) -> int:
        """Answers that told something false."""
        return sum(count for verdict, count in self.verdicts.items() if verdict.is_wrong)

    @property
    def lost(self) -> int:
        """Processes that died or hung."""
        return self.verdicts[Verdict.DIED] + self.verdicts[Verdict.HUNG]

    def add(self, other: Row) -> None:
        """Add the counts of another row."""
        self.models += other.models
        self.solves += other.solves
        self.undecided += other.undecided
        self.seconds += other.seconds
        self.verdicts.update(other.verdicts)


class Tally:
    """Counts by kind, and all findings."""

    def __init__(self) -> None:
        self.rows: dict[str, Row] = {}
        self.findings: list[Finding] = []

    def take(self, trial: Trial) -> None:
        """Count a trial."""
        counts = Counter(finding.verdict for finding in trial.findings)
        row = Row(1, trial.solves, int(not trial.is_settled), trial.seconds, counts)
        self.rows.setdefault(trial.kind, Row()).add(row)
        self.findings += trial.findings

    @property
    def total(self) -> Row:
        """The counts of all kinds."""
        total = Row()
        for row in self.rows.values():
            total.add(row)
        return total

    @property
    def failures(self) -> list[Finding]:
        """Findings that let the campaign fail."""
        return [finding for finding in self.findings if finding.verdict.is_failure]

    def show(self, console: Console, title: str) -> None:
        """Print the table and the list of what was found."""
        table = Table(title=title)
        table.add_column("kind")
        words = ("models", "solves", "wrong", "lost", *(v.value for v in COLUMNS))
        for word in (*words, "undecided", "seconds"):
            table.add_column(word, justify="right")
        for kind in sorted(self.rows):
            table.add_row(kind, *_cells(self.rows[kind]))
        table.add_section()
        table.add_row("all", *_cells(self.total))
        console.print(table)
        listed = [f for f in self.findings if f.verdict.is_kept]
        listed.sort(key=lambda finding: not finding.verdict.is_failure)
        for finding in listed[:MOST_LISTED]:
            console.print(str(finding), markup=False, highlight=False, soft_wrap=True)
        if len(listed) > MOST_LISTED:
            console.print(f"... and {len(listed) - MOST_LISTED} more")

    def write(self, path: Path, **facts: object) -> None:
        """Write counts and findings as JSON."""
        record = {
            **facts,
            "kinds": {kind: _record(row) for kind, row in sorted(self.rows.items())},
            "all": _record(self.total),
            "findings": [
                {**vars(finding), "verdict": finding.verdict.value} for finding in self.findings
            ],
        }
        path.write_text(json.dumps(record, indent=1, default=str), encoding="utf-8")


def _cells(row: Row) -> list[str]:
    counts = [row.models, row.solves, row.wrong, row.lost]
    counts += [row.verdicts[verdict] for verdict in COLUMNS]
    return [str(count or "") for count in (*counts, row.undecided)] + [f"{row.seconds:.0f}"]


def _record(row: Row) -> dict[str, object]:
    return {
        "models": row.models,
        "solves": row.solves,
        "wrong": row.wrong,
        "lost": row.lost,
        "undecided": row.undecided,
        "seconds": round(row.seconds, 1),
        "verdicts": {verdict.value: count for verdict, count in row.verdicts.items()},
    }
