"""One run of a project's tests with one solver, and what came of it."""

from __future__ import annotations

import json
import math
import os
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from benchmarks.clients.environments import provide_examples, python_of, sources_of
from benchmarks.clients.projects import Project

HERE = Path(__file__).resolve().parent
WHOLE = "whole"
"""What a program's objectives stand under in its report."""

SAME = 1e-6
"""Relative difference up to which two objectives are one."""


@dataclass(frozen=True)
class Run:
    """How the tests ended, by name, and the objectives of the models that each of them solved."""

    ended: dict[str, str]
    objectives: dict[str, list[float | None]]

    def named(self, how: str) -> list[str]:
        """Return the tests that ended so: ``passed``, ``failed`` or ``skipped``."""
        return [name for name, end in self.ended.items() if end == how]

    def fails(self, name: str) -> bool:
        """Whether a test failed, or its file could not be read with this solver."""
        return "failed" in (self.ended.get(name), self.ended.get(name.partition("::")[0]))


def run(project: Project, solver: str, cache: Path, tests: list[str], limit: float) -> Run:
    """Run tests or programs with ``ours``, ``highs`` or ``cbc``, each for ``limit`` seconds.

    The sources are there already. Of tests by name, which may have a solver's in it, those are run
    that there are with this one.

    Raises
    ------
    RuntimeError
        No test was run with our solver.
    """
    folder, python = sources_of(project, cache), python_of(project, cache)
    report = cache / "reports" / f"{project.name}-{solver}.json"
    report.parent.mkdir(parents=True, exist_ok=True)
    report.unlink(missing_ok=True)
    user_cache = cache / "user"
    provide_examples(project, folder, user_cache)
    environment = _environment(solver, python, report) | {"XDG_CACHE_HOME": str(user_cache)}
    with report.with_suffix(".txt").open("w") as log:
        if not project.has_programs:
            command = [str(python), "-m", "pytest", "-p", "substitute", "-q", "-W", "ignore"]
            command += ["--continue-on-collection-errors"]
            command += ["-o", "addopts="]  # a project's own may start processes, which tell nothing
            files = dict.fromkeys(test.partition("::")[0] for test in tests)
            command += ["--rootdir", ".", "--timeout", f"{limit:.0f}", *files]
            named = [test for test in tests if "::" in test]
            environment["CLIENT_TESTS"] = json.dumps(named)
            subprocess.run(command, cwd=folder, env=environment, stdout=log, stderr=log)
            if not report.exists() and named:
                return Run({}, {})
            if not report.exists():
                raise RuntimeError(f"No test of {project.name} was run; see {log.name}.")
            return Run(**json.loads(report.read_text()))
        ended, objectives = {}, {}
        for program in tests:
            command = [str(python), str(HERE / "substitute.py"), program]
            ended[program] = "failed"
            report.unlink(missing_ok=True)
            with suppress(subprocess.TimeoutExpired):
                done = subprocess.run(
                    command, cwd=folder, env=environment, stdout=log, stderr=log, timeout=limit
                )
                ended[program] = "failed" if done.returncode else "passed"
            if report.exists():
                objectives[program] = json.loads(report.read_text())["objectives"].get(WHOLE, [])
    return Run(ended, objectives)


def tests_of(project: Project, folder: Path) -> list[str]:
    """Return what to run of a project's sources: paths of tests, or its programs.

    Raises
    ------
    RuntimeError
        There is no program of the project's pattern.
    """
    if project.apart:
        return [str(Path(test).parent.name + "/" + Path(test).name) for test in project.tests]
    found: list[str] = []
    for path in project.tests:
        programs = sorted(folder.glob(path)) if "*" in path else []
        if "*" in path and not programs:
            raise RuntimeError(f"There is no {path} in {folder}.")
        found += [str(each.relative_to(folder)) for each in programs] or [path]
    return [path for path in found if not path.endswith("__init__.py")]


def same_objectives(one: list[float | None], other: list[float | None]) -> bool:
    """Whether two runs of a test have solved their models to the same values."""
    if not one or len(one) != len(other):
        return False
    pairs = zip(one, other, strict=True)
    return all(
        a is b
        or (a is not None and b is not None and math.isclose(a, b, rel_tol=SAME, abs_tol=SAME))
        for a, b in pairs
    )


def _environment(solver: str, python: Path, report: Path) -> dict[str, str]:
    cbc = [str(path.parent) for path in python.parents[1].rglob("solverdir/cbc/linux/i64/cbc")]
    return {
        **os.environ,
        "PYTHONPATH": str(HERE),
        "PATH": os.pathsep.join([*cbc[:1], str(python.parent), os.environ.get("PATH", "")]),
        "CLIENT_SOLVER": solver,
        "CLIENT_REPORT": str(report),
    }
