"""Outside projects with our solver, and what fails there with HiGHS and CBC.

    python -m benchmarks.clients --only spopt vrpy --output benchmarks/results/clients.json

Each project gets an environment and its sources in the folder ``--cache``, which is kept. Its
tests run with our solver, in this tree, in place of the one that they ask for. What fails is run
again with HiGHS and with CBC (``--all`` runs everything with all three). The table says how many
tests fail, how many of those with the others as well, and in how many of the rest all models had
the same objectives as with CBC: such a test asks for one of several optima, or for words of a log.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

from benchmarks.clients.environments import GITHUB, install_ours, sources_of
from benchmarks.clients.projects import PROJECTS, Project
from benchmarks.clients.runs import Run, run, same_objectives, tests_of

OTHERS = ("highs", "cbc")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", choices=[project.name for project in PROJECTS])
    parser.add_argument("--cache", type=Path, default=Path("build/clients"))
    parser.add_argument(
        "--origin", default=GITHUB, help="address or folder with repositories, as OWNER/NAME"
    )
    parser.add_argument("--limit", type=float, default=300.0, help="seconds for each test")
    parser.add_argument("--all", action="store_true", help="run everything with all solvers")
    parser.add_argument("--output", type=Path, help="JSON file for names and objectives")
    given = parser.parse_args(arguments)
    cache: Path = given.cache.resolve()
    records = {}
    print("| project | tests | failed | also HiGHS | also CBC | rest: same objectives |")
    print("|---|---|---|---|---|---|", flush=True)
    known = {project.name: project for project in PROJECTS}
    for project in [known[name] for name in given.only or known]:
        try:
            sources = sources_of(project, cache, given.origin)
            runs = compare(project, cache, tests_of(project, sources), given.limit, given.all)
        except (RuntimeError, subprocess.CalledProcessError) as error:
            print(f"| {project.label} | not run: {error} |", flush=True)
            continue
        records[project.name] = {solver: vars(one) for solver, one in runs.items()}
        print(row(project, runs), flush=True)
        if given.output is not None:
            given.output.write_text(json.dumps(records, indent=1))


def compare(
    project: Project, cache: Path, tests: list[str], limit: float, everything: bool
) -> dict[str, Run]:
    """Run a project with our solver, and what failed, or everything, with the others."""
    install_ours(project, cache)
    runs = {"ours": run(project, "ours", cache, tests, limit)}
    again = tests if everything else runs["ours"].named("failed")
    for solver in OTHERS:
        if again:
            runs[solver] = run(project, solver, cache, again, limit)
    return runs


def row(project: Project, runs: dict[str, Run]) -> str:
    """Return a project's row of the table."""
    ours = runs["ours"]
    failed = set(ours.named("failed"))
    theirs = {
        solver: {name for name in failed if solver in runs and runs[solver].fails(name)}
        for solver in OTHERS
    }
    rest = failed - theirs["highs"] - theirs["cbc"]
    known = runs["cbc"].objectives if "cbc" in runs else {}
    same = [
        name for name in rest if same_objectives(ours.objectives.get(name, []), known.get(name, []))
    ]
    count = len(ours.named("passed")) + len(failed)
    numbers = (count, len(failed), len(theirs["highs"]), len(theirs["cbc"]))
    figures = " | ".join(map(str, numbers))
    return f"| {project.label} | {figures} | {len(same)} of {len(rest)} |"


if __name__ == "__main__":
    main()
