"""Constants that no record measures, and why: the rest of what ``constants.py`` looks at.

    python -m benchmarks.constants_unmeasured [PAGE ...]

prints how many constants of each engine are measured, have a reason, and have neither, and writes
the reasons into pages, such as ``docs/mip-constants.md``, between their marks. A constant is
measured if a record under ``benchmarks/results`` has a value of what half or twice of it changes.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from fnmatch import fnmatch
from pathlib import Path

from benchmarks.constants_in_source import ROOT, Constant, find
from benchmarks.constants_page import WORDS, wrapped

ENGINES = ("mip", "pdlp", "knapsack")

MARKS = ("<!-- constants without a measurement -->\n", "<!-- end of the reasons -->\n")

VARIED = re.compile(r"^solvers\.([\w.]+)=")
"""A variant of ``mip_variants.py`` that gives one constant another value."""

REASONS: dict[str, tuple[str, ...]] = {
    "Places in an array, codes, and numbers that stand for nothing: another one means another "
    "thing.": (
        "knapsack.dp.heavy_first.SUFFIX",
        "knapsack.dp.heavy_first.PLACES",
        "knapsack.dp.heavy_first.FULL",
        "knapsack.dp.heavy_first.PAUSED",
        "knapsack.dp.states.ALL_BITS",
        "knapsack.multidimensional.tree.UNDECIDED",
        "knapsack.multiple.engine.UNTRIED",
        "knapsack.multiple.items.NOWHERE",
        "knapsack.multiple.listed.SIZE",
        "knapsack.multiple.listed.UNFINISHED",
        "knapsack.multiple.recognise.NONE",
        "knapsack.multiple_choice.recognise.NO_COLUMN",
        "knapsack.multiple_choice.stages.NONE",
        "knapsack.multiple_choice.stages.NO_ROOM",
        "knapsack.multiple_choice.stages.STOPPED",
        "pdlp.bounds.OTHERS",
        "pdlp.feasibility_polishing.NEVER",
    ),
    "Sizes that a kernel, a template or an array has when it is compiled, and what a warp, a word "
    "and a block have.": (
        "knapsack.batch.kernels.many.WORD",
        "knapsack.batch.kernels.many.WARPS",
        "knapsack.batch.kernels.many.LANES",
        "knapsack.dp.gpu_lists.kernels.stages.CONTROL_SIZE",
        "knapsack.dp.gpu_lists.kernels.stages.THREADS",
        "knapsack.dp.gpu_lists.kernels.stages.EACH",
        "knapsack.dp.gpu_lists.kernels.stages.LANES",
        "knapsack.dp.gpu_lists.kernels.lists.EPOCH_SHIFT",
        "knapsack.dp.gpu_lists.kernels.lists.KIND_SHIFT",
        "knapsack.dp.states.STAGES",
        "knapsack.dp.tables.dense.BLOCK",
        "knapsack.dp.tables.dense.CHUNK",
        "knapsack.multidimensional.kernels.anneal.WARPS",
        "knapsack.multidimensional.kernels.anneal.LANES",
        "knapsack.multidimensional.kernels.anneal.SLICES",
        "knapsack.multidimensional.kernels.anneal.FRACTION_BITS",
        "knapsack.multidimensional.kernels.anneal.LARGEST_RISE",
        "knapsack.multidimensional.kernels.trial.TABLE_BITS",
        "knapsack.multiple_choice.stages.HISTORY_BITS",
        "mip.heuristics.local_search.kernels.grid_walk.CHUNK",
        "mip.heuristics.local_search.kernels.grid_numbers.MOST_TEAMS",
        "mip.heuristics.local_search.kernels.grid_numbers.FETCHED",
        "mip.heuristics.local_search.kernels.grid_numbers.BLOCK",
        "mip.heuristics.local_search.kernels.grid_numbers.MOST_LEVELS",
        "mip.heuristics.local_search.kernels.group.LANES",
        "mip.heuristics.local_search.kernels.walker.MOST_ROWS",
        "mip.heuristics.meet_in_the_middle.lists.SLOT_BITS",
        "mip.heuristics.meet_in_the_middle.lists.MARK_BITS",
        "pdlp.kernels.decide.BLOCK",
        "pdlp.kernels.layout.ENTRIES_OF_BLOCK",
        "pdlp.kernels.matrix.TEAM",
        "pdlp.kernels.measure.SUMS",
        "pdlp.kernels.staying.BLOCK",
    ),
    "Bytes of a number, steps of a trial, and what a solve holds in memory: counted, not chosen.": (
        "knapsack.batch.kernels.many.BYTES",
        "knapsack.multidimensional.kernels.anneal.TRIAL_STEPS",
        "pdlp.kernels.matrix.REAL_BYTES",
        "pdlp.start.COLUMN_VECTORS",
        "pdlp.start.ROW_VECTORS",
        "pdlp.start.PADDING",
    ),
    "What rounding in double precision leaves.": (
        "knapsack.multiple_choice.stages.BROAD",
        "pdlp.__init__.TIGHTEST",
    ),
    "For several GPUs only ([scale.md](scale.md)).": ("pdlp.distributed.*",),
    "A distance of seeds: any number.": ("mip.proof_stage.RIVAL_SEED",),
    "How long heuristics alone go on where nobody has set a limit: that much, by definition.": (
        "mip.context.STALL_SECONDS",
        "mip.context.STALL_SHARE",
    ),
    "Measured otherwise, in its comment or on this page.": (
        "knapsack.multidimensional.memetic.DISPUTE",
        "knapsack.multidimensional.primal_heuristics.STEPS_PER_GPU_TRIAL",
        "knapsack.multidimensional.primal_heuristics.TEMPERINGS",
        "mip.heuristics.local_search.run.MOST_SCORED",
        "mip.heuristics.local_search.run.STEP_WORK",
        "mip.heuristics.local_search.run.UNTIMED_STEPS",
        "mip.proof_stage.MOST_THREADS",
        "pdlp.execution.on_gpu.LEFT_FREE",
        "pdlp.layout.ON_DEVICE_FROM",
        "pdlp.repair.GPU_FROM_NONZEROS",
    ),
}
"""Constants, and patterns of their names, by why half and twice of them are not measured."""


def main() -> int:
    """Print the counts and write the reasons into pages."""
    known = measured()
    for engine in ENGINES:
        constants = find(f"solvers/{engine}")
        left = unexplained(constants, known)
        counts = (
            f"{len(constants)} constants, {sum(one.key in known for one in constants)} measured"
        )
        print(f"{engine}: {counts}, {len(left)} neither measured nor with a reason", *left)
    for page in map(Path, sys.argv[1:]):
        write_reasons(page, page.name.partition("-")[0], known)
    return 0


def measured() -> set[str]:
    """Return the names of all constants that records measure."""
    found: set[str] = set()
    for path in sorted((ROOT / "benchmarks" / "results").glob("*.json")):
        if path.name.startswith("constants-"):
            rows = json.loads(path.read_text())["rows"]
            found |= {str(row["constant"]) for row in rows if any(map(_has(row), WORDS))}
        elif path.name.startswith("mip-"):
            worth = json.loads(path.read_text()).get("worth", [])
            varied = [VARIED.match(row["left out"]) for row in worth if row["models"]]
            found |= {_defined(one[1]) for one in varied if one}
    return found


def _defined(key: str) -> str:
    """Return the name of a constant by where it is defined, not by who imports it."""
    module, _, name = key.rpartition(".")
    path = (ROOT / "solvers" / module.replace(".", "/")).with_suffix(".py")
    text = path.read_text() if path.exists() else ""
    found = re.search(rf"^from solvers\.([\w.]+) import [^\n]*\b{name}\b", text, re.MULTILINE)
    return f"{found[1]}.{name}" if found else key


def _has(row: Mapping[str, object]) -> Callable[[str], bool]:
    """Return whether a row has a number for a factor; a text there says what went wrong."""
    return lambda word: isinstance(row.get(word), int | float)


def unexplained(constants: Iterable[Constant], known: set[str]) -> list[str]:
    """Return the names of constants that are neither measured nor have one reason."""
    return [one.key for one in constants if (one.key in known) + len(_reasons(one.key)) != 1]


def _reasons(key: str) -> list[str]:
    return [
        reason for reason, names in REASONS.items() if any(fnmatch(key, name) for name in names)
    ]


def lines_of(engine: str, known: set[str]) -> list[str]:
    """Return the lines of an engine's page between the marks."""
    lines: list[str] = []
    keys = [one.key for one in find(f"solvers/{engine}") if one.key not in known]
    for reason in REASONS:
        own = [f"`{key.partition('.')[2]}`" for key in keys if reason in _reasons(key)]
        if own:
            text = f"* {reason} {', '.join(own)}."
            first, *rest = wrapped(text.split())
            lines += [first, *(f"  {line}" for line in rest)]
    return lines


def write_reasons(page: Path, engine: str, known: set[str]) -> None:
    """Write the reasons into a page of the documentation."""
    before, _, rest = page.read_text().partition(MARKS[0])
    _, mark, after = rest.partition(MARKS[1])
    if not mark:
        raise SystemExit(f"{page} has no place for reasons: {MARKS[0].strip()}")
    lines = "\n".join(["", *lines_of(engine, known), "", ""])
    page.write_text(before + MARKS[0] + lines + MARKS[1] + after)


if __name__ == "__main__":
    raise SystemExit(main())
