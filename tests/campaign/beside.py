"""What a campaign tries beside models: faults done to solves, limits, and leaks."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.table import Table

WORST_LATENESS = 2.0
"""Seconds after its limit by which every answer is wanted."""


def try_faults(console: Console, seconds: float, seed: int) -> bool:
    """Do faults to solves for some time, tell what came of them, and whether all went well."""
    from tests.campaign import faults

    found = faults.run(seconds, seed)
    done = Counter(fault.kind for fault in found)
    wrong = Counter(fault.kind for fault in found if not fault.ok)
    table = Table(title=f"faults, {seconds:.0f} s", show_edge=False)
    for word in ("kind", "done", "wrong"):
        table.add_column(word, justify="left" if word == "kind" else "right")
    for kind in sorted(done):
        table.add_row(kind, str(done[kind]), str(wrong[kind] or ""))
    console.print(table)
    for fault in found:
        if not fault.ok:
            text = f"{fault.kind}: {fault.description}: {fault.detail}"
            console.print(text, markup=False, highlight=False, soft_wrap=True)
    return not wrong


def try_limits(console: Console, seconds: float, seed: int) -> bool:
    """Solve real instances with limits for some time, and tell how late the answers were."""
    from tests.campaign import limits

    found = sorted(limits.run(seconds, seed), key=lambda lateness: -lateness.late)
    if not found:
        return True
    at = {share: found[int((1.0 - share) * len(found))].late for share in (0.5, 0.9, 0.99)}
    quantiles = ", ".join(
        f"p{share:.0%} {late:.2f} s".replace("%", "") for share, late in at.items()
    )
    console.print(f"{len(found)} limits: {quantiles}, worst {found[0].late:.2f} s late")
    for one in found:
        if one.late > WORST_LATENESS:
            text = (
                f"{one.instance} {one.method} {one.door}: limit {one.limit}, took {one.seconds:.2f}"
            )
            console.print(text, markup=False, highlight=False, soft_wrap=True)
    return found[0].late <= WORST_LATENESS


def try_leaks(console: Console, solves: int, seed: int, device: str) -> bool:
    """Solve small models over and over, and tell whether anything grows."""
    from tests.campaign import leaks

    growth = leaks.measure(solves, seed, device)
    console.print(leaks.table(growth, f"{solves} solves, seed {seed}, {device}"))
    return not growth.leaks
