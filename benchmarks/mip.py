"""Mixed-integer programs: our heuristics with branch and bound beside other solvers.

    python -m benchmarks.mip FOLDER [--set quick] [--time-limit 20] [--seeds 0 1 2]
        [--solvers ours ours-heuristics highs localmip cuopt cuopt-heuristics]

FOLDER holds INSTANCES.csv with the best known objectives (see ``mip_sets.py``). Sets are ``peers``
(the models with recorded figures of other solvers), ``mipcc26``, ``quick`` (about thirty, picked by
name and size) and ``all``; ``--instances`` names models one by one.

Every run has a process of its own that is killed when it overstays. The clock starts when the model
is in memory (Local-MIP: in a file) and a first solve of ``--warm-up`` seconds has loaded what the
process needs. Points are judged on the model of the file by ``mip_check.py``, which shares nothing
with any solver; measures are in ``mip_measures.py``. A model without a known objective is measured
against the best found here.

``--stop-after`` ends the benchmark between two runs and records what there is; ``--resume`` adds
the rows of earlier records and runs what is missing. ``--recorded`` puts figures from a file
beside, those recorded on one NVIDIA H200 if no file is named.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.mip_measures import primal_gap, primal_integral
from benchmarks.mip_rows import MipRow, common_models, summarise
from benchmarks.mip_run import Settings, prepare, run
from benchmarks.mip_sets import SETS, Entry, choose, read_index
from benchmarks.peers import mip_recorded
from benchmarks.peers.mip_names import NAMES, find
from benchmarks.record import Column, print_table, write_record

SUMMARY = (
    *(Column("solver"), Column("models"), Column("feasible"), Column("mean gap"), Column("P/T")),
    *(Column("P SGM s"), Column("first s", 3), Column("optimal"), Column("best P", 3)),
    *(Column("wrong"), Column("late s", 3)),
)


@dataclass(frozen=True)
class Plan:
    """What is to be run."""

    entries: tuple[Entry, ...]
    solvers: tuple[str, ...]
    seeds: tuple[int, ...]
    settings: Settings
    stop_at: float


def main() -> int:
    """Run, print two tables and write a record."""
    arguments = _parser().parse_args()
    name = arguments.set if arguments.set or arguments.instances else "quick"
    peers = mip_recorded.instances(arguments.recorded or mip_recorded.DEFAULT)
    entries = choose(read_index(arguments.folder), name, arguments.instances, peers)
    solvers = _present(arguments.solvers)
    settings = Settings(
        arguments.time_limit,
        arguments.threads,
        arguments.device,
        arguments.relative,
        arguments.warm_up,
    )
    began = time.monotonic()
    plan = Plan(
        tuple(entries), solvers, tuple(arguments.seeds), settings, began + arguments.stop_after
    )
    rows = _earlier(arguments.resume, settings)
    try:
        for row, entry in _run_all(plan, rows):
            rows.append(row)
            print(_line(row, entry), flush=True)
    except KeyboardInterrupt:
        print("Interrupted; what there is gets recorded.", flush=True)
    best = _best_known(entries, rows)
    rows = [_measured(row, best.get(row.model)) for row in rows]
    if arguments.recorded:
        senses = {row.model: row.sense for row in rows}
        rows += mip_recorded.read_recorded(arguments.recorded, best, senses)
    _show(rows, settings)
    _write(rows, plan, name, best, arguments.out)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--set", choices=SETS, default=None)
    parser.add_argument("--instances", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--solvers", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--time-limit", type=float, default=20.0)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--device", default="auto", help="where ours runs")
    parser.add_argument("--relative", action="store_true", help="violations over max(1, |side|)")
    parser.add_argument(
        "--warm-up", type=float, default=5.0, metavar="SECONDS", help="first solve of a process"
    )
    parser.add_argument("--stop-after", type=float, default=float("inf"), metavar="SECONDS")
    parser.add_argument("--resume", type=Path, nargs="*", default=[], metavar="RECORD.json")
    parser.add_argument(
        "--recorded", type=Path, nargs="?", const=mip_recorded.DEFAULT, metavar="FILE.csv"
    )
    parser.add_argument("--out", type=Path, default=None, help="folder of the record")
    return parser


def _present(names: Sequence[str]) -> tuple[str, ...]:
    """Return the solvers that can run here, and say why the others cannot."""
    present = []
    for name in names:
        why = find(name).missing()
        if why is None:
            present.append(name)
        else:
            print(f"{name} is left out: {why}.", flush=True)
    return tuple(present)


def _run_all(plan: Plan, done: Sequence[MipRow]) -> Iterator[tuple[MipRow, Entry]]:
    """Yield the runs that are not done yet, all solvers on one model after the other."""
    finished = {(row.name, row.model, row.seed) for row in done}
    with tempfile.TemporaryDirectory(prefix="mip-models-") as folder:
        for seed in plan.seeds:
            for entry in plan.entries:
                wanted = [s for s in plan.solvers if (s, entry.name, seed) not in finished]
                if not wanted:
                    continue
                prepared = prepare(entry, Path(folder))
                for solver in wanted:
                    if time.monotonic() + plan.settings.time_limit > plan.stop_at:
                        print("The time is up; what there is gets recorded.", flush=True)
                        return
                    yield run(solver, prepared, seed, plan.settings, entry.best), entry


def _earlier(paths: Sequence[Path], settings: Settings) -> list[MipRow]:
    """Return the rows of earlier records with the same limit."""
    rows: list[MipRow] = []
    for path in paths:
        rows += [MipRow.from_record(one) for one in json.loads(path.read_text())["rows"]]
    return [row for row in rows if not row.recorded and row.limit == settings.time_limit]


def _best_known(entries: Sequence[Entry], rows: Sequence[MipRow]) -> dict[str, float]:
    """Return the best known objectives: the index's, or the best found where it has none."""
    best = {entry.name: entry.best for entry in entries if entry.best is not None}
    found: dict[str, float] = {}
    for row in rows:
        if row.model not in best and row.objective is not None:
            before = found.get(row.model, row.sense * float("inf"))
            better = row.sense * row.objective < row.sense * before
            found[row.model] = row.objective if better else before
    return best | found


def _measured(row: MipRow, best: float | None) -> MipRow:
    """Return a row measured against the best known objective."""
    if row.recorded:
        return row
    integral = primal_integral(row.events, best, row.limit, row.sense) / row.limit
    return replace(row, gap=primal_gap(row.objective, best, row.sense), integral=integral)


def _line(row: MipRow, entry: Entry) -> str:
    found = "-" if row.objective is None else f"{row.objective:.10g}"
    first = "-" if row.first is None else f"{row.first:.2f} s"
    trouble = f"  {row.wrong.upper()}" if row.wrong else ""
    best = "?" if entry.best is None else f"{entry.best:.10g}"
    return (
        f"{row.model:<28} {row.solver:<28} seed {row.seed}: {found} (best {best}, gap "
        f"{row.gap:.4f}), first {first}, {row.status}, {row.seconds:.1f} s {row.detail}{trouble}"
    ).rstrip()


def _show(rows: Sequence[MipRow], settings: Settings) -> None:
    models = common_models(rows)
    solvers = list(dict.fromkeys(row.solver for row in rows))
    cells = [
        [model, *(_cell([r for r in rows if (r.model, r.solver) == (model, s)]) for s in solvers)]
        for model in dict.fromkeys(row.model for row in rows)
    ]
    title = f"Gap, runs with a point, seconds to the first; {settings.time_limit:g} s"
    print_table(title, [Column("model"), *map(Column, solvers)], cells)
    lines = [
        [
            *(s.solver, s.models, s.feasible, s.gap, s.integral, s.integral_mean),
            *(s.first, s.optimal, s.best, s.wrong, s.late),
        ]
        for s in summarise(rows)
    ]
    print_table(
        f"{len(models)} models that all have run, {settings.time_limit:g} s", SUMMARY, lines
    )


def _cell(rows: Sequence[MipRow]) -> str:
    if not rows:
        return ""
    gap = sum(row.gap for row in rows) / len(rows)
    firsts = [row.first for row in rows if row.first is not None]
    first = f" {sum(firsts) / len(firsts):.1f}s" if firsts else ""
    count = sum(row.feasible for row in rows)
    return f"{gap:.3f} {count}/{len(rows)}{first}{' !' if any(row.wrong for row in rows) else ''}"


def _write(
    rows: Sequence[MipRow], plan: Plan, name: str | None, best: dict[str, float], out: Path | None
) -> None:
    content = {
        "set": name,
        "settings": asdict(plan.settings),
        "seeds": list(plan.seeds),
        "best": best,
        "summary": [asdict(line) for line in summarise(rows)],
        "rows": [row.as_record() for row in rows],
    }
    label = f"mip-{name or 'chosen'}-{plan.settings.time_limit:g}s"
    if out is None:
        write_record(label, content)
    else:
        write_record(label, content, folder=out)


if __name__ == "__main__":
    raise SystemExit(main())
